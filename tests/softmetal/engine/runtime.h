// Runs one dispatch of a compiled kernel.
//
// Environment: SOFTMETAL_SCHEDULE (forward, reverse, random or random:SEED: the order of threads
// and threadgroups), SOFTMETAL_THREADS (OS threads that share the threadgroups).
#pragma once
#include <string>

#include "kernel_abi.h"

namespace softmetal {

struct Dispatch {
  const sm_module *module;
  const sm_kernel *kernel;
  sm_arguments arguments;
  uint32_t threads;
  uint32_t groups[3];
};

// What kernels call.
extern const sm_runtime runtime;

// Returns what went wrong; empty if nothing did.
std::string run(const Dispatch &dispatch);

}  // namespace softmetal
