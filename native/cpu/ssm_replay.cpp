// ssm_replay on one path: the first k entries of a tape folded onto a state.
#include <type_traits>

#include "path.h"
#include "state.h"

namespace deltatape::cpu::DTAPE_PATH {
namespace {

// Adds the dense entry that begins with the given element of [B,T,H].
static void add_products(const dtape_ssm_replay_request &request, const state_part &part,
                         panels &at, int64_t series) {
  read_floats(at.decay + at.steps * at.columns, request.da_log, series * part.state_dim,
              part.state_dim);
  at.products[at.steps] = (series * request.shape.head_dim + part.row) * part.state_dim;
  ++at.steps;
}

// Adds the entry t to the panels.
static void add_entry(const dtape_ssm_replay_request &request, const state_part &part, panels &at,
                      int64_t t) {
  const dtape_ssm_shape &shape = request.shape;
  const int64_t step = part.sequence * shape.steps + t;
  const int64_t series = step * shape.heads + part.head;
  if (shape.tape == DTAPE_TAPE_DENSE) return add_products(request, part, at, series);
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
template <class Steps>
static void replay(const dtape_ssm_replay_request &request, const state_part &part, panels &at,
                   const Steps &steps, int64_t kept) {
  int64_t t = 0;
  bool is_first = true;
  do {
    at.steps = 0;
    for (; t < kept && at.steps < STEPS_AT_ONCE; ++t) {
      if (active(request.mask, part.sequence * request.shape.steps + t))
        add_entry(request, part, at, t);
    }
    advance_part(part, at, steps, is_first, t == kept, [](int64_t, int64_t) {});
    is_first = false;
  } while (t < kept);
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
    with_elements(request.dbx_log.data, request.dbx_log.dtype, [&](auto *dbx) {
      replay(request, part, at, dense_steps<std::decay_t<decltype(*dbx)>>{dbx, part.state_dim},
             kept);
    });
  } else if (shape.tape == DTAPE_TAPE_COLUMNS) {
    replay(request, part, at, outer_steps<false, true>(), kept);
  } else {
    replay(request, part, at, outer_steps<false, false>(), kept);
  }
}

}  // namespace

void ssm_replay(const dtape_ssm_replay_request &request, const row_work &work, int64_t begin,
                int64_t end, float *scratch) {
  for (int64_t item = begin; item < end; ++item) replay_item(request, work, item, scratch);
  end_streams();
}

}  // namespace deltatape::cpu::DTAPE_PATH
