// A pool of states, two sequences that accept different numbers of drafts, rolled back in place.
#include <deltatape.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

constexpr int kBatch = 2, kSteps = 3, kHeads = 3, kHeadDim = 4, kStateDim = 5, kStates = 4;
constexpr int kStateSize = kHeads * kHeadDim * kStateDim;
constexpr std::array<int32_t, kBatch> kSlots = {3, 1};
constexpr std::array<int32_t, kBatch> kKept = {1, 3};

void check(dtape_status status) {
  if (status != DTAPE_OK) throw std::runtime_error(dtape_last_error());
}

dtape_input input(const std::vector<float> &values) {
  return {values.data(), DTAPE_F32, 0};
}
dtape_output output(std::vector<float> &values) {
  return {values.data(), DTAPE_F32, 0};
}

std::vector<float> values(size_t count, int seed) {
  std::vector<float> result(count);
  for (size_t i = 0; i < count; ++i) result[i] = std::sin(static_cast<float>(seed + 7 * i));
  return result;
}

// What the gated delta rule records: a decay, a corrected value and a key for each step.
struct Tape {
  std::vector<float> decay = std::vector<float>(kBatch * kSteps * kHeads, 0.875f);
  std::vector<float> value = values(kBatch * kSteps * kHeads * kHeadDim, 1);
  std::vector<float> key = values(kBatch * kSteps * kStateDim, 2);
};

void roll_back(dtape_stream *stream, const Tape &tape, std::vector<float> &pool) {
  dtape_ssm_replay_args args = {};
  args.size = sizeof args;
  args.batch = kBatch, args.steps = kSteps, args.heads = kHeads, args.groups = 1;
  args.head_dim = kHeadDim, args.state_dim = kStateDim, args.states = kStates;
  args.tape = DTAPE_TAPE_FACTORED;
  args.state = input(pool), args.state_out = output(pool);
  args.decay = input(tape.decay), args.u = input(tape.value), args.v = input(tape.key);
  args.k = kKept.data(), args.slots = kSlots.data();
  check(dtape_ssm_replay(stream, &args));
}

double expected(const Tape &tape, double state, int sequence, int head, int row, int column) {
  for (int t = 0; t < kKept[sequence]; ++t) {
    int step = sequence * kSteps + t;
    double outer = double(tape.value[(step * kHeads + head) * kHeadDim + row]) *
                   tape.key[step * kStateDim + column];
    state = tape.decay[step * kHeads + head] * state + outer;
  }
  return state;
}

double worst_error(const Tape &tape, const std::vector<float> &before,
                   const std::vector<float> &after) {
  std::vector<double> wanted(before.begin(), before.end());
  for (int sequence = 0; sequence < kBatch; ++sequence) {
    for (int i = 0; i < kStateSize; ++i) {
      double &state = wanted[kSlots[sequence] * kStateSize + i];
      state = expected(tape, state, sequence, i / (kHeadDim * kStateDim), i / kStateDim % kHeadDim,
                       i % kStateDim);
    }
  }
  double worst = 0;
  for (size_t i = 0; i < after.size(); ++i) {
    worst = std::fmax(worst, std::fabs(after[i] - wanted[i]));
  }
  return worst;
}

}  // namespace

int main() try {
  dtape_device *opened = nullptr;
  check(dtape_device_open("cpu", &opened));
  std::unique_ptr<dtape_device, decltype(&dtape_device_close)> device(opened, dtape_device_close);

  const Tape tape;
  const std::vector<float> before = values(kStates * kStateSize, 3);
  std::vector<float> pool = before;
  dtape_stream *stream = nullptr;
  check(dtape_stream_open(device.get(), &stream));
  roll_back(stream, tape, pool);
  check(dtape_stream_close(stream));

  double worst = worst_error(tape, before, pool);
  std::printf("deltatape %s from C++: worst error %.1e\n", dtape_version(), worst);
  return worst < 1e-6 ? 0 : 1;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
