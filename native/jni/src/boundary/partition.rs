//! The names of the arrays of each kind of call, and how its solver takes them.

use std::convert::Infallible;

use dwell_solvers::{Columns, SolverError};

/// A kind of call, which determines its arrays: primal, dual, model averaging or LDA.
pub trait Partition: Sized {
    /// Name of the argument with the index of each entry.
    const INDICES: &'static str;
    /// Whether that argument can be missing: the matrix is dense then.
    const DENSE: bool;
    /// The arrays of doubles that belong to the matrix. Each is an `A`: a reference to a Java array, or its elements.
    type Fields<A: Copy>: Copy;
    /// The arrays of a slice, as the solver takes them.
    type Data<'a>;
    /// Maps every present field with `f`, which gets its name and value.
    ///
    /// # Errors
    /// Those of `f`.
    fn try_map<A: Copy, B: Copy, E>(
        fields: Self::Fields<A>,
        f: impl FnMut(&'static str, A) -> Result<B, E>,
    ) -> Result<Self::Fields<B>, E>;

    /// Calls `f` with name and value of every present field.
    fn each<A: Copy>(fields: Self::Fields<A>, mut f: impl FnMut(&'static str, A)) {
        let Ok(_) = Self::try_map(fields, |name, field| {
            f(name, field);
            Ok::<_, Infallible>(())
        });
    }

    /// Checks all arrays except the entries of the matrix.
    ///
    /// # Errors
    /// The error names the array and the place at fault.
    fn check(columns: Columns<'_>, fields: Self::Fields<&[f64]>) -> Result<(), SolverError>;

    /// The data of arrays that were checked: O(1).
    ///
    /// # Errors
    /// `Shape` if lengths disagree.
    fn data<'a>(
        columns: Columns<'a>,
        fields: Self::Fields<&'a [f64]>,
    ) -> Result<Self::Data<'a>, SolverError>;
}
