// Checks that say what failed and let the rest of a test run.
#ifndef DTAPE_TESTS_CHECK_H
#define DTAPE_TESTS_CHECK_H

#include <stdio.h>
#include <string.h>

static int failed_checks = 0;

static inline void fail_check(const char *file, int line, const char *what, const char *got) {
  ++failed_checks;
  fprintf(stderr, "%s:%d: %s%s%s\n", file, line, what, *got ? ", got " : "", got);
}

#define CHECK(condition) ((condition) ? (void)0 : fail_check(__FILE__, __LINE__, #condition, ""))
#define CHECK_TEXT(got, expected)           \
  (strcmp((got), (expected)) == 0 ? (void)0 \
                                  : fail_check(__FILE__, __LINE__, "expected " #expected, got))
#define RUN(test) (printf("%s\n", #test), fflush(stdout), test())

#endif
