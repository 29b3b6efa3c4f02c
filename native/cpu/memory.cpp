#include "memory.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif
#include <unistd.h>

#include <cstdlib>
#include <new>

namespace deltatape::cpu {
namespace {

constexpr size_t most_kept = size_t(256) << 20;

size_t page() {
  static const size_t bytes = size_t(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Large memory asks for huge pages: the kernels follow many streams of addresses at once. Where
// they are not offered, pages are small.
void *map(size_t bytes) {
  constexpr size_t huge_page = size_t(2) << 20;
  const size_t alignment = bytes < huge_page ? page() : huge_page;
  void *memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes) != 0) return nullptr;
#if defined(__linux__)
  if (alignment == huge_page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

}  // namespace

void *memory_pool::take_kept(size_t bytes) {
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
    if (kept->bytes != bytes) continue;
    void *memory = kept->memory;
    kept_.erase(std::next(kept).base());
    kept_bytes_ -= bytes;
    return memory;
  }
  return nullptr;
}

void *memory_pool::allocate(uint64_t bytes) {
  if (bytes > SIZE_MAX - page()) return nullptr;
  const size_t rounded = (bytes > 0 ? bytes + page() - 1 : page()) / page() * page();
  void *memory = take_kept(rounded);
  if (!memory) memory = map(rounded);
  if (!memory) return nullptr;
  try {
    used_.emplace(memory, rounded);
  } catch (const std::bad_alloc &) {
    std::free(memory);
    return nullptr;
  }
  return memory;
}

bool memory_pool::release(void *memory) {
  const auto found = used_.find(memory);
  if (found == used_.end()) return false;
  const piece freed = {memory, found->second};
  used_.erase(found);
  if (freed.bytes > most_kept) {
    std::free(memory);
    return true;
  }
  trim_to(most_kept - freed.bytes);
  try {
    kept_.push_back(freed);
    kept_bytes_ += freed.bytes;
  } catch (const std::bad_alloc &) {
    std::free(memory);
  }
  return true;
}

void memory_pool::trim_to(size_t bytes) {
  while (kept_bytes_ > bytes) {
    kept_bytes_ -= kept_.front().bytes;
    std::free(kept_.front().memory);
    kept_.pop_front();
  }
}

}  // namespace deltatape::cpu
