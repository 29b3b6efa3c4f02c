// What the steps of one head read, as floats: written once, read by each row of a state.
#ifndef DTAPE_CPU_PANELS_H
#define DTAPE_CPU_PANELS_H

#include "storage.h"

namespace deltatape::cpu::DTAPE_PATH {
namespace {

// Panels of floats for the steps of one head. b and c are padded to whole vectors, u to
// ROWS_AT_ONCE.
struct panels {
  int64_t rows, columns;
  int last;                         // lanes of the last vector that are columns of the state
  int64_t steps;                    // filled in
  bool streams;                     // the state is written past the caches
  float *decay;                     // [steps], or [steps][columns]
  int64_t products[STEPS_AT_ONCE];  // where those of a dense entry begin
  float *u;        // [steps][rows]: x * scale, or -0 where scale is 0, and then b is all ones
  float *b, *c;    // [steps][columns]
  float *x;        // [steps][rows]
  float *partial;  // [steps][ROWS_AT_ONCE][16]: y's sums, element s in lane s % 16
  float *carry;    // [rows][columns]: the state between panels
};

// Hands out the scratch memory that panel_floats counts.
DTAPE_INLINE panels panels_of(const row_work &work, int64_t state_dim, float *scratch) {
  panels at;
  at.rows = work.rows;
  at.columns = work.columns;
  at.last = int(state_dim - (work.columns - 16));
  at.steps = 0;
  at.streams = false;
  float *next = scratch;
  const auto take = [&](int64_t count) {
    float *panel = next;
    next += count;
    return panel;
  };
  at.decay = take(STEPS_AT_ONCE * (work.columns + 16));
  at.u = take(STEPS_AT_ONCE * work.rows);
  at.x = take(STEPS_AT_ONCE * work.rows);
  at.b = take(STEPS_AT_ONCE * work.columns);
  at.c = take(STEPS_AT_ONCE * work.columns);
  at.partial = take(STEPS_AT_ONCE * ROWS_AT_ONCE * 16);
  at.carry = take(work.rows * work.columns);
  return at;
}

// Adds a step: S = decay * S + (u * scale) * b.
DTAPE_INLINE void add_step(panels &at, const dtape_span &u, int64_t u_at, int64_t rows,
                           const dtape_span &b, int64_t b_at, int64_t columns, float scale) {
  float *us = at.u + at.steps * at.rows, *bs = at.b + at.steps * at.columns;
  const bool live = scale != 0.0f;
  if (live) {
    read_floats(us, u, u_at, rows);
    read_floats(bs, b, b_at, columns);
    for (int64_t p = 0; p < rows; p += 16) store(us + p, mul(load(us + p), all(scale)));
  } else {
    for (int64_t p = 0; p < rows; p += 16) store(us + p, all(-0.0f));
    for (int64_t s = 0; s < columns; s += 16) store(bs + s, all(1.0f));
  }
  ++at.steps;
}

}  // namespace
}  // namespace deltatape::cpu::DTAPE_PATH

#endif
