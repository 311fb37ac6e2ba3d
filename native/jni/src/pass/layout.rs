//! Layout of a pass over rows. `dwell.jni.PassLayout` has the same constants, and says what each number means.

use crate::boundary::header;

/// Version of this layout.
pub const LAYOUT_VERSION: i64 = 7;

// Flags of control.

/// Rows have a last entry 1.
pub const INTERCEPT: i64 = 1;
/// Sum the gradient.
pub const GRADIENT: i64 = 2;
/// Sum the moments of the features.
pub const MOMENTS: i64 = 4;
/// Rows where a loss with a scale is linear count in the Hessian by the parabola above it.
pub const MAJORISE: i64 = 8;
/// Earlier models shift the hinge's corner for each row.
pub const PROXIMAL: i64 = 16;
/// Sum the Hessian.
pub const HESSIAN: i64 = 32;

// control.

/// `LAYOUT_VERSION`.
pub const CONTROL_VERSION: usize = 0;
/// Code of the loss.
pub const CONTROL_LOSS: usize = 1;
/// Sum of flags.
pub const CONTROL_FLAGS: usize = 2;
/// Outputs of the loss.
pub const CONTROL_OUTPUTS: usize = 3;
/// Bits of the number of a loss that has one.
pub const CONTROL_PARAMETER: usize = 4;
/// Features of a row.
pub const CONTROL_FEATURES: usize = 5;
/// Length of control.
pub const CONTROL_SLOTS: usize = 6;

// Slots of a result.

/// Sum of weight times loss.
pub const LOSS_SUM: usize = 0;
/// Largest reach of a row.
pub const REACH: usize = 1;
/// Rows visited.
pub const ROWS: usize = 2;
/// Of each class, -1 and 1: sum of weight times size of the slope.
pub const SLOPES: usize = 9;
/// Of each class: sum of weight times the square of the slope.
pub const SLOPE_SQUARES: usize = 11;
/// Of a proximal pass: sum of weight times hinge.
pub const HINGE_SUM: usize = 13;
/// First of the losses at the steps.
pub const LOSSES: usize = 16;
/// Most steps.
pub const MAX_STEPS: usize = 32;

/// Most layers of a network.
pub const MAX_LAYERS: usize = 1024;

const _: () = assert!(LOSSES + MAX_STEPS <= header::FIRST_FREE);
