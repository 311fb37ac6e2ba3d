//! Data in blocks, which their owner lends one at a time.

use std::ops::Range;

use super::error::SolverError;

/// The owner of a worker's data: a list of blocks of coordinates, at least one. Between two loans blocks may move in memory, and the owner may end the
/// work.
pub trait Blocks {
    /// A block, lent.
    type Block<'a>;
    /// Errors of the owner, and of the solver.
    type Error: From<SolverError>;

    /// The first coordinate of each block, and then the number of all coordinates.
    fn starts(&self) -> &[usize];

    /// Lends a block.
    ///
    /// # Errors
    /// Those of the work and of the owner.
    fn lend<R>(
        &mut self,
        block: usize,
        work: impl FnOnce(&Self::Block<'_>) -> Result<R, Self::Error>,
    ) -> Result<R, Self::Error>;

    /// The coordinates of a block.
    fn coordinates(&self, block: usize) -> Range<usize> {
        self.starts()[block]..self.starts()[block + 1]
    }

    /// The block of a coordinate.
    fn block_of(&self, coordinate: usize) -> usize {
        self.starts().partition_point(|&start| start <= coordinate) - 1
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

/// About how many entries a loan is for: half a millisecond of work, and more where memory is far. A killed task ends between two loans, and
/// the JVM's collector waits for the end of a loan.
pub(crate) const LOAN: usize = 1 << 18;
