// Structs that begin with their own size: callers may be older than this library, not newer.
#ifndef DTAPE_ABI_VERSIONED_H
#define DTAPE_ABI_VERSIONED_H

#include <cinttypes>
#include <cstring>

#include "abi/error.h"

namespace deltatape {

[[noreturn]] inline void refuse_null(const char *name) {
  refuse(DTAPE_INVALID_ARGUMENT, "%s: expected a pointer, got null", name);
}

// The size that a struct begins with, once it is one that this library knows.
template <class Struct>
uint64_t known_size(const char *name, const Struct *given) {
  if (given == nullptr) refuse_null(name);
  uint64_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < sizeof size || size > sizeof(Struct) || size % sizeof size != 0) {
    refuse(DTAPE_INVALID_ARGUMENT, "size: expected 8 to %zu in steps of 8 (bytes), got %" PRIu64,
           sizeof(Struct), size);
  }
  return size;
}

// A caller's arguments, with 0 for the fields that an older caller does not have.
template <class Args>
Args complete(const Args *given) {
  Args whole = {};
  std::memcpy(&whole, given, known_size("args", given));
  if (whole.flags != 0) {
    refuse(DTAPE_INVALID_ARGUMENT, "flags: expected 0, got %" PRIu64, whole.flags);
  }
  return whole;
}

// Has a struct filled in and hands the caller as much of it as it has room for.
template <class Struct, class Fill>
dtape_status fill_in(const char *name, Struct *given, const Fill &fill) {
  const uint64_t size = known_size(name, given);
  Struct whole = {};
  whole.size = sizeof whole;
  const dtape_status status = fill(&whole);
  whole.size = size;
  if (status == DTAPE_OK) std::memcpy(given, &whole, size);
  return status;
}

}  // namespace deltatape

#endif
