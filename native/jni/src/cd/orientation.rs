//! The differences between calls on columns and calls on rows. `rounds` holds everything that they share.

use std::{ops::Range, sync::Arc};

use dwell_solvers::{Blocks, Columns, RoundOutcome, RowNorms, SolverError, Verdict};
use rayon::ThreadPool;

use crate::{
    boundary::{blocks::Caller, fault::Fault, partition::Partition},
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

/// The rows or columns of a worker, as far as a call tells.
#[derive(Debug, Clone)]
pub struct WorkerFacts {
    /// Numbers of the shared vector.
    pub length: usize,
    /// Whether labels are classes: dual only.
    pub classes: bool,
    /// The norms of the rows, if they were computed before: dual only.
    pub norms: Option<Arc<RowNorms>>,
}

/// Primal or dual: how arguments are decoded, and the solver's functions.
pub trait Orientation: Partition {
    /// What the shared vector holds a number for, in messages.
    const VECTOR: &'static str;
    /// The flags that a call can have.
    const FLAGS: i64;

    /// Unchecked parameters of the solver.
    type Params;
    /// A round that is done.
    type Round;
    /// A product that is done.
    type Product;

    /// The parameters of the solver and the verdict on the pending step, from `control` and `settings`.
    ///
    /// # Errors
    /// `Argument` names the number at fault.
    fn decode(control: &Control, settings: &[f64]) -> Result<(Self::Params, Verdict), Fault>;

    /// Checks all arrays of a block except the entries of its matrix.
    ///
    /// # Errors
    /// Names the array and the place at fault.
    fn check(fields: Self::Fields<&[f64]>) -> Result<(), Fault>;

    /// The norms of the rows, if the solver needs them. The shared vector has `length` numbers.
    ///
    /// # Errors
    /// Those of the solver and of the caller.
    fn norms<C: Caller<Self>>(caller: &mut C, length: usize) -> Result<Option<RowNorms>, Fault>;

    /// A block of `coordinates`, which was checked: O(1).
    ///
    /// # Errors
    /// `Shape` if lengths disagree.
    fn data<'a>(
        columns: Columns<'a>,
        fields: Self::Fields<&'a [f64]>,
        coordinates: Range<usize>,
        known: &'a WorkerFacts,
    ) -> Result<Self::Data<'a>, SolverError>;

    /// Checks the parameters, and runs a round.
    ///
    /// # Errors
    /// Those of the solver and of the owner of the blocks.
    fn round<B>(
        params: &Self::Params,
        shared: Vec<f64>,
        start: RoundStart<'_>,
        blocks: &mut B,
        pool: Option<&ThreadPool>,
    ) -> Result<Self::Round, Fault>
    where
        B: for<'a> Blocks<Block<'a> = Self::Data<'a>, Error = Fault>;

    /// Writes the update from number `first` on. `shared`: the same numbers of the shared vector.
    ///
    /// # Errors
    /// Those of the solver.
    fn write_update(
        round: &Self::Round,
        data: &Self::Data<'_>,
        first: usize,
        shared: &[u8],
        out: &mut [u8],
    ) -> Result<(), SolverError>;

    /// The outcome of a round that started from `alpha`.
    ///
    /// # Errors
    /// Those of the solver.
    fn finish(round: Self::Round, alpha: &[f64]) -> Result<RoundOutcome, SolverError>;

    /// Checks the parameters, and computes the product with `alpha`, a vector of `length` numbers.
    ///
    /// # Errors
    /// Those of the solver and of the owner of the blocks.
    fn product<B>(
        params: &Self::Params,
        length: usize,
        alpha: &[f64],
        blocks: &mut B,
    ) -> Result<Self::Product, Fault>
    where
        B: for<'a> Blocks<Block<'a> = Self::Data<'a>, Error = Fault>;

    /// Writes the product from number `first` on.
    ///
    /// # Errors
    /// Those of the solver.
    fn write_product(
        product: &Self::Product,
        first: usize,
        out: &mut [u8],
    ) -> Result<(), SolverError>;

    /// The separable part of the objective, kappa with alpha in place of the step, and the entries of coordinates that are not 0.
    fn product_scalars(product: &Self::Product) -> (f64, f64, u64);
}
