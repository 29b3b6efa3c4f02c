// Every argument of dtape_ssm_step_record, broken in turn.
#include "session.h"
#include "ssm_broken.h"

namespace {

using Record = Call<dtape_ssm_step_record_args>;

void make_plain(Record &call, int32_t tape, int32_t activation) {
  set_dimensions(call.args, tape);
  for (const char *name : {"x", "b", "c", "dt", "y"}) call.give(name, activation);
  for (const char *name : {"a_log", "d"}) call.give(name, DTAPE_F32);
  for (const char *name : {"state", "state_out"}) call.give(name, DTAPE_F32);
  call.give("mask", DTAPE_MASK32);
  call.give("has_initial");
  call.data("has_initial")[1] = 0;
}

void make_factored(Record &call) {
  make_plain(call, DTAPE_TAPE_FACTORED, DTAPE_BF16);
  for (const char *name : {"decay", "scale"}) call.give(name, DTAPE_F32);
}

void make_dense(Record &call) {
  make_plain(call, DTAPE_TAPE_DENSE, DTAPE_F32);
  call.give("da_log", DTAPE_F32);
  call.give("dbx_log", DTAPE_F16);
}

void refuses_what_is_wrong_for_any_tape(Record &call) {
  ACCEPTS(call, "valid arguments");
  refuses_a_broken_struct(call);
  refuses_broken_dimensions(call);
  refuses_broken_arrays(call, {"d", "state", "mask", "has_initial", "state_out"}, "state",
                        "state_out");
}

void refuses_dtypes_of_other_arrays(Record &call) {
  REFUSES(call, DTAPE_UNSUPPORTED_DTYPE, "b: expected dtype bf16 (3), got 1",
          args.b.dtype = DTAPE_F32);
  REFUSES(call, DTAPE_UNSUPPORTED_DTYPE, "c: expected dtype bf16 (3), got 2",
          args.c.dtype = DTAPE_F16);
  REFUSES(call, DTAPE_UNSUPPORTED_DTYPE, "y: expected dtype bf16 (3), got 1",
          args.y.dtype = DTAPE_F32);
  const std::string parameter = ": expected dtype f32 (1) or bf16 (3), got 2";
  REFUSES(call, DTAPE_UNSUPPORTED_DTYPE, "a_log" + parameter, args.a_log.dtype = DTAPE_F16);
  REFUSES(call, DTAPE_UNSUPPORTED_DTYPE, "d" + parameter, args.d.dtype = DTAPE_F16);
  REFUSES(call, DTAPE_UNSUPPORTED_DTYPE, "dt" + parameter, args.dt.dtype = DTAPE_F16);
  REFUSES(call, DTAPE_UNSUPPORTED_DTYPE, "state_out: expected dtype f32 (1), got 3",
          args.state_out.dtype = DTAPE_BF16);
  REFUSES(call, DTAPE_UNSUPPORTED_DTYPE, "decay: expected dtype f32 (1), got 3",
          args.decay.dtype = DTAPE_BF16);
  REFUSES(call, DTAPE_UNSUPPORTED_DTYPE, "scale: expected dtype f32 (1), got 2",
          args.scale.dtype = DTAPE_F16);
}

void refuses_arrays_of_other_tapes(Record &factored, Record &dense) {
  const std::string extra = ": expected no array with this kind of tape, got one";
  REFUSES(factored, DTAPE_INVALID_ARGUMENT, "da_log" + extra, args.da_log = args.decay);
  REFUSES(factored, DTAPE_INVALID_ARGUMENT, "dbx_log" + extra, args.dbx_log = args.decay);
  REFUSES(dense, DTAPE_INVALID_ARGUMENT, "decay" + extra, args.decay = args.da_log);
  REFUSES(dense, DTAPE_INVALID_ARGUMENT, "scale" + extra, args.scale = args.da_log);
  REFUSES(dense, DTAPE_INVALID_ARGUMENT, "da_log" + extra, args.tape = DTAPE_TAPE_NONE);
  for (const int32_t tape : {3, -1, 1 << 30}) {
    REFUSES(factored, DTAPE_INVALID_ARGUMENT,
            "tape: expected none (0), factored (1) or dense (2), got " + std::to_string(tape),
            args.tape = tape);
  }
}

void judges_the_stride_of_a_state_that_is_not_there(Record &call) {
  REFUSES(call, DTAPE_INVALID_ARGUMENT, "state: expected fewer than 2^63 bytes, got *",
          args.state.data = nullptr, args.has_initial = nullptr, args.state_stride = INT64_MAX);
}

void refuses_a_first_state_that_is_not_there(Record &call) {
  REFUSES(call, DTAPE_INVALID_ARGUMENT,
          "has_initial: expected 0 for every sequence without a state, got has_initial[0] = 165",
          args.state.data = nullptr);
  call.args.state.data = nullptr;
  call.data("has_initial")[0] = 0;
  ACCEPTS(call, "no state, and none expected");
}

void allows_a_slot_twice_where_states_are_only_read(Record &call) {
  call.args.state_out.data = nullptr;
  call.host<int32_t>("slots")[0] = call.host<int32_t>("slots")[1] = 3;
  ACCEPTS(call, "one state read by two sequences");
}

void finds_duplicates_in_large_batches(dtape_stream *stream) {
  constexpr int32_t kBatch = 1000;
  Record call(stream);
  call.args.batch = kBatch;
  call.args.steps = call.args.heads = call.args.groups = 1;
  call.args.head_dim = call.args.state_dim = 1;
  call.args.states = kBatch;
  for (const char *name : {"x", "a_log", "b", "c", "dt", "y"}) call.give(name, DTAPE_F32);
  call.give("slots");
  call.give("state", DTAPE_F32);
  call.args.state_out.data = call.data("state");
  call.args.state_out.dtype = DTAPE_F32;
  int32_t *const slots = call.host<int32_t>("slots");
  for (int32_t b = 0; b < kBatch; ++b) slots[b] = kBatch - 1 - b;
  ACCEPTS(call, "a permutation");
  REFUSES(call, DTAPE_INVALID_ARGUMENT,
          "slots: expected each state once where states are written, got slots[17] = slots[901] = "
          "98",
          slots[17] = slots[901]);
}

}  // namespace

int main(int count, char **words) {
  const Session session(device_name(count, words));
  Record factored(session.stream);
  Record dense(session.stream);
  Record pool(session.stream);
  make_factored(factored);
  make_dense(dense);
  make_factored(pool);
  make_pool(pool);

  refuses_what_is_wrong_for_any_tape(factored);
  refuses_what_is_wrong_for_any_tape(dense);
  refuses_dtypes_of_other_arrays(factored);
  refuses_arrays_of_other_tapes(factored, dense);
  judges_the_stride_of_a_state_that_is_not_there(factored);
  refuses_a_first_state_that_is_not_there(factored);
  refuses_broken_slots(pool);
  allows_a_slot_twice_where_states_are_only_read(pool);
  finds_duplicates_in_large_batches(session.stream);
  return failed_checks != 0;
}
