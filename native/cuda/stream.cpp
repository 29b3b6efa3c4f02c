#include "cuda/stream.h"

#include "cuda/counters.h"

namespace deltatape::cuda {
namespace {

// Launches of so few groups leave most of the GPU idle.
constexpr uint64_t kSmall = 1024;
constexpr unsigned kMostDepth = 4;
constexpr unsigned kMostCalls = 24;

bool is_small(const Launch &launch) {
  return launch.z <= kMostDepth && uint64_t{launch.x} * launch.y * launch.z <= kSmall;
}

unsigned most_calls(const Launch &launch) {
  return std::min<unsigned>(kMostCalls, Packed::kMost / launch.arguments.size());
}

}  // namespace

Stream::Stream(Gpu &gpu) : gpu_(gpu), callers_(false), overlaps_(gpu.overlaps()) {
  gpu_.use(
      [&] { check(driver().cuStreamCreate(&stream_, kNonBlocking), "device: expected a stream"); });
}

Stream::Stream(Gpu &gpu, CudaStream callers)
    : gpu_(gpu), stream_(callers), callers_(true), overlaps_(gpu.overlaps()) {}

Stream::~Stream() {
  unfinished_.clear();
  if (!callers_) driver().cuStreamDestroy(stream_);
}

bool Stream::awaits(std::initializer_list<dtape_span> arrays) const {
  for (const auto &arguments : unfinished_) {
    for (const dtape_span &array : arrays) {
      if (arguments->awaits(array)) return true;
    }
  }
  return false;
}

void Stream::launch(const Launch &launch, const Arguments &arguments) {
  if (held_.calls > 0 && !joins(launch, arguments)) flush();
  if (!is_small(launch)) return start(launch.variant, launch, launch.z, launch.arguments.data());
  hold(launch, arguments);
  if (held_.calls == held_.most) flush();
}

// Calls in one launch run in any order: none may write what another uses.
bool Stream::joins(const Launch &launch, const Arguments &arguments) const {
  const Launch &first = *held_.first;
  if (launch.x != first.x || launch.y != first.y || launch.z != first.z) return false;
  if (!(launch.variant == first.variant)) return false;
  for (const Region &mine : arguments.regions()) {
    for (const Region &its : held_.regions) {
      if (mine.conflicts(its)) return false;
    }
  }
  return true;
}

void Stream::hold(const Launch &launch, const Arguments &arguments) {
  if (held_.calls == 0) {
    held_.first = launch;
    held_.most = most_calls(launch);
  }
  const size_t size = launch.arguments.size();
  std::memcpy(held_.arguments.data() + held_.calls * size, launch.arguments.data(), size);
  held_.regions.insert(held_.regions.end(), arguments.regions().begin(), arguments.regions().end());
  ++held_.calls;
}

// Starts what is held. Its failure is the next wait's, not that of the call that comes along.
void Stream::flush() {
  if (held_.calls == 0) return;
  const Launch &first = *held_.first;
  Variant variant = first.variant;
  if (held_.calls > 1) variant.batch(static_cast<int>(held_.most), static_cast<int>(first.z));
  try {
    start(variant, first, first.z * held_.calls, held_.arguments.data());
  } catch (const Failure &failure) {
    if (!failure_) failure_ = failure;
  }
  held_.calls = 0;
  held_.regions.clear();
}

void Stream::start(const Variant &variant, const Launch &launch, unsigned z,
                   const void *arguments) const {
  const Function function = gpu_.kernels().function(variant);
  const auto threads = static_cast<unsigned>(variant.threads());
  void *parameters[] = {const_cast<void *>(arguments)};
  const LaunchAttribute early = {kProgrammaticStreamSerialization, 0, 1, {}};
  const LaunchConfiguration configuration = {
      {launch.x, launch.y, z}, {threads, 1, 1}, 0, stream_, &early, 1};
  check(overlaps_ ? driver().cuLaunchKernelEx(&configuration, function, parameters, nullptr)
                  : driver().cuLaunchKernel(function, launch.x, launch.y, z, threads, 1, 1, 0,
                                            stream_, parameters, nullptr),
        "device: expected a kernel to start");
  count(&dtape_counters::dispatches);
}

// Waits for everything, and copies results back if all of it went well.
void Stream::drain() {
  flush();
  if (callers_) return unfinished_.clear();
  try {
    check(driver().cuStreamSynchronize(stream_), "device: expected the work to complete");
    if (!failure_) {
      for (const auto &arguments : unfinished_) arguments->finish();
      check(driver().cuStreamSynchronize(stream_), "device: expected copies to complete");
    }
  } catch (const Failure &failure) {
    if (!failure_) failure_ = failure;
  }
  unfinished_.clear();
}

void Stream::wait() {
  drain();
  if (!failure_) return;
  const Failure failure = *failure_;
  failure_.reset();
  throw Failure(failure);
}

}  // namespace deltatape::cuda
