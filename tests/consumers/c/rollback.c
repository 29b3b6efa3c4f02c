/* Speculate four tokens, accept two, roll the state back, and compare with doing only those two. */
#include <deltatape.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T = 4, H = 2, DH = 2, DS = 3, STATE = H * DH * DS, ACCEPTED = 2 };

static const float x[T * H * DH] = {1, -2, 3, 4, 5, -6, 7, 8, 9, 1, -2, 3, 4, 5, 6, -7};
static const float a_log[H] = {0.0f, 0.5f};
static const float b[T * DS] = {1, 2, 3, -1, 0.5f, 2, 4, 1, 1, 0, -3, 2};
static const float c[T * DS] = {1, 0, -1, 2, 1, 0, 0.5f, 1, 1, 3, 0, 1};
static const float dt[T * H] = {0.5f, 0.25f, 1, 0.125f, 2, 0.5f, 0.75f, 1};
static const float snapshot[STATE] = {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6};

static void check(dtape_status status) {
  if (status == DTAPE_OK) return;
  fprintf(stderr, "%s: %s\n", dtape_status_name(status), dtape_last_error());
  exit(1);
}

static dtape_input in_f32(const float *data) {
  dtape_input input = {data, DTAPE_F32, 0};
  return input;
}

static dtape_output out_f32(float *data) {
  dtape_output output = {data, DTAPE_F32, 0};
  return output;
}

/* The verify pass: all four tokens, the state unchanged, a factored tape of decay and scale. */
static void record(dtape_stream *stream, float *y, float *decay, float *scale) {
  dtape_ssm_step_record_args args;
  memset(&args, 0, sizeof args);
  args.size = sizeof args;
  args.batch = 1, args.steps = T, args.heads = H, args.groups = 1;
  args.head_dim = DH, args.state_dim = DS;
  args.tape = DTAPE_TAPE_FACTORED;
  args.x = in_f32(x), args.a_log = in_f32(a_log), args.dt = in_f32(dt);
  args.b = in_f32(b), args.c = in_f32(c), args.state = in_f32(snapshot);
  args.y = out_f32(y), args.decay = out_f32(decay), args.scale = out_f32(scale);
  check(dtape_ssm_step_record(stream, &args));
}

static void replay(dtape_stream *stream, const float *decay, const float *scale, int32_t k,
                   float *state) {
  dtape_ssm_replay_args args;
  memset(&args, 0, sizeof args);
  args.size = sizeof args;
  args.batch = 1, args.steps = T, args.heads = H, args.groups = 1;
  args.head_dim = DH, args.state_dim = DS;
  args.tape = DTAPE_TAPE_FACTORED;
  args.state = in_f32(snapshot), args.decay = in_f32(decay), args.scale = in_f32(scale);
  args.u = in_f32(x), args.v = in_f32(b), args.k = &k;
  args.state_out = out_f32(state);
  check(dtape_ssm_replay(stream, &args));
}

static double expected(int h, int row, int column) {
  double state = snapshot[(h * DH + row) * DS + column];
  for (int t = 0; t < ACCEPTED; ++t) {
    double step = dt[t * H + h];
    double input = x[(t * H + h) * DH + row] * step * b[t * DS + column];
    state = exp(-exp(a_log[h]) * step) * state + input;
  }
  return state;
}

int main(void) {
  dtape_device *device;
  dtape_stream *stream;
  float y[T * H * DH], decay[T * H], scale[T * H], state[STATE], unchanged[STATE];

  check(dtape_device_open("cpu", &device));
  check(dtape_stream_open(device, &stream));
  record(stream, y, decay, scale);
  replay(stream, decay, scale, ACCEPTED, state);
  replay(stream, decay, scale, 0, unchanged);
  check(dtape_stream_close(stream));
  check(dtape_device_close(device));

  double worst = 0;
  for (int i = 0; i < STATE; ++i) {
    worst = fmax(worst, fabs(state[i] - expected(i / (DH * DS), i / DS % DH, i % DS)));
  }
  int same = memcmp(unchanged, snapshot, sizeof snapshot) == 0;
  printf("deltatape %s from C: worst error %.1e, k = 0 %s\n", dtape_version(), worst,
         same ? "copies the state" : "changed the state");
  return worst < 1e-5 && same ? 0 : 1;
}
