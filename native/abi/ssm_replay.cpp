#include "abi/handles.h"
#include "abi/ssm_shape.h"
#include "abi/versioned.h"

using namespace deltatape;

namespace {

constexpr Codes kTapes = {DTAPE_TAPE_FACTORED, DTAPE_TAPE_DENSE, DTAPE_TAPE_COLUMNS};

void judge_arrays(Judge &judge, const dtape_ssm_replay_args &args,
                  dtape_ssm_replay_request &request) {
  const dtape_ssm_shape &shape = request.shape;
  const StepShapes shapes(shape);
  const bool dense = shape.tape == DTAPE_TAPE_DENSE;
  const Presence of_dense = dense ? Presence::kRequired : Presence::kForbidden;
  const Presence of_others = dense ? Presence::kForbidden : Presence::kRequired;
  const Presence scale = dense ? Presence::kForbidden : Presence::kOptional;
  const Shape &decay = shape.tape == DTAPE_TAPE_COLUMNS ? shapes.column : shapes.head;

  request.state = judge.input("state", args.state, state_shape(shape, shape.state_stride), kFloats);
  request.decay = judge.input("decay", args.decay, decay, kF32, of_others);
  request.scale = judge.input("scale", args.scale, shapes.head, kF32, scale);
  request.u = judge.input("u", args.u, shapes.row, kFloats, of_others);
  request.v = judge.input("v", args.v, shapes.group, kFloats, of_others);
  request.da_log = judge.input("da_log", args.da_log, shapes.column, kF32, of_dense);
  request.dbx_log = judge.input("dbx_log", args.dbx_log, shapes.state, kFloats, of_dense);
  request.mask = judge.input("mask", args.mask, shapes.step, kMasks, Presence::kOptional);
  request.state_out =
      judge.output("state_out", args.state_out, state_shape(shape, shape.state_out_stride),
                   Codes{request.state.dtype}, Presence::kRequired, "state");
}

void judge_k(const dtape_ssm_shape &shape) {
  if (shape.k == nullptr && shape.batch != 0) refuse_null("k");
  for (int64_t b = 0; b < shape.batch; ++b) {
    if (shape.k[b] >= 0 && shape.k[b] <= shape.steps) continue;
    refuse(DTAPE_INVALID_ARGUMENT,
           "k: expected 0 <= k[b] <= %" PRId64 " (steps), got k[%" PRId64 "] = %d", shape.steps, b,
           shape.k[b]);
  }
}

dtape_ssm_replay_request judged(const dtape_ssm_replay_args &args) {
  dtape_ssm_replay_request request = {};
  request.shape = shape_of(args);
  request.shape.k = args.k;
  judge_shape(request.shape, kTapes);

  Judge judge;
  judge_arrays(judge, args, request);
  judge.host_array("k", args.k, {"[B]", {args.batch}}, sizeof *args.k);
  judge.host_array("slots", args.slots, {"[B]", {args.batch}}, sizeof *args.slots);
  judge_pool(request.shape, request.state, request.state_out);
  judge.refuse_overlap();
  judge_k(request.shape);
  judge_slots(request.shape, true);
  return request;
}

}  // namespace

dtape_status dtape_ssm_replay(dtape_stream *stream, const dtape_ssm_replay_args *args) {
  return guarded("ssm_replay", [&]() -> dtape_status {
    const StreamUse use(stream);
    const auto kernel = use.offered(use.host().ssm_replay);
    const dtape_ssm_replay_request request = judged(complete(args));
    if (!any_elements({request.state_out})) return DTAPE_OK;
    return kernel(use.data(), &request);
  });
}
