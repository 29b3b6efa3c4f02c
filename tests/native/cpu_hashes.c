/* Prints a hash for each output of a fixed set of calls on the cpu device, made from integers
 * alone. Every path (DELTATAPE_CPU_PATH), compiler and processor must print the same lines:
 * tests/native/cpu_hashes.sh compares them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deltatape.h"

static dtape_device *device;
static dtape_stream *stream;

static void require(dtape_status status) {
  if (status == DTAPE_OK) return;
  fprintf(stderr, "%s\n", dtape_last_error());
  exit(1);
}

/* ---- Arrays ------------------------------------------------------------------------------- */

static uint32_t seed;

static uint32_t next_random(void) {
  seed = seed * 1664525u + 1013904223u;
  return seed >> 8;
}

static int64_t size_of(int32_t dtype) {
  return dtype == DTAPE_F32 || dtype == DTAPE_MASK32 ? 4 : dtype == DTAPE_MASK8 ? 1 : 2;
}

enum values { SIGNED, POSITIVE, MIXED };

/* Bits of a float between 2^-8 and 2. The bits of f16 and bf16 are laid out in 16. */
static uint32_t random_bits(int32_t dtype, enum values values) {
  const uint32_t mantissa_bits = dtype == DTAPE_F32 ? 23 : dtype == DTAPE_F16 ? 10 : 7;
  const uint32_t bias = dtype == DTAPE_F16 ? 15 : 127;
  const uint32_t exponent = bias - next_random() % 8;
  const uint32_t mantissa = (next_random() ^ next_random() << 7) & ((1u << mantissa_bits) - 1);
  const uint32_t sign = values == POSITIVE ? 0 : next_random() & 1;
  return sign << (size_of(dtype) * 8 - 1) | exponent << mantissa_bits | mantissa;
}

/* In between: zeros of both signs, a subnormal, infinity, a NaN with a payload. */
static uint32_t special_bits(int32_t dtype, int64_t i) {
  const uint32_t infinity = dtype == DTAPE_F32   ? 0x7f800000u
                            : dtype == DTAPE_F16 ? 0x7c00u
                                                 : 0x7f80u;
  const uint32_t sign = 1u << (size_of(dtype) * 8 - 1);
  const uint32_t specials[] = {0, sign, 5, sign | 3, infinity, sign | infinity, infinity | 9};
  return specials[i / 97 % 7];
}

static void *memory_of(int64_t bytes) {
  void *memory = malloc(bytes > 0 ? (size_t)bytes : 1);
  if (memory == NULL) exit(1);
  return memory;
}

static dtape_input input(int32_t dtype, int64_t count, enum values values) {
  uint8_t *memory = memory_of(count * size_of(dtype));
  for (int64_t i = 0; i < count; ++i) {
    const int special = values == MIXED && i % 97 == 5;
    const uint32_t bits = special ? special_bits(dtype, i) : random_bits(dtype, values);
    const uint16_t half = (uint16_t)bits;
    if (size_of(dtype) == 4) {
      memcpy(memory + i * 4, &bits, 4);
    } else {
      memcpy(memory + i * 2, &half, 2);
    }
  }
  return (dtape_input){memory, dtype, 0};
}

static dtape_input mask_of(int32_t dtype, int64_t count) {
  uint8_t *memory = memory_of(count * size_of(dtype));
  memset(memory, 0, (size_t)(count * size_of(dtype)));
  for (int64_t i = 0; i < count; ++i) memory[i * size_of(dtype)] = next_random() % 4 != 0;
  return (dtape_input){memory, dtype, 0};
}

static dtape_output output(int32_t dtype, int64_t count) {
  void *memory = memory_of(count * size_of(dtype));
  memset(memory, 0xa5, (size_t)(count * size_of(dtype)));
  return (dtape_output){memory, dtype, 0};
}

static void print_hash(const char *name, dtape_output array, int64_t count) {
  const uint8_t *bytes = array.data;
  uint64_t hash = 0xcbf29ce484222325u;
  for (int64_t i = 0; i < count * size_of(array.dtype); ++i)
    hash = (hash ^ bytes[i]) * 0x100000001b3u;
  printf(" %s %016llx", name, (unsigned long long)hash);
}

static dtape_input as_input(dtape_output array) {
  return (dtape_input){array.data, array.dtype, 0};
}

/* ---- Steps and replays --------------------------------------------------------------------- */

struct dims {
  int64_t batch, steps, heads, groups, rows, columns;
};

static void replay(struct dims n, const dtape_ssm_step_record_args *record, int32_t tape) {
  const int64_t count = n.batch * n.heads * n.rows * n.columns;
  int32_t k[8];
  for (int64_t b = 0; b < n.batch; ++b) k[b] = (int32_t)(n.steps - b * n.steps / 3);
  dtape_ssm_replay_args args = {.size = sizeof args, .batch = n.batch, .steps = n.steps};
  args.heads = n.heads;
  args.groups = n.groups;
  args.head_dim = n.rows;
  args.state_dim = n.columns;
  args.tape = tape;
  args.state = record->state;
  args.k = k;
  if (tape == DTAPE_TAPE_DENSE) {
    args.da_log = as_input(record->da_log);
    args.dbx_log = as_input(record->dbx_log);
  } else {
    args.u = record->x;
    args.v = record->b;
    args.decay = as_input(record->decay);
    args.scale = as_input(record->scale);
  }
  if (tape == DTAPE_TAPE_COLUMNS) {
    args.decay = input(DTAPE_F32, n.batch * n.steps * n.heads * n.columns, POSITIVE);
    args.scale = (dtape_input){NULL, 0, 0};
  }
  args.state_out = output(record->state.dtype, count);
  require(dtape_ssm_replay(stream, &args));
  print_hash("replay", args.state_out, count);
}

static void record(struct dims n, int32_t type, int32_t state, int32_t tape, int32_t mask) {
  const int64_t series = n.batch * n.steps * n.heads,
                count = n.batch * n.heads * n.rows * n.columns;
  const int64_t narrow = n.batch * n.steps * n.groups * n.columns;
  dtape_ssm_step_record_args args = {.size = sizeof args, .batch = n.batch, .steps = n.steps};
  args.heads = n.heads;
  args.groups = n.groups;
  args.head_dim = n.rows;
  args.state_dim = n.columns;
  args.tape = tape;
  args.x = input(type, series * n.rows, SIGNED);
  args.a_log = input(type, n.heads, SIGNED);
  args.b = input(type, narrow, SIGNED);
  args.c = input(type, narrow, SIGNED);
  args.d = input(DTAPE_F32, n.heads, SIGNED);
  args.dt = input(type, series, POSITIVE);
  args.state = input(state, count, MIXED);
  if (mask) args.mask = mask_of(mask, n.batch * n.steps);
  args.y = output(type, series * n.rows);
  args.state_out = output(state, count);
  if (tape == DTAPE_TAPE_FACTORED) {
    args.decay = output(DTAPE_F32, series);
    args.scale = output(DTAPE_F32, series);
  } else {
    args.da_log = output(DTAPE_F32, series * n.columns);
    args.dbx_log = output(type, series * n.rows * n.columns);
  }
  require(dtape_ssm_step_record(stream, &args));
  printf("record %lld %lld %d %d %d:", (long long)n.rows, (long long)n.columns, type, state, tape);
  print_hash("y", args.y, series * n.rows);
  print_hash("state", args.state_out, count);
  if (tape == DTAPE_TAPE_FACTORED) {
    print_hash("decay", args.decay, series);
    print_hash("scale", args.scale, series);
    replay(n, &args, DTAPE_TAPE_FACTORED);
    replay(n, &args, DTAPE_TAPE_COLUMNS);
  } else {
    print_hash("dbx", args.dbx_log, series * n.rows * n.columns);
    replay(n, &args, DTAPE_TAPE_DENSE);
  }
  printf("\n");
}

/* ---- Inverses ------------------------------------------------------------------------------ */

static void invert(int64_t chunk, int64_t steps, int32_t from, int32_t to) {
  const int64_t heads = 3, count = steps * heads * chunk;
  dtape_chunk_tri_solve_invert_args args = {.size = sizeof args, .batch = 1, .steps = steps};
  args.heads = heads;
  args.chunk = chunk;
  args.a = input(from, count, SIGNED);
  args.a_inv = output(to, count);
  require(dtape_chunk_tri_solve_invert(stream, &args));
  printf("invert %lld %lld %d %d:", (long long)chunk, (long long)steps, from, to);
  print_hash("a_inv", args.a_inv, count);
  printf("\n");
}

int main(void) {
  const struct dims shapes[] = {{2, 5, 4, 2, 16, 64},   {1, 21, 3, 1, 5, 33},
                                {3, 1, 2, 2, 1, 1},     {1, 3, 1, 1, 257, 96},
                                {1, 17, 2, 1, 48, 257}, {2, 2, 3, 3, 128, 128}};
  require(dtape_device_open("cpu", &device));
  require(dtape_stream_open(device, &stream));
  for (int type = DTAPE_F32; type <= DTAPE_BF16; ++type) {
    for (int state = DTAPE_F32; state <= DTAPE_BF16; ++state) {
      for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
        record(shapes[i], type, state, DTAPE_TAPE_FACTORED, i % 2 ? DTAPE_MASK8 : 0);
        record(shapes[i], type, state, DTAPE_TAPE_DENSE, i % 3 ? 0 : DTAPE_MASK32);
      }
    }
    for (int to = DTAPE_F32; to <= DTAPE_BF16; ++to) {
      for (int64_t chunk = 16; chunk <= 64; chunk *= 2) invert(chunk, 150, type, to);
    }
  }
  require(dtape_stream_close(stream));
  require(dtape_device_close(device));
  return 0;
}
