// What dtape_device and dtape_stream point to, and the guards through which every call uses them.
#ifndef DTAPE_ABI_HANDLES_H
#define DTAPE_ABI_HANDLES_H

#include <sys/types.h>

#include <atomic>
#include <mutex>
#include <unordered_set>

#include "abi/error.h"
#include "host.h"

// `users` counts open streams and calls in progress: the device stays open until it is 0.
// `opener` is the process that may use the device, 0 when forked children may as well.
struct dtape_device {
  bool open = false;
  const dtape_host *host = nullptr;
  void *data = nullptr;
  pid_t opener = 0;
  int64_t users = 0;
  std::unordered_set<void *> memory;
  dtape_device *next_closed = nullptr;
};

struct dtape_stream {
  std::atomic<bool> open{false};
  std::atomic<bool> busy{false};
  dtape_device *device = nullptr;
  void *data = nullptr;
  dtape_stream *next_closed = nullptr;
};

namespace deltatape {

// Guards every dtape_device, and the shelves below. Held across fork, so that a child may go on.
std::unique_lock<std::mutex> lock_handles();

// Closed handles are kept and reused late, so that one used after closing is told from an open one
// without reading freed memory. Call with the handles locked.
dtape_device *take_device_handle();
dtape_stream *take_stream_handle();
void give_back_handle(dtape_device *device);
void give_back_handle(dtape_stream *stream);

// The handle of a stream that the device's host has opened and closes again if there is none.
dtape_stream *new_stream(dtape_device *device, void *data);

// Refuses a device opened by the process that this one was forked from.
void refuse_forked_child(const dtape_device &device);

// Refuses what is not an open device of this process. Call with the handles locked.
void require_open(const dtape_device *device);

// Keeps a device open during a call.
class DeviceUse {
 public:
  explicit DeviceUse(dtape_device *device);
  ~DeviceUse();
  DeviceUse(const DeviceUse &) = delete;
  DeviceUse &operator=(const DeviceUse &) = delete;

 private:
  dtape_device *device_;
};

// Keeps other threads out of a stream, open or not.
class Exclusion {
 public:
  explicit Exclusion(dtape_stream *stream);
  ~Exclusion();
  Exclusion(const Exclusion &) = delete;
  Exclusion &operator=(const Exclusion &) = delete;

 private:
  dtape_stream *stream_;
};

// An open stream during a call.
class StreamUse {
 public:
  explicit StreamUse(dtape_stream *stream);

  const dtape_host &host() const { return *stream_->device->host; }
  void *data() const { return stream_->data; }

  // The device's kernel, refused where it has none.
  template <class Kernel>
  Kernel offered(Kernel kernel) const {
    if (kernel == nullptr) {
      refuse(DTAPE_NOT_OFFERED, "device: expected one that has this kernel, got %s", host().name);
    }
    return kernel;
  }

 private:
  Exclusion exclusion_;
  dtape_stream *stream_;
};

}  // namespace deltatape

#endif
