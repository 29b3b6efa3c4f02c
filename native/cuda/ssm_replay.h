#ifndef DTAPE_CUDA_SSM_REPLAY_H
#define DTAPE_CUDA_SSM_REPLAY_H

#include "cuda/stream.h"

namespace deltatape::cuda {

void ssm_replay(Stream &stream, const dtape_ssm_replay_request &request);

}  // namespace deltatape::cuda

#endif
