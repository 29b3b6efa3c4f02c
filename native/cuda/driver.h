// The part of the driver's interface that is used, declared as its own header does, and found in
// the driver's library at run time.
#ifndef DTAPE_CUDA_DRIVER_H
#define DTAPE_CUDA_DRIVER_H

#include <cstddef>
#include <cstdint>

namespace deltatape::cuda {

using Context = void *;
using Module = void *;
using Function = void *;
using CudaStream = void *;
// Where the GPU sees memory.
using Address = uint64_t;

enum Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidContext = 201,
};

enum DeviceAttribute : int { kMajor = 75, kMinor = 76 };

enum PointerAttribute : int {
  kMemoryType = 2,
  kDevicePointer = 3,
  kIsManaged = 8,
  kDeviceOrdinal = 9,
};

enum MemoryType : unsigned { kPageable = 0, kHostMemory = 1, kDeviceMemory = 2 };

constexpr unsigned kNonBlocking = 1;
constexpr unsigned kPortable = 1, kMapped = 2;

// name, the symbol's suffix, parameters
#define DTAPE_DRIVER_FUNCTIONS(X)                                                                \
  X(cuInit, "", (unsigned))                                                                      \
  X(cuDriverGetVersion, "", (int *))                                                             \
  X(cuGetErrorName, "", (Result, const char **))                                                 \
  X(cuGetErrorString, "", (Result, const char **))                                               \
  X(cuDeviceGetCount, "", (int *))                                                               \
  X(cuDeviceGet, "", (int *, int))                                                               \
  X(cuDeviceGetName, "", (char *, int, int))                                                     \
  X(cuDeviceGetAttribute, "", (int *, DeviceAttribute, int))                                     \
  X(cuDevicePrimaryCtxRetain, "", (Context *, int))                                              \
  X(cuCtxGetCurrent, "", (Context *))                                                            \
  X(cuCtxGetDevice, "", (int *))                                                                 \
  X(cuCtxPushCurrent, "_v2", (Context))                                                          \
  X(cuCtxPopCurrent, "_v2", (Context *))                                                         \
  X(cuStreamCreate, "", (CudaStream *, unsigned))                                                \
  X(cuStreamDestroy, "_v2", (CudaStream))                                                        \
  X(cuStreamGetCtx, "", (CudaStream, Context *))                                                 \
  X(cuStreamSynchronize, "", (CudaStream))                                                       \
  X(cuMemAlloc, "_v2", (Address *, size_t))                                                      \
  X(cuMemFree, "_v2", (Address))                                                                 \
  X(cuMemHostAlloc, "", (void **, size_t, unsigned))                                             \
  X(cuMemFreeHost, "", (void *))                                                                 \
  X(cuMemcpyHtoDAsync, "_v2", (Address, const void *, size_t, CudaStream))                       \
  X(cuMemcpyDtoHAsync, "_v2", (void *, Address, size_t, CudaStream))                             \
  X(cuPointerGetAttributes, "", (unsigned, PointerAttribute *, void **, Address))                \
  X(cuModuleLoadData, "", (Module *, const void *))                                              \
  X(cuModuleUnload, "", (Module))                                                                \
  X(cuModuleGetFunction, "", (Function *, Module, const char *))                                 \
  X(cuLaunchKernel, "",                                                                          \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CudaStream, \
     void **, void **))

// A launch and what it may do, as drivers from 12.3 on take it.
struct LaunchAttribute {
  int which;
  int unused;
  int value;
  char rest[60];
};
struct LaunchConfiguration {
  unsigned grid[3];
  unsigned threads[3];
  unsigned shared;
  CudaStream stream;
  const LaunchAttribute *attributes;
  unsigned count;
};
constexpr int kProgrammaticStreamSerialization = 6;
constexpr int kKnowsItInCapture = 12030;

struct Driver {
#define X(name, suffix, parameters) Result(*name) parameters = nullptr;
  DTAPE_DRIVER_FUNCTIONS(X)
#undef X
  // Null in drivers before 11.8.
  Result (*cuLaunchKernelEx)(const LaunchConfiguration *, Function, void **, void **) = nullptr;
  int version = 0;
};

// The driver, loaded and initialised at first use. Throws that the device is unavailable.
const Driver &driver();

// Throws what a failed function says of itself. `what` reads "cuda: expected ...".
void check(Result result, const char *what);

// Whether nothing of the context works any more.
bool is_loss(Result result);

}  // namespace deltatape::cuda

#endif
