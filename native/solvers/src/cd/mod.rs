//! Coordinate descent on the columns of one partition.

mod data;
mod kernel;
mod pass;
mod product;
mod round;
mod subproblem;

pub use data::PrimalData;
pub use product::PrimalProduct;
pub use round::{
    PrimalParams, PrimalRound, RoundOutcome, RoundScalars, ValidPrimalParams, Verdict,
};
pub use subproblem::{Descent, LocalSubproblem, SubproblemParams, ValidSubproblemParams};

/// Whether resumable work needs another call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The budget of this call is used up: call again.
    More,
    /// Everything is done.
    Done,
}
