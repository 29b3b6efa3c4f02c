/* deltatape: state rollback for language models with recurrent layers.
 *
 * Three kernels behind one C ABI:
 *   dtape_ssm_step_record          run T steps of a selective state-space layer and record a tape
 *   dtape_ssm_replay               fold the first k entries of a tape onto a state: the rollback
 *   dtape_chunk_tri_solve_invert   (I + strictly lower A)^-1 for each chunk
 *
 * Symbols: B batch, T steps, H heads, G groups (G divides H), Dh head dimension, Ds state
 * dimension, N states in a pool, BT rows of a chunk. Arrays are dense, row-major and in the
 * machine's byte order, unless a stride field says otherwise.
 *
 * Every function that returns dtape_status returns DTAPE_OK or leaves a sentence for
 * dtape_last_error(). Arguments are judged before anything is written: after
 * DTAPE_INVALID_ARGUMENT, DTAPE_UNSUPPORTED_DTYPE or DTAPE_NOT_OFFERED no output has changed.
 */
#ifndef DELTATAPE_H
#define DELTATAPE_H

#include <stdint.h>

#if defined(_WIN32)
#define DTAPE_API
#else
#define DTAPE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status, dtypes, arrays ------------------------------------------------------------- */

typedef int32_t dtape_status;

enum dtape_status_code {
  DTAPE_OK = 0,
  DTAPE_INVALID_ARGUMENT = 1,
  DTAPE_UNSUPPORTED_DTYPE = 2,
  DTAPE_DEVICE_UNAVAILABLE = 3,
  DTAPE_NOT_OFFERED = 4,
  DTAPE_OUT_OF_MEMORY = 5,
  DTAPE_DEVICE_ERROR = 6,
  DTAPE_DEVICE_LOST = 7,
  DTAPE_FORKED_CHILD = 8
};

/* The type of an array's elements. Masks are one byte or 32 bits wide; nonzero means active. */
enum dtape_dtype_code {
  DTAPE_F32 = 1,
  DTAPE_F16 = 2,
  DTAPE_BF16 = 3,
  DTAPE_MASK8 = 4,
  DTAPE_MASK32 = 5
};

/* An array that is read. A null data pointer means absent, where the field is optional.
 * An array with no elements may have any data pointer.
 *
 * data      first element
 * dtype     one of dtape_dtype_code; ignored when absent
 * reserved  0
 */
typedef struct dtape_input {
  const void *data;
  int32_t dtype;
  int32_t reserved;
} dtape_input;

/* An array that is written. The same fields. */
typedef struct dtape_output {
  void *data;
  int32_t dtype;
  int32_t reserved;
} dtape_output;

/* ---- The library ------------------------------------------------------------------------ */

/* The version of this interface. It rises when a caller compiled against an older header would
 * break; added struct fields and functions do not raise it. */
DTAPE_API int32_t dtape_abi_version(void);

/* The library's version, for example "0.1.0". */
DTAPE_API const char *dtape_version(void);

/* The calling thread's last error: "[operation] argument: expected ..., got ...". Valid until the
 * thread's next failing call. Empty if none has failed. */
DTAPE_API const char *dtape_last_error(void);

/* The name of a status code: "ok", "invalid argument", ... */
DTAPE_API const char *dtape_status_name(dtape_status status);

/* How this library was compiled, for bindings that check their own declarations: the size of a
 * struct ("dtape_input") or the offset of a field ("dtape_input.dtype"); -1 if there is none. */
DTAPE_API int64_t dtape_layout(const char *name);

/* ---- Devices ---------------------------------------------------------------------------- */

/* An opened device. Thread-safe. */
typedef struct dtape_device dtape_device;

/* Work in order. One thread at a time: a call while another thread is inside one on the same
 * stream fails. */
typedef struct dtape_stream dtape_stream;

/* The name of the index-th device built into this library ("cpu", ...), whether or not it can be
 * opened on this machine; NULL past the last. */
DTAPE_API const char *dtape_device_built_in(int32_t index);

/* Opens a device by name: "cpu", "metal", "cuda", or "auto", which is metal where a supported GPU
 * is found and cpu elsewhere. What was opened never changes.
 *
 * name    the device's name
 * device  receives the device, to be closed by dtape_device_close
 */
DTAPE_API dtape_status dtape_device_open(const char *name, dtape_device **device);

/* Closes a device. Refused while a stream or memory of the device is open. */
DTAPE_API dtape_status dtape_device_close(dtape_device *device);

/* What a device is.
 *
 * size      sizeof(dtape_device_info), set by the caller
 * threads   processor threads that work on a call; 0 for a GPU
 * name      "cpu", "metal", "cuda"
 * hardware  the processor's or GPU's own name, as far as it is known
 * path      the instruction set or language in use: "x86-64-v4", "arm64", "metal 3.1", "sm_90"
 */
typedef struct dtape_device_info {
  uint64_t size;
  int32_t threads;
  int32_t reserved;
  char name[16];
  char path[32];
  char hardware[128];
} dtape_device_info;

DTAPE_API dtape_status dtape_device_describe(dtape_device *device, dtape_device_info *info);

/* What a device has done since the process started, whoever opened it.
 *
 * size                sizeof(dtape_counters), set by the caller
 * dispatches          kernels started
 * command_buffers     command buffers committed (0 on cpu)
 * pipelines_compiled  kernels compiled at run time (0 on cpu)
 * bytes_wrapped       caller's memory that the device used in place, without being its own
 * bytes_copied        caller's memory copied in or out because the device could not use it
 */
typedef struct dtape_counters {
  uint64_t size;
  uint64_t dispatches;
  uint64_t command_buffers;
  uint64_t pipelines_compiled;
  uint64_t bytes_wrapped;
  uint64_t bytes_copied;
} dtape_counters;

DTAPE_API dtape_status dtape_device_counters(dtape_device *device, dtape_counters *counters);

/* Page-aligned memory that the device reads and writes in place and the processor reaches as well.
 * Not cleared. 0 bytes give a pointer that can be freed. Any pointer into it may be an argument.
 *
 * memory  receives the address
 */
DTAPE_API dtape_status dtape_alloc(dtape_device *device, uint64_t bytes, void **memory);

/* Gives memory back. Memory that enqueued work still uses is reused only after that work. NULL is
 * allowed; a pointer that dtape_alloc did not return, or that was freed already, is refused. */
DTAPE_API dtape_status dtape_free(dtape_device *device, void *memory);

/* ---- Streams ---------------------------------------------------------------------------- */

DTAPE_API dtape_status dtape_stream_open(dtape_device *device, dtape_stream **stream);

/* Returns when everything enqueued is done, with the first error since the last wait. Every array
 * given to an enqueued call must live until then, and its results are valid after it. */
DTAPE_API dtape_status dtape_stream_wait(dtape_stream *stream);

/* Waits, and closes the stream whatever the wait returns. NULL is allowed. */
DTAPE_API dtape_status dtape_stream_close(dtape_stream *stream);

/* ---- Kernels ----------------------------------------------------------------------------
 *
 * Each takes a struct that begins with its own size: set it to sizeof the struct and clear the
 * rest before filling it in. A smaller size is an older caller, whose missing fields are 0; a
 * larger one, flags or reserved fields that are not 0 are refused. The struct itself, and the host
 * arrays marked "read at once", need not outlive the call.
 *
 * The state is [B,H,Dh,Ds], or with slots a pool [N,H,Dh,Ds] that is read and updated in place.
 * Consecutive states may lie further apart than H*Dh*Ds elements: the stride fields say how far.
 *
 * Outputs may not overlap any other argument, except where it says that exactly the same memory
 * is allowed.
 */

/* The kinds of tape.
 *
 * factored  decay and scale [B,T,H] f32; u and v are the caller's own arrays
 * dense     da_log [B,T,H,Ds] f32 and dbx_log [B,T,H,Dh,Ds]
 * columns   as factored, with a decay [B,T,H,Ds] for each column (replay only)
 */
enum dtape_tape_code {
  DTAPE_TAPE_NONE = 0,
  DTAPE_TAPE_FACTORED = 1,
  DTAPE_TAPE_DENSE = 2,
  DTAPE_TAPE_COLUMNS = 3
};

/* T steps of a selective state-space layer (Mamba-2). For each sequence, head h, row p, column s
 * and g = h / (H/G), in the order of t:
 *
 *   decay, scale = exp(-exp(a_log[h]) * dt), dt       (1, 0) where masked or dt == 0
 *   S = decay * S + (x * scale) * b                   scale == 0: S = decay * S, x and b not read
 *   y = sum over s of S * c + d[h] * x                at masked steps too, from the unchanged S
 *
 * Arithmetic is f32 whatever the storage types. Without a state the sequences start from zeros.
 *
 * size              sizeof(dtape_ssm_step_record_args)
 * flags             0
 * batch ... state_dim   B, T, H, G, Dh, Ds
 * states            N with slots; 0 or B without
 * state_stride      elements from one state to the next in state; 0 = H*Dh*Ds
 * state_out_stride  the same for state_out
 * tape              a dtape_tape_code: none, factored or dense
 * x                 [B,T,H,Dh] f32, f16 or bf16: the activation type
 * a_log             [H] f32 or the activation type
 * b, c              [B,T,G,Ds] activation type
 * d                 [H] f32 or the activation type; absent = y without d * x
 * dt                [B,T,H] f32 or the activation type, softplus already applied
 * state             [B,H,Dh,Ds] or the pool, f32, f16 or bf16; absent = zeros (without slots)
 * mask              [B,T] DTAPE_MASK8 or DTAPE_MASK32, absent = every step active
 * has_initial       [B] bytes, read at once; 0 = this sequence starts from zeros and its state is
 *                   not read; null = every sequence has a state; all 0 if state is absent
 * slots             [B] read at once: the state of each sequence in the pool; -1 = skip it (its
 *                   state untouched, its y zero, its tape entries identity); null = no pool
 * y                 [B,T,H,Dh] activation type
 * state_out         [B,H,Dh,Ds] of state's type (f32, f16 or bf16 if that is absent); may be the
 *                   same memory as state, and with slots must be; absent = not written
 * decay, scale      [B,T,H] f32: the factored tape
 * da_log            [B,T,H,Ds] f32: the dense tape's decay, the same in each column
 * dbx_log           [B,T,H,Dh,Ds] f32, f16 (saturating at 65504) or bf16: (x * scale) * b, -0.0
 *                   where scale == 0
 */
typedef struct dtape_ssm_step_record_args {
  uint64_t size;
  uint64_t flags;
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
  dtape_input x;
  dtape_input a_log;
  dtape_input b;
  dtape_input c;
  dtape_input d;
  dtape_input dt;
  dtape_input state;
  dtape_input mask;
  const uint8_t *has_initial;
  const int32_t *slots;
  dtape_output y;
  dtape_output state_out;
  dtape_output decay;
  dtape_output scale;
  dtape_output da_log;
  dtape_output dbx_log;
} dtape_ssm_step_record_args;

DTAPE_API dtape_status dtape_ssm_step_record(dtape_stream *stream,
                                             const dtape_ssm_step_record_args *args);

/* The rollback: the first k[b] entries of a tape folded onto a state, in the order of t.
 *
 *   factored, columns   S = decay * S + (scale * u) * v     scale == 0: S = decay * S
 *   dense               S = da_log * S + dbx_log
 *
 * k counts entries from the start of the tape, masked ones too: accepted drafts plus one. Entries
 * at and beyond k, and masked ones, are never read. k = 0 copies the state bit for bit.
 *
 * size              sizeof(dtape_ssm_replay_args)
 * flags             0
 * batch ... state_dim   B, T (entries on the tape), H, G, Dh, Ds
 * states, state_stride, state_out_stride   as in dtape_ssm_step_record_args
 * tape              a dtape_tape_code: factored, dense or columns
 * state             [B,H,Dh,Ds] or the pool, f32, f16 or bf16
 * decay             factored [B,T,H], columns [B,T,H,Ds], f32
 * scale             factored, columns: [B,T,H] f32; absent = 1 everywhere
 * u                 factored, columns: [B,T,H,Dh] f32, f16 or bf16
 * v                 factored, columns: [B,T,G,Ds] f32, f16 or bf16
 * da_log            dense: [B,T,H,Ds] f32
 * dbx_log           dense: [B,T,H,Dh,Ds] f32, f16 or bf16
 * mask              [B,T] DTAPE_MASK8 or DTAPE_MASK32: entries to skip besides those that the tape
 *                   holds as identity; absent = none
 * k                 [B] read at once, 0 <= k[b] <= T
 * slots             [B] read at once, as in dtape_ssm_step_record_args; -1 = state untouched
 * state_out         as state; may be the same memory, and with slots must be
 */
typedef struct dtape_ssm_replay_args {
  uint64_t size;
  uint64_t flags;
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
  dtape_input state;
  dtape_input decay;
  dtape_input scale;
  dtape_input u;
  dtape_input v;
  dtape_input da_log;
  dtape_input dbx_log;
  dtape_input mask;
  const int32_t *k;
  const int32_t *slots;
  dtape_output state_out;
} dtape_ssm_replay_args;

DTAPE_API dtape_status dtape_ssm_replay(dtape_stream *stream, const dtape_ssm_replay_args *args);

/* (I + strictly_lower(a))^-1 for each chunk of BT rows and each head, by forward substitution in
 * f32. Rows are times within the chunk, columns the last axis. Only elements below the diagonal
 * are read. The diagonal of the result is exactly 1, what lies above it exactly 0. The last chunk
 * of a sequence has the rows that are left, and columns beyond them are 0.
 *
 * size              sizeof(dtape_chunk_tri_solve_invert_args)
 * flags             0
 * batch, steps, heads   B, T, H
 * chunk             BT: 16, 32 or 64
 * cu_seqlens_count  elements of cu_seqlens: sequences + 1; 0 without
 * a                 [B,T,H,BT] f32, f16 or bf16
 * cu_seqlens        read at once: where each sequence begins, and T; starts at 0, never falls,
 *                   ends at T; requires B = 1; chunks restart at each sequence; null = one each
 * a_inv             [B,T,H,BT] f32, f16 or bf16; may be the same memory as a if of the same size
 */
typedef struct dtape_chunk_tri_solve_invert_args {
  uint64_t size;
  uint64_t flags;
  int64_t batch;
  int64_t steps;
  int64_t heads;
  int64_t chunk;
  int64_t cu_seqlens_count;
  dtape_input a;
  const int32_t *cu_seqlens;
  dtape_output a_inv;
} dtape_chunk_tri_solve_invert_args;

DTAPE_API dtape_status dtape_chunk_tri_solve_invert(dtape_stream *stream,
                                                    const dtape_chunk_tri_solve_invert_args *args);

#ifdef __cplusplus
}
#endif

#endif
