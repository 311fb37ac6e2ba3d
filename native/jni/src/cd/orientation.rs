//! What a call on columns and a call on rows differ in. All else is in [`rounds`](crate::cd::rounds), once.

use dwell_solvers::{Progress, RoundOutcome, SolverError, Verdict};
use rayon::ThreadPool;

use crate::{boundary::fault::Fault, boundary::partition::Partition, cd::request::Control};

/// Where a round starts from.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    /// One number for each coordinate.
    pub alpha: &'a [f64],
    /// What the last commit added to alpha.
    pub previous: &'a [f64],
    pub cursor: u64,
}

/// Numbers that a product reports.
#[derive(Debug, Clone, Copy)]
pub struct ProductScalars {
    /// The separable part of the objective.
    pub value: f64,
    pub kappa: f64,
    /// Entries of the coordinates that were added.
    pub nonzeros: u64,
}

/// Primal or dual: decoding of arguments, and the solver's functions.
pub trait Orientation: Partition {
    /// Slot of `control` with the length of the shared vector.
    const LENGTH: &'static str;
    /// All flags that there are.
    const FLAGS: i64;

    /// Unchecked parameters of the solver.
    type Params;
    /// A round in progress.
    type Round;
    /// A product in progress.
    type Product;

    /// Names the numbers of `settings`.
    ///
    /// # Errors
    /// `Argument` names the number at fault.
    fn decode(control: &Control, settings: &[f64]) -> Result<(Self::Params, Verdict), Fault>;

    /// Checks the parameters, and begins a round.
    ///
    /// # Errors
    /// Of the solver.
    fn round(
        params: &Self::Params,
        length: usize,
        start: Start<'_>,
    ) -> Result<Self::Round, SolverError>;

    /// Works on for about `units`.
    ///
    /// # Errors
    /// Of the solver.
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
    /// Of the solver.
    fn write_update(
        round: &Self::Round,
        data: &Self::Data<'_>,
        shared: &[u8],
        first: usize,
        out: &mut [u8],
    ) -> Result<(), SolverError>;

    /// Ends a round from `alpha`.
    ///
    /// # Errors
    /// Of the solver.
    fn finish(round: Self::Round, alpha: &[f64]) -> Result<RoundOutcome, SolverError>;

    /// Checks the parameters, and begins a product with `alpha`.
    ///
    /// # Errors
    /// Of the solver.
    fn product(
        params: &Self::Params,
        length: usize,
        alpha: &[f64],
    ) -> Result<Self::Product, SolverError>;

    /// Works on for about `units`.
    ///
    /// # Errors
    /// Of the solver.
    fn advance_product(
        product: &mut Self::Product,
        data: &Self::Data<'_>,
        units: usize,
    ) -> Result<Progress, SolverError>;

    /// Writes the product from number `first` on.
    ///
    /// # Errors
    /// Of the solver.
    fn write_product(
        product: &Self::Product,
        first: usize,
        out: &mut [u8],
    ) -> Result<(), SolverError>;

    /// The numbers of a product that is done.
    ///
    /// # Errors
    /// Of the solver.
    fn product_scalars(product: &Self::Product) -> Result<ProductScalars, SolverError>;
}
