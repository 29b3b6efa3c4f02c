// deltatape_cuda.h: in every library, whether or not the device "cuda" is built in.
#include "abi/handles.h"
#include "abi/versioned.h"
#include "deltatape_cuda.h"
#include "hosts.h"
#if defined(DTAPE_WITH_CUDA)
#include "cuda/cuda_host.h"
#endif

using namespace deltatape;

#if defined(DTAPE_WITH_CUDA)

dtape_status dtape_cuda_search(const char *folder) {
  return guarded("cuda_search", [&]() -> dtape_status {
    if (folder == nullptr) refuse_null("folder");
    cuda::search_compiler(folder);
    return DTAPE_OK;
  });
}

dtape_status dtape_cuda_stream(dtape_device *device, void *callers, dtape_stream **stream) {
  return guarded("cuda_stream", [&]() -> dtape_status {
    const DeviceUse use(device);
    if (device->host != &dtape_cuda_host) {
      refuse(DTAPE_INVALID_ARGUMENT, "device: expected cuda, got %s", device->host->name);
    }
    if (stream == nullptr) refuse_null("stream");
    void *data = nullptr;
    const dtape_status status = cuda::adopt_stream(device->data, callers, &data);
    if (status != DTAPE_OK) return status;
    *stream = new_stream(device, data);
    return DTAPE_OK;
  });
}

#else

namespace {

dtape_status not_built_in() {
  refuse(DTAPE_DEVICE_UNAVAILABLE, "device: expected cuda built into this library, got none");
}

}  // namespace

dtape_status dtape_cuda_search(const char *) {
  return guarded("cuda_search", not_built_in);
}

dtape_status dtape_cuda_stream(dtape_device *, void *, dtape_stream **) {
  return guarded("cuda_stream", not_built_in);
}

#endif
