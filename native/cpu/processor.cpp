#include "processor.h"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace deltatape::cpu {
namespace {

constexpr long most_threads = 1024;

int usable_processors() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  const unsigned count = std::thread::hardware_concurrency();
  return count > 0 ? int(count) : 1;
}

}  // namespace

std::string processor_name() {
#if defined(__APPLE__)
  char name[128] = {};
  size_t size = sizeof name - 1;
  if (sysctlbyname("machdep.cpu.brand_string", name, &size, nullptr, 0) == 0) return name;
#else
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.compare(0, 10, "model name") == 0 && colon != std::string::npos)
      return line.substr(colon + 2);
  }
#endif
  return "unknown";
}

int choose_threads(std::string &sentence) {
  const char *wanted = std::getenv("DELTATAPE_NUM_THREADS");
  if (!wanted || !*wanted) return usable_processors();
  char *end = nullptr;
  errno = 0;
  const long threads = std::strtol(wanted, &end, 10);
  if (*wanted >= '0' && *wanted <= '9' && errno == 0 && *end == '\0' && threads >= 1 &&
      threads <= most_threads)
    return int(threads);
  sentence = "DELTATAPE_NUM_THREADS: expected a whole number from 1 to " +
             std::to_string(most_threads) + ", got \"" + wanted + "\"";
  return 0;
}

}  // namespace deltatape::cpu
