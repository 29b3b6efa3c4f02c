#include "random_calls.h"

#include <algorithm>

namespace {

// Stands for "will be there" until the array has memory.
void *const kPresent = reinterpret_cast<void *>(1);

int32_t any_float(Random &random) {
  return random.pick<int32_t>({DTAPE_F32, DTAPE_F16, DTAPE_BF16});
}

template <class Array>
void add(Array &array, int32_t dtype) {
  array.data = kPresent;
  array.dtype = dtype;
}

void add_mask(Random &random, dtape_input &mask) {
  if (random.chance(50)) add(mask, random.pick<int32_t>({DTAPE_MASK8, DTAPE_MASK32}));
}

int64_t small(Random &random, int64_t bound) {
  return random.chance(5) ? 0 : 1 + random.below(bound);
}

template <class Args>
void choose_sizes(Random &random, Args &args) {
  args.size = sizeof args;
  args.batch = small(random, 3);
  args.steps = small(random, 4);
  args.groups = small(random, 2);
  args.heads = args.groups * small(random, 2);
  args.head_dim = small(random, 5);
  args.state_dim = small(random, random.chance(10) ? 17 : 6);
  if (random.chance(30)) {
    args.slots = static_cast<const int32_t *>(kPresent);
    args.states = args.batch + random.below(3);
  } else if (random.chance(50)) {
    args.states = args.batch;
  }
  const int64_t packed = args.heads * args.head_dim * args.state_dim;
  args.state_stride = random.chance(50) ? 0 : packed + random.below(9);
  const bool equal = args.slots != nullptr || random.chance(50);
  args.state_out_stride = equal ? args.state_stride : packed + random.below(9);
}

template <class Args>
void fill_slots(Random &random, Args &args) {
  if (args.slots == nullptr) return;
  int32_t *const slots = const_cast<int32_t *>(args.slots);
  for (int64_t b = 0; b < std::min<int64_t>(args.batch, 8); ++b) {
    slots[b] = random.chance(20) ? -1 : static_cast<int32_t>(args.states - 1 - b);
  }
}

// With slots the states are the pool itself; else now and then, if they are laid out alike.
template <class Args>
void share_states(Random &random, Args &args) {
  const bool alike = args.state_stride == args.state_out_stride || args.batch <= 1;
  const bool there = args.state.data != nullptr && args.state_out.data != nullptr;
  const bool shared = args.slots != nullptr || (alike && random.chance(40));
  if (there && shared) args.state_out.data = const_cast<void *>(args.state.data);
}

}  // namespace

void choose(Random &random, dtape_ssm_step_record_args &args) {
  choose_sizes(random, args);
  const int32_t activation = any_float(random);
  const auto parameter = [&] { return random.chance(50) ? activation : int32_t{DTAPE_F32}; };
  for (dtape_input *const each : {&args.x, &args.b, &args.c}) add(*each, activation);
  add(args.a_log, parameter());
  add(args.dt, parameter());
  add(args.y, activation);
  if (random.chance(50)) add(args.d, parameter());
  add_mask(random, args.mask);
  const int32_t state = any_float(random);
  if (args.slots != nullptr || random.chance(70)) add(args.state, state);
  if (random.chance(70)) add(args.state_out, state);
  if (random.chance(30)) args.has_initial = static_cast<const uint8_t *>(kPresent);
  args.tape = random.pick<int32_t>({DTAPE_TAPE_NONE, DTAPE_TAPE_FACTORED, DTAPE_TAPE_DENSE});
  if (args.tape == DTAPE_TAPE_FACTORED) {
    add(args.decay, DTAPE_F32);
    add(args.scale, DTAPE_F32);
  } else if (args.tape == DTAPE_TAPE_DENSE) {
    add(args.da_log, DTAPE_F32);
    add(args.dbx_log, any_float(random));
  }
}

void choose(Random &random, dtape_ssm_replay_args &args) {
  choose_sizes(random, args);
  args.tape = random.pick<int32_t>({DTAPE_TAPE_FACTORED, DTAPE_TAPE_DENSE, DTAPE_TAPE_COLUMNS});
  if (args.tape == DTAPE_TAPE_DENSE) {
    add(args.da_log, DTAPE_F32);
    add(args.dbx_log, any_float(random));
  } else {
    add(args.decay, DTAPE_F32);
    if (random.chance(50)) add(args.scale, DTAPE_F32);
    add(args.u, any_float(random));
    add(args.v, any_float(random));
  }
  add_mask(random, args.mask);
  const int32_t state = any_float(random);
  add(args.state, state);
  add(args.state_out, state);
  args.k = static_cast<const int32_t *>(kPresent);
}

void choose(Random &random, dtape_chunk_tri_solve_invert_args &args) {
  args.size = sizeof args;
  const bool divided = random.chance(50);
  args.batch = divided ? 1 : small(random, 2);
  args.steps = small(random, divided ? 40 : 20);
  args.heads = small(random, 2);
  args.chunk = random.pick<int64_t>({16, 16, 32, 64});
  add(args.a, any_float(random));
  add(args.a_inv, any_float(random));
  if (!divided) return;
  args.cu_seqlens = static_cast<const int32_t *>(kPresent);
  args.cu_seqlens_count = 2 + random.below(4);
}

void finish(Random &random, dtape_ssm_step_record_args &args) {
  fill_slots(random, args);
  share_states(random, args);
  if (args.has_initial == nullptr) return;
  uint8_t *const has_initial = const_cast<uint8_t *>(args.has_initial);
  for (int64_t b = 0; b < std::min<int64_t>(args.batch, 8); ++b) {
    has_initial[b] = args.state.data != nullptr && random.chance(50);
  }
}

void finish(Random &random, dtape_ssm_replay_args &args) {
  fill_slots(random, args);
  share_states(random, args);
  int32_t *const k = const_cast<int32_t *>(args.k);
  for (int64_t b = 0; b < std::min<int64_t>(args.batch, 8); ++b) {
    k[b] = static_cast<int32_t>(random.below(std::clamp<int64_t>(args.steps, 0, 8) + 1));
  }
}

void finish(Random &random, dtape_chunk_tri_solve_invert_args &args) {
  const bool one_size = (args.a.dtype == DTAPE_F32) == (args.a_inv.dtype == DTAPE_F32);
  if (one_size && random.chance(40)) args.a_inv.data = const_cast<void *>(args.a.data);
  if (args.cu_seqlens == nullptr) return;
  int32_t *const starts = const_cast<int32_t *>(args.cu_seqlens);
  const int64_t last = std::clamp<int64_t>(args.cu_seqlens_count, 0, 8) - 1;
  for (int64_t i = 0; i <= last; ++i) {
    const int64_t steps = std::clamp<int64_t>(args.steps, 0, 1000);
    starts[i] =
        i == 0 ? 0 : static_cast<int32_t>(starts[i - 1] + random.below(steps - starts[i - 1] + 1));
    if (i == last) starts[i] = static_cast<int32_t>(steps);
  }
}
