#include <metal_stdlib>
using namespace metal;

// How arrays are stored and how they are read and written: float, half and bf16 in memory, float in
// registers. The host defines ALIGNED: 1 where every row begins at a multiple of four elements, so
// that four neighbours are read and written at once.

#pragma METAL fp contract(off)

struct bf16 {
  ushort bits;
};

// Processors differ in the bits of a NaN that they compute: states, tapes and y hold this one.
inline float one_nan(float x) { return x == x ? x : as_type<float>(0x7fc00000u); }

// To nearest, ties to even.
inline half to_half(float x) { return x == x ? half(x) : as_type<half>(ushort(0x7e00)); }
inline ushort to_bf16(float x) {
  const uint u = as_type<uint>(x);
  return x == x ? ushort((u + 0x7fffu + ((u >> 16) & 1u)) >> 16) : ushort(0x7fc0);
}

// Two neighbours, the first in the lower half.
inline uint bf16_pair(float low, float high) {
  return uint(to_bf16(low)) | uint(to_bf16(high)) << 16;
}

inline float get(device const float* p) { return *p; }
inline float get(device const half* p) { return float(*p); }
inline float get(device const bf16* p) { return as_type<float>(uint(p->bits) << 16); }

inline void put(device float* p, float x) { *p = one_nan(x); }
inline void put(device half* p, float x) { *p = to_half(x); }
inline void put(device bf16* p, float x) { p->bits = to_bf16(x); }

// Without the care for a NaN's bits, which costs the inverse an eighth of its time.
inline void put_plain(device float* p, float x) { *p = x; }
inline void put_plain(device half* p, float x) { *p = half(x); }
inline void put_plain(device bf16* p, float x) { p->bits = to_bf16(x); }

// Bit for bit, or converted where the types differ.
inline void copy(device float* to, device const float* from) {
  *(device uint*)to = *(device const uint*)from;
}
inline void copy(device half* to, device const half* from) {
  *(device ushort*)to = *(device const ushort*)from;
}
inline void copy(device bf16* to, device const bf16* from) { to->bits = from->bits; }
template <typename To, typename From>
inline void copy(device To* to, device const From* from) {
  put(to, get(from));
}

// Four neighbours as they are stored, and the numbers that they are.
template <typename T>
struct stored4;
template <>
struct stored4<float> {
  typedef float4 type;
};
template <>
struct stored4<half> {
  typedef half4 type;
};
template <>
struct stored4<bf16> {
  typedef uint2 type;
};
inline float4 numbers(float4 v) { return v; }
inline float4 numbers(half4 v) { return float4(v); }
inline float4 numbers(uint2 v) {
  return float4(as_type<float>(v.x << 16), as_type<float>(v.x & 0xffff0000u),
                as_type<float>(v.y << 16), as_type<float>(v.y & 0xffff0000u));
}
#if ALIGNED
template <typename T>
inline typename stored4<T>::type get_stored(device const T* p) {
  return *(device const typename stored4<T>::type*)p;
}
#else
inline float4 get_stored(device const float* p) { return float4(p[0], p[1], p[2], p[3]); }
inline half4 get_stored(device const half* p) { return half4(p[0], p[1], p[2], p[3]); }
inline uint2 get_stored(device const bf16* p) {
  uint2 v;
  v.x = uint(p[0].bits) | uint(p[1].bits) << 16;
  v.y = uint(p[2].bits) | uint(p[3].bits) << 16;
  return v;
}
#endif
template <typename T>
inline float4 get4(device const T* p) {
  return numbers(get_stored(p));
}

inline void put4(device float* p, float4 v) {
  *(device float4*)p = float4(one_nan(v.x), one_nan(v.y), one_nan(v.z), one_nan(v.w));
}
inline void put4(device half* p, float4 v) {
  const half4 h = half4(to_half(v.x), to_half(v.y), to_half(v.z), to_half(v.w));
  *(device ulong*)p = as_type<ulong>(h);
}
inline void put4(device bf16* p, float4 v) {
  uint2 u;
  u.x = bf16_pair(v.x, v.y);
  u.y = bf16_pair(v.z, v.w);
  *(device ulong*)p = as_type<ulong>(u);
}

// A dense tape of half saturates; the wider types hold whatever a product is.
inline float within_half(float x) {
  return x > 65504.0f ? 65504.0f : x < -65504.0f ? -65504.0f : x;
}
inline float4 storable(device const half* to, float4 v) {
  return float4(within_half(v.x), within_half(v.y), within_half(v.z), within_half(v.w));
}
template <typename T>
inline float4 storable(device const T* to, float4 v) {
  return v;
}

#if !BF16_PAIRS
inline uint plain_bf16_pair(float low, float high) { return bf16_pair(low, high); }
#endif
inline void put4_plain(device float* p, float4 v) { *(device float4*)p = v; }
inline void put4_plain(device half* p, float4 v) { *(device ulong*)p = as_type<ulong>(half4(v)); }
inline void put4_plain(device bf16* p, float4 v) {
  uint2 u;
  u.x = plain_bf16_pair(v.x, v.y);
  u.y = plain_bf16_pair(v.z, v.w);
  *(device ulong*)p = as_type<ulong>(u);
}

// One column of a row, 0 past its end.
template <uint Columns, typename T>
inline float get_column(device const T* row, uint at) {
  return at < Columns ? get(row + at) : 0.0f;
}
template <uint Columns, typename T>
inline void put_column(device T* row, uint at, float x) {
  if (at < Columns) put(row + at, x);
}

// Columns at, at + 1, at + 2 and at + 3 of a row. Those past its end read as 0 and are not written;
// Whole promises that there are none.
template <uint Columns, bool Whole, typename T>
inline float4 get_columns(device const T* row, uint at) {
#if ALIGNED
  return Whole || at < Columns ? get4(row + at) : float4(0.0f);
#else
  return float4(get_column<Columns>(row, at), get_column<Columns>(row, at + 1),
                get_column<Columns>(row, at + 2), get_column<Columns>(row, at + 3));
#endif
}
template <uint Columns, bool Whole, typename T>
inline void put_columns(device T* row, uint at, float4 v) {
#if ALIGNED
  if (Whole || at < Columns) put4(row + at, v);
#else
  put_column<Columns>(row, at, v.x);
  put_column<Columns>(row, at + 1, v.y);
  put_column<Columns>(row, at + 2, v.z);
  put_column<Columns>(row, at + 3, v.w);
#endif
}

// The same without the care for a NaN's bits.
template <typename T>
inline void put_columns_plain(device T* row, uint at, float4 v) {
#if ALIGNED
  put4_plain(row + at, v);
#else
  put_plain(row + at, v.x);
  put_plain(row + at + 1, v.y);
  put_plain(row + at + 2, v.z);
  put_plain(row + at + 3, v.w);
#endif
}
