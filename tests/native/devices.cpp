// Opening, describing and closing devices, their memory, and what misuse of them says.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <thread>

#include "check.h"
#include "deltatape.h"

namespace {

dtape_device *open_device(const char *name) {
  dtape_device *device = nullptr;
  CHECK(dtape_device_open(name, &device) == DTAPE_OK);
  return device;
}

void opens_by_name(const char *name) {
  dtape_device *device = nullptr;
  CHECK(dtape_device_open("toaster", &device) == DTAPE_INVALID_ARGUMENT);
  CHECK_TEXT(
      dtape_last_error(),
      "[device_open] name: expected auto, cpu or another device built into this library, got "
      "toaster");
  CHECK(dtape_device_open(nullptr, &device) == DTAPE_INVALID_ARGUMENT);
  CHECK_TEXT(dtape_last_error(), "[device_open] name: expected a device's name, got null");
  CHECK(device == nullptr);
  CHECK(dtape_device_open(name, nullptr) == DTAPE_INVALID_ARGUMENT);
  CHECK_TEXT(dtape_last_error(), "[device_open] device: expected a pointer, got null");
  for (const char *const each : {name, "auto"}) {
    CHECK(dtape_device_close(open_device(each)) == DTAPE_OK);
  }
}

void lists_what_is_built_in() {
  CHECK_TEXT(dtape_device_built_in(0), "cpu");
  CHECK(dtape_device_built_in(-1) == nullptr);
  CHECK(dtape_device_built_in(1000) == nullptr);
  int count = 0;
  while (dtape_device_built_in(count) != nullptr) ++count;
  CHECK(count <= 3);
}

void describes_itself(const char *name) {
  dtape_device *const device = open_device(name);
  dtape_device_info info = {};
  info.size = sizeof info;
  CHECK(dtape_device_describe(device, &info) == DTAPE_OK);
  CHECK_TEXT(info.name, name);
  CHECK(info.size == sizeof info && info.path[0] != 0 && info.hardware[0] != 0);

  dtape_device_info older;
  memset(&older, 0xa5, sizeof older);
  older.size = offsetof(dtape_device_info, path);
  CHECK(dtape_device_describe(device, &older) == DTAPE_OK);
  CHECK_TEXT(older.name, name);
  for (const char each : older.path) CHECK(each == '\xa5');

  info.size = sizeof info + 8;
  CHECK(dtape_device_describe(device, &info) == DTAPE_INVALID_ARGUMENT);
  CHECK_TEXT(dtape_last_error(),
             "[device_describe] size: expected 8 to 192 in steps of 8 (bytes), got 200");
  CHECK(dtape_device_describe(device, nullptr) == DTAPE_INVALID_ARGUMENT);
  CHECK(dtape_device_close(device) == DTAPE_OK);
}

void counts(const char *name) {
  dtape_device *const device = open_device(name);
  dtape_counters counters = {};
  counters.size = sizeof counters;
  CHECK(dtape_device_counters(device, &counters) == DTAPE_OK);
  CHECK(counters.size == sizeof counters);
  counters.size = 0;
  CHECK(dtape_device_counters(device, &counters) == DTAPE_INVALID_ARGUMENT);
  CHECK_TEXT(dtape_last_error(),
             "[device_counters] size: expected 8 to 48 in steps of 8 (bytes), got 0");
  CHECK(dtape_device_close(device) == DTAPE_OK);
}

void allocates_memory(const char *name) {
  dtape_device *const device = open_device(name);
  for (const uint64_t bytes : {0, 1, 4096, 1000003}) {
    void *memory = nullptr;
    CHECK(dtape_alloc(device, bytes, &memory) == DTAPE_OK);
    CHECK(memory != nullptr && reinterpret_cast<uintptr_t>(memory) % 4096 == 0);
    memset(memory, 1, bytes);
    CHECK(dtape_free(device, memory) == DTAPE_OK);
  }
  void *memory = &memory;
  for (const uint64_t bytes : {uint64_t{1} << 60, UINT64_MAX}) {
    CHECK(dtape_alloc(device, bytes, &memory) == DTAPE_OUT_OF_MEMORY);
    CHECK(strncmp(dtape_last_error(), "[alloc] bytes: expected ", 24) == 0);
  }
  CHECK(memory == &memory);
  CHECK(dtape_alloc(device, 1, nullptr) == DTAPE_INVALID_ARGUMENT);
  CHECK_TEXT(dtape_last_error(), "[alloc] memory: expected a pointer, got null");
  CHECK(dtape_device_close(device) == DTAPE_OK);
}

void frees_only_what_it_gave(const char *name) {
  dtape_device *const device = open_device(name);
  dtape_device *const other = open_device(name);
  void *memory = nullptr;
  CHECK(dtape_alloc(device, 8192, &memory) == DTAPE_OK);
  CHECK(dtape_free(device, static_cast<char *>(memory) + 4096) == DTAPE_INVALID_ARGUMENT);
  CHECK(strncmp(dtape_last_error(), "[free] memory: expected what dtape_alloc returned", 49) == 0);
  CHECK(dtape_free(device, &memory) == DTAPE_INVALID_ARGUMENT);
  CHECK(dtape_free(other, memory) == DTAPE_INVALID_ARGUMENT);
  CHECK(dtape_device_close(device) == DTAPE_INVALID_ARGUMENT);
  CHECK_TEXT(
      dtape_last_error(),
      "[device_close] device: expected no streams, calls or memory in use, got 0 and 1 pieces "
      "of memory");
  CHECK(dtape_free(device, memory) == DTAPE_OK);
  CHECK(dtape_free(device, memory) == DTAPE_INVALID_ARGUMENT);
  CHECK(dtape_free(device, nullptr) == DTAPE_OK);
  CHECK(dtape_device_close(device) == DTAPE_OK);
  CHECK(dtape_device_close(other) == DTAPE_OK);
}

void refuses_closed_handles(const char *name) {
  dtape_device *const device = open_device(name);
  dtape_stream *stream = nullptr;
  CHECK(dtape_stream_open(device, &stream) == DTAPE_OK);
  CHECK(dtape_device_close(device) == DTAPE_INVALID_ARGUMENT);
  CHECK_TEXT(
      dtape_last_error(),
      "[device_close] device: expected no streams, calls or memory in use, got 1 and 0 pieces "
      "of memory");
  CHECK(dtape_stream_close(stream) == DTAPE_OK);
  CHECK(dtape_stream_close(stream) == DTAPE_INVALID_ARGUMENT);
  CHECK_TEXT(dtape_last_error(),
             "[stream_close] stream: expected an open stream, got a closed one");
  CHECK(dtape_stream_wait(stream) == DTAPE_INVALID_ARGUMENT);
  CHECK(dtape_stream_close(nullptr) == DTAPE_OK);
  CHECK(dtape_device_close(device) == DTAPE_OK);
  CHECK(dtape_device_close(device) == DTAPE_INVALID_ARGUMENT);
  CHECK_TEXT(dtape_last_error(),
             "[device_close] device: expected an open device, got a closed one");
  CHECK(dtape_stream_open(device, &stream) == DTAPE_INVALID_ARGUMENT);
  void *memory = nullptr;
  CHECK(dtape_alloc(device, 1, &memory) == DTAPE_INVALID_ARGUMENT);
  CHECK(dtape_device_close(nullptr) == DTAPE_INVALID_ARGUMENT);
  CHECK_TEXT(dtape_last_error(), "[device_close] device: expected an open device, got null");
}

void keeps_a_sentence_for_each_thread() {
  CHECK(dtape_device_close(nullptr) == DTAPE_INVALID_ARGUMENT);
  std::thread([] {
    CHECK_TEXT(dtape_last_error(), "");
    CHECK(dtape_stream_wait(nullptr) == DTAPE_INVALID_ARGUMENT);
    CHECK_TEXT(dtape_last_error(), "[stream_wait] stream: expected an open stream, got null");
  }).join();
  CHECK_TEXT(dtape_last_error(), "[device_close] device: expected an open device, got null");
}

}  // namespace

int main(int count, char **words) {
  const char *const name = count > 1 ? words[1] : "cpu";
  opens_by_name(name);
  lists_what_is_built_in();
  describes_itself(name);
  counts(name);
  allocates_memory(name);
  frees_only_what_it_gave(name);
  refuses_closed_handles(name);
  keeps_a_sentence_for_each_thread();
  return failed_checks != 0;
}
