// Streams and devices used from several threads.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "rollback.h"
#include "session.h"

namespace {

using Clock = std::chrono::steady_clock;

// One thread keeps a stream busy until the other has met it inside a call.
void refuses_a_second_thread_on_a_stream(const char *name) {
  Session session(name);
  std::atomic<bool> met{false};
  const auto deadline = Clock::now() + std::chrono::seconds(60);
  std::thread busy([&] {
    Rollback work(20000);
    while (!met && Clock::now() < deadline) work.run(session.stream);
  });
  while (!met && Clock::now() < deadline) {
    if (dtape_stream_wait(session.stream) == DTAPE_OK) continue;
    CHECK_TEXT(dtape_last_error(),
               "[stream_wait] stream: expected one thread at a time, got a second one");
    met = true;
  }
  busy.join();
  CHECK(met);
  CHECK(Rollback().run(session.stream) == DTAPE_OK);
}

void computes_the_same_on_eight_threads(const char *name) {
  const Session session(name);
  Rollback alone;
  CHECK(alone.run(session.stream) == DTAPE_OK);
  std::atomic<int> different{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&] {
      const Session own(name);
      Rollback work;
      for (int call = 0; call < 200; ++call) {
        const bool same = work.run(own.stream) == DTAPE_OK && work.result == alone.result;
        different += !same;
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  CHECK(different == 0);
}

void shares_a_device_between_threads(const char *name) {
  const Session session(name);
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&] {
      for (int call = 0; call < 200; ++call) {
        dtape_stream *stream = nullptr;
        void *memory = nullptr;
        failed += dtape_stream_open(session.device, &stream) != DTAPE_OK;
        failed += dtape_alloc(session.device, 4096, &memory) != DTAPE_OK;
        failed += Rollback().run(stream) != DTAPE_OK;
        failed += dtape_free(session.device, memory) != DTAPE_OK;
        failed += dtape_stream_close(stream) != DTAPE_OK;
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  CHECK(failed == 0);
}

}  // namespace

int main(int count, char **words) {
  const char *const name = device_name(count, words);
  refuses_a_second_thread_on_a_stream(name);
  computes_the_same_on_eight_threads(name);
  shares_a_device_between_threads(name);
  return failed_checks != 0;
}
