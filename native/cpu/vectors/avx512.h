// Sixteen floats in one AVX-512 register.

#define DTAPE_UNROLL _Pragma("GCC unroll 16")
enum { TILE_ROWS = 2, TILE_VECTORS = 8, PRODUCT_ROWS = 8 };

typedef __m512 v16;

DTAPE_INLINE v16 load(const float *p) {
  return _mm512_loadu_ps(p);
}
DTAPE_INLINE void store(float *p, v16 v) {
  _mm512_storeu_ps(p, v);
}
DTAPE_INLINE void stream(float *p, v16 v) {
  _mm512_stream_ps(p, v);
}
DTAPE_INLINE v16 all(float x) {
  return _mm512_set1_ps(x);
}
DTAPE_INLINE v16 add(v16 a, v16 b) {
  return _mm512_add_ps(a, b);
}
DTAPE_INLINE v16 mul(v16 a, v16 b) {
  return _mm512_mul_ps(a, b);
}
DTAPE_INLINE v16 fma(v16 a, v16 b, v16 c) {
  return _mm512_fmadd_ps(a, b, c);
}
DTAPE_INLINE v16 one_nan(v16 v) {
  return _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q),
                            all(as_type<float>(ONE_NAN)));
}
// Of a NaN and a number these instructions return their second operand.
DTAPE_INLINE v16 within(float most, v16 v) {
  return _mm512_max_ps(all(-most), _mm512_min_ps(all(most), v));
}
DTAPE_INLINE v16 first(int n, v16 a, v16 b) {
  return _mm512_mask_mov_ps(b, __mmask16((1u << n) - 1), a);
}

DTAPE_INLINE v16 load(const f16 *p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}
DTAPE_INLINE v16 load(const bf16 *p) {
  const __m512i u = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
  return _mm512_castsi512_ps(_mm512_slli_epi32(u, 16));
}
DTAPE_INLINE __m256i narrow(f16, v16 v) {
  return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
}
DTAPE_INLINE __m256i narrow(bf16, v16 v) {
  const __m512i u = _mm512_castps_si512(v), even = _mm512_set1_epi32(1);
  const __m512i half =
      _mm512_add_epi32(_mm512_and_si512(_mm512_srli_epi32(u, 16), even), _mm512_set1_epi32(0x7fff));
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_add_epi32(u, half), 16));
}
#include "narrowed.h"

// Adds what lies in the quarters (or, within quarters, the elements) that the two selections name.
#define DTAPE_FOLD(shuffle, a, b, low, high) add(shuffle(a, b, low), shuffle(a, b, high))

DTAPE_INLINE v16 sums(const float *p) {
  v16 v[16];
  DTAPE_UNROLL
  for (int i = 0; i < 16; ++i) v[i] = load(p + i * 16);
  DTAPE_UNROLL
  for (int i = 0; i < 8; ++i) v[i] = DTAPE_FOLD(_mm512_shuffle_f32x4, v[i], v[i + 8], 0x44, 0xee);
  DTAPE_UNROLL
  for (int i = 0; i < 4; ++i) v[i] = DTAPE_FOLD(_mm512_shuffle_f32x4, v[i], v[i + 4], 0x88, 0xdd);
  DTAPE_UNROLL
  for (int i = 0; i < 2; ++i) v[i] = DTAPE_FOLD(_mm512_shuffle_ps, v[i], v[i + 2], 0x44, 0xee);
  v[0] = DTAPE_FOLD(_mm512_shuffle_ps, v[0], v[1], 0x88, 0xdd);
  return _mm512_permutexvar_ps(
      _mm512_setr_epi32(0, 2, 1, 3, 8, 10, 9, 11, 4, 6, 5, 7, 12, 14, 13, 15), v[0]);
}
#undef DTAPE_FOLD
