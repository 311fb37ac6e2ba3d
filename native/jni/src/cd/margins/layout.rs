//! Layout of the calls on margins. `dwell.jni.MarginLayout` has the same constants, and says what each number means.

use dwell_solvers::cd;

/// Version of this layout.
pub const LAYOUT_VERSION: i64 = 1;

// control.

/// `LAYOUT_VERSION`.
pub const CONTROL_VERSION: usize = 0;
/// Code of the operation.
pub const CONTROL_OPERATION: usize = 1;
/// Code of the loss.
pub const CONTROL_LOSS: usize = 2;
/// Threads.
pub const CONTROL_THREADS: usize = 3;
/// Length of control.
pub const CONTROL_SLOTS: usize = 4;

// Operations.

/// Writes the residuals.
pub const RESIDUALS: i64 = 0;
/// Writes the losses, and adds them up.
pub const LOSSES: i64 = 1;
/// Adds up the derivatives by the intercept.
pub const SLOPES: i64 = 2;
/// Adds up value and derivatives at a step.
pub const ALONG: i64 = 3;
/// Adds up the conjugates.
pub const CONJUGATES: i64 = 4;
/// Moves the margins.
pub const MOVE: i64 = 5;

// settings.

/// Width of the smoothed hinge.
pub const SETTING_GAMMA: usize = 0;
/// Intercept.
pub const SETTING_INTERCEPT: usize = 1;
/// The operation's first number.
pub const SETTING_FIRST: usize = 2;
/// The operation's second number.
pub const SETTING_SECOND: usize = 3;
/// Length of settings.
pub const SETTING_SLOTS: usize = 4;

// sums of `LOSSES`.

/// Losses.
pub const LOSS: usize = 0;
/// Squares of the derivatives.
pub const SLOPE_SQUARES: usize = 1;
/// Derivatives times labels.
pub const SLOPE_LABELS: usize = 2;

// sums of `SLOPES`.

/// Derivatives.
pub const SLOPE: usize = 0;
/// Absolute values of the derivatives.
pub const SLOPE_SIZES: usize = 1;
/// Second derivatives.
pub const CURVE: usize = 2;

// sums of `ALONG`.

/// Change of the losses.
pub const CHANGE: usize = 0;
/// Derivative along the update.
pub const SLOPE1: usize = 1;
/// Derivative along the direction.
pub const SLOPE2: usize = 2;
/// Second derivative along the update.
pub const CURVE11: usize = 3;
/// Mixed second derivative.
pub const CURVE12: usize = 4;
/// Second derivative along the direction.
pub const CURVE22: usize = 5;

// sums of `CONJUGATES`.

/// With the first number.
pub const CONJUGATE1: usize = 0;
/// With the second number.
pub const CONJUGATE2: usize = 1;

/// Length of sums.
pub const SUMS: usize = 6;

/// Rows whose terms are added before any other sum is taken.
pub const BLOCK: usize = 4096;

const _: () = assert!(SUMS == cd::MAX_SUMS && BLOCK == cd::BLOCK);
