// A few threads that share the items of a call with the thread that makes it.
#ifndef DTAPE_CPU_THREAD_POOL_H
#define DTAPE_CPU_THREAD_POOL_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace deltatape::cpu {

class thread_pool {
 public:
  // Does the items from begin up to end. Participants, 0 up to threads, call it at the same time.
  struct task {
    void (*run)(const void *context, int participant, int64_t begin, int64_t end);
    const void *context;
  };

  explicit thread_pool(int threads)
      : threads_(threads), shares_(new (std::nothrow) share[size_t(threads)]) {}
  ~thread_pool();
  thread_pool(const thread_pool &) = delete;
  thread_pool &operator=(const thread_pool &) = delete;

  // Returns when all items are done. While another thread is in here, the caller does its items
  // alone, as participant 0.
  void run(int64_t items, task task);

 private:
  // A participant's items. They follow each other, so each core reads and writes memory of its own,
  // the same from call to call. Who is done takes from the others'.
  struct alignas(64) share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  void start();
  void work(int participant);
  void divide(int64_t items);
  void take_part(int participant);

  const int threads_;
  std::mutex exclusive_;  // held by the thread whose call the workers share
  bool started_ = false;
  std::vector<std::thread> workers_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_, done_;
  bool stopping_ = false, open_ = false;
  std::atomic<uint64_t> calls_{0};
  std::atomic<int> active_{0};  // workers that have joined the open call
  task task_{};
  int64_t grain_ = 1;
  const std::unique_ptr<share[]> shares_;  // null if there was no memory
};

}  // namespace deltatape::cpu

#endif
