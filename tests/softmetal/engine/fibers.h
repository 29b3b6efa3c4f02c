// GPU threads as fibers of one OS thread: a stack each, switched by hand.
//
// A sanitizer that is present in the process is told of every switch. To TSan a fiber is a thread,
// and a switch orders nothing: only barriers do.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace softmetal {

bool under_tsan();

class Fibers {
 public:
  // `body` runs on each fiber with its number. `neighbours`: which lanes may be one thread to TSan.
  Fibers(void (*body)(uint32_t), bool neighbours) : body_(body), neighbours_(neighbours) {}
  ~Fibers();
  Fibers(const Fibers &) = delete;
  Fibers &operator=(const Fibers &) = delete;

  // Makes fibers 0 ... count - 1 ready to begin.
  void start(uint32_t count);
  // Runs fiber i until it yields or its body returns.
  void resume(uint32_t i);
  // Called on a fiber: back to whoever resumed it.
  void yield();
  // The fiber that runs.
  uint32_t current() const { return current_; }
  // Once all have ended: what TSan knows of their stacks is forgotten.
  void finish();

  // Called by the first instruction of every fiber.
  void enter();

 private:
  struct Fiber {
    void *stack_pointer = nullptr;
    void *tsan = nullptr;
    void *fake_stack = nullptr;
    bool ended = false;
  };

  void leave(Fiber &fiber);
  void release();
  void start_tsan_threads(uint32_t count);
  uint32_t tsan_thread(uint32_t fiber) const;
  // Ended threads but the last `most`.
  void forget(size_t most);

  void (*body_)(uint32_t);
  const bool neighbours_;
  std::vector<Fiber> fibers_;
  std::vector<void *> tsan_threads_;
  std::deque<void *> ended_;
  uint32_t tsan_lanes_ = 0;  // of a simdgroup
  uint32_t current_ = 0;
  char *stacks_ = nullptr;
  size_t stack_count_ = 0;
  // Of the OS thread.
  void *home_ = nullptr;
  void *home_tsan_ = nullptr;
  void *home_fake_stack_ = nullptr;
  const void *home_bottom_ = nullptr;
  size_t home_bytes_ = 0;
};

}  // namespace softmetal
