#include "abi/handles.h"
#include "abi/ssm_shape.h"
#include "abi/versioned.h"

using namespace deltatape;

namespace {

constexpr Codes kTapes = {DTAPE_TAPE_NONE, DTAPE_TAPE_FACTORED, DTAPE_TAPE_DENSE};

void judge_inputs(Judge &judge, const dtape_ssm_step_record_args &args,
                  dtape_ssm_step_record_request &request) {
  const dtape_ssm_shape &shape = request.shape;
  const StepShapes shapes(shape);
  const Shape heads("[H]", {shape.heads});
  const Presence state = shape.slots == nullptr ? Presence::kOptional : Presence::kRequired;

  request.x = judge.input("x", args.x, shapes.row, kFloats);
  const Codes activation = {request.x.dtype};
  const Codes parameter = {DTAPE_F32, request.x.dtype};
  request.a_log = judge.input("a_log", args.a_log, heads, parameter);
  request.b = judge.input("b", args.b, shapes.group, activation);
  request.c = judge.input("c", args.c, shapes.group, activation);
  request.d = judge.input("d", args.d, heads, parameter, Presence::kOptional);
  request.dt = judge.input("dt", args.dt, shapes.head, parameter);
  request.state =
      judge.input("state", args.state, state_shape(shape, shape.state_stride), kFloats, state);
  request.mask = judge.input("mask", args.mask, shapes.step, kMasks, Presence::kOptional);
}

void judge_outputs(Judge &judge, const dtape_ssm_step_record_args &args,
                   dtape_ssm_step_record_request &request) {
  const dtape_ssm_shape &shape = request.shape;
  const StepShapes shapes(shape);
  const auto in = [&](int32_t tape) {
    return shape.tape == tape ? Presence::kRequired : Presence::kForbidden;
  };
  const Codes state = request.state.dtype == 0 ? kFloats : Codes{request.state.dtype};

  request.y = judge.output("y", args.y, shapes.row, Codes{request.x.dtype});
  request.state_out =
      judge.output("state_out", args.state_out, state_shape(shape, shape.state_out_stride), state,
                   Presence::kOptional, "state");
  request.decay = judge.output("decay", args.decay, shapes.head, kF32, in(DTAPE_TAPE_FACTORED));
  request.scale = judge.output("scale", args.scale, shapes.head, kF32, in(DTAPE_TAPE_FACTORED));
  request.da_log = judge.output("da_log", args.da_log, shapes.column, kF32, in(DTAPE_TAPE_DENSE));
  request.dbx_log =
      judge.output("dbx_log", args.dbx_log, shapes.state, kFloats, in(DTAPE_TAPE_DENSE));
}

void judge_has_initial(const dtape_ssm_shape &shape, const dtape_span &state) {
  if (shape.has_initial == nullptr || state.dtype != 0) return;
  for (int64_t b = 0; b < shape.batch; ++b) {
    if (shape.has_initial[b] == 0) continue;
    refuse(DTAPE_INVALID_ARGUMENT,
           "has_initial: expected 0 for every sequence without a state, got has_initial[%" PRId64
           "] = %d",
           b, shape.has_initial[b]);
  }
}

dtape_ssm_step_record_request judged(const dtape_ssm_step_record_args &args) {
  dtape_ssm_step_record_request request = {};
  request.shape = shape_of(args);
  request.shape.has_initial = args.has_initial;
  judge_shape(request.shape, kTapes);

  Judge judge;
  judge_inputs(judge, args, request);
  judge_outputs(judge, args, request);
  judge.host_array("has_initial", args.has_initial, {"[B]", {args.batch}}, 1);
  judge.host_array("slots", args.slots, {"[B]", {args.batch}}, sizeof *args.slots);
  judge_pool(request.shape, request.state, request.state_out);
  judge.refuse_overlap();
  judge_has_initial(request.shape, request.state);
  judge_slots(request.shape, request.state_out.dtype != 0);
  return request;
}

}  // namespace

dtape_status dtape_ssm_step_record(dtape_stream *stream, const dtape_ssm_step_record_args *args) {
  return guarded("ssm_step_record", [&]() -> dtape_status {
    const StreamUse use(stream);
    const auto kernel = use.offered(use.host().ssm_step_record);
    const dtape_ssm_step_record_request request = judged(complete(args));
    const bool writes = any_elements({request.y, request.state_out, request.decay, request.scale,
                                      request.da_log, request.dbx_log});
    if (!writes) return DTAPE_OK;
    return kernel(use.data(), &request);
  });
}
