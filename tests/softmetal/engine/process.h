// Files and child processes.
#pragma once
#include <string>
#include <vector>

namespace softmetal {

std::string environment(const char *name, const std::string &otherwise);
std::string read_file(const std::string &path);
void write_file(const std::string &path, const std::string &text);
// A folder of this user's alone, made if it is not there.
std::string private_folder(const std::string &path);
// Runs a command without LD_PRELOAD, its errors going to `log`; true if it succeeded.
bool run(const std::vector<std::string> &command, const std::string &log);

}  // namespace softmetal
