// Sixteen floats without vector instructions. fma is a library call where the processor has none,
// so nothing here may be unrolled.
#define DTAPE_UNROLL
enum { TILE_ROWS = 1, TILE_VECTORS = 1, PRODUCT_ROWS = 1 };

struct v16 {
  float lane[16];
};

template <class Lane>
DTAPE_INLINE v16 each(Lane lane) {
  v16 v;
  for (int i = 0; i < 16; ++i) v.lane[i] = lane(i);
  return v;
}

DTAPE_INLINE v16 load(const float *p) {
  return each([=](int i) { return p[i]; });
}
DTAPE_INLINE void store(float *p, v16 v) {
  std::memcpy(p, v.lane, sizeof v.lane);
}
DTAPE_INLINE v16 all(float x) {
  return each([=](int) { return x; });
}
DTAPE_INLINE v16 add(v16 a, v16 b) {
  return each([&](int i) { return a.lane[i] + b.lane[i]; });
}
DTAPE_INLINE v16 mul(v16 a, v16 b) {
  return each([&](int i) { return a.lane[i] * b.lane[i]; });
}
DTAPE_INLINE v16 fma(v16 a, v16 b, v16 c) {
  return each([&](int i) { return fma(a.lane[i], b.lane[i], c.lane[i]); });
}
DTAPE_INLINE v16 one_nan(v16 v) {
  return each([&](int i) { return v.lane[i] == v.lane[i] ? v.lane[i] : as_type<float>(ONE_NAN); });
}
DTAPE_INLINE v16 within(float most, v16 v) {
  return each([&](int i) {
    const float x = v.lane[i];
    return x > most ? most : x < -most ? -most : x;
  });
}
DTAPE_INLINE v16 first(int n, v16 a, v16 b) {
  return each([&](int i) { return i < n ? a.lane[i] : b.lane[i]; });
}

DTAPE_INLINE float widen(bf16 x) {
  return as_type<float>(uint(x.bits) << 16);
}
DTAPE_INLINE float widen(f16 x) {
  const uint sign = (x.bits & 0x8000u) << 16, rest = x.bits & 0x7fffu;
  const uint finite = as_type<uint>(as_type<float>(rest << 13) * 0x1p112f);
  return as_type<float>(sign | (rest < 0x7c00u ? finite : 0x7f800000u | rest << 13));
}

DTAPE_INLINE void narrow(bf16 &to, float x) {
  const uint u = as_type<uint>(x);
  to.bits = uint16_t((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}
DTAPE_INLINE void narrow(f16 &to, float x) {
  const uint u = as_type<uint>(x), sign = u >> 16 & 0x8000u, rest = u & 0x7fffffffu;
  // Below 2^-14 the unit is 2^-24, which is that of 0.5.
  const uint small = as_type<uint>(as_type<float>(rest) + 0.5f) - 0x3f000000u;
  const uint normal = (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13;
  const uint large = rest > 0x7f800000u ? 0x7e00u : 0x7c00u;
  to.bits = uint16_t(sign | (rest < 0x38800000u ? small : rest < 0x47800000u ? normal : large));
}

template <class T>
DTAPE_INLINE v16 load(const T *p) {
  return each([=](int i) { return widen(p[i]); });
}
template <class T>
DTAPE_INLINE void store(T *p, v16 v) {
  for (int i = 0; i < 16; ++i) narrow(p[i], v.lane[i]);
}
template <class Element>
DTAPE_INLINE void stream(Element *p, v16 v) {
  store(p, v);
}

DTAPE_INLINE v16 sums(const float *p) {
  return each([=](int n) {
    float v[16];
    std::memcpy(v, p + n * 16, sizeof v);
    for (int apart = 8; apart > 0; apart /= 2)
      for (int i = 0; i < apart; ++i) v[i] += v[i + apart];
    return v[0];
  });
}
