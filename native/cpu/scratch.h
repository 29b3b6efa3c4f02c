#ifndef DTAPE_CPU_SCRATCH_H
#define DTAPE_CPU_SCRATCH_H

#include <cstdint>

namespace deltatape::cpu {

// At least count floats, aligned to a cache line, that belong to the calling thread until its next
// call; kept, so that most calls allocate nothing. Null if there is no memory.
float *scratch_floats(int64_t count);

}  // namespace deltatape::cpu

#endif
