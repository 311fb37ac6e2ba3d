// Local solvers of Dwell. Generated from native/jni/src/capi.rs by the test native/jni/tests/header.rs: do not edit.

#ifndef DWELL_H
#define DWELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Version of this interface.
#define DWELL_ABI_VERSION 1

// Everything went well.
#define DWELL_OK 0

// The solver could not go on.
#define DWELL_ERROR_SOLVER -1

// Memory could not be allocated.
#define DWELL_ERROR_OUT_OF_MEMORY -2

// A bug of the library, or arrays that were changed during the call.
#define DWELL_ERROR_PANIC -3

// An argument is wrong; the message names it.
#define DWELL_ERROR_ARGUMENT -16

// A sparse matrix by columns, moments of its columns, and weights of its rows. Read only.
typedef struct DwellPartition {
  // Number of rows m, at most 2^31 - 1.
  int64_t rows;
  // Number of columns n.
  int64_t columns;
  // Number of stored entries N.
  int64_t entries;
  // n + 1 numbers: the entries of column i are offsets[i] until offsets[i + 1]; starts at 0, ends at N.
  const int32_t *offsets;
  // N numbers: row of each entry, increasing inside a column.
  const int32_t *indices;
  // N numbers, or NULL.
  const float *values32;
  // N numbers, or NULL. If both are NULL every value is 1.
  const double *values64;
  // n numbers: weighted mean of each column over all rows, implicit zeros included.
  const double *mean;
  // n numbers: weighted population variance about the mean.
  const double *variance;
  // n numbers: square root of the variance.
  const double *deviation;
  // m positive numbers, or NULL if every weight is 1.
  const double *weights;
} DwellPartition;

// Parameters of a round.
typedef struct DwellRound {
  // Subproblem parameter sigma', positive; the number of partitions is always safe.
  double sigma_prime;
  // L1 penalty.
  double l1;
  // L2 penalty.
  double l2;
  // Sum of the weights of all rows.
  double total_weight;
  // Factor of the variances that the penalty is standardised with; 0: it is not standardised.
  double scale_factor;
  // Seed of the order of the coordinates.
  uint64_t seed;
  // Least number of coordinates to visit, at least 1.
  uint64_t budget;
  // Number of the partition: another order for each.
  int32_t partition;
  // Threads for the certificate, at least 1.
  int32_t threads;
  // Whether columns and residual are centred implicitly.
  bool centred;
  // Whether the parts of the duality certificate are wanted.
  bool certificate;
} DwellRound;

// Numbers that a round reports.
typedef struct DwellReport {
  // Penalty at the coefficients that the call started from.
  double penalty_before;
  // Penalty after the steps.
  double penalty_after;
  // Sum of the penalty's conjugates; NaN without certificate, as the next two.
  double conjugate;
  // Greatest ratio of correlation to L1 penalty.
  double ratio;
  // Greatest correlation relative to a column's norm.
  double correlation;
  // Sum of mean times step; 0 if not centred.
  double kappa;
  // Coordinates visited.
  uint64_t coordinates;
  // Stored entries visited.
  uint64_t nonzeros;
  // Nanoseconds inside the solver.
  uint64_t nanoseconds;
} DwellReport;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Version of this interface; compare it with DWELL_ABI_VERSION before any other call.
int32_t dwell_abi_version(void);

// Copies the message of the last call of this thread that failed, cut to `capacity` bytes with the closing zero.
// Returns the length of the whole message without it. `buffer` may be NULL if `capacity` is 0.
//
// # Safety
// `buffer` has room for `capacity` bytes.
size_t dwell_last_error(char *buffer,
                        size_t capacity);

// Runs one round of primal CoCoA on a partition, from coefficients that the caller keeps.
//
// `alpha`: n coefficients, read. `cursor`: place in the order of the coordinates, 0 at first; moved on. `residual`: m numbers, read.
// `delta`: n numbers, written: the steps. `update`: m numbers, written: the matrix times the steps (centred columns if centred).
// `report`: written, may be NULL. After an error what is written is unspecified, and the cursor is as it was.
//
// Returns DWELL_OK, or an error whose message `dwell_last_error` gives.
//
// # Safety
// All pointers are valid for the lengths above, nobody writes the arrays during the call, and what is written overlaps nothing else.
int32_t dwell_primal_round(const struct DwellPartition *partition,
                           const struct DwellRound *round,
                           const double *alpha,
                           uint64_t *cursor,
                           const double *residual,
                           double *delta,
                           double *update,
                           struct DwellReport *report);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* DWELL_H */
