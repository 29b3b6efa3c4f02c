// T steps of a selective state-space layer, and the tape of them.
//
// Grid: x = head, y = tile of rows, z = sequence. See state.metal for who holds what. With STAGED,
// b, c and u = x * scale of CHUNK steps lie in threadgroup memory, and the sums of STEPS steps
// share their shuffles; without, for a single step, every lane reads its own. Besides state.metal's
// macros the host defines CHUNK, STEPS, STAGED; the types ACTIVATION, A_LOG_TYPE, D_TYPE, DT_TYPE,
// MASK_TYPE, DBX_TYPE; TAPE (NONE, FACTORED, DENSE); MASKED and HAS_D, whether those arrays are
// there; SEQUENCES, whether that table is. decay_out is da_log of a dense tape. Bytes depend on
// LANES (those of y) and on no other of these numbers.

#define NONE 0
#define FACTORED 1
#define DENSE 2

// Sums N values over LANES lanes; a lane keeps value part * N / LANES (and those after it, if N is
// more than LANES).
template <uint N>
inline void sum_over_lanes(thread float* v, uint part) {
#pragma unroll
  for (uint w = LANES / 2; w > 0; w /= 2) {
    const uint kept = N * w / LANES;
    const bool upper = (part & w) != 0;
    if (kept == 0) v[0] += simd_shuffle_xor(v[0], w);
#pragma unroll
    for (uint i = 0; i < kept; ++i) {
      const float mine = upper ? v[i + kept] : v[i], other = upper ? v[i] : v[i + kept];
      v[i] = mine + simd_shuffle_xor(other, w);
    }
  }
}

// sum + s . c, columns past the row's end left out.
inline float dot_columns(float4 s, float4 c, uint at, float sum) {
  sum = fma(s.x, c.x, sum);
  if (WHOLE || at + 1 < DS) sum = fma(s.y, c.y, sum);
  if (WHOLE || at + 2 < DS) sum = fma(s.z, c.z, sum);
  if (WHOLE || at + 3 < DS) sum = fma(s.w, c.w, sum);
  return sum;
}

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
  threadgroup float tile_decay[CHUNK];
#endif

  lane_state s;
  if (SEQUENCES && from < 0)
    clear(s);
  else
    load(s, state + ulong(from) * p.state_stride + ulong(head) * p.rows * DS, place);

  const float rate = -exponential(get(a_log + head));
#if HAS_D
  const float through = get(d + head);
#endif
  const uint last_row = p.rows == 0 ? 0u : p.rows - 1;
  const uint wide = p.heads * p.rows, narrow = p.groups * DS;
  for (uint begin = p.begin; begin < p.end; begin += CHUNK) {
    const uint left = min(p.end - begin, uint(CHUNK));
    const ulong time = ulong(sequence) * p.steps + begin;
    device const ACTIVATION* xs = x + (time * p.heads + head) * p.rows;
    device ACTIVATION* ys = y + (time * p.heads + head) * p.rows;
    device const ACTIVATION* bs = b + (time * p.groups + head / (p.heads / p.groups)) * DS;
    device const ACTIVATION* cs = c + (time * p.groups + head / (p.heads / p.groups)) * DS;

#if STAGED
    if (begin > p.begin) threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    // Of step begin + lane. Where scale is 0, s becomes decay * s + -0.0, which is decay * s.
    float scale = 0.0f, decay = 1.0f;
    if (lane < left) {
      const ulong at = (time + lane) * p.heads + head;
      scale = get(dt + at);
#if MASKED
      if (mask[time + lane] == 0) scale = 0.0f;
#endif
      if (skipped || scale == 0.0f) scale = 0.0f;
      if (!STAGED || simdgroup == 0) decay = scale == 0.0f ? 1.0f : exponential(rate * scale);
#if TAPE == FACTORED
      if (simdgroup == 0 && group.y == 0) {
        put(decay_out + at, decay);
        put(scale_out + at, scale);
      }
#endif
    }
#if STAGED
    if (simdgroup == 0 && lane < left) tile_decay[lane] = decay;
    for (uint t = simdgroup; t < left; t += THREADS / 32) {
      const float by = simd_shuffle(scale, t);
      for (uint e = lane; e < QUADS; e += 32) {
        const float4 bv = get_columns<DS, WHOLE>(bs + t * narrow, e * 4);
        tile_b[t * QUADS + e] = by == 0.0f ? float4(1.0f) : bv;
        tile_c[t * QUADS + e] = get_columns<DS, WHOLE>(cs + t * narrow, e * 4);
      }
      for (uint e = lane; e < TILE; e += 32) {
        const float xt = get(xs + t * wide + min(tile + e, last_row));
        tile_u[t * TILE + e] = by == 0.0f ? -0.0f : xt * by;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
#else
    scale = simd_shuffle(scale, 0);
    decay = simd_shuffle(decay, 0);
#endif
#if TAPE == DENSE
    if (group.y == 0) {
      for (uint t = simdgroup; t < left; t += THREADS / 32) {
#if STAGED
        decay = tile_decay[t];
#endif
        device float* columns = decay_out + ((time + t) * p.heads + head) * DS;
        for (uint e = lane; e < DS; e += 32) put(columns + e, decay);
      }
    }
#endif

    for (uint t = 0; t < left; t += STEPS) {
      float sum[sums];
#pragma unroll
      for (uint j = 0; j < STEPS; ++j) {
#pragma unroll
        for (uint r = 0; r < ROWS; ++r) sum[j * ROWS + r] = 0.0f;
        if (t + j < left) {
#if TAPE == DENSE
          device DBX_TYPE* dbx = dbx_out + ((time + t + j) * p.heads + head) * p.rows * DS;
#endif
          float u[ROWS];
#pragma unroll
          for (uint r = 0; r < ROWS; ++r) {
#if STAGED
            u[r] = tile_u[(t + j) * TILE + in_tile + r * APART];
#else
            u[r] = scale == 0.0f ? -0.0f : get(xs + row_of(place, r)) * scale;
#endif
          }
#if STAGED
          decay = tile_decay[t + j];
#endif
#pragma unroll
          for (uint i = 0; i < VECTORS; ++i) {
            const uint at = column_of(place, i);
#if STAGED
            const float4 bv = tile_b[(t + j) * QUADS + at / 4];
            const float4 cv = tile_c[(t + j) * QUADS + at / 4];
#else
            const float4 cv = get_columns<DS, WHOLE>(cs, at);
            float4 bv = get_columns<DS, WHOLE>(bs, at);
            if (scale == 0.0f) bv = float4(1.0f);
#endif
#pragma unroll
            for (uint r = 0; r < ROWS; ++r) {
              const float4 w = outer(u[r], bv);
              s.at[r][i] = fold(float4(decay), s.at[r][i], w);
              if (WHOLE || at < DS) {
                sum[j * ROWS + r] = dot_columns(s.at[r][i], cv, at, sum[j * ROWS + r]);
              }
#if TAPE == DENSE
              if (exists(place, r)) {
                put_columns<DS, WHOLE>(dbx + ulong(row_of(place, r)) * DS, at, storable(dbx, w));
              }
#endif
            }
          }
        }
      }
      sum_over_lanes<sums>(sum, place.part);
#pragma unroll
      for (uint i = 0; i < per_lane; ++i) {
        const uint which = place.part * sums / LANES + i, j = t + which / ROWS;
        if (exists(place, which % ROWS) && j < left && place.part % lanes_a_sum == 0) {
          const uint at = j * wide + row_of(place, which % ROWS);
#if HAS_D
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
