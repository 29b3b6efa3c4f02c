#include "kernels.h"

#include <cstddef>

namespace {

struct Sizes {
  int64_t batch, steps, heads, groups, head_dim, state_dim, decay_dim, chunk, count, states;
};

template <class Ssm>
Sizes sizes_of(const Ssm &args) {
  Sizes sizes = {};
  sizes.batch = args.batch;
  sizes.steps = args.steps;
  sizes.heads = args.heads;
  sizes.groups = args.groups;
  sizes.head_dim = args.head_dim;
  sizes.state_dim = args.state_dim;
  sizes.decay_dim = args.tape == DTAPE_TAPE_COLUMNS ? args.state_dim : 1;
  sizes.states = args.slots ? args.states : args.batch;
  return sizes;
}

Sizes sizes_of(const dtape_chunk_tri_solve_invert_args &args) {
  Sizes sizes = {};
  sizes.batch = args.batch;
  sizes.steps = args.steps;
  sizes.heads = args.heads;
  sizes.chunk = args.chunk;
  sizes.count = args.cu_seqlens_count;
  return sizes;
}

int64_t size_of(const Sizes &sizes, char letter) {
  switch (letter) {
    case 'B':
      return sizes.batch;
    case 'T':
      return sizes.steps;
    case 'H':
      return sizes.heads;
    case 'G':
      return sizes.groups;
    case 'P':
      return sizes.head_dim;
    case 'S':
      return sizes.state_dim;
    case 'D':
      return sizes.decay_dim;
    case 'C':
      return sizes.chunk;
    case 'Q':
      return sizes.count;
    default:
      return sizes.states;
  }
}

template <class Ssm>
int64_t stride_of(const Ssm &args, const Field &field) {
  return field.kind == Field::kOutput ? args.state_out_stride : args.state_stride;
}

int64_t stride_of(const dtape_chunk_tri_solve_invert_args &, const Field &) {
  return 0;
}

Wide width_of(int32_t dtype) {
  if (dtype == DTAPE_F32 || dtype == DTAPE_MASK32) return 4;
  return dtype == DTAPE_MASK8 ? 1 : 2;
}

// More than an int64_t counts is all alike, so that products stay in a Wide.
Wide limited(Wide value) {
  constexpr Wide kUncountable = Wide{1} << 63;
  return value > kUncountable ? kUncountable : value;
}

}  // namespace

template <class Args>
Extent extent_of(const Args &args, const Field &field) {
  const Sizes sizes = sizes_of(args);
  Args &fields = const_cast<Args &>(args);
  const bool host = field.kind == Field::kHost;
  const Wide width = host ? static_cast<Wide>(field.host_bytes) : width_of(dtype(fields, field));
  Wide row = width;
  for (const char *letter = field.dims + 1; *letter != 0; ++letter) {
    const int64_t size = size_of(sizes, *letter);
    row = size <= 0 ? 0 : limited(row * size);
  }
  const Wide count = size_of(sizes, *field.dims);
  const Wide padded = *field.dims == 'N' ? Wide{stride_of(args, field)} * width : 0;
  const Wide stride = padded > 0 ? padded : row;
  const bool empty = count <= 0 || row <= 0;
  return {empty ? 0 : limited((count - 1) * limited(stride) + row), row, stride};
}

template Extent extent_of(const dtape_ssm_step_record_args &, const Field &);
template Extent extent_of(const dtape_ssm_replay_args &, const Field &);
template Extent extent_of(const dtape_chunk_tri_solve_invert_args &, const Field &);

#define INPUT(name, dims) {#name, Field::kInput, offsetof(Args, name), dims, 0}
#define OUTPUT(name, dims) {#name, Field::kOutput, offsetof(Args, name), dims, 0}
#define HOST(name, dims, bytes) {#name, Field::kHost, offsetof(Args, name), dims, bytes}

const std::vector<Field> Kernel<dtape_ssm_step_record_args>::fields = [] {
  using Args = dtape_ssm_step_record_args;
  return std::vector<Field>{
      INPUT(x, "BTHP"),         INPUT(a_log, "H"),    INPUT(b, "BTGS"),
      INPUT(c, "BTGS"),         INPUT(d, "H"),        INPUT(dt, "BTH"),
      INPUT(state, "NHPS"),     INPUT(mask, "BT"),    HOST(has_initial, "B", 1),
      HOST(slots, "B", 4),      OUTPUT(y, "BTHP"),    OUTPUT(state_out, "NHPS"),
      OUTPUT(decay, "BTH"),     OUTPUT(scale, "BTH"), OUTPUT(da_log, "BTHS"),
      OUTPUT(dbx_log, "BTHPS"),
  };
}();

const std::vector<Field> Kernel<dtape_ssm_replay_args>::fields = [] {
  using Args = dtape_ssm_replay_args;
  return std::vector<Field>{
      INPUT(state, "NHPS"), INPUT(decay, "BTHD"),  INPUT(scale, "BTH"),       INPUT(u, "BTHP"),
      INPUT(v, "BTGS"),     INPUT(da_log, "BTHS"), INPUT(dbx_log, "BTHPS"),   INPUT(mask, "BT"),
      HOST(k, "B", 4),      HOST(slots, "B", 4),   OUTPUT(state_out, "NHPS"),
  };
}();

const std::vector<Field> Kernel<dtape_chunk_tri_solve_invert_args>::fields = [] {
  using Args = dtape_chunk_tri_solve_invert_args;
  return std::vector<Field>{
      INPUT(a, "BTHC"),
      HOST(cu_seqlens, "Q", 4),
      OUTPUT(a_inv, "BTHC"),
  };
}();
