#ifndef DTAPE_CPU_PROCESSOR_H
#define DTAPE_CPU_PROCESSOR_H

#include <string>

namespace deltatape::cpu {

// The processor's own name, as far as the system tells it.
std::string processor_name();

// DELTATAPE_NUM_THREADS, or as many as there are usable processors. 0, with a sentence, if the
// variable is not a number of threads.
int choose_threads(std::string &sentence);

}  // namespace deltatape::cpu

#endif
