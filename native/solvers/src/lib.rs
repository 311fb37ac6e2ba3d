//! Local solvers of Dwell: pure functions on slices, without knowledge of where the slices come from.
//!
//! One problem for now, least squares with an elastic net, solved by columns (the primal form of CoCoA):
//!
//! ```text
//! F(a) = 1/(2S) sum_j s_j r_j^2 + sum_i [ l1_i |a_i| + l2_i a_i^2 / 2 ],   r = y - sum_i a_i c_i
//! ```
//!
//! | symbol | meaning | shape |
//! |---|---|---|
//! | m | rows | |
//! | n | columns of this partition | |
//! | K | partitions | |
//! | s, S | row weights (all positive; absent: all 1) and their sum | m |
//! | c_i | column i; `centred`: c_i - mean_i 1 stands in its place, without ever being formed | m |
//! | r | residual at the start of the round; `centred`: of centred labels, so that sum_j s_j r_j = 0 | m |
//! | a (alpha) | coefficients of the columns of this partition | n |
//! | sigma' | weight of the quadratic term of the local model: K is always safe | |
//!
//! Source: Smith, Forte, Ma, Takac, Jordan, Jaggi, "CoCoA: A General Framework for Communication-Efficient Distributed
//! Optimization", JMLR 18(230), 2018: problem (A), local subproblem (10), algorithm 1.
//!
//! Results do not depend on how the work is cut into slices, nor on the number of threads: the order of every sum is fixed.

#![forbid(unsafe_code)]

pub mod cd;
mod columns;
mod error;
mod moments;
pub mod order;
mod penalty;

pub use cd::{
    PrimalData, PrimalParams, PrimalProduct, PrimalRound, Progress, RoundOutcome, RoundScalars,
    ValidPrimalParams, Verdict,
};
pub use columns::{Columns, Values};
pub use error::SolverError;
pub use moments::ColumnMoments;
pub use penalty::{ColumnPenalty, ElasticNet, ElasticNetParams};
