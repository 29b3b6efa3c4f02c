// What native/abi makes of a device's table: which is opened, what it receives, how it fails.
#include <cstddef>
#include <cstring>
#include <string>

#include "in_a_child.h"
#include "scripted_hosts.h"
#include "session.h"

namespace {

void is_opened_as(const char *asked, const char *expected) {
  script.replay = {};
  dtape_device *device = nullptr;
  CHECK(dtape_device_open(asked, &device) == DTAPE_OK);
  CHECK(device != nullptr && script.open_devices == 1);
  dtape_stream *stream = nullptr;
  CHECK(dtape_stream_open(device, &stream) == DTAPE_OK);
  const dtape_ssm_step_record_args args = {};
  CHECK(dtape_ssm_step_record(stream, &args) == DTAPE_NOT_OFFERED);
  const std::string sentence =
      std::string("[ssm_step_record] device: expected one that has this kernel, got ") + expected;
  CHECK_TEXT(dtape_last_error(), sentence.c_str());
  CHECK(dtape_stream_close(stream) == DTAPE_OK);
  CHECK(dtape_device_close(device) == DTAPE_OK);
  CHECK(script.open_devices == 0 && script.open_streams == 0);
}

void automatic_is_metal_where_it_opens() {
  is_opened_as("auto", "metal");
  script.open = DTAPE_DEVICE_UNAVAILABLE;
  is_opened_as("auto", "cpu");
  script.open = DTAPE_OK;
}

void automatic_does_not_hide_a_failure() {
  dtape_device *device = nullptr;
  script.open = DTAPE_DEVICE_ERROR;
  CHECK(dtape_device_open("auto", &device) == DTAPE_DEVICE_ERROR);
  CHECK_TEXT(dtape_last_error(), "[device_open] script: expected to work, got this");
  script.open = DTAPE_OK;
  CHECK(dtape_device_open("cuda", &device) == DTAPE_DEVICE_UNAVAILABLE);
  CHECK(device == nullptr);
}

// A replay over a padded pool, so small that every size is easily told.
struct PoolReplay {
  float state[32] = {};
  float decay[2] = {};
  int32_t k[2] = {1, 0};
  int32_t slots[2] = {2, -1};
  dtape_ssm_replay_args args = {};

  PoolReplay() {
    args.size = sizeof args;
    args.batch = 2;
    args.steps = args.heads = args.groups = args.head_dim = 1;
    args.state_dim = 4;
    args.states = 3;
    args.state_stride = args.state_out_stride = 10;
    args.tape = DTAPE_TAPE_FACTORED;
    args.state = args.decay = args.u = args.v = {decay, DTAPE_F32, 0};
    args.state.data = state;
    args.v.data = state;
    args.state_out = {state, DTAPE_F32, 0};
    args.k = k;
    args.slots = slots;
  }
};

void receives_spans_and_strides() {
  const Session session("metal");
  PoolReplay pool;
  float v[8] = {};
  pool.args.v.data = v;
  CHECK(dtape_ssm_replay(session.stream, &pool.args) == DTAPE_OK);
  const dtape_ssm_replay_request &got = script.replay;
  CHECK(got.shape.state_stride == 10 && got.shape.state_out_stride == 10);
  CHECK(got.shape.k == pool.k && got.shape.slots == pool.slots);
  CHECK(got.state.data == pool.state && got.state.bytes == (2 * 10 + 4) * 4);
  CHECK(got.decay.bytes == 2 * 4 && got.v.bytes == 8 * 4 && got.v.dtype == DTAPE_F32);
  CHECK(got.scale.data == nullptr && got.scale.dtype == 0);
}

void receives_no_address_without_elements() {
  const Session session("metal");
  PoolReplay pool;
  pool.args.steps = 0;
  pool.k[0] = 0;
  pool.args.u.data = reinterpret_cast<void *>(1);
  CHECK(dtape_ssm_replay(session.stream, &pool.args) == DTAPE_OK);
  CHECK(script.replay.u.data == nullptr && script.replay.u.dtype == DTAPE_F32);
}

void is_not_asked_to_write_nothing() {
  const Session session("metal");
  PoolReplay pool;
  pool.args.heads = pool.args.groups = 0;
  pool.args.head_dim = int64_t{1} << 40;
  script.replay.shape.batch = -1;
  CHECK(dtape_ssm_replay(session.stream, &pool.args) == DTAPE_OK);
  CHECK(script.replay.shape.batch == -1);
}

void accepts_an_older_caller() {
  const Session session("metal");
  dtape_ssm_replay_args args;
  memset(&args, 0xa5, sizeof args);
  memset(&args, 0, offsetof(dtape_ssm_replay_args, k));
  args.size = offsetof(dtape_ssm_replay_args, k);
  args.tape = DTAPE_TAPE_FACTORED;
  args.state.dtype = args.decay.dtype = args.u.dtype = args.v.dtype = DTAPE_F32;
  CHECK(dtape_ssm_replay(session.stream, &args) == DTAPE_INVALID_ARGUMENT);
  CHECK_TEXT(dtape_last_error(),
             "[ssm_replay] state_out: expected an array [B,H,Dh,Ds] = [0,0,0,0], got null");
}

void passes_on_what_a_device_reports() {
  PoolReplay pool;
  dtape_stream *stream = nullptr;
  {
    const Session session("metal");
    script.out_of_memory = true;
    float v[8] = {};
    pool.args.v.data = v;
    CHECK(dtape_ssm_replay(session.stream, &pool.args) == DTAPE_OUT_OF_MEMORY);
    CHECK_TEXT(dtape_last_error(), "[ssm_replay] memory: expected enough for the call, got none");
    script.out_of_memory = false;
    script.wait = DTAPE_DEVICE_LOST;
    CHECK(dtape_stream_wait(session.stream) == DTAPE_DEVICE_LOST);
    CHECK_TEXT(dtape_last_error(), "[stream_wait] script: expected to work, got this");
    CHECK(dtape_stream_open(session.device, &stream) == DTAPE_OK);
    CHECK(dtape_stream_close(stream) == DTAPE_DEVICE_LOST);
    script.wait = DTAPE_OK;
  }
  CHECK(script.open_streams == 0 && script.open_devices == 0);
}

void a_child_cannot_use_the_device_of_its_parent() {
  const Session session("metal");
  CHECK(passes_in_a_child([&] {
    dtape_device *device = nullptr;
    void *memory = nullptr;
    dtape_device_info info = {};
    info.size = sizeof info;
    CHECK(dtape_stream_wait(session.stream) == DTAPE_FORKED_CHILD);
    CHECK_TEXT(dtape_last_error(),
               "[stream_wait] device: expected one opened by this process, got metal opened before "
               "the fork (cpu works in a forked child)");
    CHECK(dtape_stream_close(session.stream) == DTAPE_FORKED_CHILD);
    CHECK(dtape_alloc(session.device, 1, &memory) == DTAPE_FORKED_CHILD);
    CHECK(dtape_device_describe(session.device, &info) == DTAPE_FORKED_CHILD);
    CHECK(dtape_device_close(session.device) == DTAPE_FORKED_CHILD);
    CHECK(dtape_device_open("metal", &device) == DTAPE_FORKED_CHILD);
    CHECK(dtape_device_open("auto", &device) == DTAPE_FORKED_CHILD);
    CHECK(dtape_device_open("cpu", &device) == DTAPE_OK);
  }));
}

void a_child_may_open_what_its_parent_did_not() {
  CHECK(passes_in_a_child([] { is_opened_as("metal", "metal"); }));
}

}  // namespace

int main() {
  a_child_may_open_what_its_parent_did_not();
  automatic_is_metal_where_it_opens();
  automatic_does_not_hide_a_failure();
  receives_spans_and_strides();
  receives_no_address_without_elements();
  is_not_asked_to_write_nothing();
  accepts_an_older_caller();
  passes_on_what_a_device_reports();
  a_child_cannot_use_the_device_of_its_parent();
  return failed_checks != 0;
}
