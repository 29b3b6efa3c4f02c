#include "abi/ssm_shape.h"

#include <algorithm>
#include <vector>

namespace deltatape {
namespace {

void judge_tape(int32_t tape, const Codes &tapes) {
  if (tapes.has(tape)) return;
  refuse(DTAPE_INVALID_ARGUMENT, "tape: expected %s, got %d",
         tapes.has(DTAPE_TAPE_NONE) ? "none (0), factored (1) or dense (2)"
                                    : "factored (1), dense (2) or columns (3)",
         tape);
}

void judge_groups(dtape_ssm_shape &shape) {
  const bool fits = shape.groups == 0 ? shape.heads == 0 : shape.heads % shape.groups == 0;
  if (!fits) {
    refuse(DTAPE_INVALID_ARGUMENT,
           "groups: expected a divisor of %" PRId64 " (heads), got %" PRId64, shape.heads,
           shape.groups);
  }
  shape.groups = std::max<int64_t>(shape.groups, 1);  // devices divide by it
}

void judge_stride(const char *name, int64_t &stride, int64_t packed) {
  if (stride != 0 && stride < packed) {
    refuse(DTAPE_INVALID_ARGUMENT,
           "%s: expected 0 or at least %" PRId64 " (elements of a state), got %" PRId64, name,
           packed, stride);
  }
  if (stride == 0) stride = packed;
}

void judge_states(const dtape_ssm_shape &shape) {
  if (shape.slots != nullptr || shape.states == 0 || shape.states == shape.batch) return;
  refuse(DTAPE_INVALID_ARGUMENT,
         "states: expected 0 or %" PRId64 " (batch) without slots, got %" PRId64, shape.batch,
         shape.states);
}

void refuse_out_of_range(const dtape_ssm_shape &shape) {
  for (int64_t b = 0; b < shape.batch; ++b) {
    const int32_t slot = shape.slots[b];
    if (slot >= -1 && slot < shape.states) continue;
    refuse(DTAPE_INVALID_ARGUMENT,
           "slots: expected -1 <= slots[b] < %" PRId64 " (states), got slots[%" PRId64 "] = %d",
           shape.states, b, slot);
  }
}

[[noreturn]] void refuse_twice(const dtape_ssm_shape &shape, int32_t slot) {
  const int32_t *const end = shape.slots + shape.batch;
  const int32_t *const first = std::find(shape.slots, end, slot);
  const int32_t *const second = std::find(first + 1, end, slot);
  refuse(DTAPE_INVALID_ARGUMENT,
         "slots: expected each state once where states are written, got slots[%td] = slots[%td] = "
         "%d",
         first - shape.slots, second - shape.slots, slot);
}

// Sorts a copy: quick for any batch, and without memory from the heap for a usual one.
void refuse_duplicates(const dtape_ssm_shape &shape) {
  constexpr int64_t kFew = 64;
  std::array<int32_t, kFew> few;
  std::vector<int32_t> many(shape.batch > kFew ? shape.batch : 0);
  int32_t *const begin = many.empty() ? few.data() : many.data();
  int32_t *const end = std::copy_if(shape.slots, shape.slots + shape.batch, begin,
                                    [](int32_t slot) { return slot >= 0; });
  std::sort(begin, end);
  const int32_t *const twice = std::adjacent_find(begin, end);
  if (twice != end) refuse_twice(shape, *twice);
}

}  // namespace

void judge_shape(dtape_ssm_shape &shape, const Codes &tapes) {
  refuse_negative({{"batch", shape.batch},
                   {"steps", shape.steps},
                   {"heads", shape.heads},
                   {"groups", shape.groups},
                   {"head_dim", shape.head_dim},
                   {"state_dim", shape.state_dim},
                   {"states", shape.states},
                   {"state_stride", shape.state_stride},
                   {"state_out_stride", shape.state_out_stride}});
  if (shape.reserved != 0) {
    refuse(DTAPE_INVALID_ARGUMENT, "reserved: expected 0, got %d", shape.reserved);
  }
  judge_tape(shape.tape, tapes);
  judge_groups(shape);
  judge_states(shape);
  // Devices may keep every sequence's state in f32, whatever the caller stores.
  refuse_uncountable("state",
                     {"[B,H,Dh,Ds]", {shape.batch, shape.heads, shape.head_dim, shape.state_dim}},
                     sizeof(float));
  const int64_t packed = shape.heads * shape.head_dim * shape.state_dim;
  judge_stride("state_stride", shape.state_stride, packed);
  judge_stride("state_out_stride", shape.state_out_stride, packed);
  // A stride counts even where its array is absent: devices compute offsets all the same.
  refuse_uncountable("state", state_shape(shape, shape.state_stride), sizeof(float));
  refuse_uncountable("state_out", state_shape(shape, shape.state_out_stride), sizeof(float));
}

StepShapes::StepShapes(const dtape_ssm_shape &s)
    : step("[B,T]", {s.batch, s.steps}),
      head("[B,T,H]", {s.batch, s.steps, s.heads}),
      row("[B,T,H,Dh]", {s.batch, s.steps, s.heads, s.head_dim}),
      column("[B,T,H,Ds]", {s.batch, s.steps, s.heads, s.state_dim}),
      group("[B,T,G,Ds]", {s.batch, s.steps, s.groups, s.state_dim}),
      state("[B,T,H,Dh,Ds]", {s.batch, s.steps, s.heads, s.head_dim, s.state_dim}) {}

Shape state_shape(const dtape_ssm_shape &shape, int64_t stride) {
  const bool pool = shape.slots != nullptr;
  return {pool ? "[N,H,Dh,Ds]" : "[B,H,Dh,Ds]",
          {pool ? shape.states : shape.batch, shape.heads, shape.head_dim, shape.state_dim},
          stride};
}

void judge_pool(const dtape_ssm_shape &shape, const dtape_span &state,
                const dtape_span &state_out) {
  if (shape.slots == nullptr || state_out.dtype == 0) return;
  if (state_out.data != state.data) {
    refuse(DTAPE_INVALID_ARGUMENT,
           "state_out: expected the pool itself (state) with slots, got other memory");
  }
  if (shape.state_out_stride != shape.state_stride) {
    refuse(DTAPE_INVALID_ARGUMENT,
           "state_out_stride: expected %" PRId64 " (state_stride) with slots, got %" PRId64,
           shape.state_stride, shape.state_out_stride);
  }
}

void judge_slots(const dtape_ssm_shape &shape, bool written) {
  if (shape.slots == nullptr) return;
  refuse_out_of_range(shape);
  if (written) refuse_duplicates(shape);
}

}  // namespace deltatape
