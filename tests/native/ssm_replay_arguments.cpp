// Every argument of dtape_ssm_replay, broken in turn.
#include "session.h"
#include "ssm_broken.h"

namespace {

using Replay = Call<dtape_ssm_replay_args>;

void give_k(Replay &call) {
  call.give("k");
  call.host<int32_t>("k")[0] = 3;
  call.host<int32_t>("k")[1] = 0;
}

void make_factored(Replay &call, int32_t tape = DTAPE_TAPE_FACTORED) {
  set_dimensions(call.args, tape);
  call.give("state", DTAPE_F32);
  call.give("decay", DTAPE_F32);
  call.give("scale", DTAPE_F32);
  call.give("u", DTAPE_BF16);
  call.give("v", DTAPE_F32);
  call.give("mask", DTAPE_MASK8);
  call.give("state_out", DTAPE_F32);
  give_k(call);
}

void make_dense(Replay &call) {
  set_dimensions(call.args, DTAPE_TAPE_DENSE);
  call.give("state", DTAPE_F16);
  call.give("da_log", DTAPE_F32);
  call.give("dbx_log", DTAPE_BF16);
  call.give("mask", DTAPE_MASK32);
  call.give("state_out", DTAPE_F16);
  give_k(call);
}

void refuses_what_is_wrong_for_any_tape(Replay &call) {
  ACCEPTS(call, "valid arguments");
  refuses_a_broken_struct(call);
  refuses_broken_dimensions(call);
  refuses_broken_arrays(call, {"scale", "mask"}, "state", "state_out");
}

void refuses_a_k_outside_the_tape(Replay &call) {
  int32_t *const k = call.host<int32_t>("k");
  REFUSES(call, DTAPE_INVALID_ARGUMENT, "k: expected 0 <= k[b] <= 3 (steps), got k[1] = 4",
          k[1] = 4);
  REFUSES(call, DTAPE_INVALID_ARGUMENT, "k: expected 0 <= k[b] <= 3 (steps), got k[0] = -1",
          k[0] = -1);
}

void refuses_dtypes_of_other_arrays(Replay &call) {
  REFUSES(call, DTAPE_UNSUPPORTED_DTYPE, "state_out: expected dtype f32 (1), got 2",
          args.state_out.dtype = DTAPE_F16);
  REFUSES(call, DTAPE_UNSUPPORTED_DTYPE, "decay: expected dtype f32 (1), got 3",
          args.decay.dtype = DTAPE_BF16);
  REFUSES(call, DTAPE_UNSUPPORTED_DTYPE, "scale: expected dtype f32 (1), got 2",
          args.scale.dtype = DTAPE_F16);
}

void refuses_arrays_of_other_tapes(Replay &factored, Replay &dense) {
  const std::string extra = ": expected no array with this kind of tape, got one";
  REFUSES(factored, DTAPE_INVALID_ARGUMENT, "da_log" + extra, args.da_log = args.decay);
  REFUSES(factored, DTAPE_INVALID_ARGUMENT, "dbx_log" + extra, args.dbx_log = args.decay);
  REFUSES(dense, DTAPE_INVALID_ARGUMENT, "decay" + extra, args.decay = args.da_log);
  REFUSES(dense, DTAPE_INVALID_ARGUMENT, "scale" + extra, args.scale = args.da_log);
  REFUSES(dense, DTAPE_INVALID_ARGUMENT, "u" + extra, args.u = args.da_log);
  REFUSES(dense, DTAPE_INVALID_ARGUMENT, "v" + extra, args.v = args.da_log);
  for (const int32_t tape : {0, 4, -1, 1 << 30}) {
    REFUSES(factored, DTAPE_INVALID_ARGUMENT,
            "tape: expected factored (1), dense (2) or columns (3), got " + std::to_string(tape),
            args.tape = tape);
  }
}

// A whole call of the same values fits where the states are the same memory.
void replays_in_place(Replay &call) {
  call.args.state_out.data = call.data("state");
  ACCEPTS(call, "in place");
  REFUSES(call, DTAPE_INVALID_ARGUMENT,
          "state_out: expected exactly the memory of state or none of it, got 236 bytes of it",
          args.batch = 1, args.state_out.data = call.data("state") + 4);
}

}  // namespace

int main(int count, char **words) {
  const Session session(device_name(count, words));
  Replay factored(session.stream);
  Replay columns(session.stream);
  Replay dense(session.stream);
  Replay pool(session.stream);
  make_factored(factored);
  make_factored(columns, DTAPE_TAPE_COLUMNS);
  make_dense(dense);
  make_factored(pool);
  make_pool(pool);

  refuses_what_is_wrong_for_any_tape(factored);
  refuses_what_is_wrong_for_any_tape(columns);
  refuses_what_is_wrong_for_any_tape(dense);
  refuses_a_k_outside_the_tape(factored);
  refuses_dtypes_of_other_arrays(factored);
  refuses_arrays_of_other_tapes(factored, dense);
  refuses_broken_slots(pool);
  replays_in_place(factored);
  return failed_checks != 0;
}
