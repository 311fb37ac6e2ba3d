//! The differences between calls on columns and calls on rows. `rounds` holds everything that they share.

use dwell_solvers::{Progress, RoundOutcome, SolverError, Verdict};
use rayon::ThreadPool;

use crate::{
    boundary::{fault::Fault, partition::Partition},
    cd::numbers::Control,
};

/// The part of a worker state that a round starts from.
#[derive(Debug, Clone, Copy)]
pub struct RoundStart<'a> {
    /// One number for each coordinate.
    pub alpha: &'a [f64],
    /// The change of alpha by the last commit.
    pub previous: &'a [f64],
    /// Buckets visited since the start of the fit.
    pub cursor: u64,
}

/// Numbers that a product reports.
#[derive(Debug, Clone, Copy)]
pub struct ProductScalars {
    /// The separable part of the objective.
    pub value: f64,
    /// As in a round, with alpha in place of the step.
    pub kappa: f64,
    /// Stored entries of the coordinates.
    pub nonzeros: u64,
}

/// Primal or dual: how arguments are decoded, and the solver's functions.
pub trait Orientation: Partition {
    /// What the shared vector holds a number for, in messages.
    const VECTOR: &'static str;
    /// The flags that a call can have.
    const FLAGS: i64;

    /// Unchecked parameters of the solver.
    type Params;
    /// A round in progress.
    type Round;
    /// A product in progress.
    type Product;

    /// The parameters of the solver and the verdict on the pending step, from `control` and `settings`.
    ///
    /// # Errors
    /// `Argument` names the number at fault.
    fn decode(control: &Control, settings: &[f64]) -> Result<(Self::Params, Verdict), Fault>;

    /// Checks the parameters, and begins a round.
    ///
    /// # Errors
    /// Those of the solver.
    fn round(
        params: &Self::Params,
        length: usize,
        start: RoundStart<'_>,
    ) -> Result<Self::Round, SolverError>;

    /// Works on for about `units`.
    ///
    /// # Errors
    /// Those of the solver.
    fn advance(
        round: &mut Self::Round,
        data: &Self::Data<'_>,
        shared: &[u8],
        units: usize,
        pool: Option<&ThreadPool>,
    ) -> Result<Progress, SolverError>;

    /// Writes the update from number `first` on.
    ///
    /// # Errors
    /// Those of the solver.
    fn write_update(
        round: &Self::Round,
        data: &Self::Data<'_>,
        shared: &[u8],
        first: usize,
        out: &mut [u8],
    ) -> Result<(), SolverError>;

    /// Ends a round that started from `alpha`.
    ///
    /// # Errors
    /// Those of the solver.
    fn finish(round: Self::Round, alpha: &[f64]) -> Result<RoundOutcome, SolverError>;

    /// Checks the parameters, and begins a product with `alpha`.
    ///
    /// # Errors
    /// Those of the solver.
    fn product(
        params: &Self::Params,
        length: usize,
        alpha: &[f64],
    ) -> Result<Self::Product, SolverError>;

    /// Works on for about `units`.
    ///
    /// # Errors
    /// Those of the solver.
    fn advance_product(
        product: &mut Self::Product,
        data: &Self::Data<'_>,
        units: usize,
    ) -> Result<Progress, SolverError>;

    /// Writes the product from number `first` on.
    ///
    /// # Errors
    /// Those of the solver.
    fn write_product(
        product: &Self::Product,
        first: usize,
        out: &mut [u8],
    ) -> Result<(), SolverError>;

    /// The numbers of a product that is done.
    ///
    /// # Errors
    /// Those of the solver.
    fn product_scalars(product: &Self::Product) -> Result<ProductScalars, SolverError>;
}
