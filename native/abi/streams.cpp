// Streams: opening, waiting, closing.
#include "abi/handles.h"
#include "abi/versioned.h"

using namespace deltatape;

namespace {

dtape_status finish(dtape_stream *stream) {
  const StreamUse use(stream);
  const dtape_status status = use.host().stream_wait(use.data());
  use.host().stream_close(use.data());
  stream->open = false;
  return status;
}

}  // namespace

dtape_stream *deltatape::new_stream(dtape_device *device, void *data) {
  try {
    const auto lock = lock_handles();
    dtape_stream *const stream = take_stream_handle();
    stream->device = device;
    stream->data = data;
    stream->open = true;
    ++device->users;
    return stream;
  } catch (const std::bad_alloc &) {
    device->host->stream_close(data);
    throw;
  }
}

dtape_status dtape_stream_open(dtape_device *device, dtape_stream **stream) {
  return guarded("stream_open", [&]() -> dtape_status {
    const DeviceUse use(device);
    if (stream == nullptr) refuse_null("stream");
    void *data = nullptr;
    const dtape_status status = device->host->stream_open(device->data, &data);
    if (status != DTAPE_OK) return status;
    *stream = new_stream(device, data);
    return DTAPE_OK;
  });
}

dtape_status dtape_stream_wait(dtape_stream *stream) {
  return guarded("stream_wait", [&] {
    const StreamUse use(stream);
    return use.host().stream_wait(use.data());
  });
}

dtape_status dtape_stream_close(dtape_stream *stream) {
  return guarded("stream_close", [&]() -> dtape_status {
    if (stream == nullptr) return DTAPE_OK;
    const dtape_status status = finish(stream);
    const auto lock = lock_handles();
    --stream->device->users;
    give_back_handle(stream);
    return status;
  });
}
