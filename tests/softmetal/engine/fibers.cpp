#include "fibers.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

// Absent unless a sanitizer's runtime is in the process.
extern "C" {
__attribute__((weak)) void *__tsan_get_current_fiber(void);
__attribute__((weak)) void *__tsan_create_fiber(unsigned flags);
__attribute__((weak)) void __tsan_destroy_fiber(void *fiber);
__attribute__((weak)) void __tsan_switch_to_fiber(void *fiber, unsigned flags);
__attribute__((weak)) void __sanitizer_start_switch_fiber(void **save, const void *bottom,
                                                          size_t size);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void *saved, const void **bottom,
                                                           size_t *size);

void softmetal_switch(void **save, void *load);
void softmetal_first(void);
void softmetal_enter(void);
}

#if !defined(__x86_64__)
#error "softmetal_switch is written for x86-64"
#endif

// Callee-saved registers go to the stack that is left and come from the one that is entered.
asm(R"(
.text
.globl softmetal_switch
.hidden softmetal_switch
.type softmetal_switch,@function
softmetal_switch:
  pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
  ret
.size softmetal_switch,.-softmetal_switch
.globl softmetal_first
.hidden softmetal_first
softmetal_first:
  xorl %ebp, %ebp
  call softmetal_enter
  ud2
)");

namespace softmetal {
namespace {

constexpr size_t stack_bytes = 256 << 10;
constexpr size_t guard_bytes = 4096;
// TSan keeps about 250 clocks. Once the threads of one group have had each of them, it takes
// earlier groups for done. Above this number, lanes of a simdgroup share a thread of TSan's:
// neighbours or distant ones.
constexpr uint32_t most_tsan_threads = 64;
// It reports a race only while it remembers both threads, and takes some 8000.
constexpr size_t most_ended = 2048;
constexpr uint32_t simdgroup_width = 32;
constexpr unsigned no_sync = 1;  // __tsan_switch_to_fiber_no_sync

thread_local Fibers *running = nullptr;

// By the system call itself, which TSan does not see: its shadow of these pages stays empty.
char *pages(size_t bytes) {
  return reinterpret_cast<char *>(syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

}  // namespace

bool under_tsan() {
  return __tsan_create_fiber != nullptr;
}

Fibers::~Fibers() {
  forget(0);
  release();
}

void Fibers::release() {
  if (stacks_) munmap(stacks_, stack_count_ * stack_bytes);
  stacks_ = nullptr;
  stack_count_ = 0;
}

void Fibers::start(uint32_t count) {
  running = this;
  if (fibers_.size() < count) fibers_.resize(count);
  if (stack_count_ < count) {
    release();
    stacks_ = pages(count * stack_bytes);
    stack_count_ = count;
    for (uint32_t i = 0; i < count; ++i)
      mprotect(stacks_ + i * stack_bytes, guard_bytes, PROT_NONE);
  }
  if (under_tsan()) start_tsan_threads(count);
  for (uint32_t i = 0; i < count; ++i) {
    // Popped by the first switch: six registers, then where to begin. Two more words keep the stack
    // aligned at softmetal_first's call.
    void **top = reinterpret_cast<void **>(stacks_ + (i + 1) * stack_bytes) - 9;
    for (int k = 0; k < 9; ++k) top[k] = nullptr;
    top[6] = reinterpret_cast<void *>(&softmetal_first);
    fibers_[i] = Fiber();
    fibers_[i].stack_pointer = top;
    if (under_tsan()) fibers_[i].tsan = tsan_threads_[tsan_thread(i)];
  }
}

void Fibers::start_tsan_threads(uint32_t count) {
  home_tsan_ = __tsan_get_current_fiber();
  tsan_lanes_ = simdgroup_width;
  while (count / simdgroup_width * tsan_lanes_ > most_tsan_threads) tsan_lanes_ /= 2;
  const uint32_t whole = (count + simdgroup_width - 1) / simdgroup_width * tsan_lanes_;
  for (uint32_t i = 0; i < whole; ++i) {
    tsan_threads_.push_back(__tsan_create_fiber(0));
  }
}

uint32_t Fibers::tsan_thread(uint32_t fiber) const {
  const uint32_t lane = fiber % simdgroup_width, shared = simdgroup_width / tsan_lanes_;
  return fiber / simdgroup_width * tsan_lanes_ + (neighbours_ ? lane / shared : lane % tsan_lanes_);
}

void Fibers::resume(uint32_t i) {
  Fiber &fiber = fibers_[i];
  current_ = i;
  if (under_tsan()) __tsan_switch_to_fiber(fiber.tsan, no_sync);
  if (__sanitizer_start_switch_fiber) {
    __sanitizer_start_switch_fiber(&home_fake_stack_, stacks_ + i * stack_bytes, stack_bytes);
  }
  softmetal_switch(&home_, fiber.stack_pointer);
  if (__sanitizer_finish_switch_fiber) {
    __sanitizer_finish_switch_fiber(home_fake_stack_, nullptr, nullptr);
  }
}

void Fibers::leave(Fiber &fiber) {
  if (under_tsan()) __tsan_switch_to_fiber(home_tsan_, no_sync);
  if (__sanitizer_start_switch_fiber) {
    __sanitizer_start_switch_fiber(fiber.ended ? nullptr : &fiber.fake_stack, home_bottom_,
                                   home_bytes_);
  }
  softmetal_switch(&fiber.stack_pointer, home_);
}

void Fibers::yield() {
  Fiber &fiber = fibers_[current_];
  leave(fiber);
  if (__sanitizer_finish_switch_fiber) {
    __sanitizer_finish_switch_fiber(fiber.fake_stack, &home_bottom_, &home_bytes_);
  }
}

void Fibers::enter() {
  if (__sanitizer_finish_switch_fiber) {
    __sanitizer_finish_switch_fiber(nullptr, &home_bottom_, &home_bytes_);
  }
  body_(current_);
  fibers_[current_].ended = true;
  leave(fibers_[current_]);
  abort();
}

void Fibers::finish() {
  if (!under_tsan()) return;
  ended_.insert(ended_.end(), tsan_threads_.begin(), tsan_threads_.end());
  tsan_threads_.clear();
  forget(most_ended);
  release();
}

void Fibers::forget(size_t most) {
  for (; ended_.size() > most; ended_.pop_front()) __tsan_destroy_fiber(ended_.front());
}

}  // namespace softmetal

void softmetal_enter(void) {
  softmetal::running->enter();
}
