// The pieces of a step: what ssm_step_record.metal, whose macros these are, is made of.

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

// sum + s . c, without what lies past the row's end.
inline float dot_columns(float4 s, float4 c, uint at, float sum) {
  sum = fma(s.x, c.x, sum);
  if (WHOLE || at + 1 < DS) sum = fma(s.y, c.y, sum);
  if (WHOLE || at + 2 < DS) sum = fma(s.z, c.z, sum);
  if (WHOLE || at + 3 < DS) sum = fma(s.w, c.w, sum);
  return sum;
}

// One step of four columns of a lane's rows. sum receives what they add to y, dbx their part of a
// dense tape.
inline void advance(thread lane_state& s,
                    uint i,
                    float decay,
                    thread const float* u,
                    float4 b,
                    float4 c,
                    thread float* sum,
                    device DBX_TYPE* dbx,
                    lane_place p) {
  const uint at = column_of(p, i);
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    const float4 w = outer(u[r], b);
    s.at[r][i] = fold(float4(decay), s.at[r][i], w);
    if (WHOLE || at < DS) sum[r] = dot_columns(s.at[r][i], c, at, sum[r]);
#if TAPE == DENSE
    if (exists(p, r)) {
      put_columns<DS, WHOLE>(dbx + ulong(row_of(p, r)) * DS, at, storable(dbx, w));
    }
#endif
  }
}

#if !STAGED
// What a lane needs of b, c and x for a step.
struct lane_step {
  float4 b[VECTORS];
  float4 c[VECTORS];
  float x[ROWS];
};

inline void load(thread lane_step& s,
                 device const ACTIVATION* b,
                 device const ACTIVATION* c,
                 device const ACTIVATION* x,
                 lane_place p) {
#pragma unroll
  for (uint i = 0; i < VECTORS; ++i) {
    s.b[i] = get_columns<DS, WHOLE>(b, column_of(p, i));
    s.c[i] = get_columns<DS, WHOLE>(c, column_of(p, i));
  }
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) s.x[r] = get(x + row_of(p, r));
}
#endif
