// Local solvers of Dwell. Generated from native/jni/src/capi.rs by the test native/jni/tests/header.rs: do not edit.

#ifndef DWELL_H
#define DWELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Version of this interface.
#define DWELL_ABI_VERSION 7

// Everything went well.
#define DWELL_OK 0

// The solver could not continue.
#define DWELL_ERROR_SOLVER -1

// Memory could not be allocated.
#define DWELL_ERROR_OUT_OF_MEMORY -2

// A bug of the library, or arrays that changed during the call.
#define DWELL_ERROR_PANIC -3

// An argument is wrong; the message names it.
#define DWELL_ERROR_ARGUMENT -16

// (z - y)^2 / 2
#define DWELL_LOSS_SQUARED 0

// log(1 + exp(-y z)), labels y are -1 or 1
#define DWELL_LOSS_LOGISTIC 1

// max(0, 1 - y z), labels y are -1 or 1
#define DWELL_LOSS_HINGE 2

// max(0, 1 - y z)^2, labels y are -1 or 1
#define DWELL_LOSS_SQUARED_HINGE 4

// A matrix, coordinate by coordinate: a coordinate is a column of the data in primal rounds, a row in dual rounds. Read only.
typedef struct DwellMatrix {
  // Number of coordinates n.
  int64_t coordinates;
  // Length m of a coordinate's vector: rows of the data in primal rounds, features in dual rounds; at most 2^31 - 1.
  int64_t length;
  // Number of stored entries N.
  int64_t entries;
  // n + 1 numbers: the entries of coordinate i are offsets[i] until offsets[i + 1]; starts at 0, ends at N.
  const int32_t *offsets;
  // N numbers: row (dual: feature) of each entry, 0 until m, increasing inside a coordinate. NULL for a dense matrix: N = n m, and
  // every coordinate has a value for each of its places, in order.
  const int32_t *indices;
  // N numbers, or NULL.
  const float *values32;
  // N numbers, or NULL. If both are NULL every value is 1; a dense matrix has one of the two.
  const double *values64;
} DwellMatrix;

// Columns of the data, their moments, and weights of the rows. Read only.
typedef struct DwellColumns {
  // The columns.
  struct DwellMatrix matrix;
  // n numbers: weighted mean of each column over all rows, implicit zeros included.
  const double *mean;
  // n numbers: weighted population variance about the mean.
  const double *variance;
  // n numbers: square root of the variance.
  const double *deviation;
  // m positive numbers, or NULL if every weight is 1.
  const double *weights;
} DwellColumns;

// Parameters of a round.
typedef struct DwellRound {
  // Subproblem parameter sigma', positive; the number of partitions is always safe.
  double sigma_prime;
  // L2 penalty; positive in dual rounds.
  double l2;
  // Sum S of the weights of all rows.
  double total_weight;
  // Seed of the order of the coordinates.
  uint64_t seed;
  // Least number of coordinates to visit, at least 1.
  uint64_t budget;
  // Number of the partition; each has an order of its own.
  int32_t partition;
  // Threads T, 1 to 256, which make steps on T copies of the shared vector: the result depends on T, but not on the machine.
  int32_t threads;
} DwellRound;

// Rows of the data with their labels, weights and norms, and the scale of the features. Read only.
typedef struct DwellRows {
  // The rows.
  struct DwellMatrix matrix;
  // n numbers: label y of each row; -1 or 1, or any number with the squared loss.
  const double *labels;
  // n positive numbers: weight s of each row, or NULL if every weight is 1.
  const double *weights;
  // n numbers: sum over the features of scale times the square of the row's value.
  const double *norms;
  // m numbers, at least 0: a feature's L2 penalty is l2 / scale, and with 0 its coefficient stays 0; NULL if every scale is 1.
  const double *scale;
} DwellRows;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Version of this interface; compare it with DWELL_ABI_VERSION before any other call.
int32_t dwell_abi_version(void);

// Copies the message of this thread's last failed call, cut to `capacity` bytes with the closing zero. Returns the length of the whole
// message without the zero. `buffer` may be NULL if `capacity` is 0.
//
// # Safety
// `buffer` has room for `capacity` bytes.
size_t dwell_last_error(char *buffer,
                        size_t capacity);

// Runs one round of primal CoCoA on columns for least squares with an elastic net, from coefficients that the caller keeps. There is no
// intercept.
//
// `l1`: the L1 penalty. `alpha`: n coefficients, read. `cursor`: place in the order of the coordinates, 0 at first; moved on.
// `residual`: m numbers, read. `delta`: n numbers, written: the steps. `update`: m numbers, written: the matrix times the steps.
// After an error the contents of delta and update are unspecified, and the cursor is unchanged.
//
// Returns DWELL_OK, or an error whose message `dwell_last_error` gives.
//
// # Safety
// All pointers are valid for the lengths above. No other code writes the arrays during the call. Written arrays overlap no other.
int32_t dwell_primal_round(const struct DwellColumns *columns,
                           const struct DwellRound *round,
                           double l1,
                           const double *alpha,
                           uint64_t *cursor,
                           const double *residual,
                           double *delta,
                           double *update);

// Runs one round of dual CoCoA on rows, from dual variables that the caller keeps. With the elastic net, l1 > 0, the caller shrinks
// the coefficients between rounds. There is no intercept.
//
// `loss`: one of DWELL_LOSS_... `alpha`: n dual variables, read. `cursor`: place in the order of the coordinates, 0 at first; moved on.
// `coefficients`: m numbers, read. `delta`: n numbers, written: the steps. `update`: m numbers, written: for each feature its scale
// times the sum over the rows of s / (S l2) times step times value. After an error the contents of delta and update are unspecified,
// and the cursor is unchanged.
//
// Returns DWELL_OK, or an error whose message `dwell_last_error` gives.
//
// # Safety
// All pointers are valid for the lengths above. No other code writes the arrays during the call. Written arrays overlap no other.
int32_t dwell_dual_round(const struct DwellRows *rows,
                         const struct DwellRound *round,
                         int32_t loss,
                         const double *alpha,
                         uint64_t *cursor,
                         const double *coefficients,
                         double *delta,
                         double *update);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* DWELL_H */
