//! What the arrays of a partition are called, and how a solver takes them.

use std::convert::Infallible;

use dwell_solvers::{Columns, SolverError};

/// The arrays of a kind of calls.
pub trait Partition: Sized {
    /// Argument with the index of each entry.
    const INDICES: &'static str;
    /// The arrays of doubles beside the matrix, each of them an `A`: a reference to a Java array, or its elements.
    type Fields<A: Copy>: Copy;
    /// The arrays of a slice, as the solver takes them.
    type Data<'a>;
    /// Calls `f` with name and value of every field that is there.
    ///
    /// # Errors
    /// Of `f`.
    fn try_map<A: Copy, B: Copy, E>(
        fields: Self::Fields<A>,
        f: impl FnMut(&'static str, A) -> Result<B, E>,
    ) -> Result<Self::Fields<B>, E>;

    /// As [`Partition::try_map`], for an `f` that cannot fail and gives nothing.
    fn each<A: Copy>(fields: Self::Fields<A>, mut f: impl FnMut(&'static str, A)) {
        let Ok(_) = Self::try_map(fields, |name, field| {
            f(name, field);
            Ok::<_, Infallible>(())
        });
    }

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
}
