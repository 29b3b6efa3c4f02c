/* What a device fills in: a table of C functions, and the requests they receive.
 *
 * native/abi judges every argument and builds the requests, so a device trusts them: dimensions are
 * not negative, products do not overflow, dtypes are among those allowed, required arrays are
 * there, slots and k are in range, outputs overlap nothing they must not. Dimensions may be 0, but
 * some output has elements: a call that writes nothing reaches no device.
 */
#ifndef DTAPE_HOST_H
#define DTAPE_HOST_H

#include "deltatape.h"

/* What may be null, for Swift, which checks its implementations against these declarations. */
#if defined(__clang__)
#pragma clang assume_nonnull begin
#define DTAPE_NULLABLE _Nullable
#define DTAPE_NONNULL _Nonnull
#else
#define DTAPE_NULLABLE
#define DTAPE_NONNULL
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of one argument.
 *
 * data   first element; null = the argument is absent or has no elements
 * bytes  from the first element to the end of the last one
 * dtype  a dtape_dtype_code; 0 = absent
 */
typedef struct dtape_span {
  void *DTAPE_NULLABLE data;
  int64_t bytes;
  int32_t dtype;
  int32_t reserved;
} dtape_span;

/* Dimensions of a step or a replay. Strides are in elements and filled in.
 *
 * slots        [batch] or null: sequence b uses state slots[b] of the pool; -1 = skip
 * has_initial  [batch] or null: 0 = sequence b starts from zeros
 * k            [batch], replay only
 * These three arrays live until the function that received the request returns.
 */
typedef struct dtape_ssm_shape {
  int64_t batch;
  int64_t steps;
  int64_t heads;
  int64_t groups;
  int64_t head_dim;
  int64_t state_dim;
  int64_t states;
  int64_t state_stride;
  int64_t state_out_stride;
  int32_t tape;
  int32_t reserved;
  const int32_t *DTAPE_NULLABLE slots;
  const uint8_t *DTAPE_NULLABLE has_initial;
  const int32_t *DTAPE_NULLABLE k;
} dtape_ssm_shape;

/* Spans as in dtape_ssm_step_record_args; those that the tape's kind lacks are absent. */
typedef struct dtape_ssm_step_record_request {
  dtape_ssm_shape shape;
  dtape_span x;
  dtape_span a_log;
  dtape_span b;
  dtape_span c;
  dtape_span d;
  dtape_span dt;
  dtape_span state;
  dtape_span mask;
  dtape_span y;
  dtape_span state_out;
  dtape_span decay;
  dtape_span scale;
  dtape_span da_log;
  dtape_span dbx_log;
} dtape_ssm_step_record_request;

/* Spans as in dtape_ssm_replay_args; those that the tape's kind lacks are absent. */
typedef struct dtape_ssm_replay_request {
  dtape_ssm_shape shape;
  dtape_span state;
  dtape_span decay;
  dtape_span scale;
  dtape_span u;
  dtape_span v;
  dtape_span da_log;
  dtape_span dbx_log;
  dtape_span mask;
  dtape_span state_out;
} dtape_ssm_replay_request;

/* cu_seqlens is null, or cu_seqlens_count elements that live until the function returns. */
typedef struct dtape_chunk_tri_solve_invert_request {
  int64_t batch;
  int64_t steps;
  int64_t heads;
  int64_t chunk;
  int64_t cu_seqlens_count;
  const int32_t *DTAPE_NULLABLE cu_seqlens;
  dtape_span a;
  dtape_span a_inv;
} dtape_chunk_tri_solve_invert_request;

/* One device. A null kernel is not offered.
 *
 * fork_safe  works in a forked child; otherwise native/abi refuses calls there
 * open       makes the device ready; the pointer is handed to the functions below
 * A device's functions report failure by returning dtape_fail(status, sentence).
 */
typedef struct dtape_host {
  const char *name;
  int32_t fork_safe;
  int32_t reserved;
  dtape_status (*open)(void *DTAPE_NULLABLE *DTAPE_NONNULL device);
  void (*close)(void *device);
  dtape_status (*describe)(void *device, dtape_device_info *info);
  dtape_status (*counters)(void *device, dtape_counters *counters);
  dtape_status (*alloc)(void *device, uint64_t bytes, void *DTAPE_NULLABLE *DTAPE_NONNULL memory);
  dtape_status (*free)(void *device, void *memory);
  dtape_status (*stream_open)(void *device, void *DTAPE_NULLABLE *DTAPE_NONNULL stream);
  dtape_status (*stream_wait)(void *stream);
  void (*stream_close)(void *stream);
  dtape_status (*DTAPE_NULLABLE ssm_step_record)(void *stream,
                                                 const dtape_ssm_step_record_request *request);
  dtape_status (*DTAPE_NULLABLE ssm_replay)(void *stream, const dtape_ssm_replay_request *request);
  dtape_status (*DTAPE_NULLABLE chunk_tri_solve_invert)(
      void *stream, const dtape_chunk_tri_solve_invert_request *request);
} dtape_host;

/* Keeps "[operation] sentence" as the thread's last error and returns status. The operation is the
 * one that native/abi is in. */
dtape_status dtape_fail(dtape_status status, const char *sentence);

#ifdef __cplusplus
}
#endif

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#endif
