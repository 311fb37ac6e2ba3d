//! The parts of a linear model's objective: losses and penalties.

pub(crate) mod feasibility;
pub(crate) mod huber;
pub(crate) mod labels;
pub mod loss;
pub(crate) mod penalty;
pub(crate) mod softmax;
