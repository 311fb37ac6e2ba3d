//! Layout of a pass over rows: the constants of `dwell.jni.PassLayout`, which says what each number means.

pub use crate::boundary::constants::{
    bridge::{
        PASS_GRADIENT as GRADIENT, PASS_HESSIAN as HESSIAN, PASS_INTERCEPT as INTERCEPT,
        PASS_LAYOUT_VERSION as LAYOUT_VERSION, PASS_MAJORISE as MAJORISE, PASS_MOMENTS as MOMENTS,
        PASS_PROXIMAL as PROXIMAL,
    },
    pass::*,
};
use crate::boundary::header;

const _: () = assert!(LOSSES + MAX_STEPS <= header::FIRST_FREE);
