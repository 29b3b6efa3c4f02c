// What steps and replays share: dimensions, launch geometry and constants.
#ifndef DTAPE_CUDA_SSM_SHAPE_H
#define DTAPE_CUDA_SSM_SHAPE_H

#include "cuda/launch.h"
#include "cuda/ssm_states.h"
#include "host.h"

namespace deltatape::cuda {

using uint = uint32_t;
using ulong = uint64_t;
#include "../../shaders/parameters.metal"

// How lanes share a state: it follows from the shape, and y's bytes from it.
struct SsmGeometry {
  static constexpr int kMostSteps = 8;

  int64_t state_dim;
  int threads;
  int lanes;
  int rows;

  // `sharing`: rows of a lane that share each load of b, c or v.
  SsmGeometry(int64_t state_dim, int threads, int most_lanes, int sharing);

  // Of rows that share: 16 lanes each, 32 where a row is too long for their registers.
  static SsmGeometry of_sharing(int64_t state_dim, int threads, int sharing) {
    return SsmGeometry(state_dim, threads, state_dim > 128 ? 32 : 16, sharing);
  }

  // Steps whose columns and rows lie in threadgroup memory at once: at most 4 KiB an array.
  int chunk() const;

  int tile() const { return threads / lanes * rows; }
  int64_t tiles(const dtape_ssm_shape &shape) const {
    return std::max<int64_t>((shape.head_dim + tile() - 1) / tile(), 1);
  }
  int64_t groups(const dtape_ssm_shape &shape) const {
    return shape.heads * tiles(shape) * shape.batch;
  }

  // Sets the macros of state.metal.
  void set(Variant &variant, const SsmStates &from, const SsmStates &to, bool aligned) const;
};

inline bool is_skipped(const dtape_ssm_shape &shape, size_t sequence) {
  return shape.slots != nullptr && shape.slots[sequence] < 0;
}

// Whether each sequence has a state to read.
std::vector<bool> with_states(const dtape_ssm_shape &shape);

// Refuses dimensions that the kernels cannot count: rows and steps in 32 bits, columns in
// registers.
void require_countable(const dtape_ssm_shape &shape);

// The launches of all sequences, in groups of them: `last` is the table's third entry for each, -1
// to skip it; null is no table. `pointers` are the arrays in the order of the shader's buffers.
struct SsmLaunches {
  const dtape_ssm_shape &shape;
  const SsmGeometry &geometry;
  const SsmStates &from;
  const SsmStates &to;
  const std::vector<int32_t> *last;
  int64_t steps;

  int table() const;

  template <class Run>
  void each(const Variant &variant, const std::vector<Address> &pointers, const Run &run) const {
    const int64_t most = last ? kMostInTable / 3 : Launch::kMostGroups;
    for (int64_t first = 0; first < shape.batch; first += most) {
      run(launch(variant, pointers, first, std::min(most, shape.batch - first)));
    }
  }

 private:
  Launch launch(const Variant &variant, const std::vector<Address> &pointers, int64_t first,
                int64_t count) const;
};

}  // namespace deltatape::cuda

#endif
