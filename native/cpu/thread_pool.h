// A few threads that share the items of a call with the thread that makes it.
#ifndef DTAPE_CPU_THREAD_POOL_H
#define DTAPE_CPU_THREAD_POOL_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
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

  explicit thread_pool(int threads) : threads_(threads) {}
  ~thread_pool();
  thread_pool(const thread_pool &) = delete;
  thread_pool &operator=(const thread_pool &) = delete;

  // Returns when all items are done. While another thread is in here, the caller does its items
  // alone, as participant 0.
  void run(int64_t items, task task);

 private:
  void start();
  void work(int participant);
  void share(int participant);

  const int threads_;
  std::mutex exclusive_;  // held by the thread whose call the workers share
  bool started_ = false;
  std::vector<std::thread> workers_;

  std::mutex mutex_;  // guards what follows, up to next_
  std::condition_variable wake_, done_;
  bool stopping_ = false, open_ = false;
  std::atomic<uint64_t> calls_{0};
  std::atomic<int> active_{0};  // workers that have joined the open call
  task task_{};
  int64_t items_ = 0, grain_ = 1;
  std::atomic<int64_t> next_{0};
};

}  // namespace deltatape::cpu

#endif
