// The device under test and a stream on it.
#ifndef DTAPE_TESTS_SESSION_H
#define DTAPE_TESTS_SESSION_H

#include "check.h"
#include "deltatape.h"

struct Session {
  explicit Session(const char *name) {
    CHECK(dtape_device_open(name, &device) == DTAPE_OK);
    CHECK(dtape_stream_open(device, &stream) == DTAPE_OK);
  }
  ~Session() {
    CHECK(dtape_stream_close(stream) == DTAPE_OK);
    CHECK(dtape_device_close(device) == DTAPE_OK);
  }
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  dtape_device *device = nullptr;
  dtape_stream *stream = nullptr;
};

// Every test takes the name of a device, cpu if none is given.
inline const char *device_name(int count, char **words) {
  return count > 1 ? words[1] : "cpu";
}

#endif
