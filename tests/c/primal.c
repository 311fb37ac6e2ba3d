/* A tiny lasso and a tiny ridge problem through the C ABI, against the same calculation on dense columns. */
#include "dwell.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int passed = 0;
static int failed = 0;

/* What went wrong in the test that is running. */
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

enum { ROWS = 5, COLUMNS = 3, ENTRIES = 9 };

static const int32_t offsets[COLUMNS + 1] = {0, 3, 5, 9};
static const int32_t rows[ENTRIES] = {0, 2, 4, 1, 2, 0, 1, 3, 4};
static const double values[ENTRIES] = {1.0, -2.0, 0.5, 3.0, 1.0, -1.0, 2.0, 0.25, 1.5};
static const double weights[ROWS] = {1.0, 2.0, 0.5, 1.0, 1.5};
static const double labels[ROWS] = {1.0, 2.0, -1.5, 0.25, 3.0};

static double dense[COLUMNS][ROWS];
static double mean[COLUMNS];
static double variance[COLUMNS];
static double deviation[COLUMNS];
static double total_weight = 0.0;

static void prepare(void) {
  for (int j = 0; j < ROWS; j++) {
    total_weight += weights[j];
  }
  for (int i = 0; i < COLUMNS; i++) {
    for (int k = offsets[i]; k < offsets[i + 1]; k++) {
      dense[i][rows[k]] = values[k];
      mean[i] += weights[rows[k]] * values[k] / total_weight;
    }
    for (int j = 0; j < ROWS; j++) {
      double distance = dense[i][j] - mean[i];
      variance[i] += weights[j] * distance * distance / total_weight;
    }
    deviation[i] = sqrt(variance[i]);
  }
}

static DwellPartition partition(void) {
  DwellPartition p = {ROWS, COLUMNS, ENTRIES, offsets, rows, NULL, values, mean, variance, deviation, weights};
  return p;
}

static double objective(const DwellRound *round, const double *alpha) {
  double sum = 0.0;
  for (int j = 0; j < ROWS; j++) {
    double r = labels[j];
    for (int i = 0; i < COLUMNS; i++) {
      r -= alpha[i] * dense[i][j];
    }
    sum += weights[j] * r * r / (2.0 * total_weight);
  }
  for (int i = 0; i < COLUMNS; i++) {
    sum += round->l1 * fabs(alpha[i]) + 0.5 * round->l2 * alpha[i] * alpha[i];
  }
  return sum;
}

/* Rounds with one partition are plain coordinate descent: it converges to the optimum, where the derivatives vanish. */
static void solve(double l1, double l2) {
  DwellPartition p = partition();
  DwellRound round = {.sigma_prime = 1.0, .l1 = l1, .l2 = l2, .total_weight = total_weight, .scale_factor = 0.0,
                      .seed = 7, .budget = COLUMNS, .partition = 0, .threads = 1, .centred = false, .certificate = true};
  double alpha[COLUMNS] = {0.0};
  double residual[ROWS];
  double delta[COLUMNS];
  double update[ROWS];
  uint64_t cursor = 0;
  DwellReport report;
  memcpy(residual, labels, sizeof residual);
  double last = objective(&round, alpha);
  for (int t = 0; t < 200; t++) {
    int status = dwell_primal_round(&p, &round, alpha, &cursor, residual, delta, update, &report);
    check(status == DWELL_OK, "a round");
    for (int j = 0; j < ROWS; j++) {
      double product = 0.0;
      for (int i = 0; i < COLUMNS; i++) {
        product += delta[i] * dense[i][j];
      }
      close_to(product, update[j], "update");
      residual[j] -= update[j];
    }
    for (int i = 0; i < COLUMNS; i++) {
      alpha[i] += delta[i];
    }
    double now = objective(&round, alpha);
    check(now <= last + 1e-15, "the objective falls");
    last = now;
  }
  check(cursor == 200 * COLUMNS, "cursor");
  check(report.coordinates == COLUMNS && report.nonzeros == ENTRIES, "work of a round");
  check(report.penalty_before >= 0.0 && report.conjugate >= 0.0, "report");
  for (int i = 0; i < COLUMNS; i++) {
    double slope = 0.0;
    for (int j = 0; j < ROWS; j++) {
      slope += weights[j] * dense[i][j] * residual[j] / total_weight;
    }
    slope -= l2 * alpha[i];
    if (alpha[i] == 0.0) {
      check(fabs(slope) <= l1 + 1e-12, "optimality of a zero");
    } else {
      close_to(copysign(l1, alpha[i]), slope, "optimality");
    }
  }
}

static void errors(void) {
  DwellPartition p = partition();
  DwellRound round = {.sigma_prime = 1.0, .l1 = 0.1, .total_weight = total_weight, .budget = 1, .threads = 1};
  double alpha[COLUMNS] = {0.0};
  double delta[COLUMNS];
  double update[ROWS];
  uint64_t cursor = 0;
  char message[200];
  check(dwell_primal_round(&p, &round, alpha, NULL, labels, delta, update, NULL) == DWELL_ERROR_ARGUMENT, "NULL cursor");
  size_t length = dwell_last_error(message, sizeof message);
  check(length == strlen(message) && strstr(message, "cursor") != NULL, "message of a NULL");
  check(dwell_last_error(message, 5) == length && strlen(message) == 4, "a cut message");
  check(dwell_last_error(NULL, 0) == length, "length of a message");
  check(dwell_primal_round(NULL, &round, alpha, &cursor, labels, delta, update, NULL) == DWELL_ERROR_ARGUMENT, "NULL partition");
  p.entries--;
  check(dwell_primal_round(&p, &round, alpha, &cursor, labels, delta, update, NULL) == DWELL_ERROR_ARGUMENT, "entries");
  p = partition();
  p.rows = 2;
  check(dwell_primal_round(&p, &round, alpha, &cursor, labels, delta, update, NULL) == DWELL_ERROR_ARGUMENT, "rows");
  p.rows = -1;
  check(dwell_primal_round(&p, &round, alpha, &cursor, labels, delta, update, NULL) == DWELL_ERROR_ARGUMENT, "negative rows");
  p = partition();
  round.l1 = NAN;
  check(dwell_primal_round(&p, &round, alpha, &cursor, labels, delta, update, NULL) == DWELL_ERROR_ARGUMENT, "NaN");
  round.l1 = 0.1;
  round.threads = 0;
  check(dwell_primal_round(&p, &round, alpha, &cursor, labels, delta, update, NULL) == DWELL_ERROR_ARGUMENT, "threads");
  check(cursor == 0, "an error leaves the cursor");
  round.threads = 1;
  check(dwell_primal_round(&p, &round, alpha, &cursor, labels, delta, update, NULL) == DWELL_OK, "no report wanted");
}

static void versions(void) { check(dwell_abi_version() == DWELL_ABI_VERSION, "ABI version"); }
static void ridge(void) { solve(0.0, 0.3); }
static void lasso(void) { solve(0.2, 0.0); }
static void elastic_net(void) { solve(0.1, 0.1); }

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

int main(void) {
  prepare();
  test("versions", versions);
  test("ridge", ridge);
  test("lasso", lasso);
  test("elastic net", elastic_net);
  test("errors", errors);
  printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
