#include "arena.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// A multiple of every page size in use.
constexpr size_t kGuard = 16384;
constexpr size_t kStep = Arena::kRegionBytes + kGuard;
constexpr unsigned char kPoison = 0xa5;

}  // namespace

Arena::Arena(size_t regions) : regions_(regions) {
  void *const memory =
      mmap(nullptr, regions * kStep + kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  base_ = static_cast<unsigned char *>(memory);
  for (size_t region = 0; memory != MAP_FAILED && region < regions; ++region) {
    if (mprotect(begin(region), kRegionBytes, PROT_READ | PROT_WRITE) == 0) continue;
    base_ = nullptr;
  }
  if (base_ == nullptr || memory == MAP_FAILED) {
    std::perror("arena");
    std::exit(2);
  }
  fill_from(Contents(regions * kRegionBytes, kPoison));
}

Arena::~Arena() {
  munmap(base_, regions_ * kStep + kGuard);
}

unsigned char *Arena::begin(size_t region) const {
  return base_ + kGuard + region * kStep;
}

unsigned char *Arena::place(size_t region, size_t bytes) const {
  return begin(region) + kRegionBytes - bytes;
}

size_t Arena::room(const void *address) const {
  const auto *const at = static_cast<const unsigned char *>(address);
  for (size_t region = 0; region < regions_; ++region) {
    const unsigned char *const end = begin(region) + kRegionBytes;
    if (at >= begin(region) && at <= end) return end - at;
  }
  return 0;
}

void Arena::copy_to(Contents &contents) const {
  contents.resize(regions_ * kRegionBytes);
  for (size_t region = 0; region < regions_; ++region) copy_region_to(contents, region);
}

void Arena::copy_region_to(Contents &contents, size_t region) const {
  std::memcpy(contents.data() + region * kRegionBytes, begin(region), kRegionBytes);
}

void Arena::fill_from(const Contents &contents) {
  for (size_t region = 0; region < regions_; ++region) {
    std::memcpy(begin(region), contents.data() + region * kRegionBytes, kRegionBytes);
  }
}

bool Arena::holds(const Contents &contents) const {
  for (size_t region = 0; region < regions_; ++region) {
    const unsigned char *const expected = contents.data() + region * kRegionBytes;
    if (std::memcmp(begin(region), expected, kRegionBytes) != 0) return false;
  }
  return true;
}
