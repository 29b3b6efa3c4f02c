// Work in order: small calls are held back until several become one launch, results are copied back
// once the work is done.
#ifndef DTAPE_CUDA_STREAM_H
#define DTAPE_CUDA_STREAM_H

#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

#include "cuda/arguments.h"
#include "cuda/gpu.h"
#include "cuda/launch.h"

namespace deltatape::cuda {

class Stream {
 public:
  explicit Stream(Gpu &gpu);
  // The caller's, which is neither waited for nor destroyed. Its memory has to be the GPU's.
  Stream(Gpu &gpu, CudaStream callers);
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  Gpu &gpu() { return gpu_; }

  // A call: `encode` turns arrays into addresses and passes its launches on.
  template <class Encode>
  void call(std::initializer_list<dtape_span> arrays, const Encode &encode) {
    if (awaits(arrays)) drain();
    auto arguments = std::make_unique<Arguments>(gpu_, stream_, callers_);
    try {
      encode(*arguments);
    } catch (...) {
      // What was copied in may still be on its way to scratch that goes back now.
      if (arguments->holds()) drain();
      throw;
    }
    if (arguments->holds()) unfinished_.push_back(std::move(arguments));
    if (unfinished_.size() > kMostUnfinished) drain();
  }

  void launch(const Launch &launch, const Arguments &arguments);

  // Returns when everything is done; on a caller's stream, when everything is in it.
  void wait();

 private:
  static constexpr size_t kMostUnfinished = 256;

  // Calls that differ in their arguments alone.
  struct Held {
    std::optional<Launch> first;
    unsigned calls = 0;
    unsigned most = 0;
    alignas(8) std::array<unsigned char, Packed::kMost> arguments;
    std::vector<Region> regions;
  };

  bool awaits(std::initializer_list<dtape_span> arrays) const;
  bool joins(const Launch &launch, const Arguments &arguments) const;
  void hold(const Launch &launch, const Arguments &arguments);
  void flush();
  void start(const Variant &variant, const Launch &launch, unsigned z, const void *arguments) const;
  void drain();

  Gpu &gpu_;
  CudaStream stream_ = nullptr;
  const bool callers_;
  const bool overlaps_;
  Held held_;
  std::optional<Failure> failure_;
  std::vector<std::unique_ptr<Arguments>> unfinished_;
};

}  // namespace deltatape::cuda

#endif
