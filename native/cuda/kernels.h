// Compiled kernels. Each variant is compiled once, on first use, or recalled from disk.
#ifndef DTAPE_CUDA_KERNELS_H
#define DTAPE_CUDA_KERNELS_H

#include <array>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda/driver.h"

namespace deltatape::cuda {

// A kernel and the macros that make it one variant of many. A kernel's macros are always set in
// the same order, so that their values are the whole key.
class Variant {
 public:
  Variant() = default;
  // `resident`: groups that a multiprocessor should have registers for, 0 if it does not matter;
  // `table`: integers that travel with the arguments.
  Variant(const char *kernel, int threads, int resident, int table);

  // `name` and `word` are literals.
  void set(const char *name, int number) { add({name, nullptr, number}); }
  void set(const char *name, const char *word) { add({name, word, 0}); }
  // The same for up to `calls` calls at once, of `depth` groups along z each.
  void batch(int calls, int depth);

  const char *kernel() const { return kernel_; }
  int threads() const { return macros_[kThreads].number; }
  int table() const { return macros_[kTable].number; }
  std::vector<std::string> options() const;

  bool operator==(const Variant &other) const;
  size_t hash() const;

 private:
  struct Macro {
    const char *name;
    const char *word;
    int number;
  };
  enum { kThreads, kTable, kCalls, kDepth };

  void add(Macro macro) { macros_.at(count_++) = macro; }

  const char *kernel_ = nullptr;
  size_t count_ = 0;
  std::array<Macro, 28> macros_ = {};
};

class Kernels {
 public:
  // `architecture` is "90" for sm_90.
  explicit Kernels(std::string architecture) : architecture_(std::move(architecture)) {}

  // With the GPU's context current.
  Function function(const Variant &variant);

 private:
  // Its lock is held while it compiles, so that others need not wait.
  struct Entry {
    std::mutex lock;
    Function function = nullptr;
  };
  struct Hash {
    size_t operator()(const Variant &variant) const { return variant.hash(); }
  };

  Entry &entry(const Variant &variant);
  Function make(const Variant &variant) const;

  const std::string architecture_;
  std::shared_mutex lock_;
  std::unordered_map<Variant, std::unique_ptr<Entry>, Hash> entries_;
};

}  // namespace deltatape::cuda

#endif
