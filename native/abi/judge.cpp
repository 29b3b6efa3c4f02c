#include "abi/judge.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace deltatape {
namespace {

constexpr int64_t kUncountable = -1;

int64_t element_bytes(int32_t dtype) {
  switch (dtype) {
    case DTAPE_F32:
    case DTAPE_MASK32:
      return 4;
    case DTAPE_F16:
    case DTAPE_BF16:
      return 2;
    default:
      return 1;
  }
}

int64_t times(int64_t a, int64_t b) {
  int64_t product = 0;
  if (a == kUncountable || b == kUncountable) return kUncountable;
  return __builtin_mul_overflow(a, b, &product) ? kUncountable : product;
}

// The set in words: "f32 (1) or f16 (2)".
struct TypeNames {
  explicit TypeNames(const Codes &types) {
    constexpr const char *names[] = {"", "f32", "f16", "bf16", "mask8", "mask32"};
    size_t used = 0;
    for (int code = DTAPE_F32; code <= DTAPE_MASK32; ++code) {
      if (!types.has(code)) continue;
      used += std::snprintf(text + used, sizeof text - used, "%s%s (%d)", used == 0 ? "" : " or ",
                            names[code], code);
    }
  }
  char text[64];
};

// Dimensions in numbers: "[2,8,4,128]".
struct Numbers {
  explicit Numbers(const Shape &shape) {
    size_t used = 0;
    for (int i = 0; i < shape.rank; ++i) {
      used += std::snprintf(text + used, sizeof text - used, "%s%" PRId64, i == 0 ? "[" : ",",
                            shape.dims[i]);
    }
    std::snprintf(text + used, sizeof text - used, "]");
  }
  char text[128];
};

void judge_type(const char *name, int32_t dtype, const Codes &types) {
  if (types.has(dtype)) return;
  refuse(DTAPE_UNSUPPORTED_DTYPE, "%s: expected dtype %s, got %d", name, TypeNames(types).text,
         dtype);
}

[[noreturn]] void refuse_missing(const char *name, const Shape &shape) {
  refuse(DTAPE_INVALID_ARGUMENT, "%s: expected an array %s = %s, got null", name, shape.symbols,
         Numbers(shape).text);
}

void judge_address(const char *name, const void *data, const Shape &shape, int64_t bytes,
                   int64_t alignment) {
  if (data == nullptr) refuse_missing(name, shape);
  const auto address = reinterpret_cast<uintptr_t>(data);
  if (address % alignment != 0) {
    refuse(DTAPE_INVALID_ARGUMENT, "%s: expected an address that is a multiple of %d, got %p", name,
           static_cast<int>(alignment), data);
  }
  if (address + bytes < address) {
    refuse(DTAPE_INVALID_ARGUMENT, "%s: expected %" PRId64 " bytes of memory, got address %p", name,
           bytes, data);
  }
}

// Both kinds of array have the same fields.
template <class Array>
dtape_span judge_array(const char *name, const Array &array, const Shape &shape, const Codes &types,
                       Presence presence) {
  if (array.reserved != 0) {
    refuse(DTAPE_INVALID_ARGUMENT, "%s.reserved: expected 0, got %d", name, array.reserved);
  }
  if (presence == Presence::kForbidden && array.data != nullptr) {
    refuse(DTAPE_INVALID_ARGUMENT, "%s: expected no array with this kind of tape, got one", name);
  }
  if (presence != Presence::kRequired && array.data == nullptr) return {};
  if (array.data == nullptr && array.dtype == 0) refuse_missing(name, shape);
  judge_type(name, array.dtype, types);
  const int64_t width = element_bytes(array.dtype);
  refuse_uncountable(name, shape, width);
  const int64_t bytes = shape.elements() * width;
  // An array without elements may have any address: devices get null.
  if (bytes == 0) return {nullptr, 0, array.dtype, 0};
  judge_address(name, array.data, shape, bytes, width);
  return {const_cast<void *>(static_cast<const void *>(array.data)), bytes, array.dtype, 0};
}

}  // namespace

Shape::Shape(const char *symbols, std::initializer_list<int64_t> dims, int64_t stride)
    : symbols(symbols), dims(), rank(static_cast<int>(dims.size())), stride(stride) {
  std::copy(dims.begin(), dims.end(), this->dims.begin());
}

int64_t Shape::elements() const {
  int64_t inner = 1;
  for (int i = 1; i < rank; ++i) inner *= dims[i];
  if (dims[0] == 0 || inner == 0) return 0;
  return stride == 0 ? dims[0] * inner : (dims[0] - 1) * stride + inner;
}

int64_t Shape::widest(int64_t element_bytes) const {
  int64_t row = 1;
  for (int i = 1; i < rank; ++i) row = times(row, std::max<int64_t>(dims[i], 1));
  if (row != kUncountable) row = std::max(row, stride);
  return times(times(row, std::max<int64_t>(dims[0], 1)), element_bytes);
}

dtape_span Judge::input(const char *name, const dtape_input &array, const Shape &shape,
                        const Codes &types, Presence presence) {
  const dtape_span span = judge_array(name, array, shape, types, presence);
  remember(name, span.data, span.bytes, false, nullptr);
  return span;
}

dtape_span Judge::output(const char *name, const dtape_output &array, const Shape &shape,
                         const Codes &types, Presence presence, const char *twin) {
  const dtape_span span = judge_array(name, array, shape, types, presence);
  remember(name, span.data, span.bytes, true, twin);
  return span;
}

void Judge::host_array(const char *name, const void *data, const Shape &shape, int64_t width) {
  if (data == nullptr) return;
  refuse_uncountable(name, shape, width);
  const int64_t bytes = shape.elements() * width;
  if (bytes != 0) judge_address(name, data, shape, bytes, width);
  remember(name, data, bytes, false, nullptr);
}

void Judge::remember(const char *name, const void *data, int64_t bytes, bool written,
                     const char *twin) {
  if (bytes == 0) return;
  const auto begin = reinterpret_cast<uintptr_t>(data);
  regions_[count_++] = {name, twin, begin, begin + bytes, written};
}

void Judge::refuse_overlap() const {
  for (size_t i = 0; i < count_; ++i) {
    const Region &output = regions_[i];
    if (!output.written) continue;
    for (size_t j = 0; j < count_; ++j) {
      if (i != j) refuse_shared(output, regions_[j]);
    }
  }
}

void Judge::refuse_shared(const Region &output, const Region &other) {
  const uintptr_t begin = std::max(output.begin, other.begin);
  const uintptr_t end = std::min(output.end, other.end);
  if (begin >= end) return;
  const bool twin = output.twin != nullptr && std::strcmp(output.twin, other.name) == 0;
  if (!twin) {
    refuse(DTAPE_INVALID_ARGUMENT, "%s: expected memory of its own, got %" PRIuPTR " bytes of %s",
           output.name, end - begin, other.name);
  }
  if (output.begin != other.begin || output.end != other.end) {
    refuse(DTAPE_INVALID_ARGUMENT,
           "%s: expected exactly the memory of %s or none of it, got %" PRIuPTR " bytes of it",
           output.name, other.name, end - begin);
  }
}

void refuse_negative(std::initializer_list<NamedSize> sizes) {
  for (const NamedSize &each : sizes) {
    if (each.size >= 0) continue;
    refuse(DTAPE_INVALID_ARGUMENT, "%s: expected 0 or more, got %" PRId64, each.name, each.size);
  }
}

void refuse_uncountable(const char *name, const Shape &shape, int64_t element_bytes) {
  if (shape.widest(element_bytes) != kUncountable) return;
  refuse(DTAPE_INVALID_ARGUMENT,
         "%s: expected fewer than 2^63 bytes, got an array %s = %s, stride %" PRId64
         ", with %d bytes an element",
         name, shape.symbols, Numbers(shape).text, shape.stride, static_cast<int>(element_bytes));
}

bool any_elements(std::initializer_list<dtape_span> outputs) {
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const dtape_span &output) { return output.bytes != 0; });
}

}  // namespace deltatape
