#include "paths.h"

#include <cstdlib>

// Each path's namespace holds the same functions.
#if defined(__x86_64__)
#define DTAPE_PATH x86_64_v4
#include "path.h"
#undef DTAPE_PATH
#undef DTAPE_CPU_PATH_H
#define DTAPE_PATH x86_64_v3
#include "path.h"
#undef DTAPE_PATH
#undef DTAPE_CPU_PATH_H
#define DTAPE_PATH x86_64
#include "path.h"
#elif defined(__aarch64__)
#define DTAPE_PATH arm64
#include "path.h"
#else
#define DTAPE_PATH portable
#include "path.h"
#endif

namespace deltatape::cpu {
namespace {

#define KERNELS_OF(path) {path::ssm_step_record, path::ssm_replay, path::chunk_tri_solve_invert}

bool always() {
  return true;
}

// Best first.
#if defined(__x86_64__)
bool has_v4() {
  return __builtin_cpu_supports("x86-64-v4");
}
bool has_v3() {
  return __builtin_cpu_supports("x86-64-v3");
}

const path paths[] = {{"x86-64-v4", has_v4, KERNELS_OF(x86_64_v4)},
                      {"x86-64-v3", has_v3, KERNELS_OF(x86_64_v3)},
                      {"x86-64", always, KERNELS_OF(x86_64)}};
#elif defined(__aarch64__)
const path paths[] = {{"arm64", always, KERNELS_OF(arm64)}};
#else
const path paths[] = {{"portable", always, KERNELS_OF(portable)}};
#endif

}  // namespace

const path *choose_path(std::string &sentence) {
  const char *wanted = std::getenv("DELTATAPE_CPU_PATH");
  std::string offered;
  for (const path &candidate : paths) {
    if (!candidate.supported()) continue;
    if (!wanted || !*wanted || candidate.name == std::string(wanted)) return &candidate;
    offered += offered.empty() ? "" : ", ";
    offered += candidate.name;
  }
  sentence = "DELTATAPE_CPU_PATH: expected a path of this processor (" + offered + "), got \"" +
             wanted + "\"";
  return nullptr;
}

}  // namespace deltatape::cpu
