#include "cuda/counters.h"

#include <atomic>
#include <cstddef>
#include <iterator>

namespace deltatape::cuda {
namespace {

constexpr uint64_t dtape_counters::*kCounters[] = {
    &dtape_counters::dispatches,         &dtape_counters::command_buffers,
    &dtape_counters::pipelines_compiled, &dtape_counters::bytes_wrapped,
    &dtape_counters::bytes_copied,
};
std::atomic<uint64_t> values[std::size(kCounters)];

}  // namespace

void count(uint64_t dtape_counters::*counter, uint64_t amount) {
  for (size_t i = 0; i < std::size(kCounters); ++i) {
    if (kCounters[i] == counter) values[i].fetch_add(amount, std::memory_order_relaxed);
  }
}

void read_counters(dtape_counters *counters) {
  for (size_t i = 0; i < std::size(kCounters); ++i) {
    counters->*kCounters[i] = values[i].load(std::memory_order_relaxed);
  }
}

}  // namespace deltatape::cuda
