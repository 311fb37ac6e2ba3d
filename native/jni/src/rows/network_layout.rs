//! Layout of the descent of a network: the constants of `dwell.jni.NetworkLayout`, which says what each number means. Results have the slots
//! of [`layout`](super::layout).

pub use crate::boundary::constants::{
    bridge::NETWORK_LAYOUT_VERSION as LAYOUT_VERSION, network::*,
};
