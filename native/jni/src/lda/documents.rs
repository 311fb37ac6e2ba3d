//! Blocks of documents.

use dwell_solvers::{Blocks, Columns, lda::Documents};

use crate::boundary::{
    blocks::Block,
    fault::Fault,
    fingerprint::{Fingerprint, KNOWN},
    partition::Partition,
};

/// Coordinates are documents, whose values are counts; the shared vector is a model. There are no other arrays.
#[derive(Debug)]
pub enum Lda {}

impl Partition for Lda {
    const INDICES: &'static str = "words";
    const DENSE: bool = false;

    type Fields<A: Copy> = ();

    fn try_map<A: Copy, B: Copy, E>(
        (): (),
        _: impl FnMut(&'static str, A) -> Result<B, E>,
    ) -> Result<(), E> {
        Ok(())
    }

    fn present<A: Copy>((): ()) -> Result<(), &'static str> {
        Ok(())
    }
}

/// The documents of the blocks of a caller, which were checked.
pub struct Counts<'c, B> {
    blocks: &'c mut B,
    vocabulary: usize,
}

impl<'c, B> Counts<'c, B>
where
    B: for<'a> Blocks<Block<'a> = Block<'a, Lda>, Error = Fault>,
{
    /// Checks the blocks that were not checked before: their structure, and that the counts are counts.
    ///
    /// # Errors
    /// `Argument` names the array and the place at fault.
    pub fn new(blocks: &'c mut B, vocabulary: usize) -> Result<Self, Fault> {
        for block in 0..blocks.count() {
            let fingerprint = blocks.lend(block, |block| {
                Ok(Fingerprint::of_documents(vocabulary, block.matrix))
            })?;
            if !KNOWN.contains(fingerprint) {
                blocks.lend(block, |block| {
                    let view = block.matrix.checked_view(block.count, vocabulary)?;
                    let documents = Documents::validated_before(Columns::new(view)?)?;
                    Ok(documents.check_counts(0..documents.len())?)
                })?;
                KNOWN.insert(fingerprint);
            }
        }
        Ok(Self { blocks, vocabulary })
    }
}

impl<B> Blocks for Counts<'_, B>
where
    B: for<'a> Blocks<Block<'a> = Block<'a, Lda>, Error = Fault>,
{
    type Block<'a> = Documents<'a>;
    type Error = Fault;

    fn starts(&self) -> &[usize] {
        self.blocks.starts()
    }

    fn lend<R>(
        &mut self,
        block: usize,
        work: impl FnOnce(&Documents<'_>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let vocabulary = self.vocabulary;
        self.blocks.lend(block, |block| {
            work(&Documents::validated_before(block.columns(vocabulary)?)?)
        })
    }
}
