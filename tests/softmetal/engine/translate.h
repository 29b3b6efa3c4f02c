// Turns preprocessed Metal into C++ for the prelude.
#pragma once
#include <string>

namespace softmetal {

// Takes attributes away, makes threadgroup variables calls of the prelude, and appends an entry for
// each kernel; the rest is for the C++ compiler to understand. Throws SourceError, also for what a
// C++ compiler would accept and Metal or another device would not (rules.h).
std::string translate(const std::string &preprocessed);

}  // namespace softmetal
