// What may be wrong with the arguments that a step and a replay share.
#ifndef DTAPE_TESTS_SSM_BROKEN_H
#define DTAPE_TESTS_SSM_BROKEN_H

#include "broken.h"

template <class Args>
void set_dimensions(Args &args, int32_t tape) {
  args.batch = 2;
  args.steps = 3;
  args.heads = 4;
  args.groups = 2;
  args.head_dim = 3;
  args.state_dim = 5;
  args.tape = tape;
}

// A pool of 5 padded states that is updated in place.
template <class Args>
void make_pool(Call<Args> &call) {
  call.args.states = 5;
  call.args.state_stride = 64;
  call.args.state_out_stride = 64;
  call.give("slots");
  call.template host<int32_t>("slots")[0] = 4;
  call.template host<int32_t>("slots")[1] = 0;
  call.give("state", DTAPE_F32);
  call.args.state_out.data = call.data("state");
  call.args.state_out.dtype = DTAPE_F32;
}

template <class Args>
void refuses_broken_dimensions(Call<Args> &call) {
  refuses_a_broken_size(call, "batch", &Args::batch);
  refuses_a_broken_size(call, "steps", &Args::steps);
  refuses_a_broken_size(call, "heads", &Args::heads);
  refuses_a_broken_size(call, "groups", &Args::groups);
  refuses_a_broken_size(call, "head_dim", &Args::head_dim);
  refuses_a_broken_size(call, "state_dim", &Args::state_dim);
  refuses_a_broken_size(call, "states", &Args::states);
  refuses_a_broken_size(call, "state_stride", &Args::state_stride);
  refuses_a_broken_size(call, "state_out_stride", &Args::state_out_stride);

  REFUSES(call, DTAPE_INVALID_ARGUMENT, "reserved: expected 0, got 1", args.reserved = 1);
  REFUSES(call, DTAPE_INVALID_ARGUMENT, "groups: expected a divisor of 4 (heads), got 3",
          args.groups = 3);
  REFUSES(call, DTAPE_INVALID_ARGUMENT, "groups: expected a divisor of 4 (heads), got 0",
          args.groups = 0);
  REFUSES(call, DTAPE_INVALID_ARGUMENT, "states: expected 0 or 2 (batch) without slots, got 3",
          args.states = 3);
  const std::string packed = ": expected 0 or at least 60 (elements of a state), got 59";
  REFUSES(call, DTAPE_INVALID_ARGUMENT, "state_stride" + packed, args.state_stride = 59);
  REFUSES(call, DTAPE_INVALID_ARGUMENT, "state_out_stride" + packed, args.state_out_stride = 59);
}

template <class Args>
void refuses_broken_slots(Call<Args> &call) {
  int32_t *const slots = call.template host<int32_t>("slots");
  ACCEPTS(call, "a pool");
  REFUSES(call, DTAPE_INVALID_ARGUMENT,
          "slots: expected -1 <= slots[b] < 5 (states), got slots[1] = 5", slots[1] = 5);
  REFUSES(call, DTAPE_INVALID_ARGUMENT,
          "slots: expected -1 <= slots[b] < 5 (states), got slots[0] = -2", slots[0] = -2);
  REFUSES(call, DTAPE_INVALID_ARGUMENT,
          "slots: expected each state once where states are written, got slots[0] = slots[1] = 3",
          slots[0] = slots[1] = 3);
  REFUSES(call, DTAPE_INVALID_ARGUMENT,
          "state_out: expected the pool itself (state) with slots, got other memory",
          args.state_out.data = call.arena.begin(call.index("state_out")));
  REFUSES(call, DTAPE_INVALID_ARGUMENT,
          "state_out_stride: expected 64 (state_stride) with slots, got 61",
          args.state_out_stride = 61);
  REFUSES(call, DTAPE_INVALID_ARGUMENT,
          "state: expected an array [N,H,Dh,Ds] = [5,4,3,5], got null", args.state.data = nullptr);
  slots[0] = slots[1] = -1;
  ACCEPTS(call, "every sequence skipped");
}

#endif
