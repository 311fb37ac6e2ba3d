//! What is known of data before the first round: sums over the nonzeros of each feature.
//!
//! Differences are taken from a first value of the feature (the shifted data algorithm of Chan, Golub and LeVeque, "Algorithms for computing
//! the sample variance", 1983), so that one visit of the data is enough, and a feature that has one value throughout has sums of exactly 0.

mod add;
mod dense;
mod rows;
pub mod sums;
#[cfg(test)]
mod tests;

pub use sums::{FeatureSums, SUMS};
