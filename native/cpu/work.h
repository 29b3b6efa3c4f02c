// How a call is divided among threads, and the scratch memory that each needs. The kernels,
// compiled once for each path, and the code that starts them share this; results do not depend on
// any of it.
#ifndef DTAPE_CPU_WORK_H
#define DTAPE_CPU_WORK_H

#include <cstdint>

#include "host.h"

namespace deltatape::cpu {
// Functions of this header have internal linkage: each path compiles them with its own flags.
namespace {

// Steps whose panels are kept at once, and rows of a state that are advanced together.
constexpr int64_t STEPS_AT_ONCE = 16, ROWS_AT_ONCE = 16;

// Floats in the tiles of chunk_tri_solve_invert.
constexpr int64_t INVERT_SCRATCH = 64 * 64 * 2 + 16 * 64 * 2;

inline int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

struct step_range {
  int64_t first, last;
};

inline int64_t sequences_of(const dtape_chunk_tri_solve_invert_request &request) {
  return request.cu_seqlens ? request.cu_seqlens_count - 1 : request.batch;
}

inline step_range sequence_steps(const dtape_chunk_tri_solve_invert_request &request, int64_t s) {
  if (request.cu_seqlens) return {request.cu_seqlens[s], request.cu_seqlens[s + 1]};
  return {s * request.steps, (s + 1) * request.steps};
}

inline int64_t chunks_of(step_range steps, int64_t chunk) {
  return (steps.last - steps.first + chunk - 1) / chunk;
}

}  // namespace

// One item is some rows of one head of one sequence: (sequence * heads + head) * parts + part.
struct row_work {
  int64_t rows;     // of a part, a multiple of ROWS_AT_ONCE
  int64_t parts;    // of a head, at least 1
  int64_t columns;  // the state's, padded to whole vectors
};

// Floats of the panels that panels.h hands out.
static inline int64_t panel_floats(const row_work &work) {
  return STEPS_AT_ONCE * (3 * work.columns + 2 * work.rows + 16 * ROWS_AT_ONCE + 16) +
         work.rows * work.columns;
}

// A path's kernels. Each does the items from begin up to end; an item of the inverse is one chunk
// of one head: chunk * heads + head.
struct kernels {
  void (*ssm_step_record)(const dtape_ssm_step_record_request &request, const row_work &work,
                          int64_t begin, int64_t end, float *scratch);
  void (*ssm_replay)(const dtape_ssm_replay_request &request, const row_work &work, int64_t begin,
                     int64_t end, float *scratch);
  void (*chunk_tri_solve_invert)(const dtape_chunk_tri_solve_invert_request &request, int64_t begin,
                                 int64_t end, float *scratch);
};

}  // namespace deltatape::cpu

#endif
