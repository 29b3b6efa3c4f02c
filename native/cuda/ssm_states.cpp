#include "cuda/ssm_states.h"

#include <algorithm>

#include "cuda/types.h"

namespace deltatape::cuda {

SsmStates::SsmStates(const dtape_span &span, const dtape_ssm_shape &shape, int64_t stride,
                     const std::vector<bool> *has)
    : packed_(shape.heads * shape.head_dim * shape.state_dim),
      stride_(stride),
      dtype_(span.dtype),
      indices_(static_cast<size_t>(shape.batch), -1) {
  if (is_empty(span) || packed_ == 0) return;
  for (size_t b = 0; b < indices_.size(); ++b) {
    if (has == nullptr || (*has)[b]) {
      indices_[b] = shape.slots ? shape.slots[b] : static_cast<int32_t>(b);
    }
  }
}

SsmStates SsmStates::read(const dtape_span &span, const dtape_ssm_shape &shape,
                          const std::vector<bool> &has, Arguments &arguments) {
  SsmStates states(span, shape, shape.state_stride, &has);
  if (states.is_nothing()) {
    states.address_ = arguments.nothing();
    return states;
  }
  if (const std::optional<Address> there = arguments.reach(span, "state", false)) {
    states.address_ = *there;
    return states;
  }
  const uint64_t bytes = static_cast<uint64_t>(states.packed_ * element_bytes(span.dtype));
  Address to = 0;
  for (const uint64_t from : states.stage(span, arguments)) {
    arguments.copy_in(states.address_ + to, from, bytes);
    to += bytes;
  }
  return states;
}

SsmStates SsmStates::write(const dtape_span &span, const dtape_ssm_shape &shape,
                           Arguments &arguments) {
  SsmStates states(span, shape, shape.state_out_stride, nullptr);
  if (states.is_nothing()) {
    states.address_ = arguments.nothing();
    return states;
  }
  if (const std::optional<Address> there = arguments.reach(span, "state_out", true)) {
    states.address_ = *there;
    return states;
  }
  const uint64_t bytes = static_cast<uint64_t>(states.packed_ * element_bytes(span.dtype));
  Address from = 0;
  for (const uint64_t to : states.stage(span, arguments)) {
    arguments.copy_back(to, states.address_ + from, bytes);
    from += bytes;
  }
  return states;
}

std::vector<uint64_t> SsmStates::stage(const dtape_span &span, Arguments &arguments) {
  const int64_t element = element_bytes(span.dtype);
  std::vector<uint64_t> places;
  for (int32_t &index : indices_) {
    if (index < 0) continue;
    places.push_back(address_of(span) + static_cast<uint64_t>(index * stride_ * element));
    index = static_cast<int32_t>(places.size() - 1);
  }
  stride_ = packed_;
  address_ = arguments.scratch(places.size() * static_cast<uint64_t>(packed_ * element));
  return places;
}

bool SsmStates::is_nothing() const {
  return std::all_of(indices_.begin(), indices_.end(), [](int32_t index) { return index < 0; });
}

bool SsmStates::is_identity() const {
  for (size_t b = 0; b < indices_.size(); ++b) {
    if (indices_[b] != static_cast<int32_t>(b)) return false;
  }
  return true;
}

bool SsmStates::is_aligned() const {
  return deltatape::cuda::is_aligned(address_, dtype_) && stride_ % 4 == 0;
}

}  // namespace deltatape::cuda
