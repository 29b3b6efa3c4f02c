#include "cuda/counters.h"

#include <atomic>
#include <cstddef>

namespace deltatape::cuda {
namespace {

constexpr size_t kCounters = sizeof(dtape_counters) / sizeof(uint64_t);
std::atomic<uint64_t> values[kCounters];

}  // namespace

void count(uint64_t dtape_counters::*counter, uint64_t amount) {
  static const dtape_counters origin = {};
  values[&(origin.*counter) - &origin.size].fetch_add(amount, std::memory_order_relaxed);
}

void read_counters(dtape_counters *counters) {
  uint64_t *const fields = &counters->size;
  for (size_t i = 1; i < kCounters; ++i) fields[i] = values[i].load(std::memory_order_relaxed);
}

}  // namespace deltatape::cuda
