#include "thread_pool.h"

#include <algorithm>
#include <chrono>
#include <system_error>

namespace deltatape::cpu {
namespace {

// Ranges that a participant takes, on average: few enough to be cheap, enough to balance.
constexpr int64_t ranges_each = 8;

// Waking a sleeping thread takes longer than a small call, and calls follow each other closely:
// within 20 us from Python, now and then more.
constexpr auto patience = std::chrono::microseconds(100);

// It yields, since the thread that it waits for may be on the same processor.
template <class Condition>
void watch_for_a_while(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition() && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
    for (int i = 0; i < 32 && !condition(); ++i) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      __asm__ volatile("yield");
#endif
    }
  }
}

}  // namespace

thread_pool::~thread_pool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    calls_.fetch_add(1);
  }
  wake_.notify_all();
  for (std::thread &worker : workers_) worker.join();
}

// With fewer threads than asked for the results are the same.
void thread_pool::start() {
  started_ = true;
  try {
    workers_.reserve(size_t(threads_ - 1));
    for (int i = 1; i < threads_; ++i) workers_.emplace_back([this, i] { work(i); });
  } catch (const std::exception &) {
  }
}

void thread_pool::divide(int64_t items) {
  grain_ = std::max<int64_t>(1, items / (threads_ * ranges_each));
  int64_t begin = 0;
  for (int i = 0; i < threads_; ++i) {
    shares_[i].next.store(begin, std::memory_order_relaxed);
    begin = shares_[i].end = items * (i + 1) / threads_;
  }
}

void thread_pool::take_part(int participant) {
  for (int i = 0; i < threads_; ++i) {
    share &from = shares_[(participant + i) % threads_];
    for (;;) {
      const int64_t begin = from.next.fetch_add(grain_, std::memory_order_relaxed);
      if (begin >= from.end) break;
      task_.run(task_.context, participant, begin, std::min(begin + grain_, from.end));
    }
  }
}

void thread_pool::work(int participant) {
  uint64_t seen = 0;
  for (;;) {
    watch_for_a_while([&] { return calls_.load(std::memory_order_relaxed) != seen; });
    std::unique_lock<std::mutex> lock(mutex_);
    wake_.wait(lock, [&] { return stopping_ || calls_.load() != seen; });
    if (stopping_) return;
    seen = calls_.load();
    if (!open_) continue;  // too late: it watches for the next, for which it would be late again
    active_.fetch_add(1);
    lock.unlock();
    take_part(participant);
    lock.lock();
    if (active_.fetch_sub(1) == 1) done_.notify_one();
  }
}

void thread_pool::run(int64_t items, task task) {
  std::unique_lock<std::mutex> exclusive(exclusive_, std::defer_lock);
  if (threads_ == 1 || items <= 1 || !shares_ || !exclusive.try_lock()) {
    task.run(task.context, 0, 0, items);
    return;
  }
  if (!started_) start();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    task_ = task;
    divide(items);
    open_ = true;
    calls_.fetch_add(1);
  }
  wake_.notify_all();
  take_part(0);
  // Nothing is left: workers that have not joined by now need not.
  std::unique_lock<std::mutex> lock(mutex_);
  open_ = false;
  lock.unlock();
  watch_for_a_while([&] { return active_.load() == 0; });
  lock.lock();
  done_.wait(lock, [&] { return active_.load() == 0; });
}

}  // namespace deltatape::cpu
