#include <metal_stdlib>
using namespace metal;

// Turns every block of 64 values round and adds to each the sum of its 32 neighbours: small, but
// with threadgroup memory, a barrier, shuffles and every position.

struct turn_params {
  uint count;
  uint reserved;
};

[[max_total_threads_per_threadgroup(64)]]
kernel void turn(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                 constant turn_params &p [[buffer(2)]],
                 uint3 group [[threadgroup_position_in_grid]],
                 uint index [[thread_index_in_threadgroup]],
                 uint lane [[thread_index_in_simdgroup]],
                 uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[64];
  threadgroup float4 sums[2];
  const ulong base = ulong(group.x) * 64;
  tile[index] = in[min(uint(base) + index, p.count - 1)];
  threadgroup_barrier(mem_flags::mem_threadgroup);

  const float mine = tile[63 - index];
  float sum = mine;
  for (uint w = 1; w < 32; w *= 2) sum += simd_shuffle_xor(sum, w);
  if (lane == 0) sums[simdgroup] = float4(sum, 0.0f, 0.0f, 0.0f);
  simdgroup_barrier(mem_flags::mem_threadgroup);

  if (base + index < p.count) out[base + index] = mine + sums[index / 32].x;
}
