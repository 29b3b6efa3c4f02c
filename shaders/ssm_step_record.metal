// T steps of a selective state-space layer, and the tape of them.
//
// Grid: x = head, y = tile of rows, z = sequence. See state.metal for who holds what. With STAGED,
// b, c, x and u = x * scale of CHUNK steps, a simdgroup's each, lie in threadgroup memory, and the
// sums of STEPS steps share their shuffles; without, for a single step, every lane reads its own.
// Besides state.metal's macros the host defines CHUNK, STEPS, STAGED; the types ACTIVATION,
// A_LOG_TYPE, D_TYPE, DT_TYPE, MASK_TYPE, DBX_TYPE; TAPE (NONE, FACTORED, DENSE); MASKED and HAS_D,
// whether those arrays are there; SEQUENCES, whether that table is. decay_out is da_log of a dense
// tape. Bytes depend on LANES (those of y) and on no other of these numbers.

[[max_total_threads_per_threadgroup(THREADS)]]
kernel void ssm_step_record(device const ACTIVATION* x [[buffer(0)]],
                            device const A_LOG_TYPE* a_log [[buffer(1)]],
                            device const ACTIVATION* b [[buffer(2)]],
                            device const ACTIVATION* c [[buffer(3)]],
                            device const D_TYPE* d [[buffer(4)]],
                            device const DT_TYPE* dt [[buffer(5)]],
                            device const STATE_IN* state [[buffer(6)]],
                            device const MASK_TYPE* mask [[buffer(7)]],
                            device ACTIVATION* y [[buffer(8)]],
                            device STATE_OUT* state_out [[buffer(9)]],
                            device float* decay_out [[buffer(10)]],
                            device float* scale_out [[buffer(11)]],
                            device DBX_TYPE* dbx_out [[buffer(12)]],
                            constant ssm_params& p [[buffer(13)]],
                            constant int* sequences [[buffer(14)]],
                            uint3 group [[threadgroup_position_in_grid]],
                            uint lane [[thread_index_in_simdgroup]],
                            uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  constexpr uint sums = STEPS * ROWS, per_lane = sums > LANES ? sums / LANES : 1;
  constexpr uint lanes_a_sum = sums < LANES ? LANES / sums : 1;
  const uint head = group.x, sequence = p.first + group.z, tile = group.y * TILE;
  const uint in_tile = simdgroup * APART * ROWS + lane / LANES;
  lane_place place;
  place.first = tile + in_tile;
  place.part = lane % LANES;
  place.rows = p.rows;
#if SEQUENCES
  const int from = sequences[group.z * 3], to = sequences[group.z * 3 + 1];
  const bool skipped = sequences[group.z * 3 + 2] < 0;
#else
  const int from = int(sequence), to = from;
  const bool skipped = false;
#endif

#if STAGED
  threadgroup float4 tile_b[CHUNK * QUADS];
  threadgroup float4 tile_c[CHUNK * QUADS];
  threadgroup float tile_u[CHUNK * TILE];
  threadgroup float tile_x[CHUNK * TILE];
  threadgroup float tile_decay[CHUNK];
#endif

  lane_state s;
  const bool zeros = SEQUENCES && from < 0;
  device const STATE_IN* read =
      state + (zeros ? 0 : ulong(from) * p.state_stride + ulong(head) * p.rows * DS);
#if !STAGED
  load(s, read, zeros, place);
#endif

  const float rate_log = get(a_log + head);
#if HAS_D
  const float through = get(d + head);
#endif
  const uint wide = p.heads * p.rows;
  for (uint begin = p.begin; begin < p.end; begin += CHUNK) {
    const uint left = min(p.end - begin, uint(CHUNK));
    const ulong time = ulong(sequence) * p.steps + begin;
    const ulong shared = (time * p.groups + head / p.sharing) * DS;
    device const ACTIVATION* xs = x + (time * p.heads + head) * p.rows;
    device ACTIVATION* ys = y + (time * p.heads + head) * p.rows;

#if STAGED
    if (begin > p.begin) threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    // Of step begin + lane. Where scale is 0, s becomes decay * s + -0.0, which is decay * s: x and
    // b do not count.
    const uint of = min(lane, left - 1);
    float scale = get(dt + (time + of) * p.heads + head);
#if MASKED
    if (mask[time + of] == 0) scale = 0.0f;
#endif
    if (skipped || scale == 0.0f) scale = 0.0f;
#if STAGED
    const uint mine = min(simdgroup, left - 1), across = mine * p.groups * DS;
    float4 b_part[COLUMN_PARTS], c_part[COLUMN_PARTS];
    float x_part[ROW_PARTS];
    load_columns(b_part, b + shared + across, lane);
    load_columns(c_part, c + shared + across, lane);
    load_rows(x_part, xs + mine * wide, tile, p.rows, lane);
    // Behind the loads that the barrier waits for: before them it takes longer.
    if (begin == p.begin) load(s, read, zeros, place);
    if (simdgroup < left) {
      const float by = simd_shuffle(scale, mine);
      put_columns_live(tile_b + mine * QUADS, b_part, by != 0.0f, lane);
      put_columns_live(tile_c + mine * QUADS, c_part, true, lane);
      put_rows_live(tile_u + mine * TILE, x_part, by, by != 0.0f, lane);
      put_rows_live(tile_x + mine * TILE, x_part, 1.0f, true, lane);
    }
#else
    lane_step step;
    load(step, b + shared, c + shared, xs, place);
#endif
    // Behind all loads: none could pass what is stored here.
    float decay = 1.0f;
    if ((!STAGED || simdgroup == 0) && scale != 0.0f) {
      decay = exponential(-exponential(rate_log) * scale);
    }
#if TAPE == FACTORED
    if (simdgroup == 0 && group.y == 0 && lane < left) {
      const ulong at = (time + lane) * p.heads + head;
      put(decay_out + at, decay);
      put(scale_out + at, scale);
    }
#endif
#if STAGED
    if (simdgroup == 0 && lane < left) tile_decay[lane] = decay;
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
#if TAPE == DENSE
    for (uint t = simdgroup; group.y == 0 && t < left; t += THREADS / 32) {
#if STAGED
      decay = tile_decay[t];
#endif
      device float* columns = decay_out + ((time + t) * p.heads + head) * DS;
      for (uint e = lane; e < DS; e += 32) put(columns + e, decay);
    }
#endif

    for (uint t = 0; t < left; t += STEPS) {
      float sum[sums];
#pragma unroll
      for (uint j = 0; j < sums; ++j) sum[j] = 0.0f;
#pragma unroll
      for (uint j = 0; j < STEPS; ++j) {
        if (t + j >= left) continue;
        const ulong series = (time + t + j) * p.heads + head;
        float u[ROWS];
#if STAGED
        decay = tile_decay[t + j];
#endif
#pragma unroll
        for (uint r = 0; r < ROWS; ++r) {
#if STAGED
          u[r] = tile_u[(t + j) * TILE + in_tile + r * APART];
#else
          u[r] = scale == 0.0f ? -0.0f : step.x[r] * scale;
#endif
        }
#pragma unroll
        for (uint i = 0; i < VECTORS; ++i) {
#if STAGED
          const uint quad = (t + j) * QUADS + i * LANES + place.part;
          const float4 bt = tile_b[quad], ct = tile_c[quad];
#else
          const float4 bt = scale == 0.0f ? float4(1.0f) : step.b[i], ct = step.c[i];
#endif
          advance(s, i, decay, u, bt, ct, sum + j * ROWS, dbx_out + series * p.rows * DS, place);
        }
      }
      sum_over_lanes<sums>(sum, place.part);
#pragma unroll
      for (uint i = 0; i < per_lane; ++i) {
        const uint which = place.part * sums / LANES + i, j = t + which / ROWS;
        if (exists(place, which % ROWS) && j < left && place.part % lanes_a_sum == 0) {
          const uint at = j * wide + row_of(place, which % ROWS);
#if HAS_D && STAGED
          sum[i] = fma(through, tile_x[j * TILE + in_tile + which % ROWS * APART], sum[i]);
#elif HAS_D
          sum[i] = fma(through, get(xs + at), sum[i]);
#endif
          put(ys + at, skipped ? 0.0f : sum[i]);
        }
      }
    }
  }

  if (SEQUENCES && to < 0) return;
#if !STAGED
  // In place, rows past the end have read the last one.
  if (p.rows % TILE != 0) threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  store(s, state_out + ulong(to) * p.state_out_stride + ulong(head) * p.rows * DS, place);
}
