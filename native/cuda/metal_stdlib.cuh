// What the shaders use of Metal's standard library, for NVRTC, which receives this text as
// <metal_stdlib>. Compile with -default-device, since Metal's functions carry no __device__, and
// with -fmad=false. The host defines THREADS, RESIDENT, TABLE, CALLS and DEPTH besides a shader's
// own macros.
#pragma once

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long long ulong;

// Converts and does no arithmetic of its own. By PTX, since NVRTC comes without cuda_fp16.h.
struct half {
  ushort bits;
  half() = default;
  explicit half(float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
  operator float() const {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
  }
};

namespace metal {

template <class T, int N>
struct vec;
// Trivial to construct: arrays in __shared__ memory accept nothing else.
template <class T>
struct alignas(4 * sizeof(T)) vec<T, 4> {
  T x, y, z, w;
  vec() = default;
  explicit vec(T s) : x(s), y(s), z(s), w(s) {}
  vec(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
  template <class U>
  explicit vec(vec<U, 4> v) : x(T(v[0])), y(T(v[1])), z(T(v[2])), w(T(v[3])) {}
  T &operator[](uint i) { return (&x)[i]; }
};
// Two pairs, each of which one instruction makes of floats.
template <>
struct alignas(8) vec<half, 4> {
  uint pairs[2];
  vec() = default;
  vec(half a, half b, half c, half d)
      : pairs{a.bits | uint(b.bits) << 16, c.bits | uint(d.bits) << 16} {}
  explicit vec(vec<float, 4> v) : pairs{pair(v.x, v.y), pair(v.z, v.w)} {}
  half operator[](uint i) const {
    half h;
    h.bits = ushort(pairs[i / 2] >> i % 2 * 16);
    return h;
  }
  static uint pair(float low, float high) {
#if __CUDA_ARCH__ >= 800
    uint both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
#else
    return half(low).bits | uint(half(high).bits) << 16;
#endif
  }
};

// One instruction for two numbers: to nearest, ties to even, like the shaders' own.
#if __CUDA_ARCH__ >= 800
#define BF16_PAIRS 1
inline uint plain_bf16_pair(float low, float high) {
  uint both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
#endif

// The compiler's own: functions of the same types beside them would be ambiguous.
using ::fma;
using ::max;
using ::min;

template <class T, class F>
inline T as_type(F v) {
  static_assert(sizeof(T) == sizeof(F), "as_type");
  union {
    F from;
    T to;
  } u = {v};
  return u.to;
}

template <class T>
inline T simd_shuffle_xor(T v, ushort mask) {
  return __shfl_xor_sync(0xffffffffu, v, mask);
}
template <class T>
inline T simd_shuffle(T v, ushort lane) {
  return __shfl_sync(0xffffffffu, v, lane);
}

enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
#if THREADS == 32
inline void threadgroup_barrier(mem_flags) {
  __syncwarp();
}
#else
inline void threadgroup_barrier(mem_flags) {
  __syncthreads();
}
#endif
inline void simdgroup_barrier(mem_flags) {
  __syncwarp();
}

namespace cuda {

// A position attribute closes its own brackets and becomes a default argument, which the caller
// below leaves out:
//   uint lane [[thread_index_in_simdgroup]]   ->   uint lane [[]] = simd_lane()[start()[0 ]]
struct start {
  uint operator[](uint) const { return 0; }
};
struct grid_group {
  uint3 operator[](uint) const {
    return {blockIdx.x, blockIdx.y, CALLS > 1 ? blockIdx.z % DEPTH : blockIdx.z};
  }
};
struct group_thread {
  uint operator[](uint) const { return threadIdx.x; }
};
struct simd_lane {
  uint operator[](uint) const { return threadIdx.x % 32; }
};
struct simd_group {
  uint operator[](uint) const { return threadIdx.x / 32; }
};

// A small table travels with the arguments, like constants on Metal.
struct table {
  int at[TABLE];
  operator const int *() const { return at; }
};

// What a shader's parameter is among the arguments; positions are none of them.
template <class T>
struct argument {
  static constexpr bool given = false;
};
template <class T>
struct argument<T *> {
  static constexpr bool given = true;
  typedef T *type;
};
template <class T>
struct argument<const T &> {
  static constexpr bool given = true;
  typedef T type;
};
template <>
struct argument<const int *> {
  static constexpr bool given = true;
  typedef table type;
};

// The arguments of a call, laid out like a C struct of them.
template <class Head, class... Rest>
struct arguments {
  Head head;
  arguments<Rest...> rest;
};
template <class Last>
struct arguments<Last> {
  Last head;
};

template <class Shader, class Last, class... Before>
__forceinline__ void call(const arguments<Last> &a, const Before &...before) {
  Shader::call(before..., a.head);
}
template <class Shader, class Head, class Next, class... Rest, class... Before>
__forceinline__ void call(const arguments<Head, Next, Rest...> &a, const Before &...before) {
  call<Shader>(a.rest, before..., a.head);
}

template <class... Given>
struct launch {
  arguments<Given...> calls[CALLS];
};

#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1107
#define in_place __grid_constant__
#else
#define in_place
#endif

#if RESIDENT
#define group_bounds __launch_bounds__(THREADS, RESIDENT)
#else
#define group_bounds __launch_bounds__(THREADS)
#endif

// Up to CALLS calls of DEPTH groups along z each.
template <class Shader, class... Given>
__global__ void group_bounds run(const in_place launch<Given...> all) {
#if __CUDA_ARCH__ >= 900
  // A kernel may be started while the one before it in the stream ends: it waits here for all that
  // that one writes. Its groups may take the place of the last of a large grid's; those of a small
  // one, which run at once, they would only disturb.
  if (ulong(gridDim.x) * gridDim.y * gridDim.z * THREADS >= 1 << 17) {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  }
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  call<Shader>(all.calls[CALLS > 1 ? blockIdx.z / DEPTH : 0]);
}

template <class... T>
struct list {};
template <class Shader, class... Given>
constexpr auto pick(list<Given...>, list<>) {
  return &run<Shader, Given...>;
}
template <class Shader, class... Given, class Next, class... Rest>
constexpr auto pick(list<Given...>, list<Next, Rest...>) {
  if constexpr (argument<Next>::given) {
    return pick<Shader>(list<Given..., typename argument<Next>::type>(), list<Rest...>());
  } else {
    return &run<Shader, Given...>;
  }
}
template <class Shader, class... Parameters>
constexpr auto entry(void (*)(Parameters...)) {
  return pick<Shader>(list<>(), list<Parameters...>());
}

}  // namespace cuda
}  // namespace metal

// After a shader: defines NAME_entry, which is the name expression of its CUDA kernel.
#define CUDA_ENTRY(name)                                      \
  struct name##_shader {                                      \
    template <class... Given>                                 \
    static __forceinline__ void call(const Given &...given) { \
      name(given...);                                         \
    }                                                         \
  };                                                          \
  constexpr auto name##_entry = metal::cuda::entry<name##_shader>(&name);

#define threadgroup_position_in_grid ]] = metal::cuda::grid_group()[metal::cuda::start()[0
#define thread_index_in_threadgroup ]] = metal::cuda::group_thread()[metal::cuda::start()[0
#define thread_index_in_simdgroup ]] = metal::cuda::simd_lane()[metal::cuda::start()[0
#define simdgroup_index_in_threadgroup ]] = metal::cuda::simd_group()[metal::cuda::start()[0

typedef metal::vec<half, 4> half4;
// CUDA has a float4 of its own, without constructors.
#define float4 ::metal::vec<float, 4>
#define kernel static __forceinline__
#define threadgroup __shared__
#define constant const
#define thread
// Last: __device__ does not work below.
#define device
