// The part of a state that a lane keeps in registers. LANES lanes share a row of DS columns, and
// each has every LANES-th group of four columns of ROWS rows, which lie APART rows from one
// another. The host defines DS, LANES, ROWS, THREADS and the types STATE_IN and STATE_OUT.

#define APART (32 / LANES)
#define TILE (THREADS / LANES * ROWS)
#define VECTORS (DS == 0 ? 1 : (DS + 4 * LANES - 1) / (4 * LANES))
#define QUADS (VECTORS * LANES)
#define WHOLE (DS == QUADS * 4)

// Parts of a simdgroup's lanes in DS columns, and in TILE rows.
#define COLUMN_PARTS ((QUADS + 31) / 32)
#define ROW_PARTS ((TILE + 31) / 32)

struct lane_state {
  float4 at[ROWS][VECTORS];
};

// Where a lane stands: its first row of the head's state, and which of the row's LANES lanes it is.
// Rows past the end stand for the last one, so that every lane takes part in shuffles and barriers.
struct lane_place {
  uint first;
  uint part;
  uint rows;
};

inline bool exists(lane_place p, uint r) { return p.first + r * APART < p.rows; }
inline uint row_of(lane_place p, uint r) {
  return min(p.first + r * APART, p.rows == 0 ? 0u : p.rows - 1);
}
inline uint column_of(lane_place p, uint i) { return (i * LANES + p.part) * 4; }

inline void clear(thread lane_state& s) {
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
#pragma unroll
    for (uint i = 0; i < VECTORS; ++i) s.at[r][i] = float4(0.0f);
  }
}

inline void load(thread lane_state& s, device const STATE_IN* state, lane_place p) {
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    device const STATE_IN* row = state + ulong(row_of(p, r)) * DS;
#pragma unroll
    for (uint i = 0; i < VECTORS; ++i) {
      s.at[r][i] = get_columns<DS, WHOLE>(row, column_of(p, i));
    }
  }
}

inline void load(thread lane_state& s, device const STATE_IN* state, bool zeros, lane_place p) {
  if (zeros)
    clear(s);
  else
    load(s, state, p);
}

inline void store(thread const lane_state& s, device STATE_OUT* state, lane_place p) {
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    if (exists(p, r)) {
      device STATE_OUT* row = state + ulong(row_of(p, r)) * DS;
#pragma unroll
      for (uint i = 0; i < VECTORS; ++i) {
        put_columns<DS, WHOLE>(row, column_of(p, i), s.at[r][i]);
      }
    }
  }
}

// A state of which no entry is kept: its bits, or zeros where there is none.
inline void keep(device STATE_OUT* to, device const STATE_IN* from, bool zeros, lane_place p) {
  for (uint r = 0; r < ROWS; ++r) {
    if (!exists(p, r)) continue;
    const ulong row = ulong(row_of(p, r)) * DS;
    for (uint i = 0; i < VECTORS; ++i) {
      for (uint at = column_of(p, i); at < min(column_of(p, i) + 4, uint(DS)); ++at) {
        if (zeros)
          put(to + row + at, 0.0f);
        else
          copy(to + row + at, from + row + at);
      }
    }
  }
}

// One entry of a tape, folded onto four columns.
inline float4 fold(float4 decay, float4 s, float4 w) {
  return float4(fma(decay.x, s.x, w.x), fma(decay.y, s.y, w.y), fma(decay.z, s.z, w.z),
                fma(decay.w, s.w, w.w));
}
inline float4 outer(float u, float4 v) { return float4(u * v.x, u * v.y, u * v.z, u * v.w); }

// A row of columns, or a column of TILE rows, that a simdgroup brings into threadgroup memory for
// all. First everything is loaded, then it is put. Tiles are "threadgroup float4*" and "threadgroup
// float*".
template <typename T>
inline void load_columns(thread float4* to, device const T* row, uint lane) {
#pragma unroll
  for (uint i = 0; i < COLUMN_PARTS; ++i) {
    to[i] = get_columns<DS, WHOLE>(row, min(lane + i * 32, uint(QUADS - 1)) * 4);
  }
}
template <typename T>
inline void load_rows(thread float* to, device const T* x, uint first, uint rows, uint lane) {
  const uint last = rows == 0 ? 0u : rows - 1;
#pragma unroll
  for (uint i = 0; i < ROW_PARTS; ++i) to[i] = get(x + min(first + lane + i * 32, last));
}
// Ones where they are not live: -0.0 times these adds nothing.
template <typename Quads>
inline void put_columns_live(Quads tile, thread const float4* v, bool live, uint lane) {
#pragma unroll
  for (uint i = 0; i < COLUMN_PARTS; ++i) {
    const uint e = lane + i * 32;
    if (e < QUADS) tile[e] = live ? v[i] : float4(1.0f);
  }
}
template <typename Floats>
inline void put_rows_live(Floats tile, thread const float* v, float by, bool live, uint lane) {
#pragma unroll
  for (uint i = 0; i < ROW_PARTS; ++i) {
    const uint e = lane + i * 32;
    if (e < TILE) tile[e] = live ? v[i] * by : -0.0f;
  }
}
