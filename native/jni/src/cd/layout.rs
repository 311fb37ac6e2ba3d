//! Layout of the calls of coordinate descent. `dwell.jni.CdLayout` has the same constants, and says what each number means.

use dwell_solvers::cd;

use crate::boundary::header;

/// Version of this layout.
pub const LAYOUT_VERSION: i64 = 3;

// Flags of control.

/// Measure the parts of the duality gap.
pub const CERTIFICATE: i64 = 1;
/// Primal: columns and label are centred implicitly.
pub const CENTRED: i64 = 2;
/// Dual: labels are classes 0 and 1, for -1 and 1.
pub const CLASSES: i64 = 4;

// control.

/// `LAYOUT_VERSION`.
pub const CONTROL_VERSION: usize = 0;
/// Number of the fit.
pub const CONTROL_FIT: usize = 1;
/// Number of the partition.
pub const CONTROL_PARTITION: usize = 2;
/// Round t.
pub const CONTROL_ROUND: usize = 3;
/// Seed of the order of the coordinates.
pub const CONTROL_SEED: usize = 4;
/// Least number of coordinates to visit.
pub const CONTROL_BUDGET: usize = 5;
/// Sum of flags.
pub const CONTROL_FLAGS: usize = 6;
/// Threads.
pub const CONTROL_THREADS: usize = 7;
/// Length of the shared vector.
pub const CONTROL_VECTOR_LENGTH: usize = 8;
/// Stamp of the state that the caller expects.
pub const CONTROL_STAMP: usize = 9;
/// Code of the loss; 0 in primal calls.
pub const CONTROL_LOSS: usize = 10;
/// Length of control.
pub const CONTROL_SLOTS: usize = 11;

// settings of a primal call.

/// sigma'.
pub const PRIMAL_SIGMA_PRIME: usize = 0;
/// L1 penalty.
pub const PRIMAL_L1: usize = 1;
/// L2 penalty.
pub const PRIMAL_L2: usize = 2;
/// Sum of the weights of all rows.
pub const PRIMAL_TOTAL_WEIGHT: usize = 3;
/// Factor of the variances that standardise the penalty, or 0.
pub const PRIMAL_SCALE_FACTOR: usize = 4;
/// Verdict: factor of the pending step.
pub const PRIMAL_PENDING_FACTOR: usize = 5;
/// Verdict: factor of the last committed change.
pub const PRIMAL_PREVIOUS_FACTOR: usize = 6;
/// First point of the line search.
pub const PRIMAL_POINTS: usize = 7;

// settings of a dual call.

/// sigma'.
pub const DUAL_SIGMA_PRIME: usize = 0;
/// L2 penalty.
pub const DUAL_L2: usize = 1;
/// Sum of the weights of all rows.
pub const DUAL_TOTAL_WEIGHT: usize = 2;
/// Width of the smoothed hinge's parabola.
pub const DUAL_GAMMA: usize = 3;
/// Part of the intercept in the squared norm of every row.
pub const DUAL_INTERCEPT: usize = 4;
/// The intercept at the start of the round.
pub const DUAL_OFFSET: usize = 5;
/// Verdict: factor of the pending step.
pub const DUAL_PENDING_FACTOR: usize = 6;
/// Verdict: factor of the last committed change.
pub const DUAL_PREVIOUS_FACTOR: usize = 7;
/// Number of candidates for the intercept.
pub const DUAL_CANDIDATE_COUNT: usize = 8;
/// First candidate for the intercept; the points of the line search follow the last one.
pub const DUAL_CANDIDATES: usize = 9;

/// Most points of a line search.
pub const MAX_POINTS: usize = 24;
/// Most candidates for the intercept.
pub const MAX_CANDIDATES: usize = 16;

// Slots of a result.

/// Value at the coordinates that the call started from.
pub const VALUE_BEFORE: usize = 0;
/// Value after the step.
pub const VALUE_AFTER: usize = 1;
/// Primal certificate: sum of the penalty's conjugates.
pub const CONJUGATE: usize = 2;
/// Primal certificate: greatest ratio of correlation to L1 penalty.
pub const RATIO: usize = 3;
/// Primal certificate: greatest correlation relative to the norm of a column.
pub const CORRELATION: usize = 4;
/// Coordinates visited.
pub const COORDINATES: usize = 5;
/// Stamp of the state after the call.
pub const STAMP: usize = 9;
/// kappa.
pub const KAPPA: usize = 10;
/// Derivative along the step.
pub const SLOPE1: usize = 11;
/// Derivative along the previous step.
pub const SLOPE2: usize = 12;
/// Second derivative along the step.
pub const CURVE11: usize = 13;
/// Mixed second derivative.
pub const CURVE12: usize = 14;
/// Second derivative along the previous step.
pub const CURVE22: usize = 15;
/// First sample of the line search.
pub const SAMPLES: usize = 16;
/// First loss of the dual certificate.
pub const LOSSES: usize = SAMPLES + MAX_POINTS;

// meta of an exported or imported state.

/// Version of the state.
pub const META_VERSION: usize = 0;
/// Stamp of the state.
pub const META_STAMP: usize = 1;
/// Buckets visited since the start of the fit.
pub const META_CURSOR: usize = 2;
/// Slots that an import reads.
pub const META_IMPORTED: usize = 3;
/// Round of the pending step, or -1.
pub const META_PENDING_ROUND: usize = 3;
/// Cursor after the pending step, or 0.
pub const META_PENDING_CURSOR: usize = 4;
/// Slots that an export writes.
pub const META_SLOTS: usize = 5;

const _: () = assert!(MAX_POINTS == cd::MAX_POINTS && MAX_CANDIDATES == cd::MAX_CANDIDATES);
const _: () = assert!(LOSSES + MAX_CANDIDATES == header::FIRST_FREE);
