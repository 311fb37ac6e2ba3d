//! Coordinate descent on the columns (primal) or on the rows (dual) of one partition.
//!
//! # The path of an entry `x_ij` through the files
//!
//! ```text
//! round.rs        Round::descend_alone         takes a bucket of coordinates; a loan of their blocks serves many buckets
//! local.rs        Local::descend               checks shapes (with threads team.rs starts below, once for each copy of the vector)
//! base/kernel.rs    with_entries               chooses E: sparse or dense, the type of the values, and for dense ones the instructions
//! local.rs          Descend::run<E>            chooses WEIGHTED: whether the entries of the vector have weights
//! primal.rs           Subproblem::descend      chooses CENTRED, and makes the rule of a step (for rows: dual.rs)
//! steps.rs              Span::descend          starts the walk
//! base/sparse.rs        Entries::walk          loops over the coordinates; chooses L, 1 to 8 entries or any number (base/dense.rs: all)
//! steps.rs                Visitor::short<L>    one step on L entries; Visitor::column on any number:
//! base/sparse.rs            Column::dot        sum_j x_ij w_j
//! primal.rs                 Rule::minimise     the new variable
//! base/sparse.rs            Column::subtract   w_j -= step x_ij
//! ```
//!
//! A choice has one answer for a whole bucket, or for a run of coordinates of one length, so it must not be a test inside the loop. Each
//! file on the path turns the choice that it knows into a type or a constant and calls the next one. The compiler then makes one loop for
//! each combination of answers: this is why the path leaves files and comes back to them.

mod data;
mod dual;
mod local;
mod margins;
mod norms;
mod pass;
mod primal;
mod product;
mod round;
mod steps;
mod subproblem;
mod sums;
mod team;

pub use data::{DualData, PrimalData, Samples};
pub use dual::{ConjugateLoss, DualSubproblemParams, ValidDualSubproblemParams};
pub use local::{Local, LocalDualSubproblem, LocalSubproblem};
pub use margins::{BLOCK, MAX_SUMS, MarginCall, MarginSlice, Operation};
pub use norms::RowNorms;
pub use primal::{SubproblemParams, ValidSubproblemParams};
pub use product::{DualProduct, PrimalProduct, Product};
pub use round::{
    DualParams, DualRound, PrimalParams, PrimalRound, Round, RoundOutcome, RoundScalars,
    ValidDualParams, ValidParams, ValidPrimalParams, Verdict,
};
pub use steps::Descent;
pub use subproblem::Separable;
pub use sums::{MAX_CANDIDATES, MAX_POINTS};
