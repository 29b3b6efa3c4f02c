#include "scratch.h"

#include <cstdlib>

namespace deltatape::cpu {
namespace {

struct holder {
  void *memory = nullptr;
  int64_t count = 0;
  ~holder() { std::free(memory); }
};

}  // namespace

float *scratch_floats(int64_t count) {
  thread_local holder kept;
  if (count > kept.count || !kept.memory) {
    std::free(kept.memory);
    kept.count = 0;
    if (posix_memalign(&kept.memory, 64, size_t(count > 0 ? count : 1) * sizeof(float)) != 0) {
      kept.memory = nullptr;
      return nullptr;
    }
    kept.count = count;
  }
  return static_cast<float *>(kept.memory);
}

}  // namespace deltatape::cpu
