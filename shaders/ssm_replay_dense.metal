// The first entries of a dense tape, folded onto a state.
//
// Grid: x = head, y = tile of rows, z = sequence. See state.metal for who holds what. Besides its
// macros the host defines the types DBX_TYPE and MASK_TYPE, and MASKED, whether there is a mask.

[[max_total_threads_per_threadgroup(THREADS)]]
kernel void ssm_replay_dense(device const STATE_IN* state [[buffer(0)]],
                             device STATE_OUT* state_out [[buffer(1)]],
                             device const float* da_log [[buffer(2)]],
                             device const DBX_TYPE* dbx_log [[buffer(3)]],
                             device const MASK_TYPE* mask [[buffer(4)]],
                             constant ssm_params& p [[buffer(5)]],
                             constant int* sequences [[buffer(6)]],
                             uint3 group [[threadgroup_position_in_grid]],
                             uint lane [[thread_index_in_simdgroup]],
                             uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  const uint head = group.x, sequence = p.first + group.z;
  lane_place place;
  place.first = group.y * TILE + simdgroup * APART * ROWS + lane / LANES;
  place.part = lane % LANES;
  place.rows = p.rows;
  const int from = sequences[group.z * 3], to = sequences[group.z * 3 + 1];
  const int k = sequences[group.z * 3 + 2];
  if (k < 0) return;  // these returns are the whole group's
  const uint end = min(uint(k), p.end);
  const ulong base = ulong(head) * p.rows * DS;
  device const STATE_IN* read = state + (from < 0 ? 0 : from * p.state_stride + base);
  device STATE_OUT* written = state_out + to * p.state_out_stride + base;
  if (end <= p.begin) {
    keep(written, read, from < 0, place);
    return;
  }

  lane_state s;
  load(s, read, place);
#pragma unroll 4
  for (uint t = p.begin; t < end; ++t) {
    const ulong time = ulong(sequence) * p.steps + t, at = time * p.heads + head;
#if MASKED
    if (mask[time] == 0) continue;
#endif
#pragma unroll
    for (uint i = 0; i < VECTORS; ++i) {
      const uint column = column_of(place, i);
      const float4 f = get_columns<DS, WHOLE>(da_log + at * DS, column);
#pragma unroll
      for (uint r = 0; r < ROWS; ++r) {
        device const DBX_TYPE* row = dbx_log + (at * p.rows + row_of(place, r)) * DS;
        s.at[r][i] = fold(f, s.at[r][i], get_columns<DS, WHOLE>(row, column));
      }
    }
  }
  // In place, rows past the end have read the last one.
  if (p.rows % TILE != 0) threadgroup_barrier(mem_flags::mem_threadgroup);
  store(s, written, place);
}
