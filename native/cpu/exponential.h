// The shaders' exponential, compiled as C++: the same text, the same bits.
#ifndef DTAPE_CPU_EXPONENTIAL_H
#define DTAPE_CPU_EXPONENTIAL_H

#include <cstdint>
#include <cstring>

#define DTAPE_INLINE static inline __attribute__((always_inline))

namespace deltatape::cpu::DTAPE_PATH {
namespace {

typedef uint32_t uint;

template <class To, class From>
DTAPE_INLINE To as_type(From from) {
  static_assert(sizeof(To) == sizeof(From), "as_type keeps the bits");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

DTAPE_INLINE float fma(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}

#include "../../shaders/exponential.metal"

}  // namespace
}  // namespace deltatape::cpu::DTAPE_PATH

#endif
