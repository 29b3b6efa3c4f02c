// ssm_replay on one path: the first k entries of a tape folded onto a state.
#include "path.h"
#include "state.h"

namespace deltatape::cpu::DTAPE_PATH {
namespace {

// Adds the factored entry t to the panels.
static void add_entry(const dtape_ssm_replay_request &request, const state_part &part, panels &at,
                      int64_t t) {
  const dtape_ssm_shape &shape = request.shape;
  const int64_t step = part.sequence * shape.steps + t;
  const int64_t series = step * shape.heads + part.head;
  const float scale = request.scale.data ? read_float(request.scale, series) : 1.0f;
  if (shape.tape == DTAPE_TAPE_COLUMNS) {
    read_floats(at.decay + at.steps * at.columns, request.decay, series * part.state_dim,
                part.state_dim);
  } else {
    at.decay[at.steps] = read_float(request.decay, series);
  }
  add_step(at, request.u, series * shape.head_dim + part.row, part.rows, request.v,
           (step * shape.groups + part.group) * part.state_dim, part.state_dim, scale);
}

// Masked entries take no place in the panels. All may be masked: the state still passes through.
template <bool COLUMNS>
static void replay_factored(const dtape_ssm_replay_request &request, const state_part &part,
                            panels &at, int64_t kept) {
  int64_t t = 0;
  bool is_first = true;
  do {
    at.steps = 0;
    for (; t < kept && at.steps < STEPS_AT_ONCE; ++t) {
      if (active(request.mask, part.sequence * request.shape.steps + t))
        add_entry(request, part, at, t);
    }
    advance_part<false, COLUMNS>(part, at, is_first, t == kept, [](int64_t, int64_t) {});
    is_first = false;
  } while (t < kept);
}

// S = decay * S + dbx for one entry and some rows. What is ahead is folded next.
template <class Element>
DTAPE_INLINE void fold(float *state, const float *decay, const Element *dbx, const Element *ahead,
                       int64_t rows, int64_t state_dim, int64_t columns) {
  const int64_t full = state_dim / 16 * 16;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t s = 0; s < full; s += 16) {
      __builtin_prefetch(ahead + r * state_dim + s);
      store(state + s, fma(load(decay + s), load(state + s), load(dbx + s)));
    }
    if (full < columns)
      store(state + full, fma(load(decay + full), load(state + full),
                              load_first(int(state_dim - full), dbx + full)));
    state += columns;
    dbx += state_dim;
  }
}

// Folds the entries that are kept onto rows from row on, which lie in the carry. The tape streams
// by.
static void fold_entries(const dtape_ssm_replay_request &request, const state_part &part,
                         const panels &at, int64_t kept, int64_t row, int64_t rows) {
  const dtape_ssm_shape &shape = request.shape;
  const auto series_of = [&](int64_t t) {
    return (part.sequence * shape.steps + t) * shape.heads + part.head;
  };
  const auto dbx_at = [&](int64_t t, int64_t row) {
    return (series_of(t) * shape.head_dim + part.row + row) * part.state_dim;
  };
  for (int64_t t = 0; t < kept; ++t) {
    if (!active(request.mask, part.sequence * shape.steps + t)) continue;
    read_floats(at.decay, request.da_log, series_of(t) * part.state_dim, part.state_dim);
    const int64_t ahead = t + 1 < kept ? dbx_at(t + 1, row) : dbx_at(0, row + rows);
    with_elements(request.dbx_log.data, request.dbx_log.dtype, [&](auto *dbx) {
      fold(at.carry, at.decay, dbx + dbx_at(t, row), dbx + ahead, rows, part.state_dim, at.columns);
    });
  }
}

static void replay_dense(const dtape_ssm_replay_request &request, const state_part &part,
                         const panels &at, int64_t kept) {
  for (int64_t row = 0; row < part.rows; row += ROWS_AT_ONCE) {
    const int64_t rows = smaller(part.rows - row, ROWS_AT_ONCE);
    const float *from = enter(part, at.columns, row, rows, at.carry);
    if (from != at.carry) std::memcpy(at.carry, from, size_t(rows * at.columns) * sizeof *from);
    fold_entries(request, part, at, kept, row, rows);
    leave(part, at.columns, row, rows, at.carry);
  }
}

static void replay_item(const dtape_ssm_replay_request &request, const row_work &work, int64_t item,
                        float *scratch) {
  const dtape_ssm_shape &shape = request.shape;
  const state_part part = part_of(shape, request.state, request.state_out, work, item);
  if (part.slot < 0) return;
  const int64_t kept = shape.k[part.sequence];
  if (kept == 0) return copy_state(part);
  panels at = panels_of(work, shape.state_dim, scratch);
  if (shape.tape == DTAPE_TAPE_DENSE) {
    replay_dense(request, part, at, kept);
  } else if (shape.tape == DTAPE_TAPE_COLUMNS) {
    replay_factored<true>(request, part, at, kept);
  } else {
    replay_factored<false>(request, part, at, kept);
  }
}

}  // namespace

void ssm_replay(const dtape_ssm_replay_request &request, const row_work &work, int64_t begin,
                int64_t end, float *scratch) {
  for (int64_t item = begin; item < end; ++item) replay_item(request, work, item, scratch);
  end_streams();
}

}  // namespace deltatape::cpu::DTAPE_PATH
