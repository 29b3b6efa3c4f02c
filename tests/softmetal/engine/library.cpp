// softmetal.h: loads compiled kernels, judges what is bound to them, runs them.
#include <dlfcn.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compiler.h"
#include "kernel_abi.h"
#include "runtime.h"
#include "softmetal.h"

struct softmetal_function {
  const sm_module *module;
  const sm_kernel *kernel;
};

struct softmetal_library {
  std::vector<softmetal_function> functions;
};

namespace {

using softmetal::CompileError;

// Every library that was asked for, by path.
std::mutex lock;
std::map<std::string, std::unique_ptr<softmetal_library>> libraries;

char *message(const std::string &text) {
  return strdup(text.c_str());
}

// Buffers stand in index order from 0, positions after them: CUDA passes them so.
void judge_order(const sm_kernel &kernel) {
  int32_t expected = 0;
  bool positions = false;
  for (uint32_t i = 0; i < kernel.count; ++i) {
    const sm_parameter &p = kernel.parameters[i];
    positions |= p.index < 0;
    if (p.index >= 0 && (positions || p.index != expected++)) {
      throw CompileError{std::string(kernel.name) + ": buffers out of order at " + p.name};
    }
  }
}

std::unique_ptr<softmetal_library> load(const std::string &path) {
  void *object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto *module = object ? static_cast<sm_module *>(dlsym(object, "sm_this_module")) : nullptr;
  if (!module) throw CompileError{dlerror()};
  if (module->variable_count > SM_VARIABLES) throw CompileError{"too many threadgroup variables"};
  module->runtime = &softmetal::runtime;
  auto library = std::make_unique<softmetal_library>();
  for (uint32_t i = 0; i < module->kernel_count; ++i) {
    judge_order(module->kernels[i]);
    library->functions.push_back({module, &module->kernels[i]});
  }
  return library;
}

softmetal_library *find(const std::string &path) {
  const std::lock_guard<std::mutex> guard(lock);
  auto &library = libraries[path];
  if (!library) library = load(path);
  return library.get();
}

// What is wrong with one binding; empty if nothing.
std::string judge(const sm_parameter &p, const softmetal_binding &binding) {
  if (!binding.data) return "nothing is bound";
  if (reinterpret_cast<uintptr_t>(binding.data) % p.align != 0) {
    return "not aligned to " + std::to_string(p.align) + " bytes";
  }
  if (binding.bytes < p.size) {
    return std::to_string(binding.bytes) + " bytes are bound, its type has " +
           std::to_string(p.size);
  }
  return "";
}

std::string judge(const sm_kernel &kernel, const uint32_t threads[3],
                  const softmetal_binding *bindings) {
  if (threads[1] != 1 || threads[2] != 1) return "threadgroups are one-dimensional";
  for (uint32_t i = 0; i < kernel.count; ++i) {
    const sm_parameter &p = kernel.parameters[i];
    if (p.index < 0) continue;
    const std::string wrong = judge(p, bindings[p.index]);
    if (!wrong.empty()) {
      return std::string(p.name) + " [[buffer(" + std::to_string(p.index) + ")]]: " + wrong;
    }
  }
  return "";
}

}  // namespace

softmetal_library *softmetal_compile(const char *source, const char *const *macros, size_t count,
                                     int32_t fast_math, char **error) {
  try {
    return find(softmetal::compile({source, {macros, macros + count}, fast_math != 0}));
  } catch (const CompileError &e) {
    *error = message(e.message);
  } catch (const std::exception &e) {
    *error = message(e.what());
  }
  return nullptr;
}

size_t softmetal_function_count(const softmetal_library *library) {
  return library->functions.size();
}
const softmetal_function *softmetal_function_at(const softmetal_library *library, size_t i) {
  return &library->functions[i];
}
const char *softmetal_function_name(const softmetal_function *function) {
  return function->kernel->name;
}
uint32_t softmetal_function_max_threads(const softmetal_function *function) {
  return function->kernel->max_threads;
}
uint32_t softmetal_function_threadgroup_bytes(const softmetal_function *function) {
  uint32_t bytes = 0;
  for (uint32_t i = 0; i < function->module->variable_count; ++i) {
    bytes += function->module->variable_bytes[i];
  }
  return bytes;
}

char *softmetal_run(const softmetal_function *function, const uint32_t groups[3],
                    const uint32_t threads[3],
                    const softmetal_binding bindings[SOFTMETAL_BINDINGS]) {
  const sm_kernel &kernel = *function->kernel;
  std::string wrong = judge(kernel, threads, bindings);
  if (wrong.empty()) {
    softmetal::Dispatch dispatch = {function->module, &kernel, {}, threads[0], {}};
    memcpy(dispatch.groups, groups, sizeof dispatch.groups);
    for (int i = 0; i < SOFTMETAL_BINDINGS; ++i) {
      dispatch.arguments.buffer[i] = bindings[i].data;
    }
    wrong = softmetal::run(dispatch);
  }
  return wrong.empty() ? nullptr : message(std::string(kernel.name) + ": " + wrong);
}
