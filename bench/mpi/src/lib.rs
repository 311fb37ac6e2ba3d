//! CoCoA+ (adding, sigma' = K) on columns, one rank for each partition, with the local solver of Dwell and as little around it as possible:
//! the yardstick for the cost of Spark.
//!
//! ```text
//! F(a) = 1/(2S) sum_j (y_j - z_j)^2 + sum_i [ l1 |a_i| + l2 a_i^2 / 2 ],   z = A a
//! ```
//!
//! A round exchanges only one sum over all ranks. Every rank computes margins, residual and objective from it.
//!
//! MA-SGD on rows works in the same way: see [`average`].

#![forbid(unsafe_code)]

mod averaging;
mod directory;
mod failure;
mod options;
mod report;
mod rounds;
mod row_directory;
mod sgd_options;
mod world;

pub use averaging::{Checkpoint, average};
pub use directory::{Partition, Problem, ValueType, read_labels};
pub use failure::Failure;
pub use options::Options;
pub use report::to_json;
pub use rounds::{Certificates, Exchange, Fit, Ranks, Round, Worker, empty_round, fit};
pub use row_directory::{RowPartition, RowProblem};
pub use sgd_options::SgdOptions;
pub use world::{World, run};
