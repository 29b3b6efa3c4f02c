// One threadgroup at a time: its threads as fibers, its memory, its rendezvous.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "fibers.h"
#include "runtime.h"

namespace softmetal {

enum class Order { forward, reverse, random };

// Under TSan: what a dispatch did comes before the next one.
void order_after_dispatches();

class Group {
 public:
  Group(Order order, uint32_t seed);

  // Returns what went wrong; empty if nothing did.
  std::string run(const Dispatch &dispatch, const uint32_t position[3]);

  // Called by kernels, through the group that runs on this OS thread.
  static Group &current();
  void wait(uint32_t scope, void *operand, void (*combine)(void **), sm_site site);
  void barrier(uint32_t scope, uint32_t flags, sm_site site);
  void *variable(uint32_t slot) const { return variables_[slot]; }
  uint32_t lane() const { return fibers_.current() % 32; }

 private:
  enum class State { ready, waiting, ended };
  struct Thread {
    State state = State::ready;
    sm_ids ids;
    uint32_t scope = 0;
    sm_site site;
    void *operand = nullptr;
    void (*combine)(void **) = nullptr;
  };
  struct Range {
    uint32_t begin;
    uint32_t end;
  };

  static void body(uint32_t fiber);
  void prepare(const uint32_t position[3]);
  void allocate();
  void release();
  bool run_simdgroup(Range lanes, std::string *error);
  bool meet(Range threads, uint32_t scope, std::string *error);
  bool some_wait(Range threads) const;
  void exchange(Range lanes);
  std::vector<uint32_t> sequence(uint32_t count);

  Order order_;
  std::mt19937 random_;
  Fibers fibers_;
  std::vector<Thread> threads_;
  std::vector<void *> variables_;
  const Dispatch *dispatch_ = nullptr;
  char *edges_ = nullptr;  // addresses for TSan: a barrier of each simdgroup, and of all
};

}  // namespace softmetal
