// One NVIDIA GPU and its primary context, made at first use and kept for the process.
#ifndef DTAPE_CUDA_GPU_H
#define DTAPE_CUDA_GPU_H

#include <mutex>
#include <optional>
#include <string>

#include "cuda/driver.h"
#include "cuda/failure.h"
#include "cuda/kernels.h"
#include "cuda/memory.h"

namespace deltatape::cuda {

class Gpu {
 public:
  static Gpu &at(int ordinal);

  // The GPU of the context that is current in this thread, else the first.
  static Gpu &preferred();

  int ordinal() const { return ordinal_; }
  Context context() const { return context_; }
  const std::string &name() const { return name_; }
  const std::string &architecture() const { return architecture_; }
  // Whether a kernel may be started while the one before it in its stream still runs.
  bool overlaps() const;
  Kernels &kernels() { return kernels_; }
  Memory &memory() { return memory_; }
  // Stands for absent and empty arrays, whose first element kernels may look at.
  Address nothing() const { return nothing_; }

  // Runs `body` with the context current, and the caller's again after it. Once a GPU is lost,
  // everything fails with the first reason.
  template <class Body>
  void use(const Body &body) {
    require_present();
    const Current current(context_);
    try {
      body();
    } catch (const Failure &failure) {
      if (failure.status == DTAPE_DEVICE_LOST) lose(failure);
      throw;
    }
  }

 private:
  class Current {
   public:
    explicit Current(Context context);
    ~Current();
    Current(const Current &) = delete;
    Current &operator=(const Current &) = delete;

   private:
    bool pushed_ = false;
  };

  Gpu(int ordinal, Context context, const std::string &architecture);
  static Gpu *make(int ordinal);
  void require_present();
  void lose(const Failure &reason);

  const int ordinal_;
  const Context context_;
  const std::string architecture_;
  std::string name_;
  Kernels kernels_;
  Memory memory_;
  Address nothing_ = 0;
  std::mutex loss_lock_;
  std::optional<Failure> loss_;
};

}  // namespace deltatape::cuda

#endif
