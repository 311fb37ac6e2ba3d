//! What a call on columns and a call on rows differ in. All else is in [`rounds`](crate::rounds), once.

use std::convert::Infallible;

use dwell_solvers::{Columns, Progress, RoundOutcome, SolverError, Verdict};
use rayon::ThreadPool;

use crate::{boundary::Fault, request::Control};

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

/// Primal or dual: names and decoding of arguments, and the solver's functions.
pub trait Orientation: Sized {
    /// Argument with the index of each entry.
    const INDICES: &'static str;
    /// Slot of `control` with the length of the shared vector.
    const LENGTH: &'static str;
    /// All flags that there are.
    const FLAGS: i64;

    /// The arrays of doubles beside the matrix, each of them an `A`: a reference to a Java array, or its elements.
    type Fields<A: Copy>: Copy;
    /// Unchecked parameters of the solver.
    type Params;
    /// The arrays of a slice, as the solver takes them.
    type Data<'a>;
    /// A round in progress.
    type Round;
    /// A product in progress.
    type Product;

    /// Calls `f` with name and value of every field that is there.
    ///
    /// # Errors
    /// Of `f`.
    fn try_map<A: Copy, B: Copy, E>(
        fields: Self::Fields<A>,
        f: impl FnMut(&'static str, A) -> Result<B, E>,
    ) -> Result<Self::Fields<B>, E>;

    /// As [`Orientation::try_map`], for an `f` that cannot fail and gives nothing.
    fn each<A: Copy>(fields: Self::Fields<A>, mut f: impl FnMut(&'static str, A)) {
        let Ok(_) = Self::try_map(fields, |name, field| {
            f(name, field);
            Ok::<_, Infallible>(())
        });
    }

    /// Names the numbers of `settings`.
    ///
    /// # Errors
    /// `Argument` names the number at fault.
    fn decode(control: &Control, settings: &[f64]) -> Result<(Self::Params, Verdict), Fault>;

    /// Checks all arrays but the entries of the matrix.
    ///
    /// # Errors
    /// Names array and place at fault.
    fn check(columns: Columns<'_>, fields: Self::Fields<&[f64]>) -> Result<(), SolverError>;

    /// For arrays that were checked: O(1).
    ///
    /// # Errors
    /// `Shape` if lengths do not fit.
    fn data<'a>(
        columns: Columns<'a>,
        fields: Self::Fields<&'a [f64]>,
    ) -> Result<Self::Data<'a>, SolverError>;

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
