//! Layout of the calls of model averaging: the constants of `dwell.jni.SgdLayout`, which says what each number means.

use dwell_solvers::rows;

pub use crate::boundary::constants::{
    bridge::{
        SGD_CLASSES as CLASSES, SGD_INTERCEPT as INTERCEPT, SGD_LAYOUT_VERSION as LAYOUT_VERSION,
    },
    sgd::*,
};
use crate::boundary::header;

const _: () = assert!(MAX_FACTORS == rows::MAX_FACTORS && MAX_CANDIDATES == rows::MAX_STEP_SIZES);
const _: () = assert!(SETTING_CANDIDATES == SETTING_SLOTS);
const _: () = assert!(FACTOR + MAX_FACTORS <= header::FIRST_FREE);
const _: () = assert!(OBJECTIVES + MAX_CANDIDATES <= header::FIRST_FREE);
