#include "scripted_hosts.h"

#include <cstring>
#include <new>

Script script;

namespace {

dtape_status report(dtape_status status) {
  return status == DTAPE_OK ? status : dtape_fail(status, "script: expected to work, got this");
}

dtape_status open_cpu(void **device) {
  ++script.open_devices;
  *device = &script;
  return DTAPE_OK;
}

dtape_status open_metal(void **device) {
  return script.open == DTAPE_OK ? open_cpu(device) : report(script.open);
}

void close_device(void *) {
  --script.open_devices;
}

dtape_status describe(void *, dtape_device_info *) {
  return DTAPE_OK;
}

dtape_status counters(void *, dtape_counters *) {
  return DTAPE_OK;
}

dtape_status alloc(void *, uint64_t bytes, void **memory) {
  *memory = ::operator new(bytes);
  return DTAPE_OK;
}

dtape_status free_memory(void *, void *memory) {
  ::operator delete(memory);
  return DTAPE_OK;
}

dtape_status open_stream(void *, void **stream) {
  ++script.open_streams;
  *stream = &script;
  return DTAPE_OK;
}

dtape_status wait(void *) {
  return report(script.wait);
}

void close_stream(void *) {
  --script.open_streams;
}

dtape_status replay(void *, const dtape_ssm_replay_request *request) {
  if (script.out_of_memory) throw std::bad_alloc();
  script.replay = *request;
  return DTAPE_OK;
}

constexpr dtape_host host(const char *name, bool fork_safe, dtape_status (*open)(void **)) {
  return {name,        fork_safe,   0,    open,         close_device, describe, counters, alloc,
          free_memory, open_stream, wait, close_stream, nullptr,      replay,   nullptr};
}

}  // namespace

extern "C" {
extern const dtape_host dtape_cpu_host = host("cpu", true, open_cpu);
extern const dtape_host dtape_metal_host = host("metal", false, open_metal);
}
