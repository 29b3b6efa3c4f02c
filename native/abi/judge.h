// What every kernel's arguments have in common: shapes, dtypes, pointers, overlap.
#ifndef DTAPE_ABI_JUDGE_H
#define DTAPE_ABI_JUDGE_H

#include <array>
#include <cinttypes>
#include <cstddef>
#include <initializer_list>

#include "abi/error.h"

namespace deltatape {

// A set of small codes: dtypes, or kinds of tape.
class Codes {
 public:
  constexpr Codes(std::initializer_list<int32_t> codes) {
    for (const int32_t code : codes) bits_ |= uint64_t{1} << static_cast<uint32_t>(code);
  }

  constexpr bool has(int32_t code) const {
    return code >= 0 && code < 64 && (bits_ >> static_cast<uint32_t>(code)) % 2 == 1;
  }

 private:
  uint64_t bits_ = 0;
};

constexpr Codes kF32 = {DTAPE_F32};
constexpr Codes kFloats = {DTAPE_F32, DTAPE_F16, DTAPE_BF16};
constexpr Codes kMasks = {DTAPE_MASK8, DTAPE_MASK32};

// Dimensions with their symbols, "[B,T,H,Dh]". `stride`, where it is not 0, is the distance from
// one index of the first dimension to the next, at least the product of the others.
struct Shape {
  Shape(const char *symbols, std::initializer_list<int64_t> dims, int64_t stride = 0);

  const char *symbols;
  std::array<int64_t, 5> dims;
  int rank;
  int64_t stride;

  // From the first element to the end of the last one.
  int64_t elements() const;

  // Bytes if elements take this many, -1 where an int64_t cannot count them. A dimension of 0
  // counts as 1, so that no partial product overflows either.
  int64_t widest(int64_t element_bytes) const;
};

enum class Presence : uint8_t { kRequired, kOptional, kForbidden };

// Judges arrays one by one, remembers where they lie, and finds outputs that overlap.
class Judge {
 public:
  dtape_span input(const char *name, const dtape_input &array, const Shape &shape,
                   const Codes &types, Presence presence = Presence::kRequired);

  // `twin` names the input that may be exactly the same memory.
  dtape_span output(const char *name, const dtape_output &array, const Shape &shape,
                    const Codes &types, Presence presence = Presence::kRequired,
                    const char *twin = nullptr);

  // An array of the host that is read before the call returns; null is for the caller to judge.
  void host_array(const char *name, const void *data, const Shape &shape, int64_t element_bytes);

  // Call when all arrays are known.
  void refuse_overlap() const;

 private:
  struct Region {
    const char *name;
    const char *twin;
    uintptr_t begin;
    uintptr_t end;
    bool written;
  };

  void remember(const char *name, const void *data, int64_t bytes, bool written, const char *twin);
  static void refuse_shared(const Region &output, const Region &other);

  std::array<Region, 20> regions_;
  size_t count_ = 0;
};

struct NamedSize {
  const char *name;
  int64_t size;
};

void refuse_negative(std::initializer_list<NamedSize> sizes);

// Refuses a shape whose bytes an int64_t cannot count.
void refuse_uncountable(const char *name, const Shape &shape, int64_t element_bytes);

// Whether there is anything to write. Without, a device need not be asked, whatever the other
// dimensions are.
bool any_elements(std::initializer_list<dtape_span> outputs);

}  // namespace deltatape

#endif
