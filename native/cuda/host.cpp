// The table of the device "cuda".
#include <cstdio>

#include "cuda/chunk_tri_solve_invert.h"
#include "cuda/compiler.h"
#include "cuda/counters.h"
#include "cuda/cuda_host.h"
#include "cuda/ssm_replay.h"
#include "cuda/ssm_step_record.h"
#include "hosts.h"

namespace deltatape::cuda {
namespace {

Gpu &gpu(void *device) {
  return *static_cast<Gpu *>(device);
}

Stream &stream(void *pointer) {
  return *static_cast<Stream *>(pointer);
}

dtape_status open(void **device) {
  return reporting([&] {
    driver();
    require_compiler();
    Gpu &preferred = Gpu::preferred();
    preferred.use([] {});
    *device = &preferred;
  });
}

// The context stays for the next opening.
void close(void *) {}

dtape_status describe(void *device, dtape_device_info *info) {
  std::snprintf(info->name, sizeof info->name, "cuda");
  std::snprintf(info->path, sizeof info->path, "sm_%s", gpu(device).architecture().c_str());
  std::snprintf(info->hardware, sizeof info->hardware, "%s", gpu(device).name().c_str());
  return DTAPE_OK;
}

dtape_status counters(void *, dtape_counters *counters) {
  read_counters(counters);
  return DTAPE_OK;
}

dtape_status allocate(void *device, uint64_t bytes, void **memory) {
  return reporting(
      [&] { gpu(device).use([&] { *memory = gpu(device).memory().allocate(bytes); }); });
}

dtape_status free(void *device, void *memory) {
  return reporting([&] { gpu(device).memory().free(memory); });
}

dtape_status stream_open(void *device, void **opened) {
  return reporting([&] { *opened = new Stream(gpu(device)); });
}

dtape_status stream_wait(void *pointer) {
  return reporting([&] { stream(pointer).gpu().use([&] { stream(pointer).wait(); }); });
}

void stream_close(void *pointer) {
  delete &stream(pointer);
}

template <class Request, void (*run)(Stream &, const Request &)>
dtape_status kernel(void *pointer, const Request *request) {
  return reporting([&] { stream(pointer).gpu().use([&] { run(stream(pointer), *request); }); });
}

// The GPU that a caller's stream belongs to. The null stream belongs to the current context.
Gpu &gpu_of(CudaStream callers, Gpu &opened) {
  Context context = nullptr;
  if (driver().cuStreamGetCtx(callers, &context) != kSuccess || context == nullptr) return opened;
  if (context == opened.context()) return opened;
  int ordinal = 0;
  Context popped = nullptr;
  check(driver().cuCtxPushCurrent(context), "stream: expected a stream with a context");
  driver().cuCtxGetDevice(&ordinal);
  driver().cuCtxPopCurrent(&popped);
  Gpu &found = Gpu::at(ordinal);
  if (found.context() == context) return found;
  throw Failure(DTAPE_INVALID_ARGUMENT,
                "stream: expected one of the GPU's primary context, got one of another context");
}

}  // namespace

dtape_status adopt_stream(void *device, void *callers, void **adopted) {
  return reporting([&] {
    Gpu &owner = gpu_of(callers, gpu(device));
    owner.use([&] { *adopted = new Stream(owner, callers); });
  });
}

void search_compiler(const char *folder) {
  search(folder);
}

}  // namespace deltatape::cuda

extern "C" const dtape_host dtape_cuda_host = {
    "cuda",
    /*fork_safe=*/0,
    /*reserved=*/0,
    deltatape::cuda::open,
    deltatape::cuda::close,
    deltatape::cuda::describe,
    deltatape::cuda::counters,
    deltatape::cuda::allocate,
    deltatape::cuda::free,
    deltatape::cuda::stream_open,
    deltatape::cuda::stream_wait,
    deltatape::cuda::stream_close,
    deltatape::cuda::kernel<dtape_ssm_step_record_request, deltatape::cuda::ssm_step_record>,
    deltatape::cuda::kernel<dtape_ssm_replay_request, deltatape::cuda::ssm_replay>,
    deltatape::cuda::kernel<dtape_chunk_tri_solve_invert_request,
                            deltatape::cuda::chunk_tri_solve_invert>,
};
