#include "group.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

extern "C" {
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);
}

namespace softmetal {
namespace {

constexpr uint32_t width = 32;
constexpr uint32_t all_edges = 32;
constexpr size_t page = 4096;

thread_local Group *running = nullptr;
char dispatch_order;

size_t rounded(size_t bytes, size_t to) {
  return (bytes + to - 1) / to * to;
}

// Under TSan pages that it has not seen, so that it knows of no earlier group.
void *new_variable(size_t bytes) {
  void *memory = under_tsan() ? reinterpret_cast<void *>(syscall(
                                    SYS_mmap, nullptr, rounded(bytes, page), PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
                              : aligned_alloc(64, rounded(bytes, 64));
  // Not by memset, which a sanitizer would take for the kernel's write. What is never written is
  // NaN.
  volatile unsigned char *byte = static_cast<unsigned char *>(memory);
  for (size_t i = 0; i < bytes; ++i) byte[i] = 0xff;
  return memory;
}

void delete_variable(void *memory, size_t bytes) {
  if (under_tsan()) {
    munmap(memory, rounded(bytes, page));
  } else {
    free(memory);
  }
}

std::string described(const sm_site &site) {
  return std::string(site.what) + " at line " + std::to_string(site.line) + ":" +
         std::to_string(site.column);
}

bool same(const sm_site &a, const sm_site &b) {
  return a.line == b.line && a.column == b.column && strcmp(a.what, b.what) == 0;
}

}  // namespace

void order_after_dispatches() {
  if (under_tsan()) __tsan_acquire(&dispatch_order);
}

Group &Group::current() {
  return *running;
}

Group::Group(Order order, uint32_t seed)
    : order_(order), random_(seed), fibers_(&Group::body, order == Order::reverse) {}

void Group::body(uint32_t fiber) {
  Group &group = *running;
  Thread &thread = group.threads_[fiber];
  group.dispatch_->kernel->entry(&group.dispatch_->arguments, &thread.ids);
  thread.state = State::ended;
  if (under_tsan()) __tsan_release(&dispatch_order);
}

void Group::wait(uint32_t scope, void *operand, void (*combine)(void **), sm_site site) {
  Thread &thread = threads_[fibers_.current()];
  thread.state = State::waiting;
  thread.scope = scope;
  thread.site = site;
  thread.operand = operand;
  thread.combine = combine;
  fibers_.yield();
}

void Group::barrier(uint32_t scope, uint32_t flags, sm_site site) {
  char *edge = edges_ + (scope == 1 ? all_edges : fibers_.current() / width);
  if (flags != 0 && under_tsan()) __tsan_release(edge);
  wait(scope, nullptr, nullptr, site);
  if (flags != 0 && under_tsan()) __tsan_acquire(edge);
}

void Group::prepare(const uint32_t position[3]) {
  threads_.assign(dispatch_->threads, Thread());
  for (uint32_t i = 0; i < dispatch_->threads; ++i) {
    threads_[i].ids = {{position[0], position[1], position[2]}, i, i % width, i / width};
  }
  allocate();
  fibers_.start(dispatch_->threads);
}

void Group::allocate() {
  edges_ = static_cast<char *>(new_variable(all_edges + 1));
  for (uint32_t i = 0; i < dispatch_->module->variable_count; ++i) {
    variables_.push_back(new_variable(dispatch_->module->variable_bytes[i]));
  }
}

void Group::release() {
  for (uint32_t i = 0; i < variables_.size(); ++i) {
    delete_variable(variables_[i], dispatch_->module->variable_bytes[i]);
  }
  variables_.clear();
  delete_variable(edges_, all_edges + 1);
}

std::vector<uint32_t> Group::sequence(uint32_t count) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  if (order_ == Order::reverse) std::reverse(numbers.begin(), numbers.end());
  if (order_ == Order::random) std::shuffle(numbers.begin(), numbers.end(), random_);
  return numbers;
}

bool Group::some_wait(Range threads) const {
  return std::any_of(threads_.begin() + threads.begin, threads_.begin() + threads.end,
                     [](const Thread &t) { return t.state == State::waiting; });
}

// Whether all that have not ended wait at one place of this scope, and at a barrier of the whole
// group, whether none has ended.
bool Group::meet(Range threads, uint32_t scope, std::string *error) {
  const Thread *first = nullptr, *other = nullptr;
  uint32_t together = 0, apart = 0, ended = 0;
  for (uint32_t i = threads.begin; i < threads.end; ++i) {
    const Thread &t = threads_[i];
    if (t.state == State::ended) {
      ++ended;
      continue;
    }
    if (!first) first = &t;
    const bool joins = t.scope == first->scope && same(t.site, first->site);
    if (!joins) other = &t;
    ++(joins ? together : apart);
  }
  if (other) {
    *error = "divergent: " + std::to_string(together) + " threads wait at " +
             described(first->site) + ", " + std::to_string(apart) + " at " +
             described(other->site);
  } else if (first && scope == 1 && ended > 0) {
    *error = std::to_string(ended) + " threads returned before " + described(first->site);
  }
  return error->empty();
}

void Group::exchange(Range lanes) {
  void *operands[width] = {};
  void (*combine)(void **) = nullptr;
  for (uint32_t i = lanes.begin; i < lanes.end; ++i) {
    if (threads_[i].state != State::waiting) continue;
    operands[i - lanes.begin] = threads_[i].operand;
    combine = threads_[i].combine;
  }
  if (combine) combine(operands);
}

// Runs a simdgroup until its lanes have ended or wait for the whole group; at random, less far.
bool Group::run_simdgroup(Range lanes, std::string *error) {
  for (;;) {
    for (const uint32_t i : sequence(lanes.end - lanes.begin)) {
      if (threads_[lanes.begin + i].state == State::ready) fibers_.resume(lanes.begin + i);
    }
    if (!some_wait(lanes)) return true;
    if (!meet(lanes, 0, error)) return false;
    const auto waiting = std::find_if(threads_.begin() + lanes.begin, threads_.end(),
                                      [](const Thread &t) { return t.state == State::waiting; });
    if (waiting->scope == 1) return true;
    exchange(lanes);
    for (uint32_t i = lanes.begin; i < lanes.end; ++i) {
      if (threads_[i].state == State::waiting) threads_[i].state = State::ready;
    }
    if (order_ == Order::random && random_() % 4 == 0) return true;
  }
}

std::string Group::run(const Dispatch &dispatch, const uint32_t position[3]) {
  running = this;
  dispatch_ = &dispatch;
  prepare(position);
  const uint32_t count = dispatch.threads, simdgroups = (count + width - 1) / width;
  std::string error;
  for (bool going = true; going && error.empty();) {
    for (const uint32_t g : sequence(simdgroups)) {
      if (!run_simdgroup({g * width, std::min(count, (g + 1) * width)}, &error)) break;
    }
    const auto ready = [](const Thread &t) { return t.state == State::ready; };
    if (!error.empty() || std::any_of(threads_.begin(), threads_.end(), ready)) continue;
    going = some_wait({0, count});
    if (!going || !meet({0, count}, 1, &error)) continue;
    for (Thread &t : threads_) t.state = State::ready;
  }
  fibers_.finish();
  release();
  return error;
}

}  // namespace softmetal
