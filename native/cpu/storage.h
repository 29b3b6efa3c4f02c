// Arrays as they lie in memory and as floats. Whatever is written holds one NaN, since processors
// differ in those that they compute.
#ifndef DTAPE_CPU_STORAGE_H
#define DTAPE_CPU_STORAGE_H

#include "host.h"
#include "vectors.h"
#include "work.h"

namespace deltatape::cpu::DTAPE_PATH {
namespace {

template <class Element>
DTAPE_INLINE v16 load_first(int n, const Element *p) {
  Element some[16] = {};
  std::memcpy(some, p, size_t(n) * sizeof *p);
  return load(some);
}

template <class Element>
DTAPE_INLINE void store_first(int n, Element *p, v16 v) {
  Element some[16];
  store(some, v);
  std::memcpy(p, some, size_t(n) * sizeof *p);
}

// to is written in whole vectors: zeros follow the last element. What follows from, often the next
// head's elements, is prefetched: it lies too far from other steps' for the processor to guess.
template <class Element>
DTAPE_INLINE void widen_all(float *to, const Element *from, int64_t count) {
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    store(to + i, load(from + i));
    __builtin_prefetch(from + count + i);
  }
  if (i < count) store(to + i, load_first(int(count - i), from + i));
}

// from is read in whole vectors.
template <class Element>
DTAPE_INLINE void narrow_all(Element *to, const float *from, int64_t count) {
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) store(to + i, one_nan(load(from + i)));
  if (i < count) store_first(int(count - i), to + i, one_nan(load(from + i)));
}

// Calls action with elements of the type that dtype names.
template <class Action>
DTAPE_INLINE void with_elements(void *data, int32_t dtype, Action action) {
  if (dtype == DTAPE_F16) {
    action(static_cast<f16 *>(data));
  } else if (dtype == DTAPE_BF16) {
    action(static_cast<bf16 *>(data));
  } else {
    action(static_cast<float *>(data));
  }
}

// Reads count elements of an array, from its element at on.
static inline void read_floats(float *to, const dtape_span &array, int64_t at, int64_t count) {
  with_elements(array.data, array.dtype, [=](auto *from) { widen_all(to, from + at, count); });
}

static inline float read_float(const dtape_span &array, int64_t at) {
  float some[16];
  read_floats(some, array, at, 1);
  return some[0];
}

static inline void write_floats(const dtape_span &array, int64_t at, const float *from,
                                int64_t count) {
  with_elements(array.data, array.dtype, [=](auto *to) { narrow_all(to + at, from, count); });
}

static inline void fill_floats(const dtape_span &array, int64_t at, float value, int64_t count) {
  float some[16];
  store(some, all(value));
  for (int64_t i = 0; i < count; i += 16) write_floats(array, at + i, some, smaller(count - i, 16));
}

static inline int64_t bytes_of(int32_t dtype) {
  return dtype == DTAPE_F32 ? 4 : 2;
}

static inline char *element(const dtape_span &array, int64_t at) {
  return static_cast<char *>(array.data) + at * bytes_of(array.dtype);
}

// Arrays this large, written to other memory than they were read from, leave the caches in any
// case: streaming saves reading what will be overwritten.
DTAPE_INLINE bool worth_streaming(const dtape_span &from, const dtape_span &to, int64_t to_at) {
  constexpr int64_t large = 1 << 20;
  return to.bytes >= large && to.data != from.data &&
         reinterpret_cast<uintptr_t>(element(to, to_at)) % 64 == 0;
}

static inline bool active(const dtape_span &mask, int64_t at) {
  if (!mask.data) return true;
  if (mask.dtype == DTAPE_MASK8) return static_cast<const uint8_t *>(mask.data)[at] != 0;
  return static_cast<const uint32_t *>(mask.data)[at] != 0;
}

}  // namespace
}  // namespace deltatape::cpu::DTAPE_PATH

#endif
