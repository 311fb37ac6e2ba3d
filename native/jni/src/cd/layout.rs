//! Layout of the calls of coordinate descent: the constants of `dwell.jni.CdLayout`, which says what each number means.

use dwell_solvers::cd;

pub use crate::boundary::constants::{
    bridge::{CENTRED, CERTIFICATE, CLASSES, LAYOUT_VERSION},
    cd::*,
};
use crate::boundary::header;

const _: () = assert!(MAX_POINTS == cd::MAX_POINTS && MAX_CANDIDATES == cd::MAX_CANDIDATES);
const _: () = assert!(LOSSES + MAX_CANDIDATES == header::FIRST_FREE);
