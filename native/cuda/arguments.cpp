#include "cuda/arguments.h"

#include "cuda/counters.h"

namespace deltatape::cuda {
namespace {

// What the driver knows of a pointer; all 0 for memory that it does not know.
struct Facts {
  unsigned type = kPageable;
  int managed = 0;
  int ordinal = 0;
  Address address = 0;
};

Facts facts_of(uint64_t pointer) {
  Facts facts;
  PointerAttribute which[] = {kMemoryType, kIsManaged, kDeviceOrdinal, kDevicePointer};
  void *into[] = {&facts.type, &facts.managed, &facts.ordinal, &facts.address};
  if (driver().cuPointerGetAttributes(4, which, into, pointer) != kSuccess) return {};
  return facts;
}

bool lies_in_registered_memory(const Facts &facts, uint64_t last) {
  return facts.address != 0 && facts_of(last).type == kHostMemory;
}

}  // namespace

Arguments::~Arguments() {
  for (const uint64_t start : uses_) gpu_.memory().end_use(start);
  for (const Piece &piece : scratch_) gpu_.memory().scratch().give(piece.address, piece.size);
}

std::optional<Address> Arguments::reach(const dtape_span &span, const char *name, bool written) {
  const uint64_t begin = address_of(span), bytes = static_cast<uint64_t>(span.bytes);
  uint64_t start = 0;
  if (gpu_.memory().begin_use(begin, bytes, start)) {
    uses_.push_back(start);
    regions_.push_back({begin, begin + bytes, written});
    return begin;
  }
  const Facts facts = facts_of(begin);
  const bool on_gpu = facts.type == kDeviceMemory || facts.managed != 0;
  if (!on_gpu &&
      !(facts.type == kHostMemory && lies_in_registered_memory(facts, begin + bytes - 1))) {
    if (!in_place_) return std::nullopt;
    throw Failure(DTAPE_INVALID_ARGUMENT,
                  std::string(name) +
                      ": expected memory that the GPU reaches, as the stream is "
                      "the caller's, got other memory");
  }
  if (on_gpu && facts.managed == 0 && facts.ordinal != gpu_.ordinal()) {
    throw Failure(DTAPE_INVALID_ARGUMENT,
                  std::string(name) + ": expected memory of GPU " + std::to_string(gpu_.ordinal()) +
                      ", got memory of GPU " + std::to_string(facts.ordinal));
  }
  count(&dtape_counters::bytes_wrapped, bytes);
  regions_.push_back({begin, begin + bytes, written});
  return facts.address != 0 ? facts.address : begin;
}

Address Arguments::read(const dtape_span &span, const char *name) {
  if (is_empty(span)) return gpu_.nothing();
  if (const std::optional<Address> there = reach(span, name, false)) return *there;
  const uint64_t bytes = static_cast<uint64_t>(span.bytes);
  const Address staged = scratch(bytes);
  copy_in(staged, address_of(span), bytes);
  return staged;
}

Address Arguments::write(const dtape_span &span, const char *name) {
  if (is_empty(span)) return gpu_.nothing();
  if (const std::optional<Address> there = reach(span, name, true)) return *there;
  const uint64_t bytes = static_cast<uint64_t>(span.bytes);
  const Address staged = scratch(bytes);
  copy_back(address_of(span), staged, bytes);
  return staged;
}

Address Arguments::scratch(uint64_t bytes) {
  uint64_t size = 0;
  const Address address = gpu_.memory().scratch().take(bytes, size);
  scratch_.push_back({address, size});
  return address;
}

void Arguments::copy_in(Address to, uint64_t from, uint64_t bytes) const {
  check(driver().cuMemcpyHtoDAsync(to, reinterpret_cast<const void *>(from), bytes, stream_),
        "device: expected a copy to the GPU");
  count(&dtape_counters::bytes_copied, bytes);
}

void Arguments::copy_back(uint64_t to, Address from, uint64_t bytes) {
  copies_.push_back({to, from, bytes});
}

bool Arguments::awaits(const dtape_span &span) const {
  if (is_empty(span)) return false;
  const uint64_t begin = address_of(span), end = begin + static_cast<uint64_t>(span.bytes);
  for (const Copy &copy : copies_) {
    if (copy.to < end && begin < copy.to + copy.bytes) return true;
  }
  return false;
}

void Arguments::finish() {
  for (const Copy &copy : copies_) {
    check(driver().cuMemcpyDtoHAsync(reinterpret_cast<void *>(copy.to), copy.from, copy.bytes,
                                     stream_),
          "device: expected a copy from the GPU");
    count(&dtape_counters::bytes_copied, copy.bytes);
  }
  copies_.clear();
}

}  // namespace deltatape::cuda
