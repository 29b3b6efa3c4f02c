// A small rollback whose result every thread and process must agree on.
#ifndef DTAPE_TESTS_ROLLBACK_H
#define DTAPE_TESTS_ROLLBACK_H

#include <cmath>
#include <vector>

#include "deltatape.h"

class Rollback {
 public:
  explicit Rollback(int64_t steps = 4)
      : state_(kHeads * kRows * kColumns, 0.5F),
        decay_(steps * kHeads, 0.75F),
        u_(steps * kHeads * kRows),
        v_(steps * kColumns),
        k_(static_cast<int32_t>(steps)),
        result(state_.size()) {
    for (size_t i = 0; i < u_.size(); ++i) u_[i] = std::sin(static_cast<float>(i));
    for (size_t i = 0; i < v_.size(); ++i) v_[i] = std::cos(static_cast<float>(i));
  }
  Rollback(const Rollback &) = delete;
  Rollback &operator=(const Rollback &) = delete;

  dtape_status run(dtape_stream *stream) {
    dtape_ssm_replay_args args = {};
    args.size = sizeof args;
    args.batch = args.groups = 1;
    args.steps = k_;
    args.heads = kHeads;
    args.head_dim = kRows;
    args.state_dim = kColumns;
    args.tape = DTAPE_TAPE_FACTORED;
    args.state = {state_.data(), DTAPE_F32, 0};
    args.decay = {decay_.data(), DTAPE_F32, 0};
    args.u = {u_.data(), DTAPE_F32, 0};
    args.v = {v_.data(), DTAPE_F32, 0};
    args.k = &k_;
    args.state_out = {result.data(), DTAPE_F32, 0};
    result.assign(result.size(), NAN);
    const dtape_status status = dtape_ssm_replay(stream, &args);
    return status == DTAPE_OK ? dtape_stream_wait(stream) : status;
  }

 private:
  static constexpr int64_t kHeads = 3;
  static constexpr int64_t kRows = 8;
  static constexpr int64_t kColumns = 16;

  std::vector<float> state_;
  std::vector<float> decay_;
  std::vector<float> u_;
  std::vector<float> v_;
  int32_t k_;

 public:
  std::vector<float> result;
};

#endif
