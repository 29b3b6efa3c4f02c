#include "process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

extern char **environ;

namespace softmetal {

std::string environment(const char *name, const std::string &otherwise) {
  const char *value = getenv(name);
  return value && *value ? value : otherwise;
}

std::string read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::string &path, const std::string &text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

std::string private_folder(const std::string &path) {
  struct stat info;
  if (mkdir(path.c_str(), 0700) != 0 && stat(path.c_str(), &info) == 0 &&
      info.st_uid != geteuid()) {
    throw std::runtime_error(path + " belongs to another user");
  }
  return path;
}

bool run(const std::vector<std::string> &command, const std::string &log) {
  if (getenv("SOFTMETAL_VERBOSE")) {
    for (const std::string &word : command) fprintf(stderr, "%s ", word.c_str());
    fprintf(stderr, "\n");
  }
  std::vector<char *> words, variables;
  for (const std::string &word : command) words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(nullptr);
  // The compiler is not to run under the sanitizer of the process that it serves.
  for (char **v = environ; *v; ++v) {
    if (strncmp(*v, "LD_PRELOAD=", 11) != 0) variables.push_back(*v);
  }
  variables.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child;
  const int failed =
      posix_spawnp(&child, words[0], &actions, nullptr, words.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed) throw std::runtime_error("cannot start " + command[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace softmetal
