// The cpu works in a child that was forked after it was used.
#include <atomic>
#include <thread>

#include "in_a_child.h"
#include "rollback.h"
#include "session.h"

namespace {

void works_in_a_child() {
  Session session("cpu");
  Rollback before;
  CHECK(before.run(session.stream) == DTAPE_OK);
  CHECK(passes_in_a_child([&] {
    Rollback after;
    CHECK(after.run(session.stream) == DTAPE_OK);
    CHECK(after.result == before.result);
    const Session own("cpu");
    CHECK(after.run(own.stream) == DTAPE_OK);
    CHECK(after.result == before.result);
  }));
  Rollback again;
  CHECK(again.run(session.stream) == DTAPE_OK);
  CHECK(again.result == before.result);
}

// Whatever another thread holds at the moment of the fork, the child can go on.
void works_in_a_child_forked_while_others_allocate() {
  const Session session("cpu");
  std::atomic<bool> done{false};
  std::thread busy([&] {
    while (!done) {
      void *memory = nullptr;
      dtape_alloc(session.device, 1 << 16, &memory);
      dtape_free(session.device, memory);
    }
  });
  for (int i = 0; i < 20; ++i) {
    CHECK(passes_in_a_child([] {
      const Session own("cpu");
      void *memory = nullptr;
      CHECK(dtape_alloc(own.device, 1 << 16, &memory) == DTAPE_OK);
      CHECK(dtape_free(own.device, memory) == DTAPE_OK);
    }));
  }
  done = true;
  busy.join();
}

}  // namespace

int main() {
  works_in_a_child();
  works_in_a_child_forked_while_others_allocate();
  return failed_checks != 0;
}
