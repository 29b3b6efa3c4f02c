// The first entries of a factored tape, folded onto a state.
//
// Grid: x = head, y = tile of rows, z = sequence. See state.metal for who holds what. v, u * scale
// and the decays of CHUNK entries lie in threadgroup memory. Besides state.metal's macros the host
// defines CHUNK; COLUMNS, whether there is a decay for each column; the types U_TYPE, V_TYPE,
// MASK_TYPE; SCALED and MASKED, whether those arrays are there.

[[max_total_threads_per_threadgroup(THREADS)]]
kernel void ssm_replay(device const STATE_IN* state [[buffer(0)]],
                       device STATE_OUT* state_out [[buffer(1)]],
                       device const float* decay [[buffer(2)]],
                       device const U_TYPE* u [[buffer(3)]],
                       device const V_TYPE* v [[buffer(4)]],
                       device const float* scale [[buffer(5)]],
                       device const MASK_TYPE* mask [[buffer(6)]],
                       constant ssm_params& p [[buffer(7)]],
                       constant int* sequences [[buffer(8)]],
                       uint3 group [[threadgroup_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  const uint head = group.x, sequence = p.first + group.z, tile = group.y * TILE;
  const uint in_tile = simdgroup * APART * ROWS + lane / LANES;
  lane_place place;
  place.first = tile + in_tile;
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

  threadgroup float4 tile_v[CHUNK * QUADS];
  threadgroup float tile_u[CHUNK * TILE];
#if COLUMNS
  threadgroup float4 tile_decay[CHUNK * QUADS];
#else
  threadgroup float tile_decay[CHUNK];
#endif

  lane_state s;
  for (uint begin = p.begin; begin < end; begin += CHUNK) {
    const uint left = min(end - begin, uint(CHUNK));
    if (begin > p.begin) threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint mine = min(simdgroup, left - 1);
    const ulong time = ulong(sequence) * p.steps + begin + mine, at = time * p.heads + head;
#if MASKED
    const bool active = mask[time] != 0;
#else
    const bool active = true;
#endif
#if SCALED
    const float by = scale[at];
#else
    const float by = 1.0f;
#endif
    float4 v_part[COLUMN_PARTS];
    float u_part[ROW_PARTS];
    load_columns(v_part, v + (time * p.groups + head / p.sharing) * DS, lane);
    load_rows(u_part, u + at * p.rows, tile, p.rows, lane);
#if COLUMNS
    float4 decay_part[COLUMN_PARTS];
    load_columns(decay_part, decay + at * DS, lane);
#else
    const float f = decay[at];
#endif
    // Behind the tape's loads, which the barrier waits for: before them it takes an eighth longer.
    if (begin == p.begin) load(s, read, place);
    if (simdgroup < left) {
      // Masked: 1 * s + -0.0, which is s.
      const bool live = active && by != 0.0f;
      put_columns_live(tile_v + mine * QUADS, v_part, live, lane);
      put_rows_live(tile_u + mine * TILE, u_part, by, live, lane);
#if COLUMNS
      put_columns_live(tile_decay + mine * QUADS, decay_part, active, lane);
#else
      if (lane == 0) tile_decay[mine] = active ? f : 1.0f;
#endif
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    for (uint t = 0; t < left; ++t) {
#if !COLUMNS
      const float4 f = float4(tile_decay[t]);
#endif
      float ut[ROWS];
#pragma unroll
      for (uint r = 0; r < ROWS; ++r) ut[r] = tile_u[t * TILE + in_tile + r * APART];
#pragma unroll
      for (uint i = 0; i < VECTORS; ++i) {
        const float4 vt = tile_v[t * QUADS + i * LANES + place.part];
#if COLUMNS
        const float4 f = tile_decay[t * QUADS + i * LANES + place.part];
#endif
#pragma unroll
        for (uint r = 0; r < ROWS; ++r) s.at[r][i] = fold(f, s.at[r][i], outer(ut[r], vt));
      }
    }
  }
  store(s, written, place);
}
