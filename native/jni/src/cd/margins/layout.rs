//! Layout of the calls on margins: the constants of `dwell.jni.MarginLayout`, which says what each number means.

use dwell_solvers::cd;

pub use crate::boundary::constants::{bridge::MARGIN_LAYOUT_VERSION as LAYOUT_VERSION, margins::*};

const _: () = assert!(SUMS == cd::MAX_SUMS && BLOCK == cd::BLOCK);
