//! The parts of an objective, losses and penalties; the rows that they are taken on, and models as they travel.

pub(crate) mod data;
pub(crate) mod feasibility;
pub(crate) mod huber;
pub(crate) mod labels;
pub mod loss;
pub(crate) mod penalty;
pub(crate) mod softmax;
pub(crate) mod vector;
