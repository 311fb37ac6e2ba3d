//! Arithmetic on sixteen numbers at a time, with the instructions of the processor.

mod instructions;
#[cfg(target_arch = "aarch64")]
mod neon;
mod number;
mod operations;
mod portable;
mod real;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use crate::base::instructions::Kernel;
pub use number::Number;
pub use real::Real;

pub(super) use operations::{Block, LANES, Lanes, WithLanes, blocks};
