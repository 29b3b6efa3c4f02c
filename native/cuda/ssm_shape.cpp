#include "cuda/ssm_shape.h"

#include <climits>

#include "cuda/types.h"

namespace deltatape::cuda {
namespace {

void require_at_most(const char *name, int64_t value, int64_t most) {
  if (value <= most) return;
  throw Failure(DTAPE_NOT_OFFERED, std::string(name) + ": expected at most " +
                                       std::to_string(most) + " on cuda, got " +
                                       std::to_string(value));
}

}  // namespace

std::vector<bool> with_states(const dtape_ssm_shape &shape) {
  std::vector<bool> with(static_cast<size_t>(shape.batch));
  for (size_t b = 0; b < with.size(); ++b) {
    const bool initial = shape.has_initial == nullptr || shape.has_initial[b] != 0;
    with[b] = initial && !is_skipped(shape, b);
  }
  return with;
}

void require_countable(const dtape_ssm_shape &shape) {
  require_at_most("state_dim", shape.state_dim, 1024);
  require_at_most("batch", shape.batch, INT32_MAX);
  require_at_most("steps", shape.steps, INT32_MAX);
  // A group of 8 steps is indexed in 32 bits.
  constexpr int64_t kMost = UINT32_MAX / SsmGeometry::kMostSteps;
  require_at_most("heads", shape.heads, kMost);
  require_at_most("heads * head_dim", shape.heads * shape.head_dim, kMost);
  require_at_most("groups * state_dim", shape.groups * shape.state_dim, kMost);
}

SsmGeometry::SsmGeometry(int64_t columns, int group, int most_lanes, int sharing)
    : state_dim(columns), threads(group), lanes(1) {
  const int64_t quads = std::max<int64_t>((columns + 3) / 4, 1);
  while (lanes < std::min<int64_t>(quads, most_lanes)) lanes *= 2;
  // Registers for at most 32 columns, and at most 256 rows in threadgroup memory.
  const int64_t vectors = (quads + lanes - 1) / lanes;
  const int fit = vectors <= 2 ? 4 : vectors <= 4 ? 2 : 1;
  rows = std::min({sharing, fit, std::max(256 * lanes / threads, 1)});
}

int SsmGeometry::chunk() const {
  const int64_t vectors = std::max<int64_t>((state_dim + 4 * lanes - 1) / (4 * lanes), 1);
  const int64_t longest = std::max<int64_t>(vectors * 4 * lanes, tile());
  return static_cast<int>(std::min<int64_t>(std::max<int64_t>(1024 / longest, 1), kMostSteps));
}

void SsmGeometry::set(Variant &variant, const SsmStates &from, const SsmStates &to,
                      bool aligned) const {
  const bool whole = state_dim % 4 == 0 && state_dim > 0;
  variant.set("DS", static_cast<int>(state_dim));
  variant.set("LANES", lanes);
  variant.set("ROWS", rows);
  variant.set("STATE_IN", type_name(from.dtype()));
  variant.set("STATE_OUT", type_name(to.dtype()));
  variant.set("ALIGNED", aligned && whole && from.is_aligned() && to.is_aligned());
}

int SsmLaunches::table() const {
  const int64_t most = std::min<int64_t>(shape.batch, kMostInTable / 3);
  return table_room(last ? static_cast<size_t>(most) * 3 : 0);
}

Launch SsmLaunches::launch(const Variant &variant, const std::vector<Address> &pointers,
                           int64_t first, int64_t count) const {
  const int64_t tiles = geometry.tiles(shape);
  require_at_most("head_dim", tiles, Launch::kMostGroups);
  Launch made = {variant,
                 static_cast<unsigned>(shape.heads),
                 static_cast<unsigned>(tiles),
                 static_cast<unsigned>(count),
                 {}};
  for (const Address pointer : pointers) made.arguments.put(pointer);
  made.arguments.put(ssm_params{
      static_cast<ulong>(from.stride()), static_cast<ulong>(to.stride()), static_cast<uint>(first),
      0, static_cast<uint>(steps), static_cast<uint>(shape.steps), static_cast<uint>(shape.heads),
      static_cast<uint>(shape.groups), static_cast<uint>(shape.head_dim),
      static_cast<uint>(shape.heads / std::max<int64_t>(shape.groups, 1))});
  std::vector<int32_t> numbers;
  for (int64_t b = first; last != nullptr && b < first + count; ++b) {
    const int32_t end = (*last)[static_cast<size_t>(b)];
    numbers.push_back(end < 0 ? -1 : from.index(b));
    numbers.push_back(end < 0 ? -1 : to.index(b));
    numbers.push_back(end);
  }
  made.arguments.put_table(numbers, variant.table());
  return made;
}

}  // namespace deltatape::cuda
