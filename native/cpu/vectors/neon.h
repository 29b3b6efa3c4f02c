// Sixteen floats in four Advanced SIMD registers.

#define DTAPE_UNROLL _Pragma("GCC unroll 16")
enum { TILE_ROWS = 2, TILE_VECTORS = 2, PRODUCT_ROWS = 2 };

struct v16 {
  float32x4_t q[4];
};

template <class Quarter>
DTAPE_INLINE v16 each(Quarter quarter) {
  return {{quarter(0), quarter(1), quarter(2), quarter(3)}};
}

DTAPE_INLINE v16 load(const float *p) {
  return each([=](int i) { return vld1q_f32(p + i * 4); });
}
DTAPE_INLINE void store(float *p, v16 v) {
  for (int i = 0; i < 4; ++i) vst1q_f32(p + i * 4, v.q[i]);
}
DTAPE_INLINE v16 all(float x) {
  return each([=](int) { return vdupq_n_f32(x); });
}
DTAPE_INLINE v16 add(v16 a, v16 b) {
  return each([&](int i) { return vaddq_f32(a.q[i], b.q[i]); });
}
DTAPE_INLINE v16 mul(v16 a, v16 b) {
  return each([&](int i) { return vmulq_f32(a.q[i], b.q[i]); });
}
DTAPE_INLINE v16 fma(v16 a, v16 b, v16 c) {
  return each([&](int i) { return vfmaq_f32(c.q[i], a.q[i], b.q[i]); });
}
DTAPE_INLINE v16 one_nan(v16 v) {
  return each([&](int i) {
    return vbslq_f32(vceqq_f32(v.q[i], v.q[i]), v.q[i], vdupq_n_f32(as_type<float>(ONE_NAN)));
  });
}
DTAPE_INLINE v16 within(float most, v16 v) {
  return each(
      [&](int i) { return vmaxq_f32(vdupq_n_f32(-most), vminq_f32(vdupq_n_f32(most), v.q[i])); });
}
DTAPE_INLINE v16 first(int n, v16 a, v16 b) {
  const int32_t lanes[4] = {0, 1, 2, 3};
  return each([&](int i) {
    return vbslq_f32(vcltq_s32(vld1q_s32(lanes), vdupq_n_s32(n - i * 4)), a.q[i], b.q[i]);
  });
}

DTAPE_INLINE float32x4_t widen(const f16 *p) {
  return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(&p->bits)));
}
DTAPE_INLINE float32x4_t widen(const bf16 *p) {
  return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(&p->bits), 16));
}
DTAPE_INLINE void narrow(f16 *p, float32x4_t v) {
  vst1_u16(&p->bits, vreinterpret_u16_f16(vcvt_f16_f32(v)));
}
DTAPE_INLINE void narrow(bf16 *p, float32x4_t v) {
  const uint32x4_t u = vreinterpretq_u32_f32(v);
  const uint32x4_t odd = vandq_u32(vshrq_n_u32(u, 16), vdupq_n_u32(1));
  vst1_u16(&p->bits, vaddhn_u32(u, vaddq_u32(odd, vdupq_n_u32(0x7fff))));
}
template <class T>
DTAPE_INLINE v16 load(const T *p) {
  return each([=](int i) { return widen(p + i * 4); });
}
template <class T>
DTAPE_INLINE void store(T *p, v16 v) {
  for (int i = 0; i < 4; ++i) narrow(p + i * 4, v.q[i]);
}
template <class Element>
DTAPE_INLINE void stream(Element *p, v16 v) {
  store(p, v);
}

// Elements 8 and 4 apart in each of four rows; pairs then meet in the order 0 + 2, 1 + 3.
DTAPE_INLINE float32x4_t sums4(const float *p) {
  float32x4_t v[4];
  for (int i = 0; i < 4; ++i) {
    const v16 row = load(p + i * 16);
    v[i] = vaddq_f32(vaddq_f32(row.q[0], row.q[2]), vaddq_f32(row.q[1], row.q[3]));
  }
  const float32x4_t low01 = vcombine_f32(vget_low_f32(v[0]), vget_low_f32(v[1]));
  const float32x4_t high01 = vcombine_f32(vget_high_f32(v[0]), vget_high_f32(v[1]));
  const float32x4_t low23 = vcombine_f32(vget_low_f32(v[2]), vget_low_f32(v[3]));
  const float32x4_t high23 = vcombine_f32(vget_high_f32(v[2]), vget_high_f32(v[3]));
  return vpaddq_f32(vaddq_f32(low01, high01), vaddq_f32(low23, high23));
}
DTAPE_INLINE v16 sums(const float *p) {
  return each([=](int i) { return sums4(p + i * 64); });
}
