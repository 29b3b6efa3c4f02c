// One kernel to run: which, over how many groups, with which arguments.
#ifndef DTAPE_CUDA_LAUNCH_H
#define DTAPE_CUDA_LAUNCH_H

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "cuda/kernels.h"

namespace deltatape::cuda {

// What a kernel may be given, laid out like a C struct of its arguments.
class Packed {
 public:
  static constexpr size_t kMost = 4096;

  template <class Value>
  void put(const Value &value) {
    std::memcpy(bytes_.data() + size_, &value, sizeof value);
    size_ += sizeof value;
  }

  // Integers that the shader reads through a pointer; `room` for as many as the variant has.
  void put_table(const std::vector<int32_t> &table, int room) {
    if (!table.empty()) std::memcpy(bytes_.data() + size_, table.data(), table.size() * 4);
    size_ += static_cast<size_t>(room) * 4;
  }

  const unsigned char *data() const { return bytes_.data(); }
  // With the padding of a struct whose strictest members are pointers.
  size_t size() const { return (size_ + 7) / 8 * 8; }

 private:
  alignas(8) std::array<unsigned char, kMost> bytes_;
  size_t size_ = 0;
};

struct Launch {
  // The most groups along y and z.
  static constexpr int64_t kMostGroups = 65535;

  Variant variant;
  unsigned x;
  unsigned y;
  unsigned z;
  Packed arguments;
};

// Room for a table among the arguments: few sizes, so that there are few variants.
inline int table_room(size_t integers) {
  return integers == 0 ? 1 : integers <= 12 ? 12 : integers <= 192 ? 192 : 960;
}
constexpr size_t kMostInTable = 960;

}  // namespace deltatape::cuda

#endif
