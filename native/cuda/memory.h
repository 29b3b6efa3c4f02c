// Memory that the GPU works on: the library's own, which the processor reaches as well, and
// scratch on the GPU. Both are kept for the next use once they are given back.
#ifndef DTAPE_CUDA_MEMORY_H
#define DTAPE_CUDA_MEMORY_H

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "cuda/driver.h"

namespace deltatape::cuda {

// Pieces of memory by size, of the processor's or of the GPU's kind.
class Pool {
 public:
  enum Kind { kPinned, kDevice };

  explicit Pool(Kind kind) : kind_(kind) {}

  // At least so many bytes; `size` receives how many. With the GPU's context current.
  uint64_t take(uint64_t bytes, uint64_t &size);
  void give(uint64_t memory, uint64_t size);

 private:
  uint64_t make(uint64_t size);
  void destroy(uint64_t memory) const;
  bool forget_idle();

  const Kind kind_;
  std::mutex lock_;
  std::map<uint64_t, std::vector<uint64_t>> idle_;
  uint64_t idle_bytes_ = 0;
};

class Memory {
 public:
  void *allocate(uint64_t bytes);
  // Memory in use is given back when its last use ends.
  void free(void *memory);

  // Whether these bytes lie in memory of `allocate`. Then they are in use until `end` of `start`.
  bool begin_use(uint64_t address, uint64_t bytes, uint64_t &start);
  void end_use(uint64_t start);

  Pool &scratch() { return scratch_; }

 private:
  struct Piece {
    uint64_t size;
    int uses;
    bool freed;
  };

  Pool pinned_{Pool::kPinned};
  Pool scratch_{Pool::kDevice};
  std::mutex lock_;
  // By address. Freed ones stay as long as they are in use.
  std::map<uint64_t, Piece> pieces_;
};

}  // namespace deltatape::cuda

#endif
