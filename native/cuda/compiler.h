// NVRTC: found at run time, and a variant's text compiled to what the driver loads.
#ifndef DTAPE_CUDA_COMPILER_H
#define DTAPE_CUDA_COMPILER_H

#include <string>
#include <vector>

namespace deltatape::cuda {

// Machine code, or PTX where NVRTC does not know the GPU, and the kernel's name in it.
struct Image {
  std::string code;
  std::string entry;
};

// One folder more where NVRTC may lie, for when the loader does not find it.
void search(const std::string &folder);

// The compiler's version, "13.0". Loads it at first use; throws that the device is unavailable.
std::string compiler_version();

// Loads NVRTC if that was not done yet.
void require_compiler();

// Whether a kernel for this GPU waits by itself for the one before it in its stream, which is what
// the shaders' entry does from sm_90 on.
bool waits_by_itself(const std::string &architecture);

// `options` are the macros; `architecture` is "90" for sm_90.
Image compile(const std::string &kernel, const std::string &architecture,
              const std::vector<std::string> &options);

}  // namespace deltatape::cuda

#endif
