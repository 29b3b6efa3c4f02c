// Rules for shaders that a C++ compiler does not know.
#pragma once
#include "tokens.h"

namespace softmetal {

// Every floating literal has a suffix: without one it is a double on CUDA.
void check_literals(const Tokens &tokens);
// Every pointer and reference names its address space.
void check_address_spaces(const Tokens &tokens);

}  // namespace softmetal
