// What the tests know of the kernels' arguments, written down apart from native/abi.
#ifndef DTAPE_TESTS_KERNELS_H
#define DTAPE_TESTS_KERNELS_H

#include <cstring>
#include <vector>

#include "deltatape.h"

// `dims` has a letter for each dimension: B, T, H, G, P (Dh), S (Ds), D (Ds with a decay a column,
// else 1), C (BT), Q (cu_seqlens_count), N (batch, or states with slots, a stride apart).
struct Field {
  enum Kind { kInput, kOutput, kHost };
  const char *name;
  Kind kind;
  size_t offset;
  const char *dims;
  size_t host_bytes;  // of an element of a host array
};

template <class Args>
struct Kernel;

template <>
struct Kernel<dtape_ssm_step_record_args> {
  static constexpr const char *name = "ssm_step_record";
  static const std::vector<Field> fields;
  static constexpr auto run = dtape_ssm_step_record;
};

template <>
struct Kernel<dtape_ssm_replay_args> {
  static constexpr const char *name = "ssm_replay";
  static const std::vector<Field> fields;
  static constexpr auto run = dtape_ssm_replay;
};

template <>
struct Kernel<dtape_chunk_tri_solve_invert_args> {
  static constexpr const char *name = "chunk_tri_solve_invert";
  static const std::vector<Field> fields;
  static constexpr auto run = dtape_chunk_tri_solve_invert;
};

using Wide = __int128;

// An array's extent in bytes. `row` is what each step of the first dimension holds and `stride`
// how far apart they lie.
struct Extent {
  Wide bytes;
  Wide row;
  Wide stride;
};

template <class Args>
Extent extent_of(const Args &args, const Field &field);

template <class Args>
void *pointer(const Args &args, const Field &field) {
  void *value = nullptr;
  std::memcpy(&value, reinterpret_cast<const char *>(&args) + field.offset, sizeof value);
  return value;
}

template <class Args>
void set_pointer(Args &args, const Field &field, const void *value) {
  std::memcpy(reinterpret_cast<char *>(&args) + field.offset, &value, sizeof value);
}

// Of an array that is not a host array.
template <class Args>
int32_t &dtype(Args &args, const Field &field) {
  return reinterpret_cast<dtape_input *>(reinterpret_cast<char *>(&args) + field.offset)->dtype;
}

#endif
