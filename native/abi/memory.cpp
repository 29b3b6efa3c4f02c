// Memory that belongs to a device.
#include <cinttypes>
#include <cstdint>

#include "abi/handles.h"
#include "abi/versioned.h"

using namespace deltatape;

namespace {

void *allocate(const dtape_device &device, uint64_t bytes) {
  if (bytes > PTRDIFF_MAX) {
    refuse(DTAPE_OUT_OF_MEMORY, "bytes: expected at most %td, got %" PRIu64, PTRDIFF_MAX, bytes);
  }
  void *memory = nullptr;
  // Even 0 bytes get an address of their own.
  const dtape_status status = device.host->alloc(device.data, bytes == 0 ? 1 : bytes, &memory);
  if (status != DTAPE_OK) throw Refusal{status};
  return memory;
}

void remember(dtape_device *device, void *memory) {
  try {
    const auto lock = lock_handles();
    device->memory.insert(memory);
  } catch (const std::bad_alloc &) {
    device->host->free(device->data, memory);
    throw;
  }
}

void forget(dtape_device *device, void *memory) {
  const auto lock = lock_handles();
  if (device->memory.erase(memory) == 0) {
    refuse(DTAPE_INVALID_ARGUMENT,
           "memory: expected what dtape_alloc returned for this device, not freed yet, got %p",
           memory);
  }
}

}  // namespace

dtape_status dtape_alloc(dtape_device *device, uint64_t bytes, void **memory) {
  return guarded("alloc", [&] {
    const DeviceUse use(device);
    if (memory == nullptr) refuse_null("memory");
    void *const allocated = allocate(*device, bytes);
    remember(device, allocated);
    *memory = allocated;
    return DTAPE_OK;
  });
}

dtape_status dtape_free(dtape_device *device, void *memory) {
  return guarded("free", [&]() -> dtape_status {
    const DeviceUse use(device);
    if (memory == nullptr) return DTAPE_OK;
    forget(device, memory);
    return device->host->free(device->data, memory);
  });
}
