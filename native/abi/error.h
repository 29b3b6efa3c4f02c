// How a call fails: a sentence is kept for the thread, and a Refusal unwinds to the entry point.
#ifndef DTAPE_ABI_ERROR_H
#define DTAPE_ABI_ERROR_H

#include <exception>
#include <new>

#include "host.h"

namespace deltatape {

struct Refusal {
  dtape_status status;
};

// Keeps "[operation] sentence" as the thread's last error and throws. The sentence is formatted as
// printf does and reads "argument: expected ..., got ...".
[[noreturn]] void refuse(dtape_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Names what the thread is doing, for the brackets of its sentences.
class Operation {
 public:
  explicit Operation(const char *name);
  ~Operation();
  Operation(const Operation &) = delete;
  Operation &operator=(const Operation &) = delete;

 private:
  const char *outer_;
};

// Runs the body of an entry point; nothing thrown inside crosses the C boundary.
template <class Body>
dtape_status guarded(const char *operation, const Body &body) {
  const Operation scope(operation);
  try {
    return body();
  } catch (const Refusal &refusal) {
    return refusal.status;
  } catch (const std::bad_alloc &) {
    return dtape_fail(DTAPE_OUT_OF_MEMORY, "memory: expected enough for the call, got none");
  } catch (const std::exception &error) {
    return dtape_fail(DTAPE_DEVICE_ERROR, error.what());
  }
}

}  // namespace deltatape

#endif
