//! The arrays of a call in blocks, and their checks.

use dwell_solvers::{Blocks, Columns};

use crate::boundary::{
    arrays::Matrix,
    fault::Fault,
    fingerprint::{Fingerprint, KNOWN},
    partition::Partition,
};

/// About how many entries are checked in one loan.
const CHECKED: usize = 1 << 18;

/// The arrays of a block, lent.
pub struct Block<'a, P: Partition> {
    /// Number of coordinates.
    pub count: usize,
    /// The coordinates.
    pub matrix: Matrix<'a>,
    /// The arrays of doubles that belong to the matrix.
    pub fields: P::Fields<&'a [f64]>,
}

/// The owner of the arrays of a call: Java, whose arrays are pinned for each loan, or a C caller.
pub trait Caller<P: Partition>: for<'a> Blocks<Block<'a> = Block<'a, P>, Error = Fault> {
    /// A copy of the shared vector.
    ///
    /// # Errors
    /// `OutOfMemory`.
    fn shared(&mut self) -> Result<Vec<f64>, Fault>;

    /// Writes the vector of the result, of `length` numbers of 8 bytes, part by part. `write` gets the number that its part starts with, the same part of
    /// the shared vector, which is empty if the call has none, and the bytes of its part.
    ///
    /// # Errors
    /// The errors of `write`.
    fn write(
        &mut self,
        length: usize,
        write: impl FnMut(&mut Self, usize, &[u8], &mut [u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault>;
}

impl<'a, P: Partition> Block<'a, P> {
    /// The coordinates of a block that was checked: O(1).
    ///
    /// # Errors
    /// `Argument` if lengths disagree.
    pub fn columns(&self, length: usize) -> Result<Columns<'a>, Fault> {
        Ok(Columns::validated_before(
            self.matrix.known_view(self.count, length)?,
        )?)
    }
}

/// Checks the blocks that were not checked before: `sprs` the structure of a matrix, `fields` the other arrays. Coordinates have `length` places.
///
/// # Errors
/// Names array and place at fault.
pub fn check<P: Partition, C: Caller<P>>(
    caller: &mut C,
    length: usize,
    fields: impl Fn(P::Fields<&[f64]>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    for block in 0..caller.count() {
        let fingerprint = caller.lend(block, |block| {
            let fingerprint = Fingerprint::of::<P>(length, block.matrix, block.fields);
            if !KNOWN.contains(fingerprint) {
                block.columns(length)?;
                fields(block.fields)?;
            }
            Ok(fingerprint)
        })?;
        if !KNOWN.contains(fingerprint) {
            let count = caller.coordinates(block).len();
            let mut next = 0;
            while next < count {
                next = caller.lend(block, |block| match block.matrix.indices {
                    Some(_) => block.matrix.check_part(length, next, CHECKED),
                    None => block.matrix.check_values(length, next, count, CHECKED),
                })?;
            }
            KNOWN.insert(fingerprint);
        }
    }
    Ok(())
}
