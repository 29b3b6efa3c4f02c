// deltatape_metal.h: built with the device "metal" only.
#include "abi/handles.h"
#include "abi/versioned.h"
#include "deltatape_metal.h"
#include "hosts.h"
#include "metal/metal_host.h"

using namespace deltatape;

namespace {

// The Metal host's own pointer, from an open device that is one.
void *require_metal(const dtape_device *device) {
  if (device->host == &dtape_metal_host) return device->data;
  refuse(DTAPE_INVALID_ARGUMENT, "device: expected metal, got %s", device->host->name);
}

}  // namespace

dtape_status dtape_metal_adopt(dtape_device *device, void *buffer) {
  return guarded("metal_adopt", [&] {
    const DeviceUse use(device);
    void *const metal = require_metal(device);
    if (buffer == nullptr) refuse_null("buffer");
    return metal_host_adopt_buffer(metal, buffer);
  });
}

dtape_status dtape_metal_release(dtape_device *device, void *buffer) {
  return guarded("metal_release", [&] {
    const DeviceUse use(device);
    void *const metal = require_metal(device);
    if (buffer == nullptr) refuse_null("buffer");
    return metal_host_release_buffer(metal, buffer);
  });
}

dtape_status dtape_metal_stream_open(dtape_device *device, void *encoder, dtape_stream **stream) {
  return guarded("metal_stream_open", [&]() -> dtape_status {
    const DeviceUse use(device);
    void *const metal = require_metal(device);
    if (encoder == nullptr) refuse_null("encoder");
    if (stream == nullptr) refuse_null("stream");
    void *data = nullptr;
    const dtape_status status = metal_host_stream_open_encoder(metal, encoder, &data);
    if (status != DTAPE_OK) return status;
    *stream = new_stream(device, data);
    return DTAPE_OK;
  });
}
