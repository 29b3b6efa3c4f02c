// How a call fails: what unwinds inside this device, and what its functions return instead.
#ifndef DTAPE_CUDA_FAILURE_H
#define DTAPE_CUDA_FAILURE_H

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "host.h"

namespace deltatape::cuda {

struct Failure : std::exception {
  dtape_status status;
  std::string sentence;

  Failure(dtape_status code, std::string text) : status(code), sentence(std::move(text)) {}
  const char *what() const noexcept override { return sentence.c_str(); }
};

// Runs the body of one of the host's functions; nothing is thrown into C.
template <class Body>
dtape_status reporting(const Body &body) {
  try {
    body();
    return DTAPE_OK;
  } catch (const Failure &failure) {
    return dtape_fail(failure.status, failure.what());
  } catch (const std::bad_alloc &) {
    return dtape_fail(DTAPE_OUT_OF_MEMORY, "memory: expected enough for the call, got none");
  } catch (const std::exception &error) {
    return dtape_fail(DTAPE_DEVICE_ERROR, error.what());
  }
}

}  // namespace deltatape::cuda

#endif
