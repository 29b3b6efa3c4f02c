// Runs part of a test in a forked child.
#ifndef DTAPE_TESTS_IN_A_CHILD_H
#define DTAPE_TESTS_IN_A_CHILD_H

#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

// Whether all checks of the body pass there, within a minute.
template <class Body>
bool passes_in_a_child(const Body &body) {
  fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    failed_checks = 0;
    body();
    _exit(failed_checks != 0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

#endif
