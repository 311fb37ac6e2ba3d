//! Layout of the calls of LDA: the constants of `dwell.jni.LdaLayout`, which says what each number means.

use dwell_solvers::lda::shared;

pub use crate::boundary::constants::{
    bridge::{
        LDA_CONCENTRATION as CONCENTRATION, LDA_LAYOUT_VERSION as LAYOUT_VERSION,
        LDA_TOPIC_MEAN as TOPIC_MEAN,
    },
    lda::*,
};
use crate::boundary::header;

const _: () = assert!(MAX_FACTORS == shared::MAX_FACTORS);
const _: () = assert!(FACTOR + MAX_FACTORS <= header::FIRST_FREE);
