//! What a linear model's problem is made of: loss and penalty.

pub(crate) mod feasibility;
pub(crate) mod labels;
pub mod loss;
pub(crate) mod penalty;
pub(crate) mod softmax;
