//! The arrays of the calls of LDA.

use dwell_solvers::{Columns, SolverError, lda::Documents};

use crate::boundary::partition::Partition;

/// Coordinates are documents, whose values are counts; the shared vector is a model. There are no other arrays.
#[derive(Debug)]
pub enum Lda {}

impl Partition for Lda {
    const INDICES: &'static str = "words";
    const DENSE: bool = false;

    type Fields<A: Copy> = ();
    type Data<'a> = Documents<'a>;

    fn try_map<A: Copy, B: Copy, E>(
        (): (),
        _: impl FnMut(&'static str, A) -> Result<B, E>,
    ) -> Result<(), E> {
        Ok(())
    }

    /// Checks nothing: the counts are checked in slices, once the entries are known to be in order.
    fn check(_: Columns<'_>, (): ()) -> Result<(), SolverError> {
        Ok(())
    }

    fn data<'a>(columns: Columns<'a>, (): ()) -> Result<Documents<'a>, SolverError> {
        Documents::validated_before(columns)
    }
}
