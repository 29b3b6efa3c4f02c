// Devices: which there are, opening and closing them, what they say of themselves.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "abi/handles.h"
#include "abi/versioned.h"
#include "hosts.h"

using namespace deltatape;

namespace {

// `opener` is the process that opened it first, 0 before.
struct BuiltIn {
  const dtape_host *host;
  std::atomic<pid_t> opener;
};

BuiltIn built_in[] = {
    {&dtape_cpu_host, {0}},
#if defined(DTAPE_WITH_METAL)
    {&dtape_metal_host, {0}},
#endif
#if defined(DTAPE_WITH_CUDA)
    {&dtape_cuda_host, {0}},
#endif
};

bool same(const char *a, const char *b) {
  return std::strcmp(a, b) == 0;
}

BuiltIn *find(const char *name) {
  const auto found = std::find_if(std::begin(built_in), std::end(built_in),
                                  [&](const BuiltIn &each) { return same(name, each.host->name); });
  return found == std::end(built_in) ? nullptr : found;
}

void *open_host(BuiltIn &device) {
  const pid_t opener = device.opener;
  if (!device.host->fork_safe && opener != 0 && opener != getpid()) {
    refuse(DTAPE_FORKED_CHILD,
           "name: expected a device that was not open before the fork, got %s (cpu works in a "
           "forked child)",
           device.host->name);
  }
  void *data = nullptr;
  const dtape_status status = device.host->open(&data);
  if (status != DTAPE_OK) throw Refusal{status};
  device.opener = getpid();
  return data;
}

// What "auto" means: cpu only where metal is absent, not where it fails.
BuiltIn *open_automatic(void **data) {
  BuiltIn *const metal = find("metal");
  if (metal != nullptr) {
    try {
      *data = open_host(*metal);
      return metal;
    } catch (const Refusal &refusal) {
      if (refusal.status != DTAPE_DEVICE_UNAVAILABLE) throw;
    }
  }
  BuiltIn *const cpu = find("cpu");
  *data = open_host(*cpu);
  return cpu;
}

BuiltIn *open_named(const char *name, void **data) {
  if (same(name, "auto")) return open_automatic(data);
  BuiltIn *const device = find(name);
  if (device == nullptr) {
    const bool known = same(name, "metal") || same(name, "cuda");
    refuse(known ? DTAPE_DEVICE_UNAVAILABLE : DTAPE_INVALID_ARGUMENT,
           "name: expected auto, cpu or another device built into this library, got %.32s", name);
  }
  *data = open_host(*device);
  return device;
}

dtape_device *new_device(const BuiltIn &device, void *data) {
  const auto lock = lock_handles();
  dtape_device *const handle = take_device_handle();
  handle->host = device.host;
  handle->data = data;
  handle->opener = device.host->fork_safe ? 0 : getpid();
  handle->open = true;
  return handle;
}

// Marks a device closed once nothing uses it.
void retire(dtape_device *device) {
  const auto lock = lock_handles();
  require_open(device);
  if (device->users != 0 || !device->memory.empty()) {
    refuse(DTAPE_INVALID_ARGUMENT,
           "device: expected no streams, calls or memory in use, got %d and %zu pieces of memory",
           static_cast<int>(device->users), device->memory.size());
  }
  device->open = false;
}

}  // namespace

const char *dtape_device_built_in(int32_t index) {
  if (index < 0 || static_cast<size_t>(index) >= std::size(built_in)) return nullptr;
  return built_in[index].host->name;
}

dtape_status dtape_device_open(const char *name, dtape_device **device) {
  return guarded("device_open", [&] {
    if (name == nullptr) refuse(DTAPE_INVALID_ARGUMENT, "name: expected a device's name, got null");
    if (device == nullptr) refuse_null("device");
    void *data = nullptr;
    const BuiltIn *const opened = open_named(name, &data);
    try {
      *device = new_device(*opened, data);
    } catch (...) {
      opened->host->close(data);
      throw;
    }
    return DTAPE_OK;
  });
}

dtape_status dtape_device_close(dtape_device *device) {
  return guarded("device_close", [&] {
    retire(device);
    device->host->close(device->data);
    const auto lock = lock_handles();
    give_back_handle(device);
    return DTAPE_OK;
  });
}

dtape_status dtape_device_describe(dtape_device *device, dtape_device_info *info) {
  return guarded("device_describe", [&] {
    const DeviceUse use(device);
    return fill_in("info", info, [&](dtape_device_info *whole) {
      return device->host->describe(device->data, whole);
    });
  });
}

dtape_status dtape_device_counters(dtape_device *device, dtape_counters *counters) {
  return guarded("device_counters", [&] {
    const DeviceUse use(device);
    return fill_in("counters", counters, [&](dtape_counters *whole) {
      return device->host->counters(device->data, whole);
    });
  });
}
