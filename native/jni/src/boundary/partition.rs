//! The names of the arrays of each kind of call, and how its solver takes them.

use std::convert::Infallible;

/// A kind of call, which determines its arrays: primal, dual or model averaging.
pub trait Partition: Copy {
    /// Name of the argument with the index of each entry.
    const INDICES: &'static str;
    /// Whether that argument can be missing: the matrix is dense then.
    const DENSE: bool;
    /// The arrays of doubles that belong to the matrix. Each is an `A`: a reference to a Java array, or its elements.
    type Fields<A: Copy>: Copy;
    /// A block, as the solver takes it.
    type Data<'a>: Copy;

    /// Maps every present field with `f`, which gets its name and value.
    ///
    /// # Errors
    /// Those of `f`.
    fn try_map<A: Copy, B: Copy, E>(
        fields: Self::Fields<A>,
        f: impl FnMut(&'static str, A) -> Result<B, E>,
    ) -> Result<Self::Fields<B>, E>;

    /// The fields that are there.
    ///
    /// # Errors
    /// The name of a field that must be there.
    fn present<A: Copy>(fields: Self::Fields<Option<A>>) -> Result<Self::Fields<A>, &'static str>;

    /// Calls `f` with name and value of every present field.
    fn each<A: Copy>(fields: Self::Fields<A>, mut f: impl FnMut(&'static str, A)) {
        let Ok(_) = Self::try_map(fields, |name, field| {
            f(name, field);
            Ok::<_, Infallible>(())
        });
    }
}
