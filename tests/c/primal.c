/* Tiny ridge, lasso and elastic net problems through the C ABI, beside the same calculation on dense columns. */
#include "test.h"

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

static DwellColumns partition(void) {
  DwellColumns p = {.matrix = {.coordinates = COLUMNS, .length = ROWS, .entries = ENTRIES, .offsets = offsets, .indices = rows,
                               .values32 = NULL, .values64 = values},
                    .mean = mean, .variance = variance, .deviation = deviation, .weights = weights};
  return p;
}

static double penalty(double l1, double l2, const double *alpha) {
  double sum = 0.0;
  for (int i = 0; i < COLUMNS; i++) {
    sum += l1 * fabs(alpha[i]) + 0.5 * l2 * alpha[i] * alpha[i];
  }
  return sum;
}

static double objective(double l1, double l2, const double *alpha) {
  double sum = 0.0;
  for (int j = 0; j < ROWS; j++) {
    double r = labels[j];
    for (int i = 0; i < COLUMNS; i++) {
      r -= alpha[i] * dense[i][j];
    }
    sum += weights[j] * r * r / (2.0 * total_weight);
  }
  return sum + penalty(l1, l2, alpha);
}

/* Rounds with one partition are plain coordinate descent: it converges to the optimum, where the derivatives vanish. */
static void solve(double l1, double l2) {
  DwellColumns p = partition();
  DwellRound round = {.sigma_prime = 1.0, .l2 = l2, .total_weight = total_weight, .seed = 7, .budget = COLUMNS, .partition = 0,
                      .threads = 1};
  double alpha[COLUMNS] = {0.0};
  double residual[ROWS];
  double delta[COLUMNS];
  double update[ROWS];
  uint64_t cursor = 0;
  memcpy(residual, labels, sizeof residual);
  double last = objective(l1, l2, alpha);
  for (int t = 0; t < 200; t++) {
    int status = dwell_primal_round(&p, &round, l1, alpha, &cursor, residual, delta, update);
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
    double now = objective(l1, l2, alpha);
    check(now <= last + 1e-15, "the objective falls");
    last = now;
  }
  check(cursor == 200 * COLUMNS, "cursor");
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
  DwellColumns p = partition();
  DwellRound round = {.sigma_prime = 1.0, .total_weight = total_weight, .budget = 1, .threads = 1};
  double l1 = 0.1;
  double alpha[COLUMNS] = {0.0};
  double delta[COLUMNS];
  double update[ROWS];
  uint64_t cursor = 0;
  char message[200];
#define ROUND(columns, cursor) \
  dwell_primal_round(columns, &round, l1, alpha, cursor, labels, delta, update)
  check(ROUND(&p, NULL) == DWELL_ERROR_ARGUMENT, "NULL cursor");
  size_t length = dwell_last_error(message, sizeof message);
  check(length == strlen(message) && strstr(message, "cursor") != NULL, "message of a NULL");
  check(dwell_last_error(message, 5) == length && strlen(message) == 4, "a cut message");
  check(dwell_last_error(NULL, 0) == length, "length of a message");
  check(ROUND(NULL, &cursor) == DWELL_ERROR_ARGUMENT, "NULL partition");
  p.matrix.entries--;
  check(ROUND(&p, &cursor) == DWELL_ERROR_ARGUMENT, "entries");
  p = partition();
  p.matrix.length = 2;
  check(ROUND(&p, &cursor) == DWELL_ERROR_ARGUMENT, "rows");
  p.matrix.length = -1;
  check(ROUND(&p, &cursor) == DWELL_ERROR_ARGUMENT, "negative rows");
  p = partition();
  l1 = NAN;
  check(ROUND(&p, &cursor) == DWELL_ERROR_ARGUMENT && refused_for("l1"), "NaN");
  l1 = 0.1;
  round.threads = 0;
  check(ROUND(&p, &cursor) == DWELL_ERROR_ARGUMENT, "threads");
  round.threads = 1;
  check(cursor == 0, "an error leaves the cursor");
#undef ROUND
}

static void versions(void) { check(dwell_abi_version() == DWELL_ABI_VERSION, "ABI version"); }
static void ridge(void) { solve(0.0, 0.3); }
static void lasso(void) { solve(0.2, 0.0); }
static void elastic_net(void) { solve(0.1, 0.1); }

int main(void) {
  prepare();
  test("versions", versions);
  test("ridge", ridge);
  test("lasso", lasso);
  test("elastic net", elastic_net);
  test("errors", errors);
  return report_tests();
}
