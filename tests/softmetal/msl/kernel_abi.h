// What a compiled kernel and the runtime know of each other. Read by the prelude, so no C++
// headers.
#pragma once
#include <stddef.h>
#include <stdint.h>

extern "C" {

// The position of one GPU thread.
struct sm_ids {
  uint32_t group[3];
  uint32_t linear;
  uint32_t lane;
  uint32_t simdgroup;
};

struct sm_arguments {
  void *buffer[31];
};

// index is that of [[buffer(n)]], or -1 for a position; size and align are those of what it points
// to.
struct sm_parameter {
  const char *name;
  int32_t index;
  uint32_t size;
  uint32_t align;
};

struct sm_kernel {
  const char *name;
  void (*entry)(const sm_arguments *, const sm_ids *);
  const sm_parameter *parameters;
  uint32_t count;
  uint32_t max_threads;  // 0 = not given
};

// Where a thread waits: a rendezvous needs all of them at the same place.
struct sm_site {
  const char *what;
  uint32_t line;
  uint32_t column;
};

// What a kernel calls. scope: 0 = simdgroup, 1 = threadgroup. A barrier orders memory if flags is
// not 0. A collective hands its operand to `combine`, which gets those of the 32 lanes, null for an
// idle one.
struct sm_runtime {
  void (*barrier)(uint32_t scope, uint32_t flags, sm_site site);
  void (*collective)(void *operand, void (*combine)(void **operands), sm_site site);
  void *(*variable)(uint32_t slot);
  uint32_t (*lane)();
};

enum { SM_VARIABLES = 16 };

struct sm_module {
  const sm_kernel *kernels;
  uint32_t kernel_count;
  uint32_t variable_count;
  uint32_t variable_bytes[SM_VARIABLES];
  const sm_runtime *runtime;  // set by whoever loads the module
};

}  // extern "C"
