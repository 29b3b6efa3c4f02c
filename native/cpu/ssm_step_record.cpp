// ssm_step_record on one path: S = decay * S + (x * scale) * b and y = sum S * c + d * x.
#include "path.h"
#include "state.h"

namespace deltatape::cpu::DTAPE_PATH {
namespace {

struct factors {
  float decay, scale;
};

static factors factors_of(const dtape_ssm_step_record_request &request, float rate, int64_t step,
                          int64_t at) {
  const float dt = active(request.mask, step) ? read_float(request.dt, at) : 0.0f;
  if (dt == 0.0f) return {1.0f, 0.0f};
  return {exponential(rate * dt), dt};
}

// What does not depend on the row is written by the item that has the head's first rows.
static void write_tape(const dtape_ssm_step_record_request &request, int64_t at, factors factor) {
  if (request.decay.data) fill_floats(request.decay, at, factor.decay, 1);
  if (request.scale.data) fill_floats(request.scale, at, factor.scale, 1);
  const int64_t columns = request.shape.state_dim;
  if (request.da_log.data) fill_floats(request.da_log, at * columns, factor.decay, columns);
}

// A tape of f16 saturates; the wider types hold whatever a product is.
DTAPE_INLINE v16 storable(const f16 *, v16 v) {
  return one_nan(within(65504.0f, v));
}
template <class Element>
DTAPE_INLINE v16 storable(const Element *, v16 v) {
  return one_nan(v);
}

// dbx of one step: (x * scale) * b, -0 where scale is 0.
static void write_products(const dtape_ssm_step_record_request &request, const state_part &part,
                           const panels &at, int64_t t, int64_t to) {
  const float *b = at.b + t * at.columns;
  with_elements(request.dbx_log.data, request.dbx_log.dtype, [&](auto *dbx) {
    for (int64_t row = 0; row < part.rows; ++row) {
      const v16 u = all(at.u[t * at.rows + row]);
      auto *products = dbx + to + row * part.state_dim;
      int64_t s = 0;
      for (; s + 16 <= part.state_dim; s += 16)
        store(products + s, storable(products, mul(u, load(b + s))));
      if (s < part.state_dim)
        store_first(at.last, products + s, storable(products, mul(u, load(b + s))));
    }
  });
}

static void write_output(const dtape_ssm_step_record_request &request, const panels &at, int64_t t,
                         v16 d, int64_t row, int64_t rows, int64_t to) {
  float y[16];
  v16 sum = sums(at.partial + t * ROWS_AT_ONCE * 16);
  if (request.d.data) sum = fma(d, load(at.x + t * at.rows + row), sum);
  store(y, sum);
  write_floats(request.y, to, y, rows);
}

// A skipped sequence: y is zero and its tape changes nothing.
static void write_identity(const dtape_ssm_step_record_request &request, const state_part &part) {
  const dtape_ssm_shape &shape = request.shape;
  for (int64_t t = 0; t < shape.steps; ++t) {
    const int64_t at = (part.sequence * shape.steps + t) * shape.heads + part.head;
    const int64_t row = at * shape.head_dim + part.row;
    if (part.row == 0) write_tape(request, at, {1.0f, 0.0f});
    fill_floats(request.y, row, 0.0f, part.rows);
    if (request.dbx_log.data)
      fill_floats(request.dbx_log, row * part.state_dim, -0.0f, part.rows * part.state_dim);
  }
}

// Panels of the steps from begin on, their tape and their y.
static void record_steps(const dtape_ssm_step_record_request &request, const state_part &part,
                         panels &at, int64_t begin, int64_t steps, float rate, float d) {
  const dtape_ssm_shape &shape = request.shape;
  const int64_t first = part.sequence * shape.steps + begin;
  const auto rows_at = [&](int64_t t) {
    return ((first + t) * shape.heads + part.head) * shape.head_dim + part.row;
  };
  at.steps = 0;
  for (int64_t t = 0; t < steps; ++t) {
    const int64_t series = (first + t) * shape.heads + part.head;
    const int64_t columns_at = ((first + t) * shape.groups + part.group) * part.state_dim;
    const factors factor = factors_of(request, rate, first + t, series);
    if (part.row == 0) write_tape(request, series, factor);
    at.decay[t] = factor.decay;
    read_floats(at.x + t * at.rows, request.x, rows_at(t), part.rows);
    read_floats(at.c + t * at.columns, request.c, columns_at, part.state_dim);
    add_step(at, request.x, rows_at(t), part.rows, request.b, columns_at, part.state_dim,
             factor.scale);
    if (request.dbx_log.data) write_products(request, part, at, t, rows_at(t) * part.state_dim);
  }
  const v16 through = all(d);
  advance_part(part, at, outer_steps<true, false>(), begin == 0, begin + steps == shape.steps,
               [&](int64_t row, int64_t rows) {
                 for (int64_t t = 0; t < steps; ++t)
                   write_output(request, at, t, through, row, rows, rows_at(t) + row);
               });
}

static void record_item(const dtape_ssm_step_record_request &request, const row_work &work,
                        int64_t item, float *scratch) {
  const dtape_ssm_shape &shape = request.shape;
  const state_part part = part_of(shape, request.state, request.state_out, work, item);
  if (part.slot < 0) return write_identity(request, part);
  if (shape.steps == 0) return copy_state(part);
  const float rate = -exponential(read_float(request.a_log, part.head));
  const float d = request.d.data ? read_float(request.d, part.head) : 0.0f;
  panels at = panels_of(work, shape.state_dim, scratch);
  for (int64_t t = 0; t < shape.steps; t += STEPS_AT_ONCE)
    record_steps(request, part, at, t, smaller(shape.steps - t, STEPS_AT_ONCE), rate, d);
}

}  // namespace

void ssm_step_record(const dtape_ssm_step_record_request &request, const row_work &work,
                     int64_t begin, int64_t end, float *scratch) {
  for (int64_t item = begin; item < end; ++item) record_item(request, work, item, scratch);
  end_streams();
}

}  // namespace deltatape::cpu::DTAPE_PATH
