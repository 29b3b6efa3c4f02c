// The rows of a state that one work item takes through a call, and their way from memory through
// the panels' carry back into memory.
#ifndef DTAPE_CPU_STATE_H
#define DTAPE_CPU_STATE_H

#include "advance.h"

namespace deltatape::cpu::DTAPE_PATH {
namespace {

struct state_part {
  int64_t sequence, head, group;
  int64_t slot;  // of the pool, or the sequence; negative: skipped
  int64_t row, rows;
  int64_t state_dim;
  dtape_span in, out;     // no data: zeros; not written
  int64_t in_at, out_at;  // elements before the first row
};

static inline state_part part_of(const dtape_ssm_shape &shape, const dtape_span &in,
                                 const dtape_span &out, const row_work &work, int64_t item) {
  state_part part;
  part.sequence = item / work.parts / shape.heads;
  part.head = item / work.parts % shape.heads;
  part.group = part.head / (shape.heads / shape.groups);
  part.slot = shape.slots ? shape.slots[part.sequence] : part.sequence;
  part.row = item % work.parts * work.rows;
  part.rows = smaller(shape.head_dim - part.row, work.rows);
  part.state_dim = shape.state_dim;
  part.in = in;
  if (shape.has_initial && !shape.has_initial[part.sequence]) part.in.data = nullptr;
  part.out = out;
  const int64_t at = (part.head * shape.head_dim + part.row) * shape.state_dim;
  part.in_at = part.slot * shape.state_stride + at;
  part.out_at = part.slot * shape.state_out_stride + at;
  return part;
}

// No step was taken: the state keeps its bits.
static inline void copy_state(const state_part &part) {
  if (!part.out.data) return;
  char *to = element(part.out, part.out_at);
  const size_t bytes = size_t(part.rows * part.state_dim * bytes_of(part.out.dtype));
  if (!part.in.data) {
    std::memset(to, 0, bytes);
  } else if (element(part.in, part.in_at) != to) {
    std::memcpy(to, element(part.in, part.in_at), bytes);
  }
}

// The recurrence reads and writes states where they lie unless their rows end within a vector.
DTAPE_INLINE bool in_whole_vectors(const state_part &part, const dtape_span &array) {
  return array.data && part.state_dim % 16 == 0;
}

static inline const float *enter(const state_part &part, int64_t columns, int64_t row, int64_t rows,
                                 float *carry) {
  const int64_t at = part.in_at + row * part.state_dim;
  if (in_whole_vectors(part, part.in)) {
    if (part.in.dtype == DTAPE_F32) return static_cast<float *>(part.in.data) + at;
    read_floats(carry, part.in, at, rows * columns);
  } else if (part.in.data) {
    for (int64_t r = 0; r < rows; ++r)
      read_floats(carry + r * columns, part.in, at + r * part.state_dim, part.state_dim);
  } else {
    std::memset(carry, 0, size_t(rows * columns) * sizeof *carry);
  }
  return carry;
}

static inline void leave(const state_part &part, int64_t columns, int64_t row, int64_t rows,
                         const float *carry) {
  const int64_t at = part.out_at + row * part.state_dim;
  if (columns == part.state_dim) {
    write_floats(part.out, at, carry, rows * columns);
  } else {
    for (int64_t r = 0; r < rows; ++r)
      write_floats(part.out, at + r * part.state_dim, carry + r * columns, part.state_dim);
  }
}

// All steps lie in the panels: the state goes from memory to memory.
template <class Steps>
DTAPE_INLINE void advance_in_memory(const state_part &part, const panels &at, const Steps &steps,
                                    int64_t row, int64_t rows) {
  const int64_t offset = row * part.state_dim;
  with_elements(part.out.data, part.out.dtype, [&](auto *out) {
    const auto *in = static_cast<decltype(out)>(part.in.data) + part.in_at + offset;
    advance(at, steps, in, out + part.out_at + offset, row, rows);
  });
}

template <class Steps>
DTAPE_INLINE void advance_carried(const state_part &part, const panels &at, const Steps &steps,
                                  int64_t row, int64_t rows, bool is_first, bool is_last) {
  // Between panels every row needs room of its own; otherwise the same room stays in the cache.
  float *carry = at.carry + (is_first && is_last ? 0 : row * at.columns);
  const float *from = is_first ? enter(part, at.columns, row, rows, carry) : carry;
  advance(at, steps, from, carry, row, rows);
  if (is_last && part.out.data) leave(part, at.columns, row, rows, carry);
}

// Takes all rows through the panels' steps. after(row, rows) follows each ROWS_AT_ONCE of them.
template <class Steps, class After>
DTAPE_INLINE void advance_part(const state_part &part, panels &at, const Steps &steps,
                               bool is_first, bool is_last, After after) {
  const bool in_memory =
      is_first && is_last && in_whole_vectors(part, part.in) && in_whole_vectors(part, part.out);
  at.streams = in_memory && worth_streaming(part.in, part.out, part.out_at);
  for (int64_t row = 0; row < part.rows; row += ROWS_AT_ONCE) {
    const int64_t rows = smaller(part.rows - row, ROWS_AT_ONCE);
    if (in_memory) {
      advance_in_memory(part, at, steps, row, rows);
    } else {
      advance_carried(part, at, steps, row, rows, is_first, is_last);
    }
    after(row, rows);
  }
}

}  // namespace
}  // namespace deltatape::cpu::DTAPE_PATH

#endif
