//! Layout of the calls of model averaging. `dwell.jni.SgdLayout` has the same constants, and says what each number means.

use dwell_solvers::rows;

use crate::boundary::header;

/// Version of this layout.
pub const LAYOUT_VERSION: i64 = 5;

// Flags of control.

/// Steps change the intercepts.
pub const INTERCEPT: i64 = 1;
/// Labels are classes 0 and 1, which stand for -1 and 1.
pub const CLASSES: i64 = 2;

// control.

/// `LAYOUT_VERSION`.
pub const CONTROL_VERSION: usize = 0;
/// Number of the partition.
pub const CONTROL_PARTITION: usize = 1;
/// Seed of the order of the rows.
pub const CONTROL_SEED: usize = 2;
/// Features.
pub const CONTROL_FEATURES: usize = 3;
/// Code of the loss.
pub const CONTROL_LOSS: usize = 4;
/// Outputs.
pub const CONTROL_OUTPUTS: usize = 5;
/// `INTERCEPT` and `CLASSES`, or 0.
pub const CONTROL_FLAGS: usize = 6;
/// Rows to visit.
pub const CONTROL_BUDGET: usize = 7;
/// Buckets visited since the start of the fit.
pub const CONTROL_CURSOR: usize = 8;
/// Rows visited since the start of the fit.
pub const CONTROL_STEPS: usize = 9;
/// Code of the schedule.
pub const CONTROL_SCHEDULE: usize = 10;
/// Descent: threads.
pub const CONTROL_THREADS: usize = 11;
/// Length of control.
pub const CONTROL_SLOTS: usize = 12;

// settings.

/// Width of the smoothed hinge's parabola.
pub const SETTING_GAMMA: usize = 0;
/// L1 penalty.
pub const SETTING_L1: usize = 1;
/// L2 penalty.
pub const SETTING_L2: usize = 2;
/// Number of all rows over the sum of their weights.
pub const SETTING_WEIGHT_FACTOR: usize = 3;
/// Descent: first step size.
pub const SETTING_ETA0: usize = 4;
/// Rate of the schedule.
pub const SETTING_RATE: usize = 5;
/// Descent: factor of the model that it reaches.
pub const SETTING_SHARE: usize = 6;
/// Settings of every call.
pub const SETTING_SLOTS: usize = 7;
/// Search: first candidate for `eta0`.
pub const SETTING_CANDIDATES: usize = 7;

/// Most candidates of a search.
pub const MAX_CANDIDATES: usize = 24;

// Slots of a result.

/// Sum of weight times loss.
pub const LOSS_SUM: usize = 0;
/// Sum of weights.
pub const WEIGHT_SUM: usize = 1;
/// L1 norm of the shared model.
pub const L1_NORM: usize = 2;
/// Squared norm of the shared model.
pub const SQUARE_NORM: usize = 3;
/// 1 if a number was not finite.
pub const DIVERGED: usize = 4;
/// Rows visited.
pub const ROWS: usize = 5;
/// Cursor after the call.
pub const CURSOR: usize = 9;
/// Steps after the call.
pub const STEPS: usize = 10;
/// Descent: L1 norm of the model that it reaches.
pub const REACHED_L1_NORM: usize = 11;
/// Descent: squared norm of the model that it reaches.
pub const REACHED_SQUARE_NORM: usize = 12;
/// Descent: number of factors.
pub const FACTORS: usize = 13;
/// Descent: first factor.
pub const FACTOR: usize = 14;
/// Most factors.
pub const MAX_FACTORS: usize = 24;
/// Search: first objective.
pub const OBJECTIVES: usize = 14;

const _: () = assert!(MAX_FACTORS == rows::MAX_FACTORS && MAX_CANDIDATES == rows::MAX_STEP_SIZES);
const _: () = assert!(SETTING_CANDIDATES == SETTING_SLOTS);
const _: () = assert!(FACTOR + MAX_FACTORS <= header::FIRST_FREE);
const _: () = assert!(OBJECTIVES + MAX_CANDIDATES <= header::FIRST_FREE);
