#include "abi/error.h"

#include <cstdarg>
#include <cstdio>

namespace {

// Plain storage, so that a thread that fails allocates nothing and leaves nothing to destroy.
constexpr int kLongestSentence = 512;
thread_local char last_error[kLongestSentence + 64];
thread_local const char *current_operation = "deltatape";

}  // namespace

namespace deltatape {

Operation::Operation(const char *name) : outer_(current_operation) {
  current_operation = name;
}

Operation::~Operation() {
  current_operation = outer_;
}

void refuse(dtape_status status, const char *format, ...) {
  char sentence[kLongestSentence];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  throw Refusal{dtape_fail(status, sentence)};
}

}  // namespace deltatape

dtape_status dtape_fail(dtape_status status, const char *sentence) {
  std::snprintf(last_error, sizeof last_error, "[%s] %s", current_operation, sentence);
  return status;
}

const char *dtape_last_error(void) {
  return last_error;
}
