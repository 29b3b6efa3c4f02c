#include "cuda/compiler.h"

#include <dirent.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "cuda/driver.h"
#include "cuda/failure.h"
#include "cuda/prelude.h"
#include "shaders.h"

namespace deltatape::cuda {
namespace {

using Program = void *;

// name, parameters
#define DTAPE_NVRTC_FUNCTIONS(X)                                                            \
  X(nvrtcVersion, (int *, int *))                                                           \
  X(nvrtcGetNumSupportedArchs, (int *))                                                     \
  X(nvrtcGetSupportedArchs, (int *))                                                        \
  X(nvrtcCreateProgram,                                                                     \
    (Program *, const char *, const char *, int, const char *const *, const char *const *)) \
  X(nvrtcDestroyProgram, (Program *))                                                       \
  X(nvrtcAddNameExpression, (Program, const char *))                                        \
  X(nvrtcCompileProgram, (Program, int, const char *const *))                               \
  X(nvrtcGetLoweredName, (Program, const char *, const char **))                            \
  X(nvrtcGetProgramLogSize, (Program, size_t *))                                            \
  X(nvrtcGetProgramLog, (Program, char *))                                                  \
  X(nvrtcGetCUBINSize, (Program, size_t *))                                                 \
  X(nvrtcGetCUBIN, (Program, char *))                                                       \
  X(nvrtcGetPTXSize, (Program, size_t *))                                                   \
  X(nvrtcGetPTX, (Program, char *))

struct Nvrtc {
#define X(name, parameters) int(*name) parameters = nullptr;
  DTAPE_NVRTC_FUNCTIONS(X)
#undef X
};

std::mutex folders_lock;
std::vector<std::string> folders;

// The files of a folder that begin with a word.
std::vector<std::string> files(const std::string &folder, const std::string &beginning) {
  std::vector<std::string> found;
  DIR *const directory = opendir(folder.c_str());
  if (directory == nullptr) return found;
  while (const dirent *entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (name.compare(0, beginning.size(), beginning) == 0) found.push_back(folder + "/" + name);
  }
  closedir(directory);
  return found;
}

// A wheel's NVRTC does not find its own part beside it unless that is loaded already.
void *open_in(const std::string &folder, const std::string &name) {
  if (files(folder, name).empty()) return nullptr;
  for (const std::string &part : files(folder, "libnvrtc-builtins.so")) {
    dlopen(part.c_str(), RTLD_NOW | RTLD_GLOBAL);
  }
  return dlopen((folder + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
}

std::vector<std::string> named_folders() {
  const char *const chosen = std::getenv("DELTATAPE_NVRTC");
  if (chosen != nullptr && *chosen != '\0') return {chosen};
  const std::lock_guard<std::mutex> lock(folders_lock);
  return folders;
}

void *open_named(const std::string &name) {
  const char *const chosen = std::getenv("DELTATAPE_NVRTC");
  if (chosen == nullptr || *chosen == '\0') {
    if (void *const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  for (const std::string &folder : named_folders()) {
    if (void *const library = open_in(folder, name)) return library;
  }
  return nullptr;
}

// A driver loads what a compiler of its own major version or an older one has made.
void *open_library() {
  std::vector<std::string> names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
  if (driver().version < 13000) std::rotate(names.begin(), names.begin() + 1, names.end());
  for (const std::string &name : names) {
    if (void *const library = open_named(name)) return library;
  }
  throw Failure(DTAPE_DEVICE_UNAVAILABLE,
                "device: expected NVIDIA's run-time compiler, libnvrtc.so.13, .12 or .11.2, where "
                "the loader looks, in the folder DELTATAPE_NVRTC or in the wheel "
                "nvidia-cuda-nvrtc, got none");
}

template <class Pointer>
void find(void *library, Pointer &function, const char *name) {
  function = reinterpret_cast<Pointer>(dlsym(library, name));
  if (function != nullptr) return;
  throw Failure(DTAPE_DEVICE_UNAVAILABLE,
                std::string("device: expected an NVRTC of 11.2 or later, got one without ") + name);
}

const Nvrtc &nvrtc() {
  static const Nvrtc shared = [] {
    void *const library = open_library();
    Nvrtc loaded;
#define X(name, parameters) find(library, loaded.name, #name);
    DTAPE_NVRTC_FUNCTIONS(X)
#undef X
    return loaded;
  }();
  return shared;
}

bool knows(const std::string &architecture) {
  int count = 0;
  nvrtc().nvrtcGetNumSupportedArchs(&count);
  std::vector<int> known(static_cast<size_t>(std::max(count, 0)));
  if (!known.empty()) nvrtc().nvrtcGetSupportedArchs(known.data());
  return std::find(known.begin(), known.end(), std::stoi(architecture)) != known.end();
}

// The newest virtual architecture that NVRTC knows: the driver compiles from there.
std::string newest() {
  int count = 0;
  nvrtc().nvrtcGetNumSupportedArchs(&count);
  std::vector<int> known(static_cast<size_t>(std::max(count, 1)));
  nvrtc().nvrtcGetSupportedArchs(known.data());
  return std::to_string(*std::max_element(known.begin(), known.end()));
}

// Text of a program by one of NVRTC's pairs of functions.
template <class Size, class Get>
std::string text(Program program, Size size, Get get) {
  size_t bytes = 0;
  if (size(program, &bytes) != 0) return "";
  std::string whole(bytes, '\0');
  get(program, whole.data());
  return whole;
}

void require(int result, const std::string &kernel, Program program) {
  if (result == 0) return;
  const std::string log = text(program, nvrtc().nvrtcGetProgramLogSize, nvrtc().nvrtcGetProgramLog);
  throw Failure(DTAPE_DEVICE_ERROR,
                "device: expected the kernel " + kernel + " to compile, got: " + log.c_str());
}

std::vector<std::string> all_options(const std::string &target,
                                     const std::vector<std::string> &macros) {
  std::vector<std::string> all = {"-arch=" + target, "-std=c++17", "-default-device", "-fmad=false",
                                  "-diag-suppress=1097,161,177"};
  all.insert(all.end(), macros.begin(), macros.end());
  return all;
}

struct Destroy {
  void operator()(Program program) const { nvrtc().nvrtcDestroyProgram(&program); }
};

}  // namespace

void search(const std::string &folder) {
  const std::lock_guard<std::mutex> lock(folders_lock);
  if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
}

void require_compiler() {
  nvrtc();
}

std::string compiler_version() {
  int major = 0, minor = 0;
  nvrtc().nvrtcVersion(&major, &minor);
  return std::to_string(major) + "." + std::to_string(minor);
}

bool waits_by_itself(const std::string &architecture) {
  return std::stoi(architecture) >= 90 && knows(architecture);
}

Image compile(const std::string &kernel, const std::string &architecture,
              const std::vector<std::string> &macros) {
  const bool known = knows(architecture);
  const std::string target = known ? "sm_" + architecture : "compute_" + newest();
  const std::string source =
      std::string(dtape_shader(kernel.c_str())) + "\nCUDA_ENTRY(" + kernel + ")\n";
  const char *const headers[] = {kPrelude}, *const names[] = {"metal_stdlib"};
  Program raw = nullptr;
  const int made = nvrtc().nvrtcCreateProgram(&raw, source.c_str(), "main.cu", 1, headers, names);
  if (made != 0) throw Failure(DTAPE_DEVICE_ERROR, "device: expected NVRTC to start, got an error");
  const std::unique_ptr<void, Destroy> program(raw);
  const std::string expression = kernel + "_entry";
  nvrtc().nvrtcAddNameExpression(raw, expression.c_str());

  const std::vector<std::string> options = all_options(target, macros);
  std::vector<const char *> words;
  for (const std::string &option : options) words.push_back(option.c_str());
  require(nvrtc().nvrtcCompileProgram(raw, static_cast<int>(words.size()), words.data()), kernel,
          raw);
  const char *lowered = nullptr;
  require(nvrtc().nvrtcGetLoweredName(raw, expression.c_str(), &lowered), kernel, raw);
  return {known ? text(raw, nvrtc().nvrtcGetCUBINSize, nvrtc().nvrtcGetCUBIN)
                : text(raw, nvrtc().nvrtcGetPTXSize, nvrtc().nvrtcGetPTX),
          lowered};
}

}  // namespace deltatape::cuda
