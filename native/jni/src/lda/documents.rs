//! Blocks of documents.

use std::ops::Range;

use dwell_solvers::lda::Documents;

use crate::{
    boundary::{
        blocks::{self, Block, Caller, View},
        fault::Fault,
        partition::Partition,
    },
    lda::request::LdaRequest,
};

/// Coordinates are documents, whose values are counts; the shared vector is a model. There are no other arrays.
#[derive(Debug, Clone, Copy)]
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

    fn present<A: Copy>((): ()) -> Result<(), &'static str> {
        Ok(())
    }
}

/// Checks the blocks that were not checked before: their structure, and that the counts are counts.
///
/// # Errors
/// `Argument` names the array and the place at fault.
pub fn check_documents<C: Caller<Lda>>(caller: &mut C, vocabulary: usize) -> Result<(), Fault> {
    blocks::check(caller, vocabulary, |block| {
        let documents = Documents::validated_before(block.columns(vocabulary)?)?;
        Ok(documents.check_counts(0..documents.len())?)
    })
}

impl<P> View<Lda> for LdaRequest<P> {
    fn data<'a>(&'a self, block: Block<'a, Lda>, _: Range<usize>) -> Result<Documents<'a>, Fault> {
        Ok(Documents::validated_before(
            block.columns(self.vocabulary)?,
        )?)
    }
}
