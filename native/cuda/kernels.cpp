#include "cuda/kernels.h"

#include "cuda/cache.h"
#include "cuda/compiler.h"
#include "cuda/counters.h"
#include "cuda/failure.h"
#include "cuda/prelude.h"
#include "shaders.h"

namespace deltatape::cuda {
namespace {

// All that the compiled code depends on. The text is told by its hash.
std::string key_of(const Variant &variant, const std::string &architecture) {
  std::string key = std::string(variant.kernel()) + "\nsm_" + architecture + "\nnvrtc " +
                    compiler_version() + "\n" + digest(dtape_shader(variant.kernel())) + " " +
                    digest(kPrelude) + "\n";
  for (const std::string &option : variant.options()) key += option + "\n";
  return key;
}

// Null if the driver does not take it, as after a change of driver.
Function load(const Image &image, Result &result) {
  Module module = nullptr;
  Function function = nullptr;
  result = driver().cuModuleLoadData(&module, image.code.c_str());
  if (result != kSuccess) return nullptr;
  result = driver().cuModuleGetFunction(&function, module, image.entry.c_str());
  if (result == kSuccess) return function;
  driver().cuModuleUnload(module);
  return nullptr;
}

}  // namespace

Variant::Variant(const char *kernel, int threads, int resident, int table) : kernel_(kernel) {
  set("THREADS", threads);
  set("TABLE", table);
  set("CALLS", 1);
  set("DEPTH", 1);
  set("RESIDENT", resident);
}

void Variant::batch(int calls, int depth) {
  macros_[kCalls].number = calls;
  macros_[kDepth].number = depth;
}

std::vector<std::string> Variant::options() const {
  std::vector<std::string> options;
  for (size_t i = 0; i < count_; ++i) {
    const Macro &macro = macros_[i];
    const std::string value = macro.word ? macro.word : std::to_string(macro.number);
    options.push_back(std::string("-D") + macro.name + "=" + value);
  }
  return options;
}

bool Variant::operator==(const Variant &other) const {
  if (kernel_ != other.kernel_ || count_ != other.count_) return false;
  for (size_t i = 0; i < count_; ++i) {
    const Macro &mine = macros_[i], &its = other.macros_[i];
    if (mine.number != its.number || mine.word != its.word) return false;
  }
  return true;
}

size_t Variant::hash() const {
  size_t value = reinterpret_cast<size_t>(kernel_);
  for (size_t i = 0; i < count_; ++i) {
    const size_t macro =
        reinterpret_cast<size_t>(macros_[i].word) + static_cast<size_t>(macros_[i].number);
    value = (value ^ macro) * 0x100000001b3u;
  }
  return value;
}

Function Kernels::function(const Variant &variant) {
  Entry &found = entry(variant);
  const std::lock_guard<std::mutex> lock(found.lock);
  if (found.function == nullptr) found.function = make(variant);
  return found.function;
}

Kernels::Entry &Kernels::entry(const Variant &variant) {
  {
    const std::shared_lock<std::shared_mutex> lock(lock_);
    const auto found = entries_.find(variant);
    if (found != entries_.end()) return *found->second;
  }
  const std::unique_lock<std::shared_mutex> lock(lock_);
  std::unique_ptr<Entry> &made = entries_[variant];
  if (made == nullptr) made = std::make_unique<Entry>();
  return *made;
}

Function Kernels::make(const Variant &variant) const {
  const std::string key = key_of(variant, architecture_);
  Result result = kSuccess;
  if (const std::optional<Image> recalled = recall(key)) {
    if (const Function function = load(*recalled, result)) return function;
  }
  const Image image = compile(variant.kernel(), architecture_, variant.options());
  const Function function = load(image, result);
  check(result, "device: expected a compiled kernel to load");
  count(&dtape_counters::pipelines_compiled);
  keep(key, image);
  return function;
}

}  // namespace deltatape::cuda
