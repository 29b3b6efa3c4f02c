// Drives clang: from Metal source to a shared object in the cache.
//
// Environment: SOFTMETAL_CXX (clang++), SOFTMETAL_CXXFLAGS (further flags: sanitizers, coverage),
// SOFTMETAL_CACHE (folder of compiled kernels), SOFTMETAL_REPLACE (OLD=>NEW, a mistake seeded into
// every source that holds OLD), SOFTMETAL_VERBOSE (prints each command).
#pragma once
#include <string>
#include <vector>

namespace softmetal {

struct CompileError {
  std::string message;
};

struct Source {
  std::string text;
  std::vector<std::string> macros;  // NAME=VALUE
  bool fast_math = false;
};

// The path of the compiled kernels. Compiles only what the cache lacks. Throws CompileError.
std::string compile(const Source &source);

}  // namespace softmetal
