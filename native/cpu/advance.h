// The recurrence that record and replay share: some rows of a state carried through some steps.
#ifndef DTAPE_CPU_ADVANCE_H
#define DTAPE_CPU_ADVANCE_H

#include "panels.h"

namespace deltatape::cpu::DTAPE_PATH {
namespace {

// R rows by V vectors of a state, from row and column on, in registers.
template <int R, int V>
struct tile {
  v16 s[R][V];
  int64_t row, column;
};

// How many bytes before their use a state and the products of a dense entry are prefetched. A
// multiple of 4096 would put what comes into those sets of the cache that are in use.
constexpr int64_t STATE_AHEAD = 5120, PRODUCTS_AHEAD = 1024;

template <class Element>
DTAPE_INLINE void prefetch(const Element *p, int64_t bytes_ahead) {
  __builtin_prefetch(reinterpret_cast<const char *>(p) + bytes_ahead);
}

template <int R, int V, class Element>
DTAPE_INLINE void load_tile(tile<R, V> &part, const panels &at, const Element *from) {
  const Element *row = from + part.column;
  DTAPE_UNROLL
  for (int r = 0; r < R; ++r, row += at.columns) {
    DTAPE_UNROLL
    for (int v = 0; v < V; ++v) {
      part.s[r][v] = load(row + v * 16);
      prefetch(row + v * 16, STATE_AHEAD);
    }
  }
}

template <int R, int V, class Element, class Put>
DTAPE_INLINE void put_tile(const tile<R, V> &part, int64_t columns, Element *to, Put put) {
  Element *row = to + part.column;
  DTAPE_UNROLL
  for (int r = 0; r < R; ++r, row += columns) {
    DTAPE_UNROLL
    for (int v = 0; v < V; ++v) put(row + v * 16, part.s[r][v]);
  }
}

// One decision for the whole tile: one a vector would cost as much as the arithmetic.
template <int R, int V, class Element>
DTAPE_INLINE void store_tile(const tile<R, V> &part, const panels &at, Element *to) {
  if (at.streams) {
    put_tile(part, at.columns, to, [](Element *p, v16 v) { stream(p, one_nan(v)); });
  } else {
    put_tile(part, at.columns, to, [](Element *p, v16 v) { store(p, one_nan(v)); });
  }
}

// S = decay * S + u * b, and with OUTPUT the sums of S * c. COLUMNS: each has a decay of its own.
template <bool OUTPUT, bool COLUMNS>
struct outer_steps {
  static constexpr bool output = OUTPUT;
};

// S = decay * S + dbx, whose elements lie in memory.
template <class Element>
struct dense_steps {
  static constexpr bool output = false;
  const Element *dbx;
  int64_t state_dim;
};

// Step t. The rows share each load of b and c. Lanes beyond the state's columns may hold anything,
// so they are kept out of the sums.
template <bool PADDED, bool OUTPUT, bool COLUMNS, int R, int V>
DTAPE_INLINE void step_tile(outer_steps<OUTPUT, COLUMNS>, tile<R, V> &part, const panels &at,
                            int64_t t) {
  const float *u = at.u + t * at.rows + part.row;
  const int64_t columns = t * at.columns + part.column;
  float *partial = at.partial + (t * ROWS_AT_ONCE + part.row % ROWS_AT_ONCE) * 16;
  v16 sum[R], decay;
  if (!COLUMNS) decay = all(at.decay[t]);
  DTAPE_UNROLL
  for (int r = 0; OUTPUT && r < R; ++r) sum[r] = part.column ? load(partial + r * 16) : all(0.0f);
  DTAPE_UNROLL
  for (int v = 0; v < V; ++v) {
    const v16 b = load(at.b + columns + v * 16);
    if (COLUMNS) decay = load(at.decay + columns + v * 16);
    DTAPE_UNROLL
    for (int r = 0; r < R; ++r) {
      v16 &s = part.s[r][v];
      s = fma(decay, s, mul(all(u[r]), b));
      if (!OUTPUT) continue;
      const v16 more = fma(s, load(at.c + columns + v * 16), sum[r]);
      sum[r] = PADDED ? first(at.last, more, sum[r]) : more;
    }
  }
  DTAPE_UNROLL
  for (int r = 0; OUTPUT && r < R; ++r) store(partial + r * 16, sum[r]);
}

template <bool PADDED, class Element, int R, int V>
DTAPE_INLINE void step_tile(const dense_steps<Element> &steps, tile<R, V> &part, const panels &at,
                            int64_t t) {
  const float *decay = at.decay + t * at.columns + part.column;
  const Element *row = steps.dbx + at.products[t] + part.row * steps.state_dim + part.column;
  DTAPE_UNROLL
  for (int r = 0; r < R; ++r, row += steps.state_dim) {
    DTAPE_UNROLL
    for (int v = 0; v < V; ++v) {
      prefetch(row + v * 16, PRODUCTS_AHEAD);
      const v16 product = PADDED ? load_first(at.last, row + v * 16) : load(row + v * 16);
      part.s[r][v] = fma(load(decay + v * 16), part.s[r][v], product);
    }
  }
}

template <int R, int V, bool PADDED, class Steps, class Element>
DTAPE_INLINE void advance_tile(const panels &at, const Steps &steps, const Element *from,
                               Element *to, int64_t row, int64_t column) {
  tile<R, V> part;
  part.row = row;
  part.column = column;
  load_tile(part, at, from);
  for (int64_t t = 0; t < at.steps; ++t) step_tile<PADDED>(steps, part, at, t);
  store_tile(part, at, to);
}

template <int R, class Steps, class Element>
DTAPE_INLINE void advance_whole_rows(const panels &at, const Steps &steps, const Element *from,
                                     Element *to, int64_t row) {
  const int64_t full = at.last == 16 ? at.columns : at.columns - 16;
  int64_t column = 0;
  for (; column + TILE_VECTORS * 16 <= full; column += TILE_VECTORS * 16)
    advance_tile<R, TILE_VECTORS, false>(at, steps, from, to, row, column);
  for (; column < full; column += 16) advance_tile<R, 1, false>(at, steps, from, to, row, column);
  if (column < at.columns) advance_tile<R, 1, true>(at, steps, from, to, row, column);
}

// Up to ROWS_AT_ONCE rows from row on; from and to are where that row begins.
template <class Steps, class Element>
static void advance(const panels &at, const Steps &steps, const Element *from, Element *to,
                    int64_t row, int64_t rows) {
  if (Steps::output && at.columns == 0)
    std::memset(at.partial, 0, size_t(at.steps * ROWS_AT_ONCE * 16) * sizeof(float));
  int64_t r = 0;
  for (; r + TILE_ROWS <= rows; r += TILE_ROWS)
    advance_whole_rows<TILE_ROWS>(at, steps, from + r * at.columns, to + r * at.columns, row + r);
  for (; r < rows; ++r)
    advance_whole_rows<1>(at, steps, from + r * at.columns, to + r * at.columns, row + r);
}

}  // namespace
}  // namespace deltatape::cpu::DTAPE_PATH

#endif
