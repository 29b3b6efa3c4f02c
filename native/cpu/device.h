// The process's one CPU device.
#ifndef DTAPE_CPU_DEVICE_H
#define DTAPE_CPU_DEVICE_H

#include <atomic>
#include <mutex>

#include "memory.h"
#include "paths.h"
#include "thread_pool.h"

namespace deltatape::cpu {

struct device {
  std::mutex mutex;  // guards opened and memory
  int opened = 0;
  memory_pool memory;
  const path *way = nullptr;
  int threads = 1;
  std::atomic<thread_pool *> pool{
      nullptr};  // made when it is first needed; a forked child has none
  std::atomic<uint64_t> dispatches{0};
};

// Null if there is no memory.
thread_pool *pool_of(device &cpu);

// The kernels, as native/host.h declares them. A stream is the device: calls are done on return.
dtape_status ssm_step_record(void *stream, const dtape_ssm_step_record_request *request);
dtape_status ssm_replay(void *stream, const dtape_ssm_replay_request *request);
dtape_status chunk_tri_solve_invert(void *stream,
                                    const dtape_chunk_tri_solve_invert_request *request);

}  // namespace deltatape::cpu

#endif
