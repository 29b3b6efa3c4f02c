/* The functions of the dtape_host table that Swift implements, checked against these declarations,
 * and what the shaders share with the host. */
#ifndef DTAPE_METAL_HOST_H
#define DTAPE_METAL_HOST_H

#include <sys/types.h>
#include <unistd.h>

#include "../host.h"
#include "../include/deltatape.h"
#include "../shaders.h"

#if !defined(__cplusplus)
typedef unsigned int uint;
typedef unsigned long ulong;
#include "../../shaders/parameters.metal"
#endif

#if defined(__clang__)
#pragma clang assume_nonnull begin
#endif

#ifdef __cplusplus
extern "C" {
#endif

dtape_status metal_host_open(void *DTAPE_NULLABLE *DTAPE_NONNULL device);
void metal_host_close(void *device);
dtape_status metal_host_describe(void *device, dtape_device_info *info);
dtape_status metal_host_counters(void *device, dtape_counters *counters);
dtape_status metal_host_alloc(void *device, uint64_t bytes,
                              void *DTAPE_NULLABLE *DTAPE_NONNULL memory);
dtape_status metal_host_free(void *device, void *memory);
dtape_status metal_host_stream_open_own(void *device, void *DTAPE_NULLABLE *DTAPE_NONNULL stream);
dtape_status metal_host_stream_wait(void *stream);
void metal_host_stream_close(void *stream);
dtape_status metal_host_ssm_step_record(void *stream, const dtape_ssm_step_record_request *request);
dtape_status metal_host_ssm_replay(void *stream, const dtape_ssm_replay_request *request);
dtape_status metal_host_chunk_tri_solve_invert(void *stream,
                                               const dtape_chunk_tri_solve_invert_request *request);

/* Behind deltatape_metal.h. */
dtape_status metal_host_adopt_buffer(void *device, void *buffer);
dtape_status metal_host_release_buffer(void *device, void *buffer);
dtape_status metal_host_stream_open_encoder(void *device, void *encoder,
                                            void *DTAPE_NULLABLE *DTAPE_NONNULL stream);

#ifdef __cplusplus
}
#endif

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#endif
