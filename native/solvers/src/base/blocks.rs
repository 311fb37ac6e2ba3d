//! Data in blocks, which their owner lends for a bounded amount of work.

use std::ops::Range;

use super::error::SolverError;

/// The owner of a worker's data: a list of blocks of coordinates, at least one. Between two loans blocks may move in memory, and the owner may end the
/// work.
pub trait Blocks {
    /// A block, lent.
    type Block<'a>: Copy;
    /// Errors of the owner, and of the solver.
    type Error: From<SolverError>;

    /// The first coordinate of each block, and then the number of all coordinates.
    fn starts(&self) -> &[usize];

    /// Lends blocks to `work`, which returns once the loan [is over](Loan::is_over).
    ///
    /// # Errors
    /// Those of the work and of the owner.
    fn lend<R>(
        &mut self,
        work: impl for<'a> FnOnce(&mut Loan<'_, Self::Block<'a>, Self::Error>) -> Result<R, Self::Error>,
    ) -> Result<R, Self::Error>;

    /// The coordinates of a block.
    fn coordinates(&self, block: usize) -> Range<usize> {
        self.starts()[block]..self.starts()[block + 1]
    }

    /// The block of a coordinate.
    fn block_of(&self, coordinate: usize) -> usize {
        block_of(self.starts(), coordinate)
    }

    /// Number of blocks.
    fn count(&self) -> usize {
        self.starts().len() - 1
    }

    /// Number of coordinates.
    fn len(&self) -> usize {
        self.starts()[self.count()]
    }

    /// Whether there are no coordinates.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn block_of(starts: &[usize], coordinate: usize) -> usize {
    starts.partition_point(|&start| start <= coordinate) - 1
}

/// About how many units of work a loan is for, an entry each: half a millisecond, and more where memory is far. A killed task ends between two loans,
/// and the JVM's collector waits for the end of a loan.
pub(crate) const LOAN: usize = 1 << 18;

/// The work on a coordinate beside its entries: a loss and its derivative, or a step.
pub(crate) const COORDINATE: usize = 1 << 4;

/// The work that it takes an owner to lend one more block and to take it back: about a microsecond.
const ONE_MORE: usize = 1 << 9;

/// A loan. Its owner lends a block when it is asked for first, and takes all of them back when the loan ends.
pub struct Loan<'l, B, E> {
    starts: &'l [usize],
    lender: &'l mut dyn FnMut(usize) -> Result<B, E>,
    /// For each block its place among those lent, counted from 1; 0 if it is not lent.
    places: Vec<u32>,
    lent: Vec<B>,
    left: usize,
}

impl<'l, B: Copy, E> Loan<'l, B, E> {
    /// A loan of blocks that start at `starts`. `lender` lends a block, once.
    pub fn new(starts: &'l [usize], lender: &'l mut dyn FnMut(usize) -> Result<B, E>) -> Self {
        Self {
            starts,
            lender,
            places: vec![0; starts.len() - 1],
            lent: Vec::new(),
            left: LOAN,
        }
    }

    /// See [`Blocks::starts`].
    pub fn starts(&self) -> &'l [usize] {
        self.starts
    }

    /// A block.
    ///
    /// # Errors
    /// Those of the owner.
    pub fn block(&mut self, block: usize) -> Result<B, E> {
        if self.places[block] == 0 {
            self.lent.push((self.lender)(block)?);
            self.places[block] = self.lent.len() as u32;
            self.spend(ONE_MORE);
        }
        Ok(self.lent[self.places[block] as usize - 1])
    }

    /// The block of a coordinate, and its coordinates.
    ///
    /// # Errors
    /// Those of the owner.
    pub fn at(&mut self, coordinate: usize) -> Result<(B, Range<usize>), E> {
        let block = block_of(self.starts, coordinate);
        let own = self.starts[block]..self.starts[block + 1];
        Ok((self.block(block)?, own))
    }

    /// Counts units of work.
    pub fn spend(&mut self, units: usize) {
        self.left = self.left.saturating_sub(units);
    }

    /// Units of work that are left.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Whether the work has to end. Never before the first unit.
    pub fn is_over(&self) -> bool {
        self.left == 0
    }
}
