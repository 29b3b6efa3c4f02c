#include "abi/handles.h"

#include <pthread.h>
#include <unistd.h>

namespace deltatape {
namespace {

// Closed handles, the oldest first.
template <class Handle>
class Shelf {
 public:
  Handle *take() {
    constexpr int kKept = 64;
    if (count_ < kKept) return new Handle;
    Handle *const handle = oldest_;
    oldest_ = handle->next_closed;
    --count_;
    return handle;
  }

  void give(Handle *handle) {
    handle->next_closed = nullptr;
    (count_ == 0 ? oldest_ : newest_->next_closed) = handle;
    newest_ = handle;
    ++count_;
  }

 private:
  Handle *oldest_ = nullptr;
  Handle *newest_ = nullptr;
  int count_ = 0;
};

struct Handles {
  std::mutex mutex;
  Shelf<dtape_device> devices;
  Shelf<dtape_stream> streams;
};

Handles &handles();

Handles *make_handles() {
  pthread_atfork([] { handles().mutex.lock(); }, [] { handles().mutex.unlock(); },
                 [] { handles().mutex.unlock(); });
  return new Handles;
}

// Never destroyed: threads may still run when the process exits.
Handles &handles() {
  static Handles *const shared = make_handles();
  return *shared;
}

}  // namespace

std::unique_lock<std::mutex> lock_handles() {
  return std::unique_lock(handles().mutex);
}

dtape_device *take_device_handle() {
  return handles().devices.take();
}

dtape_stream *take_stream_handle() {
  return handles().streams.take();
}

void give_back_handle(dtape_device *device) {
  handles().devices.give(device);
}

void give_back_handle(dtape_stream *stream) {
  handles().streams.give(stream);
}

void refuse_forked_child(const dtape_device &device) {
  if (device.opener == 0 || device.opener == getpid()) return;
  refuse(DTAPE_FORKED_CHILD,
         "device: expected one opened by this process, got %s opened before the fork (cpu works in "
         "a forked child)",
         device.host->name);
}

void require_open(const dtape_device *device) {
  if (device == nullptr)
    refuse(DTAPE_INVALID_ARGUMENT, "device: expected an open device, got null");
  if (!device->open) {
    refuse(DTAPE_INVALID_ARGUMENT, "device: expected an open device, got a closed one");
  }
  refuse_forked_child(*device);
}

DeviceUse::DeviceUse(dtape_device *device) : device_(device) {
  const auto lock = lock_handles();
  require_open(device);
  ++device->users;
}

DeviceUse::~DeviceUse() {
  const auto lock = lock_handles();
  --device_->users;
}

Exclusion::Exclusion(dtape_stream *stream) : stream_(stream) {
  if (stream == nullptr)
    refuse(DTAPE_INVALID_ARGUMENT, "stream: expected an open stream, got null");
  if (stream->busy.exchange(true, std::memory_order_acquire)) {
    refuse(DTAPE_INVALID_ARGUMENT, "stream: expected one thread at a time, got a second one");
  }
}

Exclusion::~Exclusion() {
  stream_->busy.store(false, std::memory_order_release);
}

StreamUse::StreamUse(dtape_stream *stream) : exclusion_(stream), stream_(stream) {
  if (!stream->open) {
    refuse(DTAPE_INVALID_ARGUMENT, "stream: expected an open stream, got a closed one");
  }
  refuse_forked_child(*stream->device);
}

}  // namespace deltatape
