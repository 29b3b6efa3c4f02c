// What native/abi calls besides the functions of dtape_host.
#ifndef DTAPE_CUDA_HOST_H
#define DTAPE_CUDA_HOST_H

#include "host.h"

namespace deltatape::cuda {

// Behind deltatape_cuda.h. `device` is what the host's `open` gave.
dtape_status adopt_stream(void *device, void *callers, void **stream);
void search_compiler(const char *folder);

}  // namespace deltatape::cuda

#endif
