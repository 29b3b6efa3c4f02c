#include "cuda/gpu.h"

#include <map>

#include "cuda/compiler.h"

namespace deltatape::cuda {
namespace {

int attribute(int device, DeviceAttribute which) {
  int value = 0;
  check(driver().cuDeviceGetAttribute(&value, which, device),
        "device: expected an attribute of the GPU");
  return value;
}

}  // namespace

Gpu::Gpu(int ordinal, Context context, const std::string &architecture)
    : ordinal_(ordinal), context_(context), architecture_(architecture), kernels_(architecture) {
  char name[128] = {};
  driver().cuDeviceGetName(name, sizeof name, ordinal);
  name_ = name;
  const Current current(context);
  uint64_t size = 0;
  nothing_ = memory_.scratch().take(1, size);
}

Gpu *Gpu::make(int ordinal) {
  int device = 0;
  check(driver().cuDeviceGet(&device, ordinal), "device: expected a GPU of this number");
  Context context = nullptr;
  check(driver().cuDevicePrimaryCtxRetain(&context, device),
        "device: expected the GPU's primary context");
  const int major = attribute(device, kMajor), minor = attribute(device, kMinor);
  return new Gpu(ordinal, context, std::to_string(major) + std::to_string(minor));
}

Gpu &Gpu::at(int ordinal) {
  static std::mutex lock;
  // Never destroyed: streams may be closed while the process exits.
  static auto *const gpus = new std::map<int, Gpu *>;
  const std::lock_guard<std::mutex> guard(lock);
  Gpu *&gpu = (*gpus)[ordinal];
  if (gpu == nullptr) gpu = make(ordinal);
  return *gpu;
}

Gpu &Gpu::preferred() {
  Context current = nullptr;
  int ordinal = 0;
  if (driver().cuCtxGetCurrent(&current) == kSuccess && current != nullptr) {
    driver().cuCtxGetDevice(&ordinal);
  }
  return at(ordinal);
}

bool Gpu::overlaps() const {
  const Driver &known = driver();
  return known.cuLaunchKernelEx != nullptr && known.version >= kKnowsItInCapture &&
         waits_by_itself(architecture_);
}

void Gpu::require_present() {
  const std::lock_guard<std::mutex> lock(loss_lock_);
  if (loss_) throw Failure(*loss_);
}

void Gpu::lose(const Failure &reason) {
  const std::lock_guard<std::mutex> lock(loss_lock_);
  if (!loss_) loss_ = reason;
}

Gpu::Current::Current(Context context) {
  Context current = nullptr;
  driver().cuCtxGetCurrent(&current);
  if (current == context) return;
  check(driver().cuCtxPushCurrent(context), "device: expected the GPU's context");
  pushed_ = true;
}

Gpu::Current::~Current() {
  Context popped = nullptr;
  if (pushed_) driver().cuCtxPopCurrent(&popped);
}

}  // namespace deltatape::cuda
