// The instruction sets that the kernels are compiled for.
#ifndef DTAPE_CPU_PATHS_H
#define DTAPE_CPU_PATHS_H

#include <string>

#include "work.h"

namespace deltatape::cpu {

struct path {
  const char *name;
  bool (*supported)();
  kernels run;
};

// The best path of this processor, or the one that DELTATAPE_CPU_PATH names. Null, with a sentence,
// if that is unknown or the processor lacks it.
const path *choose_path(std::string &sentence);

}  // namespace deltatape::cpu

#endif
