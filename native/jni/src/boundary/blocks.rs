//! The arrays of a call in blocks, and their checks.

use std::{convert::Infallible, marker::PhantomData, ops::Range};

use dwell_solvers::{Blocks, Columns, Loan};

use crate::boundary::{
    arrays::Matrix,
    fault::Fault,
    fingerprint::{Fingerprint, KNOWN},
    partition::Partition,
};

/// About how many entries are checked in one loan.
const CHECKED: usize = 1 << 18;

/// The arrays of a block, lent.
#[derive(Clone, Copy)]
pub struct Block<'a, P: Partition> {
    /// Number of coordinates.
    pub count: usize,
    /// The coordinates.
    pub matrix: Matrix<'a>,
    /// The arrays of doubles that belong to the matrix.
    pub fields: P::Fields<&'a [f64]>,
}

/// The owner of the arrays of a call: Java, whose arrays are pinned for a loan, or a C caller.
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

/// How a solver takes the blocks of a caller.
pub trait View<P: Partition> {
    /// The block of `coordinates`, which was checked: O(1).
    ///
    /// # Errors
    /// `Argument` if lengths disagree.
    fn data<'a>(
        &'a self,
        block: Block<'a, P>,
        coordinates: Range<usize>,
    ) -> Result<P::Data<'a>, Fault>;
}

/// The blocks of a caller, which were checked, as a solver takes them.
pub struct Viewed<'c, P, C, V> {
    caller: &'c mut C,
    view: &'c V,
    partition: PhantomData<P>,
}

impl<'c, P: Partition, C: Caller<P>, V: View<P>> Viewed<'c, P, C, V> {
    /// The blocks of `caller`.
    pub fn new(caller: &'c mut C, view: &'c V) -> Self {
        Self {
            caller,
            view,
            partition: PhantomData,
        }
    }
}

impl<P: Partition, C: Caller<P>, V: View<P>> Blocks for Viewed<'_, P, C, V> {
    type Block<'a> = P::Data<'a>;
    type Error = Fault;

    fn starts(&self) -> &[usize] {
        self.caller.starts()
    }

    fn lend<R>(
        &mut self,
        work: impl for<'a> FnOnce(&mut Loan<'_, P::Data<'a>, Fault>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let view = self.view;
        self.caller.lend(|loan| {
            let starts = loan.starts();
            work(&mut Loan::new(starts, &mut |block| {
                let coordinates = starts[block]..starts[block + 1];
                let Block {
                    count,
                    matrix,
                    fields,
                } = loan.block(block)?;
                // The fields live as long as the view here: the compiler does not shorten their lives by itself.
                let Ok(fields) = P::try_map(fields, |_, field| Ok::<&[f64], Infallible>(field));
                let block = Block {
                    count,
                    matrix,
                    fields,
                };
                view.data(block, coordinates)
            }))
        })
    }
}

/// Checks the blocks that were not checked before: `sprs` the structure of a matrix, then `others` all that is left. Coordinates have `length`
/// places.
///
/// # Errors
/// Names array and place at fault.
pub fn check<P: Partition, C: Caller<P>>(
    caller: &mut C,
    length: usize,
    others: impl Fn(Block<'_, P>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    for block in 0..caller.count() {
        let fingerprint = caller.lend(|loan| {
            let Block { matrix, fields, .. } = loan.block(block)?;
            Ok(Fingerprint::of::<P>(length, matrix, fields))
        })?;
        KNOWN.check(fingerprint, || {
            caller.lend(|loan| loan.block(block)?.columns(length).map(drop))?;
            let count = caller.coordinates(block).len();
            let mut next = 0;
            while next < count {
                next = caller.lend(|loan| {
                    let matrix = loan.block(block)?.matrix;
                    match matrix.indices {
                        Some(_) => matrix.check_part(length, next, CHECKED),
                        None => matrix.check_values(length, next, count, CHECKED),
                    }
                })?;
            }
            caller.lend(|loan| others(loan.block(block)?))
        })?;
    }
    Ok(())
}
