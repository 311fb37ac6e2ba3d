//! Blocks that are all in place.

use super::{
    blocks::{Blocks, Loan},
    error::SolverError,
};

/// A kind of block.
pub trait Kind {
    /// A block.
    type Data<'a>: Copy;

    /// Number of coordinates of a block.
    fn count(data: &Self::Data<'_>) -> usize;
}

/// The blocks of a caller whose data do not move. There is at least one.
#[derive(Debug)]
pub struct Views<'v, K: Kind> {
    blocks: &'v [K::Data<'v>],
    starts: Vec<usize>,
}

impl<'v, K: Kind> Views<'v, K> {
    /// The blocks in their order.
    ///
    /// # Errors
    /// `Shape` if there is none.
    pub fn new(blocks: &'v [K::Data<'v>]) -> Result<Self, SolverError> {
        if blocks.is_empty() {
            return Err(SolverError::Shape("there is no block".into()));
        }
        let mut starts = vec![0];
        for block in blocks {
            starts.push(starts[starts.len() - 1] + K::count(block));
        }
        Ok(Self { blocks, starts })
    }
}

impl<K: Kind> Blocks for Views<'_, K> {
    type Block<'a> = K::Data<'a>;
    type Error = SolverError;

    fn starts(&self) -> &[usize] {
        &self.starts
    }

    fn lend<R>(
        &mut self,
        work: impl for<'a> FnOnce(&mut Loan<'_, K::Data<'a>, SolverError>) -> Result<R, SolverError>,
    ) -> Result<R, SolverError> {
        let blocks = self.blocks;
        work(&mut Loan::new(&self.starts, &mut |block| Ok(blocks[block])))
    }
}
