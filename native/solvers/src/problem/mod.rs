//! What a linear model's problem is made of: loss and penalty.

pub mod loss;
pub(crate) mod penalty;
