#include "device.h"

#include <pthread.h>

#include <cstdio>
#include <new>

#include "hosts.h"
#include "processor.h"

namespace deltatape::cpu {
namespace {

// Never destroyed, so that threads that outlive main find it.
device &shared() {
  static device *const cpu = new device;
  return *cpu;
}

// A child has the forking thread alone: no lock may be left held by another, and no workers exist.
void before_fork() {
  shared().mutex.lock();
}
void after_fork_in_parent() {
  shared().mutex.unlock();
}
void after_fork_in_child() {
  shared().pool.store(nullptr);
  shared().mutex.unlock();
}

// Guards a device function: nothing is thrown into C.
template <class Action>
dtape_status guarded(Action action) {
  try {
    return action();
  } catch (const std::bad_alloc &) {
    return dtape_fail(DTAPE_OUT_OF_MEMORY, "device: expected memory for its own use, got none");
  }
}

// The environment is read when the device is opened while nobody has it open.
dtape_status configure(device &cpu) {
  static const int handlers =
      pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  if (handlers != 0) throw std::bad_alloc();
  std::string sentence;
  const path *way = choose_path(sentence);
  const int threads = way ? choose_threads(sentence) : 0;
  if (threads == 0) return dtape_fail(DTAPE_INVALID_ARGUMENT, sentence.c_str());
  cpu.way = way;
  cpu.threads = threads;
  return DTAPE_OK;
}

dtape_status open(void **opened) {
  return guarded([&] {
    device &cpu = shared();
    const std::lock_guard<std::mutex> lock(cpu.mutex);
    if (cpu.opened == 0) {
      const dtape_status status = configure(cpu);
      if (status != DTAPE_OK) return status;
    }
    ++cpu.opened;
    *opened = &cpu;
    return dtape_status(DTAPE_OK);
  });
}

void close(void *opened) {
  device &cpu = *static_cast<device *>(opened);
  const std::lock_guard<std::mutex> lock(cpu.mutex);
  if (--cpu.opened > 0) return;
  delete cpu.pool.exchange(nullptr);
  cpu.memory.trim();
}

dtape_status describe(void *opened, dtape_device_info *info) {
  return guarded([&] {
    const device &cpu = *static_cast<device *>(opened);
    info->threads = cpu.threads;
    std::snprintf(info->name, sizeof info->name, "cpu");
    std::snprintf(info->path, sizeof info->path, "%s", cpu.way->name);
    std::snprintf(info->hardware, sizeof info->hardware, "%s", processor_name().c_str());
    return dtape_status(DTAPE_OK);
  });
}

dtape_status counters(void *opened, dtape_counters *counters) {
  counters->dispatches = static_cast<device *>(opened)->dispatches.load();
  counters->command_buffers = 0;
  counters->pipelines_compiled = 0;
  counters->bytes_wrapped = 0;
  counters->bytes_copied = 0;
  return DTAPE_OK;
}

dtape_status allocate(void *opened, uint64_t bytes, void **memory) {
  device &cpu = *static_cast<device *>(opened);
  const std::lock_guard<std::mutex> lock(cpu.mutex);
  *memory = cpu.memory.allocate(bytes);
  if (*memory) return DTAPE_OK;
  char sentence[96];
  std::snprintf(sentence, sizeof sentence, "bytes: expected what memory is left, got %llu",
                static_cast<unsigned long long>(bytes));
  return dtape_fail(DTAPE_OUT_OF_MEMORY, sentence);
}

dtape_status release(void *opened, void *memory) {
  device &cpu = *static_cast<device *>(opened);
  const std::lock_guard<std::mutex> lock(cpu.mutex);
  if (!memory || cpu.memory.release(memory)) return DTAPE_OK;
  return dtape_fail(
      DTAPE_INVALID_ARGUMENT,
      "memory: expected what dtape_alloc returned and is in use, got another address");
}

dtape_status stream_open(void *opened, void **stream) {
  *stream = opened;
  return DTAPE_OK;
}
dtape_status stream_wait(void *) {
  return DTAPE_OK;
}
void stream_close(void *) {}

}  // namespace

thread_pool *pool_of(device &cpu) {
  thread_pool *pool = cpu.pool.load();
  if (pool) return pool;
  thread_pool *const fresh = new (std::nothrow) thread_pool(cpu.threads);
  if (!fresh || cpu.pool.compare_exchange_strong(pool, fresh)) return fresh;
  delete fresh;
  return pool;
}

}  // namespace deltatape::cpu

extern "C" const dtape_host dtape_cpu_host = {
    "cpu",
    1,
    0,
    deltatape::cpu::open,
    deltatape::cpu::close,
    deltatape::cpu::describe,
    deltatape::cpu::counters,
    deltatape::cpu::allocate,
    deltatape::cpu::release,
    deltatape::cpu::stream_open,
    deltatape::cpu::stream_wait,
    deltatape::cpu::stream_close,
    deltatape::cpu::ssm_step_record,
    deltatape::cpu::ssm_replay,
    deltatape::cpu::chunk_tri_solve_invert,
};
