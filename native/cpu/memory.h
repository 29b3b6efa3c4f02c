#ifndef DTAPE_CPU_MEMORY_H
#define DTAPE_CPU_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

namespace deltatape::cpu {

// Page-aligned memory. Freed pieces are kept for requests of the same size, since fresh pages cost
// more than most calls. Not thread-safe.
class memory_pool {
 public:
  // Null if there is no memory.
  void *allocate(uint64_t bytes);
  // False if memory is not in use.
  bool release(void *memory);
  // Gives back all that is kept.
  void trim() { trim_to(0); }

 private:
  struct piece {
    void *memory;
    size_t bytes;
  };

  void *take_kept(size_t bytes);
  void trim_to(size_t bytes);

  std::unordered_map<void *, size_t> used_;
  std::deque<piece> kept_;  // oldest first
  size_t kept_bytes_ = 0;
};

}  // namespace deltatape::cpu

#endif
