/* deltatape for programs with CUDA of their own: the device "cuda" on the caller's stream and on
 * the caller's memory. Every library has these functions; where the device "cuda" is not built in
 * they fail.
 *
 * The device is there where NVIDIA's driver and its run-time compiler NVRTC (11.2 or later) are
 * found at run time: the driver where the loader looks, NVRTC there as well, or in the folder that
 * the environment variable DELTATAPE_NVRTC names, or in the folders of dtape_cuda_search. Compiled
 * kernels are kept in the folder DELTATAPE_CACHE ("off" keeps none), else in deltatape in the
 * user's folder for caches.
 *
 * Any call may be given memory of the GPU, managed memory and registered memory of the processor,
 * which are used in place. Streams that dtape_stream_open gives do not wait for the caller's own.
 */
#ifndef DELTATAPE_CUDA_H
#define DELTATAPE_CUDA_H

#include "deltatape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names one folder more where libnvrtc.so may lie, as in the wheel nvidia-cuda-nvrtc. To be called
 * before the device is opened.
 *
 * folder  its path
 */
DTAPE_API dtape_status dtape_cuda_search(const char *folder);

/* Opens a stream whose calls go to the caller's stream, in order with its other work. Nothing is
 * waited for: dtape_stream_wait returns once everything is in the caller's stream, and results are
 * valid once that has come so far.
 *
 *  - Small calls are held back, so that several that differ in their arrays alone become one
 *    launch: work that uses their results is enqueued after dtape_stream_wait.
 *  - Every array has to lie in memory that the GPU reaches; other memory is refused. Arrays marked
 *    "read at once" may lie anywhere.
 *  - The stream's context has to be its GPU's primary context, as CUDA's run-time library has it.
 *  - Calls may be captured into a graph once each has been made before, as it is compiled then.
 *  - Memory that calls use is freed once the caller's stream is past them.
 *
 * callers  CUstream or cudaStream_t, of any GPU; null is the default stream
 * stream   receives the stream, to be closed by dtape_stream_close
 */
DTAPE_API dtape_status dtape_cuda_stream(dtape_device *device, void *callers,
                                         dtape_stream **stream);

#ifdef __cplusplus
}
#endif

#endif
