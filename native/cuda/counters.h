// What this device has done since the process started.
#ifndef DTAPE_CUDA_COUNTERS_H
#define DTAPE_CUDA_COUNTERS_H

#include "host.h"

namespace deltatape::cuda {

void count(uint64_t dtape_counters::*counter, uint64_t amount = 1);

// Fills in all but the size.
void read_counters(dtape_counters *counters);

}  // namespace deltatape::cuda

#endif
