#include "runtime.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "group.h"
#include "process.h"

namespace softmetal {
namespace {

// Below this many threadgroups another OS thread costs more than it saves.
constexpr uint64_t groups_a_thread = 8;

struct Schedule {
  Order order = Order::forward;
  uint32_t seed = 1;
};

Schedule schedule() {
  const std::string text = environment("SOFTMETAL_SCHEDULE", "forward");
  if (text == "reverse") return {Order::reverse, 1};
  if (text.compare(0, 6, "random") != 0) return {Order::forward, 1};
  return {Order::random, text.size() > 7 ? static_cast<uint32_t>(atoi(text.c_str() + 7)) : 1};
}

uint32_t worker_count(uint64_t groups) {
  const std::string asked = environment("SOFTMETAL_THREADS", "");
  const uint64_t most = asked.empty() ? std::min<uint64_t>(std::thread::hardware_concurrency(),
                                                           groups / groups_a_thread)
                                      : std::min<uint64_t>(atoi(asked.c_str()), groups);
  return static_cast<uint32_t>(std::max<uint64_t>(1, most));
}

// The threadgroups of one dispatch, taken in turn by the workers.
class Grid {
 public:
  Grid(const Dispatch &dispatch, Schedule schedule)
      : dispatch_(dispatch),
        schedule_(schedule),
        total_(uint64_t(dispatch.groups[0]) * dispatch.groups[1] * dispatch.groups[2]) {}

  std::string run() {
    order_after_dispatches();
    const uint32_t workers = worker_count(total_);
    std::vector<std::thread> others;
    for (uint32_t i = 1; i < workers; ++i) others.emplace_back([this] { work(); });
    work();
    for (std::thread &other : others) other.join();
    return error_;
  }

 private:
  void work() {
    Group group(schedule_.order, schedule_.seed);
    for (uint64_t i; (i = next_++) < total_ && !failed_;) {
      const uint64_t g = schedule_.order == Order::reverse ? total_ - 1 - i : i;
      const uint32_t x = dispatch_.groups[0], y = dispatch_.groups[1];
      const uint32_t position[3] = {uint32_t(g % x), uint32_t(g / x % y), uint32_t(g / x / y)};
      const std::string error = group.run(dispatch_, position);
      if (!error.empty()) fail(position, error);
    }
  }

  void fail(const uint32_t position[3], const std::string &error) {
    const std::lock_guard<std::mutex> guard(lock_);
    if (failed_.exchange(true)) return;
    error_ = "threadgroup (" + std::to_string(position[0]) + ", " + std::to_string(position[1]) +
             ", " + std::to_string(position[2]) + "): " + error;
  }

  const Dispatch &dispatch_;
  const Schedule schedule_;
  const uint64_t total_;
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex lock_;
  std::string error_;
};

}  // namespace

const sm_runtime runtime = {
    [](uint32_t scope, uint32_t flags, sm_site site) {
      Group::current().barrier(scope, flags, site);
    },
    [](void *operand, void (*combine)(void **), sm_site site) {
      Group::current().wait(0, operand, combine, site);
    },
    [](uint32_t slot) { return Group::current().variable(slot); },
    [] { return Group::current().lane(); },
};

std::string run(const Dispatch &dispatch) {
  return Grid(dispatch, schedule()).run();
}

}  // namespace softmetal
