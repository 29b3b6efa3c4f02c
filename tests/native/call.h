// A call of one kernel over guarded memory: made valid by its test, then broken.
#ifndef DTAPE_TESTS_CALL_H
#define DTAPE_TESTS_CALL_H

#include <string>

#include "arena.h"
#include "check.h"
#include "kernels.h"

template <class Args>
class Call {
 public:
  using Kernel = ::Kernel<Args>;

  explicit Call(dtape_stream *stream) : arena(Kernel::fields.size()), stream_(stream) {
    args.size = sizeof args;
  }

  static size_t index(const char *name) {
    for (size_t i = 0; i < Kernel::fields.size(); ++i) {
      if (std::strcmp(Kernel::fields[i].name, name) == 0) return i;
    }
    fail_check(__FILE__, __LINE__, "no such argument", name);
    return 0;
  }

  // Gives an array memory for the dimensions that the arguments have now.
  void give(const char *name, int32_t type = 0) {
    const Field &field = Kernel::fields[index(name)];
    if (field.kind != Field::kHost) dtype(args, field) = type;
    const auto bytes = static_cast<size_t>(extent_of(args, field).bytes);
    set_pointer(args, field, arena.place(index(name), bytes));
  }

  template <class Element>
  Element *host(const char *name) const {
    return static_cast<Element *>(pointer(args, Kernel::fields[index(name)]));
  }

  unsigned char *data(const char *name) const { return host<unsigned char>(name); }

  dtape_status run(const Args &given) {
    const dtape_status status = Kernel::run(stream_, &given);
    return status == DTAPE_OK ? dtape_stream_wait(stream_) : status;
  }

  dtape_status run_null() { return Kernel::run(stream_, nullptr); }

  void accepts(const char *file, int line, const char *why) {
    arena.copy_to(whole_);
    if (run(args) != DTAPE_OK) fail_check(file, line, why, dtape_last_error());
    arena.fill_from(whole_);
  }

  // Breaks a copy of the arguments, or what they point to; all is whole again afterwards.
  // `sentence` without the operation; one that ends in * is only the beginning.
  template <class Break>
  void refuses(const char *file, int line, dtape_status status, const std::string &sentence,
               const Break &broken) {
    Args given = args;
    arena.copy_to(whole_);
    broken(given);
    arena.copy_to(before_);
    const dtape_status got = Kernel::run(stream_, &given);
    const bool touched = !arena.holds(before_);
    arena.fill_from(whole_);
    if (touched) fail_check(file, line, "memory changed by a refused call", sentence.c_str());
    const std::string expected = "[" + std::string(Kernel::name) + "] " + sentence;
    if (got != status || !matches(dtape_last_error(), expected)) {
      const std::string came = std::to_string(got) + " " + dtape_last_error();
      fail_check(file, line, (std::to_string(status) + " " + expected).c_str(), came.c_str());
    }
  }

  Arena arena;
  Args args = {};

 private:
  static bool matches(const std::string &text, const std::string &pattern) {
    if (pattern.back() != '*') return text == pattern;
    return text.compare(0, pattern.size() - 1, pattern, 0, pattern.size() - 1) == 0;
  }

  dtape_stream *stream_;
  Arena::Contents whole_;
  Arena::Contents before_;
};

#define ACCEPTS(call, why) (call).accepts(__FILE__, __LINE__, why)
#define REFUSES(call, status, sentence, ...)           \
  (call).refuses(__FILE__, __LINE__, status, sentence, \
                 [&]([[maybe_unused]] auto &args) { __VA_ARGS__; })

#endif
