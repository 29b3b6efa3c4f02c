#ifndef DTAPE_CUDA_CHUNK_TRI_SOLVE_INVERT_H
#define DTAPE_CUDA_CHUNK_TRI_SOLVE_INVERT_H

#include "cuda/stream.h"

namespace deltatape::cuda {

void chunk_tri_solve_invert(Stream &stream, const dtape_chunk_tri_solve_invert_request &request);

}  // namespace deltatape::cuda

#endif
