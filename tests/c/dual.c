/* Tiny problems by rows through the C ABI: the primal and the dual objective meet, and agree with those of dense rows. */
#include "test.h"

enum { ROWS = 4, FEATURES = 3, ENTRIES = 7 };

static const int32_t offsets[ROWS + 1] = {0, 2, 4, 4, 7};
static const int32_t features[ENTRIES] = {0, 2, 0, 1, 0, 1, 2};
static const float values[ENTRIES] = {1.0f, -2.0f, 0.5f, 3.0f, -1.0f, 0.25f, 1.5f};
static const double weights[ROWS] = {1.0, 2.0, 0.5, 1.5};
static const double labels[ROWS] = {1.0, -1.0, 1.0, -1.0};
static const double scale[FEATURES] = {1.0, 0.5, 2.0};
static const double total_weight = 5.0;
static const double l2 = 0.3;

static double dense[ROWS][FEATURES];
static double norms[ROWS];

static void prepare(void) {
  for (int i = 0; i < ROWS; i++) {
    for (int k = offsets[i]; k < offsets[i + 1]; k++) {
      dense[i][features[k]] = values[k];
      norms[i] += scale[features[k]] * values[k] * values[k];
    }
  }
}

static DwellRows partition(void) {
  DwellRows p = {.matrix = {.coordinates = ROWS, .length = FEATURES, .entries = ENTRIES, .offsets = offsets, .indices = features,
                            .values32 = values, .values64 = NULL},
                 .labels = labels, .weights = weights, .norms = norms, .scale = scale};
  return p;
}

static double margin(int row, const double *coefficients) {
  double z = 0.0;
  for (int j = 0; j < FEATURES; j++) {
    z += dense[row][j] * coefficients[j];
  }
  return z;
}

static double loss(int code, double z, double y) {
  double room = 1.0 - y * z;
  switch (code) {
    case DWELL_LOSS_SQUARED: return (z - y) * (z - y) / 2.0;
    case DWELL_LOSS_LOGISTIC: return log1p(exp(-y * z));
    case DWELL_LOSS_HINGE: return fmax(0.0, room);
    default: return fmax(0.0, room) * fmax(0.0, room);
  }
}

static double entropy(double p) { return p == 0.0 ? 0.0 : p * log(p); }

static double conjugate(int code, double a, double y) {
  double p = a * y;
  if (code != DWELL_LOSS_SQUARED && (p < 0.0 || (code != DWELL_LOSS_SQUARED_HINGE && p > 1.0))) {
    return INFINITY;
  }
  switch (code) {
    case DWELL_LOSS_SQUARED: return a * a / 2.0 - a * y;
    case DWELL_LOSS_LOGISTIC: return entropy(p) + entropy(1.0 - p);
    case DWELL_LOSS_HINGE: return -p;
    default: return -p + p * p / 4.0;
  }
}

static double value(int code, const double *alpha) {
  double sum = 0.0;
  for (int i = 0; i < ROWS; i++) {
    sum += weights[i] / total_weight * conjugate(code, alpha[i], labels[i]);
  }
  return sum;
}

/* With one partition rounds are plain coordinate ascent. */
static void solve(int code) {
  DwellRows p = partition();
  DwellRound round = {.sigma_prime = 1.0, .l2 = l2, .total_weight = total_weight, .seed = 7, .budget = ROWS, .partition = 0, .threads = 1};
  double alpha[ROWS] = {0.0};
  double coefficients[FEATURES] = {0.0};
  double delta[ROWS];
  double update[FEATURES];
  double last = value(code, alpha);
  uint64_t cursor = 0;
  for (int t = 0; t < 300; t++) {
    int status = dwell_dual_round(&p, &round, code, alpha, &cursor, coefficients, delta, update);
    check(status == DWELL_OK, "a round");
    for (int i = 0; i < ROWS; i++) {
      alpha[i] += delta[i];
    }
    for (int j = 0; j < FEATURES; j++) {
      double product = 0.0;
      for (int i = 0; i < ROWS; i++) {
        product += weights[i] / (total_weight * l2) * delta[i] * scale[j] * dense[i][j];
      }
      close_to(product, update[j], "update");
      coefficients[j] += update[j];
    }
    /* F = loss + l2/2 sum w^2/scale, and minus its dual, which every step lowers. */
    double square = 0.0, primal = 0.0;
    for (int j = 0; j < FEATURES; j++) {
      square += coefficients[j] * coefficients[j] / scale[j];
    }
    for (int i = 0; i < ROWS; i++) {
      primal += weights[i] / total_weight * loss(code, margin(i, coefficients), labels[i]);
    }
    double now = value(code, alpha) + l2 / 2.0 * square;
    double gap = primal + l2 / 2.0 * square + now;
    check(now <= last + 1e-15, "the dual rises");
    check(gap > -1e-12, "the gap is not negative");
    check(t < 299 || gap < 1e-9, "the gap closes");
    last = now;
  }
  check(cursor == 300 * ROWS, "cursor");
}

static void errors(void) {
  DwellRows p = partition();
  DwellRound round = {.sigma_prime = 1.0, .l2 = l2, .total_weight = total_weight, .budget = 1, .threads = 1};
  int code = DWELL_LOSS_HINGE;
  double alpha[ROWS] = {0.0};
  double coefficients[FEATURES] = {0.0};
  double delta[ROWS];
  double update[FEATURES];
  uint64_t cursor = 0;
  double bad[ROWS] = {1.0, -1.0, NAN, 1.0};
#define REFUSED(part, what) \
  check(dwell_dual_round(&p, &round, code, alpha, &cursor, coefficients, delta, update) == \
                DWELL_ERROR_ARGUMENT && refused_for(part), what)
  p.labels = NULL;
  REFUSED("labels is NULL", "NULL labels");
  p.labels = bad;
  REFUSED("row 2", "NaN label");
  bad[2] = 0.5;
  REFUSED("row 2", "label of no class");
  p = partition();
  bad[2] = 0.0;
  p.weights = bad;
  REFUSED("weight", "weight");
  p = partition();
  code = 5;
  REFUSED("loss", "loss");
  code = DWELL_LOSS_HINGE;
  round.l2 = 0.0;
  REFUSED("l2", "l2");
  round.l2 = l2;
  coefficients[1] = NAN;
  REFUSED("feature 1", "NaN coefficient");
#undef REFUSED
  check(cursor == 0, "an error leaves the cursor");
}

static void squared(void) { solve(DWELL_LOSS_SQUARED); }
static void logistic(void) { solve(DWELL_LOSS_LOGISTIC); }
static void hinge(void) { solve(DWELL_LOSS_HINGE); }
static void squared_hinge(void) { solve(DWELL_LOSS_SQUARED_HINGE); }

int main(void) {
  prepare();
  test("squared", squared);
  test("logistic", logistic);
  test("hinge", hinge);
  test("squared hinge", squared_hinge);
  test("errors of a dual round", errors);
  return report_tests();
}
