// Sixteen floats in two AVX registers, with FMA and F16C.

#define DTAPE_UNROLL _Pragma("GCC unroll 16")
enum { TILE_ROWS = 2, TILE_VECTORS = 4, PRODUCT_ROWS = 2 };

struct v16 {
  __m256 a, b;
};

DTAPE_INLINE v16 load(const float *p) {
  return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
DTAPE_INLINE void store(float *p, v16 v) {
  _mm256_storeu_ps(p, v.a);
  _mm256_storeu_ps(p + 8, v.b);
}
DTAPE_INLINE void stream(float *p, v16 v) {
  _mm256_stream_ps(p, v.a);
  _mm256_stream_ps(p + 8, v.b);
}
DTAPE_INLINE v16 all(float x) {
  return {_mm256_set1_ps(x), _mm256_set1_ps(x)};
}
DTAPE_INLINE v16 add(v16 x, v16 y) {
  return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)};
}
DTAPE_INLINE v16 mul(v16 x, v16 y) {
  return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)};
}
DTAPE_INLINE v16 fma(v16 x, v16 y, v16 z) {
  return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
}
DTAPE_INLINE __m256 one_nan(__m256 v) {
  return _mm256_blendv_ps(v, _mm256_set1_ps(as_type<float>(ONE_NAN)),
                          _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}
DTAPE_INLINE v16 one_nan(v16 v) {
  return {one_nan(v.a), one_nan(v.b)};
}
// Of a NaN and a number these instructions return their second operand.
DTAPE_INLINE v16 within(float most, v16 v) {
  const __m256 high = _mm256_set1_ps(most), low = _mm256_set1_ps(-most);
  return {_mm256_max_ps(low, _mm256_min_ps(high, v.a)),
          _mm256_max_ps(low, _mm256_min_ps(high, v.b))};
}
DTAPE_INLINE v16 first(int n, v16 x, v16 y) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i low = _mm256_cmpgt_epi32(_mm256_set1_epi32(n), lane);
  const __m256i high = _mm256_cmpgt_epi32(_mm256_set1_epi32(n - 8), lane);
  return {_mm256_blendv_ps(y.a, x.a, _mm256_castsi256_ps(low)),
          _mm256_blendv_ps(y.b, x.b, _mm256_castsi256_ps(high))};
}

DTAPE_INLINE __m256 widen(const f16 *p) {
  return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}
DTAPE_INLINE __m256 widen(const bf16 *p) {
  const __m256i u = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
  return _mm256_castsi256_ps(_mm256_slli_epi32(u, 16));
}
template <class T>
DTAPE_INLINE v16 load(const T *p) {
  return {widen(p), widen(p + 8)};
}

DTAPE_INLINE __m256i narrow(f16, v16 v) {
  return _mm256_set_m128i(_mm256_cvtps_ph(v.b, _MM_FROUND_TO_NEAREST_INT),
                          _mm256_cvtps_ph(v.a, _MM_FROUND_TO_NEAREST_INT));
}
DTAPE_INLINE __m256i to_bf16(__m256 v) {
  const __m256i u = _mm256_castps_si256(v), even = _mm256_set1_epi32(1);
  const __m256i half =
      _mm256_add_epi32(_mm256_and_si256(_mm256_srli_epi32(u, 16), even), _mm256_set1_epi32(0x7fff));
  return _mm256_srli_epi32(_mm256_add_epi32(u, half), 16);
}
DTAPE_INLINE __m256i narrow(bf16, v16 v) {
  // packus interleaves the halves of its operands: 0 2 1 3 puts them in order.
  return _mm256_permute4x64_epi64(_mm256_packus_epi32(to_bf16(v.a), to_bf16(v.b)), 0xd8);
}
#include "narrowed.h"

#define DTAPE_FOLD(shuffle, a, b, low, high) _mm256_add_ps(shuffle(a, b, low), shuffle(a, b, high))

DTAPE_INLINE __m256 sums8(const float *p) {
  __m256 v[8];
  DTAPE_UNROLL
  for (int i = 0; i < 8; ++i) {
    const v16 row = load(p + i * 16);
    v[i] = _mm256_add_ps(row.a, row.b);
  }
  DTAPE_UNROLL
  for (int i = 0; i < 4; ++i) v[i] = DTAPE_FOLD(_mm256_permute2f128_ps, v[i], v[i + 4], 0x20, 0x31);
  DTAPE_UNROLL
  for (int i = 0; i < 2; ++i) v[i] = DTAPE_FOLD(_mm256_shuffle_ps, v[i], v[i + 2], 0x44, 0xee);
  v[0] = DTAPE_FOLD(_mm256_shuffle_ps, v[0], v[1], 0x88, 0xdd);
  return _mm256_permutevar8x32_ps(v[0], _mm256_setr_epi32(0, 2, 1, 3, 4, 6, 5, 7));
}
DTAPE_INLINE v16 sums(const float *p) {
  return {sums8(p), sums8(p + 8 * 16)};
}
#undef DTAPE_FOLD
