//! Coordinate descent on the columns or on the rows of one partition.

mod data;
mod dual;
mod local;
mod pass;
mod primal;
mod product;
mod round;
mod steps;
mod subproblem;
mod sums;
mod team;

pub use data::{DualData, PrimalData, Samples};
pub use dual::{DualSubproblemParams, ValidDualSubproblemParams};
pub use local::{Local, LocalDualSubproblem, LocalSubproblem};
pub use primal::{SubproblemParams, ValidSubproblemParams};
pub use product::{DualProduct, PrimalProduct, Product};
pub use round::{
    DualParams, DualRound, PrimalParams, PrimalRound, Round, RoundOutcome, RoundScalars,
    ValidDualParams, ValidParams, ValidPrimalParams, Verdict,
};
pub use steps::Descent;
pub use sums::{MAX_CANDIDATES, MAX_POINTS};
