// Valid calls at random: sizes, dtypes, which arrays there are, and what the host arrays hold.
#ifndef DTAPE_TESTS_RANDOM_CALLS_H
#define DTAPE_TESTS_RANDOM_CALLS_H

#include <initializer_list>

#include "arena.h"
#include "kernels.h"

// splitmix64: the same numbers everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t bound) { return static_cast<int64_t>(next() % bound); }
  bool chance(int percent) { return below(100) < percent; }
  template <class Value>
  Value pick(std::initializer_list<Value> values) {
    return values.begin()[below(static_cast<int64_t>(values.size()))];
  }

 private:
  uint64_t state_;
};

// Sets sizes and dtypes; the arrays that the call is to have point anywhere but to null.
void choose(Random &random, dtape_ssm_step_record_args &args);
void choose(Random &random, dtape_ssm_replay_args &args);
void choose(Random &random, dtape_chunk_tri_solve_invert_args &args);

// Fills the host arrays once they have memory, as far as the sizes allow, and makes states in place
// where they must be or may be.
void finish(Random &random, dtape_ssm_step_record_args &args);
void finish(Random &random, dtape_ssm_replay_args &args);
void finish(Random &random, dtape_chunk_tri_solve_invert_args &args);

#endif
