// The names that shaders know elements by, and what concerns their sizes.
#ifndef DTAPE_CUDA_TYPES_H
#define DTAPE_CUDA_TYPES_H

#include "cuda/arguments.h"
#include "cuda/kernels.h"

namespace deltatape::cuda {

// Absent arrays have a type too, which is not used.
inline const char *type_name(int32_t dtype) {
  switch (dtype) {
    case DTAPE_F16:
      return "half";
    case DTAPE_BF16:
      return "bf16";
    case DTAPE_MASK8:
      return "uchar";
    case DTAPE_MASK32:
      return "uint";
    default:
      return "float";
  }
}

inline int64_t element_bytes(int32_t dtype) {
  switch (dtype) {
    case DTAPE_F16:
    case DTAPE_BF16:
      return 2;
    case DTAPE_MASK8:
      return 1;
    default:
      return 4;
  }
}

// Whether four neighbours can be read at once, if rows are multiples of four. Absent is aligned.
inline bool is_aligned(Address address, int32_t dtype) {
  return address % (4 * static_cast<uint64_t>(element_bytes(dtype))) == 0;
}

inline bool is_present(const dtape_span &span) {
  return span.dtype != 0;
}

inline void set_mask(Variant &variant, const dtape_span &mask) {
  variant.set("MASKED", is_present(mask));
  variant.set("MASK_TYPE", is_present(mask) ? type_name(mask.dtype) : "uchar");
}

}  // namespace deltatape::cuda

#endif
