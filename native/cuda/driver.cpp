#include "cuda/driver.h"

#include <dlfcn.h>

#include <string>

#include "cuda/failure.h"

namespace deltatape::cuda {
namespace {

constexpr const char *kLibrary = "libcuda.so.1";

[[noreturn]] void unavailable(const std::string &got) {
  throw Failure(DTAPE_DEVICE_UNAVAILABLE,
                "device: expected an NVIDIA GPU and its driver, got " + got);
}

template <class Pointer>
void find(void *library, Pointer &function, const std::string &name) {
  function = reinterpret_cast<Pointer>(dlsym(library, name.c_str()));
  if (function == nullptr) unavailable("a " + std::string(kLibrary) + " without " + name);
}

std::string words(const Driver &driver, Result result) {
  const char *name = nullptr, *text = nullptr;
  driver.cuGetErrorName(result, &name);
  driver.cuGetErrorString(result, &text);
  return std::string(name ? name : "an unknown error") + (text ? std::string(": ") + text : "");
}

Driver load() {
  void *const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) unavailable(dlerror());
  Driver loaded;
#define X(name, suffix, parameters) find(library, loaded.name, #name suffix);
  DTAPE_DRIVER_FUNCTIONS(X)
#undef X
  loaded.cuLaunchKernelEx =
      reinterpret_cast<decltype(loaded.cuLaunchKernelEx)>(dlsym(library, "cuLaunchKernelEx"));
  const Result result = loaded.cuInit(0);
  if (result != kSuccess) unavailable(words(loaded, result));
  int count = 0;
  if (loaded.cuDeviceGetCount(&count) != kSuccess || count == 0) unavailable("no GPU");
  loaded.cuDriverGetVersion(&loaded.version);
  return loaded;
}

}  // namespace

const Driver &driver() {
  // Never destroyed: streams may be closed while the process exits.
  static const Driver *const shared = new Driver(load());
  return *shared;
}

void check(Result result, const char *what) {
  if (result == kSuccess) return;
  const dtape_status status = is_loss(result)          ? DTAPE_DEVICE_LOST
                              : result == kOutOfMemory ? DTAPE_OUT_OF_MEMORY
                                                       : DTAPE_DEVICE_ERROR;
  throw Failure(status, std::string(what) + ", got " + words(driver(), result));
}

bool is_loss(Result result) {
  switch (static_cast<int>(result)) {
    case 4:    // deinitialised
    case 46:   // unavailable
    case 214:  // an uncorrectable memory error
    case 220:  // an uncorrectable NVLink error
    case 226:  // contained
    case 700:  // an illegal address
    case 702:  // a launch timed out
    case 709:  // the context was destroyed
    case 714:  // the hardware's stack
    case 715:  // an illegal instruction
    case 716:  // a misaligned address
    case 717:  // an invalid address space
    case 718:  // an invalid program counter
    case 719:  // a launch failed
    case 721:  // a launch failed in the tensor memory
    case 999:  // unknown
      return true;
    default:
      return false;
  }
}

}  // namespace deltatape::cuda
