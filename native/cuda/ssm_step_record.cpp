// Steps and their tape: a request, its addresses and its launches.
#include "cuda/ssm_step_record.h"

#include "cuda/ssm_replay.h"
#include "cuda/ssm_shape.h"
#include "cuda/types.h"

namespace deltatape::cuda {
namespace {

struct Step {
  const dtape_ssm_step_record_request &r;
  bool dense;
  bool staged;
  // Whether groups of 256 threads, of which each has four rows, leave most of the GPU idle.
  bool small;

  explicit Step(const dtape_ssm_step_record_request &request)
      : r(request),
        dense(request.shape.tape == DTAPE_TAPE_DENSE),
        staged(request.shape.steps > 1),
        small(staged && SsmGeometry::of_sharing(r.shape.state_dim, 256, 4).groups(r.shape) <= 128) {
  }

  // -1 for sequences that are to be skipped.
  std::vector<int32_t> last() const {
    std::vector<int32_t> last(static_cast<size_t>(r.shape.batch));
    for (size_t b = 0; b < last.size(); ++b) last[b] = is_skipped(r.shape, b) ? -1 : 0;
    return last;
  }

  std::vector<Address> pointers(const SsmStates &from, const SsmStates &to,
                                Arguments &arguments) const {
    const dtape_span &decay = dense ? r.da_log : r.decay;
    return {
        arguments.read(r.x, "x"),
        arguments.read(r.a_log, "a_log"),
        arguments.read(r.b, "b"),
        arguments.read(r.c, "c"),
        arguments.read(r.d, "d"),
        arguments.read(r.dt, "dt"),
        from.address(),
        arguments.read(r.mask, "mask"),
        arguments.write(r.y, "y"),
        to.address(),
        arguments.write(decay, dense ? "da_log" : "decay"),
        arguments.write(r.scale, "scale"),
        arguments.write(r.dbx_log, "dbx_log"),
    };
  }

  SsmGeometry geometry() const {
    const int64_t columns = r.shape.state_dim;
    return staged ? SsmGeometry::of_sharing(columns, 256, small ? 2 : 4)
                  : SsmGeometry::of_sharing(columns, 64, 4);
  }

  Variant variant(const SsmLaunches &launches, const std::vector<Address> &at) const {
    const SsmGeometry &geometry = launches.geometry;
    const int chunk = staged ? geometry.chunk() : 1;
    const bool aligned = is_aligned(at[2], r.b.dtype) && is_aligned(at[3], r.c.dtype) &&
                         is_aligned(at[12], r.dbx_log.dtype);
    Variant variant("ssm_step_record", geometry.threads, staged && !small ? 4 : 0,
                    launches.table());
    geometry.set(variant, launches.from, launches.to, aligned);
    variant.set("CHUNK", chunk);
    variant.set("STEPS", std::min(chunk, small ? 4 : 2));
    variant.set("STAGED", staged);
    variant.set("SEQUENCES", launches.last != nullptr);
    variant.set("TAPE", dense ? "DENSE" : is_present(r.decay) ? "FACTORED" : "NONE");
    variant.set("HAS_D", is_present(r.d));
    variant.set("ACTIVATION", type_name(r.x.dtype));
    variant.set("A_LOG_TYPE", type_name(r.a_log.dtype));
    variant.set("D_TYPE", type_name(r.d.dtype));
    variant.set("DT_TYPE", type_name(r.dt.dtype));
    variant.set("DBX_TYPE", type_name(r.dbx_log.dtype));
    set_mask(variant, r.mask);
    return variant;
  }

  void run(Stream &stream, Arguments &arguments) const {
    const SsmStates from = SsmStates::read(r.state, r.shape, with_states(r.shape), arguments);
    const SsmStates to = SsmStates::write(r.state_out, r.shape, arguments);
    const std::vector<Address> at = pointers(from, to, arguments);
    const std::vector<int32_t> table = last();
    const SsmGeometry geometry = this->geometry();
    const bool identity = from.is_identity() && to.is_identity();
    const SsmLaunches launches = {r.shape,      geometry, from, to, identity ? nullptr : &table,
                                  r.shape.steps};
    launches.each(variant(launches, at), at,
                  [&](const Launch &launch) { stream.launch(launch, arguments); });
  }
};

// No steps: the states as they are, which is a replay of nothing.
void keep_states(Stream &stream, const dtape_ssm_step_record_request &request) {
  if (!is_present(request.state_out)) return;
  dtape_ssm_replay_request replay = {};
  replay.shape = request.shape;
  replay.shape.tape = DTAPE_TAPE_FACTORED;
  replay.shape.k = nullptr;
  replay.state = request.state;
  replay.state_out = request.state_out;
  ssm_replay(stream, replay);
}

}  // namespace

void ssm_step_record(Stream &stream, const dtape_ssm_step_record_request &request) {
  const auto &r = request;
  require_countable(r.shape);
  if (r.shape.steps == 0) return keep_states(stream, request);
  if (r.shape.batch == 0 || r.shape.heads == 0) return;
  const Step step(request);
  stream.call({r.x, r.a_log, r.b, r.c, r.d, r.dt, r.state, r.mask, r.y, r.state_out, r.decay,
               r.scale, r.da_log, r.dbx_log},
              [&](Arguments &arguments) { step.run(stream, arguments); });
}

}  // namespace deltatape::cuda
