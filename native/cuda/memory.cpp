#include "cuda/memory.h"

#include <string>

#include "cuda/failure.h"

namespace deltatape::cuda {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMostIdle = uint64_t{1} << 30;

// Sizes in steps of an eighth, so that memory of about the same size is used again.
uint64_t rounded(uint64_t bytes) {
  uint64_t step = kPage;
  while (step * 16 < bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

}  // namespace

uint64_t Pool::take(uint64_t bytes, uint64_t &size) {
  if (bytes > uint64_t{1} << 62) {
    throw Failure(DTAPE_OUT_OF_MEMORY,
                  "bytes: expected at most 2^62, got " + std::to_string(bytes));
  }
  size = rounded(bytes == 0 ? 1 : bytes);
  {
    const std::lock_guard<std::mutex> lock(lock_);
    const auto found = idle_.find(size);
    if (found != idle_.end() && !found->second.empty()) {
      const uint64_t memory = found->second.back();
      found->second.pop_back();
      idle_bytes_ -= size;
      return memory;
    }
  }
  return make(size);
}

uint64_t Pool::make(uint64_t size) {
  for (;;) {
    void *host = nullptr;
    Address address = 0;
    const Result result = kind_ == kPinned
                              ? driver().cuMemHostAlloc(&host, size, kPortable | kMapped)
                              : driver().cuMemAlloc(&address, size);
    if (result == kSuccess) return kind_ == kPinned ? reinterpret_cast<uint64_t>(host) : address;
    if (result != kOutOfMemory || !forget_idle()) {
      check(result, kind_ == kPinned ? "bytes: expected pinned memory of the processor"
                                     : "bytes: expected memory of the GPU");
    }
  }
}

void Pool::give(uint64_t memory, uint64_t size) {
  {
    const std::lock_guard<std::mutex> lock(lock_);
    if (idle_bytes_ + size <= kMostIdle) {
      idle_[size].push_back(memory);
      idle_bytes_ += size;
      return;
    }
  }
  destroy(memory);
}

void Pool::destroy(uint64_t memory) const {
  if (kind_ == kPinned) {
    driver().cuMemFreeHost(reinterpret_cast<void *>(memory));
  } else {
    driver().cuMemFree(memory);
  }
}

bool Pool::forget_idle() {
  const std::lock_guard<std::mutex> lock(lock_);
  const bool any = idle_bytes_ > 0;
  for (const auto &[size, memories] : idle_) {
    for (const uint64_t memory : memories) destroy(memory);
  }
  idle_.clear();
  idle_bytes_ = 0;
  return any;
}

void *Memory::allocate(uint64_t bytes) {
  uint64_t size = 0;
  const uint64_t memory = pinned_.take(bytes, size);
  const std::lock_guard<std::mutex> lock(lock_);
  pieces_[memory] = {size, 0, false};
  return reinterpret_cast<void *>(memory);
}

void Memory::free(void *memory) {
  const auto start = reinterpret_cast<uint64_t>(memory);
  uint64_t size = 0;
  {
    const std::lock_guard<std::mutex> lock(lock_);
    const auto found = pieces_.find(start);
    if (found == pieces_.end() || found->second.freed) {
      throw Failure(DTAPE_INVALID_ARGUMENT, "memory: expected memory of this device, got other");
    }
    found->second.freed = true;
    if (found->second.uses > 0) return;
    size = found->second.size;
    pieces_.erase(found);
  }
  pinned_.give(start, size);
}

bool Memory::begin_use(uint64_t address, uint64_t bytes, uint64_t &start) {
  const std::lock_guard<std::mutex> lock(lock_);
  auto found = pieces_.upper_bound(address);
  if (found == pieces_.begin()) return false;
  --found;
  if (found->second.freed || address + bytes > found->first + found->second.size) return false;
  ++found->second.uses;
  start = found->first;
  return true;
}

void Memory::end_use(uint64_t start) {
  uint64_t size = 0;
  {
    const std::lock_guard<std::mutex> lock(lock_);
    const auto found = pieces_.find(start);
    if (--found->second.uses > 0 || !found->second.freed) return;
    size = found->second.size;
    pieces_.erase(found);
  }
  pinned_.give(start, size);
}

}  // namespace deltatape::cuda
