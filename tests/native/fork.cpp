// The cpu works in a child that was forked after it was used.
#include <atomic>
#include <thread>
#include <vector>

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

// Whatever other threads hold at the moment of the fork, the child can go on.
void works_in_a_child_forked_while_others_open_streams() {
  const Session session("cpu");
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      while (!done) {
        dtape_stream *stream = nullptr;
        dtape_stream_open(session.device, &stream);
        dtape_stream_close(stream);
      }
    });
  }
  for (int i = 0; i < 100; ++i) {
    CHECK(passes_in_a_child([] {
      const Session own("cpu");
      void *memory = nullptr;
      CHECK(dtape_alloc(own.device, 1 << 16, &memory) == DTAPE_OK);
      CHECK(dtape_free(own.device, memory) == DTAPE_OK);
    }));
  }
  done = true;
  for (std::thread &thread : threads) thread.join();
}

}  // namespace

int main() {
  works_in_a_child();
  works_in_a_child_forked_while_others_open_streams();
  return failed_checks != 0;
}
