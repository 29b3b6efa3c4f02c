// What may be wrong with any kernel's arguments.
#ifndef DTAPE_TESTS_BROKEN_H
#define DTAPE_TESTS_BROKEN_H

#include <climits>
#include <set>

#include "call.h"

template <class Args>
void refuses_a_broken_struct(Call<Args> &call) {
  const std::string known = std::to_string(sizeof(Args));
  const std::string sizes = "size: expected 8 to " + known + " in steps of 8 (bytes), got ";
  for (const uint64_t size : {uint64_t{0}, uint64_t{7}, sizeof(Args) - 1, sizeof(Args) + 8,
                              uint64_t{1} << 40, UINT64_MAX}) {
    REFUSES(call, DTAPE_INVALID_ARGUMENT, sizes + std::to_string(size), args.size = size);
  }
  REFUSES(call, DTAPE_INVALID_ARGUMENT, "flags: expected 0, got 1", args.flags = 1);
  REFUSES(call, DTAPE_INVALID_ARGUMENT, "flags: expected 0, got 9223372036854775808",
          args.flags = uint64_t{1} << 63);

  CHECK(Call<Args>::Kernel::run(nullptr, &call.args) == DTAPE_INVALID_ARGUMENT);
  CHECK(strstr(dtape_last_error(), "stream: expected an open stream, got null") != nullptr);
  CHECK(call.run_null() == DTAPE_INVALID_ARGUMENT);
  CHECK(strstr(dtape_last_error(), "args: expected a pointer, got null") != nullptr);
}

template <class Args>
void refuses_a_broken_size(Call<Args> &call, const char *name, int64_t Args::*size) {
  const std::string prefix = std::string(name) + ": expected 0 or more, got ";
  REFUSES(call, DTAPE_INVALID_ARGUMENT, prefix + "-1", args.*size = -1);
  REFUSES(call, DTAPE_INVALID_ARGUMENT, prefix + "-9223372036854775808", args.*size = INT64_MIN);
  for (const int64_t huge : {INT64_MAX, INT64_MAX - 1, int64_t{1} << 62}) {
    REFUSES(call, DTAPE_INVALID_ARGUMENT, "*", args.*size = huge);
    CHECK(strstr(dtape_last_error(), std::to_string(huge).c_str()) != nullptr);
  }
}

// The fields of an array, its address, and its overlap with the others.
template <class Args>
class BrokenArray {
 public:
  BrokenArray(Call<Args> &call, const Field &field)
      : call_(call), field_(field), name_(field.name), data_(call.data(field.name)) {}

  void refuses_null() {
    REFUSES(call_, DTAPE_INVALID_ARGUMENT, name_ + ": expected a*",
            set_pointer(args, field_, nullptr));
    CHECK(strstr(dtape_last_error(), "got null") != nullptr);
  }

  void refuses_dtypes() {
    const bool mask = dtype(call_.args, field_) >= DTAPE_MASK8;
    const int known[] = {mask ? DTAPE_F32 : DTAPE_MASK8, mask ? DTAPE_BF16 : DTAPE_MASK32};
    for (const int code : {known[0], known[1], 0, -1, 6, 77, INT_MIN, INT_MAX}) {
      REFUSES(call_, DTAPE_UNSUPPORTED_DTYPE, name_ + ": expected dtype *",
              dtype(args, field_) = code);
      CHECK(strstr(dtape_last_error(), ("got " + std::to_string(code)).c_str()) != nullptr);
    }
    REFUSES(call_, DTAPE_INVALID_ARGUMENT, name_ + ".reserved: expected 0, got 1",
            (&dtype(args, field_))[1] = 1);
  }

  void refuses_addresses() {
    const size_t width = element_bytes(field_);
    if (width > 1) {
      const std::string aligned = ": expected an address that is a multiple of ";
      REFUSES(call_, DTAPE_INVALID_ARGUMENT, name_ + aligned + std::to_string(width) + "*",
              set_pointer(args, field_, data_ + 1));
    }
    if (extent_of(call_.args, field_).bytes < 8) return;
    REFUSES(call_, DTAPE_INVALID_ARGUMENT, name_ + ": expected *",
            set_pointer(args, field_, reinterpret_cast<void *>(UINTPTR_MAX - 7)));
    CHECK(strstr(dtape_last_error(), "bytes of memory, got address") != nullptr);
  }

  // Over the first and over the last element of the other array.
  void refuses_overlap(const Field &other, bool same_allowed) {
    unsigned char *const begin = call_.data(other.name);
    const auto bytes = static_cast<size_t>(extent_of(call_.args, other).bytes);
    unsigned char *const last = begin + bytes - element_bytes(other);
    for (unsigned char *const at : {begin, last}) {
      const bool aligned = reinterpret_cast<uintptr_t>(at) % element_bytes(field_) == 0;
      if (!aligned || (at == begin && same_allowed)) continue;
      REFUSES(call_, DTAPE_INVALID_ARGUMENT, "*", set_pointer(args, field_, at));
      CHECK(strstr(dtape_last_error(), ": expected memory of its own, got ") != nullptr ||
            strstr(dtape_last_error(), ": expected exactly the memory of ") != nullptr);
    }
  }

 private:
  size_t element_bytes(const Field &field) const {
    if (field.kind == Field::kHost) return field.host_bytes;
    const int32_t type = dtype(call_.args, field);
    return type == DTAPE_F32 || type == DTAPE_MASK32 ? 4 : type == DTAPE_MASK8 ? 1 : 2;
  }

  Call<Args> &call_;
  const Field &field_;
  std::string name_;
  unsigned char *data_;
};

// Breaks every array that the call has; `in_place` may be the same memory as `input`.
template <class Args>
void refuses_broken_arrays(Call<Args> &call, const std::set<std::string> &optional,
                           const std::string &input, const std::string &in_place) {
  for (const Field &field : Kernel<Args>::fields) {
    if (call.data(field.name) == nullptr) continue;
    BrokenArray<Args> broken(call, field);
    if (optional.count(field.name) == 0) broken.refuses_null();
    if (field.kind != Field::kHost) broken.refuses_dtypes();
    broken.refuses_addresses();
    if (field.kind != Field::kOutput) continue;
    for (const Field &other : Kernel<Args>::fields) {
      if (call.data(other.name) == nullptr || &other == &field) continue;
      broken.refuses_overlap(other, field.name == in_place && other.name == input);
    }
  }
}

#endif
