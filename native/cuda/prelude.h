// The text of metal_stdlib.cuh.
#ifndef DTAPE_CUDA_PRELUDE_H
#define DTAPE_CUDA_PRELUDE_H

namespace deltatape::cuda {

extern const char *const kPrelude;

}  // namespace deltatape::cuda

#endif
