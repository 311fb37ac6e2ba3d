//! The local solvers of Dwell: pure functions on views, which know nothing of Spark or of the JVM.
//!
//! A matrix is a [`MatrixView`]: a view of `ndarray` if it is dense, of `sprs` if it is sparse. `sprs` checks the structure of a sparse view
//! when it is made. [`Columns`] are a matrix whose values are known to be finite. No solver copies a matrix.
//!
//! [`cd`] is coordinate descent, the local solver of CoCoA, in two forms. **Primal**: least squares with an elastic net, by columns,
//!
//! ```text
//! F(a) = 1/(2S) sum_j s_j r_j^2 + sum_i [ l1_i |a_i| + l2_i a_i^2 / 2 ],   r = y - sum_i a_i c_i
//! ```
//!
//! The primal form also serves any smooth loss: the caller sends minus its derivative, divided by its curvature, as r.
//!
//! **Dual**: any [`Loss`] with an L2 penalty, by rows,
//!
//! ```text
//! O(a) = (1/S) sum_i s_i loss*(-a_i) + sum_j l2 w_j^2 / (2 scale_j),   w_j = scale_j sum_i s_i a_i x_ij / (S l2)
//! ```
//!
//! | symbol | meaning | shape |
//! |---|---|---|
//! | m | rows | |
//! | n | columns (features) | |
//! | K | partitions: of columns (primal) or rows (dual) | |
//! | s, S | row weights (all positive; absent: all 1) and their sum | m |
//! | c_i | column i; `centred`: c_i - mean_i 1, which is never formed | m |
//! | x_i | row i; with an intercept x_i - mean, which is never formed | n |
//! | r | residual at the start of the round; `centred`: of centred labels, so that sum_j s_j r_j = 0 | m |
//! | w | coefficients at the start of the round | n |
//! | a (alpha) | coefficients of the columns, or dual variables of the rows, of this partition | |
//! | sigma' | weight of the quadratic term of the local model: K is always safe | |
//!
//! Source: Smith, Forte, Ma, Takac, Jordan, Jaggi, "CoCoA: A General Framework for Communication-Efficient Distributed
//! Optimization", JMLR 18(230), 2018: problems (A) and (B), local subproblem (10), algorithm 1.
//!
//! [`pass`] sums losses, gradients and Hessians over rows, for Newton's method, L-BFGS and certificates; [`newton`] is the quadratic model,
//! [`rows`] local SGD, the local solver of MA-SGD, [`lda`] variational inference, that of MA-LDA, [`network`] the losses of feed-forward
//! networks, and local SGD of them. [`problem`] holds losses and penalties.
//!
//! Data come in blocks, which their owner lends for half a millisecond at a time: see [`Blocks`]. The order of every sum is fixed: results do not depend on the
//! number of threads in the pool, nor steps on how coordinates are cut into blocks.

#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod base;
pub mod cd;
pub mod facts;
pub mod lda;
pub mod network;
pub mod newton;
pub mod pass;
pub mod problem;
pub mod rows;

pub use base::{
    blocks::{Blocks, Loan},
    error::SolverError,
    matrix::{Columns, MatrixView, Values},
    moments::ColumnMoments,
    order,
    views::{Kind, Views},
};
pub use cd::{
    DualData, DualParams, DualProduct, DualRound, DualSubproblemParams, PrimalData, PrimalParams,
    PrimalProduct, PrimalRound, RoundOutcome, RoundScalars, RowNorms, Samples, ValidDualParams,
    ValidPrimalParams, Verdict,
};
pub use facts::{FeatureSums, SUMS};
pub use problem::{
    data::{LabelledRows, SgdData},
    feasibility::Feasibility,
    huber::Huber,
    labels::Labels,
    loss::Loss,
    penalty::{ColumnPenalty, ElasticNet, ElasticNetParams},
    softmax::RowLoss,
};
pub use rows::{
    Schedule, ScheduleKind, SearchOutcome, SearchParams, SgdOutcome, SgdParams, SgdProblem,
    SgdRound, SgdScalars, search_step_size,
};
