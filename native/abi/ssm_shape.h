// What a step and a replay have in common: dimensions, strides, states and slots.
#ifndef DTAPE_ABI_SSM_SHAPE_H
#define DTAPE_ABI_SSM_SHAPE_H

#include "abi/judge.h"

namespace deltatape {

// The dimensions of either kernel's arguments, not judged yet.
template <class Args>
dtape_ssm_shape shape_of(const Args &args) {
  dtape_ssm_shape shape = {};
  shape.batch = args.batch;
  shape.steps = args.steps;
  shape.heads = args.heads;
  shape.groups = args.groups;
  shape.head_dim = args.head_dim;
  shape.state_dim = args.state_dim;
  shape.states = args.states;
  shape.state_stride = args.state_stride;
  shape.state_out_stride = args.state_out_stride;
  shape.tape = args.tape;
  shape.reserved = args.reserved;
  shape.slots = args.slots;
  return shape;
}

// Judges dimensions and fills in the strides. `tapes` are the kinds allowed.
void judge_shape(dtape_ssm_shape &shape, const Codes &tapes);

// The shapes of arrays along the steps.
struct StepShapes {
  explicit StepShapes(const dtape_ssm_shape &shape);

  Shape step;    // [B,T]
  Shape head;    // [B,T,H]
  Shape row;     // [B,T,H,Dh]
  Shape column;  // [B,T,H,Ds]
  Shape group;   // [B,T,G,Ds]
  Shape state;   // [B,T,H,Dh,Ds]
};

// [B,H,Dh,Ds], or with slots the pool [N,H,Dh,Ds].
Shape state_shape(const dtape_ssm_shape &shape, int64_t stride);

// With slots the states are updated in place, or not at all.
void judge_pool(const dtape_ssm_shape &shape, const dtape_span &state, const dtape_span &state_out);

// Every slot is in the pool; where states are written, each belongs to one sequence.
void judge_slots(const dtape_ssm_shape &shape, bool written);

}  // namespace deltatape

#endif
