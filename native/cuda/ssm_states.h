// The states of a call's sequences: in place, or staged.
#ifndef DTAPE_CUDA_SSM_STATES_H
#define DTAPE_CUDA_SSM_STATES_H

#include <vector>

#include "cuda/arguments.h"

namespace deltatape::cuda {

// States in the GPU's reach, `stride` elements apart, and which of them each sequence has (-1 =
// none). Those of a foreign pool are staged by the sequences that use them, whatever its size.
class SsmStates {
 public:
  // The states of sequences that have one.
  static SsmStates read(const dtape_span &span, const dtape_ssm_shape &shape,
                        const std::vector<bool> &has, Arguments &arguments);
  static SsmStates write(const dtape_span &span, const dtape_ssm_shape &shape,
                         Arguments &arguments);

  Address address() const { return address_; }
  int32_t dtype() const { return dtype_; }
  int64_t stride() const { return stride_; }
  bool is_aligned() const;
  int32_t index(int64_t sequence) const { return indices_[static_cast<size_t>(sequence)]; }
  // Whether sequence b has state b, so that no table is needed.
  bool is_identity() const;

 private:
  SsmStates(const dtape_span &span, const dtape_ssm_shape &shape, int64_t stride,
            const std::vector<bool> *has);

  bool is_nothing() const;
  // Makes the states lie packed in the order of the sequences, in scratch. Returns where each
  // lies in the caller's memory.
  std::vector<uint64_t> stage(const dtape_span &span, Arguments &arguments);

  int64_t packed_;
  int64_t stride_;
  int32_t dtype_;
  Address address_ = 0;
  std::vector<int32_t> indices_;
};

}  // namespace deltatape::cuda

#endif
