/* Checks and totals of the C tests. */
#ifndef DWELL_TEST_H
#define DWELL_TEST_H

#include "dwell.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int passed = 0;
static int failed = 0;

/* Failed checks of the test that is running. */
static int problems = 0;

static void check(bool condition, const char *what) {
  if (!condition) {
    problems++;
    printf("FAILED: %s\n", what);
  }
}

static void close_to(double expected, double actual, const char *what) {
  if (!(fabs(expected - actual) <= 1e-12 * fmax(1.0, fabs(expected)))) {
    problems++;
    printf("FAILED: %s: expected %.17g, got %.17g\n", what, expected, actual);
  }
}

/* Whether the last message has this text in it. */
static bool refused_for(const char *part) {
  char message[300];
  dwell_last_error(message, sizeof message);
  return strstr(message, part) != NULL;
}

static void test(const char *name, void (*body)(void)) {
  problems = 0;
  body();
  if (problems == 0) {
    passed++;
  } else {
    failed++;
    printf("FAILED: %s: %d problems\n", name, problems);
  }
}

static int report_tests(void) {
  printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

#endif
