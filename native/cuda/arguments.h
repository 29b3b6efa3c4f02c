// The arrays of one call as the GPU sees them. Memory that the GPU reaches is used in place: its
// own and managed memory, registered and the library's own memory of the processor. Other memory is
// copied, in at once and back once the work is done.
#ifndef DTAPE_CUDA_ARGUMENTS_H
#define DTAPE_CUDA_ARGUMENTS_H

#include <optional>
#include <vector>

#include "cuda/gpu.h"
#include "host.h"

namespace deltatape::cuda {

// Memory that a call uses in place.
struct Region {
  uint64_t begin;
  uint64_t end;
  bool written;

  bool conflicts(const Region &other) const {
    return (written || other.written) && begin < other.end && other.begin < end;
  }
};

inline bool is_empty(const dtape_span &span) {
  return span.data == nullptr || span.bytes == 0;
}

inline uint64_t address_of(const dtape_span &span) {
  return reinterpret_cast<uint64_t>(span.data);
}

class Arguments {
 public:
  // `in_place`: refuse memory that would have to be copied.
  Arguments(Gpu &gpu, CudaStream stream, bool in_place)
      : gpu_(gpu), stream_(stream), in_place_(in_place) {}
  ~Arguments();
  Arguments(const Arguments &) = delete;
  Arguments &operator=(const Arguments &) = delete;

  // Where the GPU finds an array.
  Address read(const dtape_span &span, const char *name);
  Address write(const dtape_span &span, const char *name);

  // The same without copies: nothing if the GPU does not reach the memory.
  std::optional<Address> reach(const dtape_span &span, const char *name, bool written);

  Address nothing() const { return gpu_.nothing(); }
  // Memory of the GPU for as long as the call's work takes.
  Address scratch(uint64_t bytes);
  void copy_in(Address to, uint64_t from, uint64_t bytes) const;
  void copy_back(uint64_t to, Address from, uint64_t bytes);

  // Whether something is held until the work is done.
  bool holds() const { return !uses_.empty() || !scratch_.empty(); }
  // Whether a result that has yet to go back lies in an array.
  bool awaits(const dtape_span &span) const;
  // Copies results back.
  void finish();

  const std::vector<Region> &regions() const { return regions_; }

 private:
  struct Copy {
    uint64_t to;
    Address from;
    uint64_t bytes;
  };
  struct Piece {
    Address address;
    uint64_t size;
  };

  Gpu &gpu_;
  const CudaStream stream_;
  const bool in_place_;
  std::vector<Region> regions_;
  std::vector<uint64_t> uses_;
  std::vector<Piece> scratch_;
  std::vector<Copy> copies_;
};

}  // namespace deltatape::cuda

#endif
