// From a request to the items of a path's kernel, shared among threads.
#include <algorithm>
#include <cfenv>

#include "device.h"
#include "scratch.h"

namespace deltatape::cpu {
namespace {

// Below this many elements read, computed or written, waking threads costs more than they save.
constexpr int64_t worth_sharing = 1 << 18;

constexpr int64_t most_rows = 128;
constexpr int64_t most_carried = 1 << 16;

struct amount {
  int64_t items, scratch;  // floats for each thread
  double elements;
};

// The promise of bytes holds whatever rounding or subnormals the calling thread has chosen.
class standard_arithmetic {
 public:
  standard_arithmetic() {
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~standard_arithmetic() { std::fesetenv(&callers_); }
  standard_arithmetic(const standard_arithmetic &) = delete;
  standard_arithmetic &operator=(const standard_arithmetic &) = delete;

 private:
  std::fenv_t callers_;
};

// run(begin, end, scratch) does items.
template <class Run>
dtape_status start(device &cpu, const amount &amount, const Run &run) {
  if (amount.items == 0) return DTAPE_OK;
  cpu.dispatches.fetch_add(1, std::memory_order_relaxed);
  const bool alone = amount.elements < double(worth_sharing);
  const int64_t apart = (amount.scratch + 15) / 16 * 16;
  float *const scratch = scratch_floats(apart * (alone ? 1 : cpu.threads));
  thread_pool *const pool = alone ? nullptr : pool_of(cpu);
  if (!scratch || (!alone && !pool))
    return dtape_fail(DTAPE_OUT_OF_MEMORY, "device: expected memory for its own use, got none");

  struct context {
    const Run &run;
    float *scratch;
    int64_t apart;
  } const context{run, scratch, apart};
  const auto share = [](const void *data, int participant, int64_t begin, int64_t end) {
    const auto &call = *static_cast<const struct context *>(data);
    const standard_arithmetic guard;
    call.run(begin, end, call.scratch + participant * call.apart);
  };
  if (alone) {
    share(&context, 0, 0, amount.items);
  } else {
    pool->run(amount.items, {share, &context});
  }
  return DTAPE_OK;
}

// Parts small enough for the caches, and for every thread to get some.
row_work divide(const dtape_ssm_shape &shape, int threads) {
  row_work work;
  work.columns = (shape.state_dim + 15) / 16 * 16;
  work.rows = (smaller(shape.head_dim, most_rows) + 15) / 16 * 16;
  work.rows = std::max<int64_t>(work.rows, ROWS_AT_ONCE);
  const int64_t heads = shape.batch * shape.heads;
  const auto parts = [&] {
    return std::max<int64_t>(1, (shape.head_dim + work.rows - 1) / work.rows);
  };
  while (work.rows > ROWS_AT_ONCE &&
         (heads * parts() < 4 * threads || work.rows * work.columns > most_carried))
    work.rows = (work.rows / 2 + 15) / 16 * 16;
  work.parts = parts();
  return work;
}

amount amount_of(const dtape_ssm_shape &shape, const row_work &work) {
  const int64_t heads = shape.batch * shape.heads;
  return {heads * work.parts, shape.steps == 0 ? 0 : panel_floats(work),
          double(heads) * double(shape.head_dim) * double(shape.state_dim + 1) *
              double(shape.steps + 1)};
}

}  // namespace

dtape_status ssm_step_record(void *stream, const dtape_ssm_step_record_request *request) {
  device &cpu = *static_cast<device *>(stream);
  const row_work work = divide(request->shape, cpu.threads);
  return start(cpu, amount_of(request->shape, work),
               [&](int64_t begin, int64_t end, float *scratch) {
                 cpu.way->run.ssm_step_record(*request, work, begin, end, scratch);
               });
}

dtape_status ssm_replay(void *stream, const dtape_ssm_replay_request *request) {
  device &cpu = *static_cast<device *>(stream);
  const row_work work = divide(request->shape, cpu.threads);
  return start(cpu, amount_of(request->shape, work),
               [&](int64_t begin, int64_t end, float *scratch) {
                 cpu.way->run.ssm_replay(*request, work, begin, end, scratch);
               });
}

dtape_status chunk_tri_solve_invert(void *stream,
                                    const dtape_chunk_tri_solve_invert_request *request) {
  device &cpu = *static_cast<device *>(stream);
  int64_t chunks = 0;
  for (int64_t s = 0; s < sequences_of(*request); ++s)
    chunks += chunks_of(sequence_steps(*request, s), request->chunk);
  const int64_t items = chunks * request->heads;
  const double elements = double(items) * double(request->chunk) * double(request->chunk) * 4;
  return start(cpu, {items, INVERT_SCRATCH, elements},
               [&](int64_t begin, int64_t end, float *scratch) {
                 cpu.way->run.chunk_tri_solve_invert(*request, begin, end, scratch);
               });
}

}  // namespace deltatape::cpu
