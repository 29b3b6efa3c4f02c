// Compiled kernels on disk, one file each, in a folder of the user's own.
#ifndef DTAPE_CUDA_CACHE_H
#define DTAPE_CUDA_CACHE_H

#include <optional>
#include <string>

#include "cuda/compiler.h"

namespace deltatape::cuda {

// What `keep` kept under the same key. Files that are damaged or another user's are ignored.
std::optional<Image> recall(const std::string &key);

// Does nothing where there is no folder to write to.
void keep(const std::string &key, const Image &image);

// A hash of a text, as hexadecimal digits.
std::string digest(const std::string &text);

}  // namespace deltatape::cuda

#endif
