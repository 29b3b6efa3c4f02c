// Vectors of sixteen floats: one interface, written once for each instruction set. Every path of
// the library compiles it with its own flags into a namespace of its own, DTAPE_PATH.
//
//   load, store   float, f16 or bf16 in memory; 16-bit values round to nearest even
//   stream        store to an aligned address, past the caches where there is an instruction for it
//   within        lanes beyond +-most are +-most; a NaN stays
//   first         the first n lanes of one vector and the rest of another
//   sums          of 16 rows of 16: elements 8 apart are added, then those 4, 2 and 1 apart
//
// TILE_ROWS rows by TILE_VECTORS vectors of a state fit into the registers, PRODUCT_ROWS rows of a
// matrix product do. DTAPE_UNROLL stands before loops over them: gcc otherwise keeps them in
// memory.
#ifndef DTAPE_CPU_VECTORS_H
#define DTAPE_CPU_VECTORS_H

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "exponential.h"

namespace deltatape::cpu::DTAPE_PATH {
namespace {

constexpr uint ONE_NAN = 0x7fc00000u;

struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};

#if defined(__AVX512F__) && defined(__AVX512BW__)
#include "vectors/avx512.h"
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#include "vectors/avx2.h"
#elif defined(__aarch64__)
#include "vectors/neon.h"
#else
#include "vectors/plain.h"
#endif

// Before other threads may read what was streamed.
DTAPE_INLINE void end_streams() {
#if defined(__AVX2__)
  _mm_sfence();
#endif
}

}  // namespace
}  // namespace deltatape::cpu::DTAPE_PATH

#endif
