// The kernels of one path, each in the file of its name. DTAPE_PATH is the path's namespace.
#ifndef DTAPE_CPU_PATH_H
#define DTAPE_CPU_PATH_H

#include "work.h"

namespace deltatape::cpu::DTAPE_PATH {

void ssm_step_record(const dtape_ssm_step_record_request &request, const row_work &work,
                     int64_t begin, int64_t end, float *scratch);
void ssm_replay(const dtape_ssm_replay_request &request, const row_work &work, int64_t begin,
                int64_t end, float *scratch);
void chunk_tri_solve_invert(const dtape_chunk_tri_solve_invert_request &request, int64_t begin,
                            int64_t end, float *scratch);

}  // namespace deltatape::cpu::DTAPE_PATH

#endif
