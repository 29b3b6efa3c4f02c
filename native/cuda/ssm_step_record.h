#ifndef DTAPE_CUDA_SSM_STEP_RECORD_H
#define DTAPE_CUDA_SSM_STEP_RECORD_H

#include "cuda/stream.h"

namespace deltatape::cuda {

void ssm_step_record(Stream &stream, const dtape_ssm_step_record_request &request);

}  // namespace deltatape::cuda

#endif
