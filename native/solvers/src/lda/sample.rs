//! The bound of a sample of documents: the E-step of each, and its part of the bound.

use super::{
    bound::{DocumentBound, psi_of_topic_sums},
    documents::{Copies, DocumentBlocks},
    estep::EStep,
    lambda::Lambda,
    lanes::{Kernel, Real},
    params::EStepParams,
    table::Table,
};
use crate::base::error::SolverError;

/// Unchecked parameters of a bound.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `alpha` | prior of the topics in a document | K numbers, 1e-6 to 1e6 |
/// | `e_step` | see [`EStepParams`]; `mean` is not read | |
/// | `first`, `last` | documents `first..last` | `first <= last`, at most the number of documents |
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the table names every field")]
pub struct BoundParams {
    pub alpha: Vec<f64>,
    pub e_step: EStepParams,
    pub first: usize,
    pub last: usize,
}

/// The result of a bound. Empty documents do not count.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BoundOutcome {
    /// The sum of [`document_bound`](super::bound::document_bound) over the documents, to the precision of the factors.
    pub bound: f64,
    /// Documents that were not empty.
    pub documents: u64,
    /// Sum of the counts of these documents.
    pub tokens: f64,
    /// Entries of these documents.
    pub nonzeros: u64,
    /// Iterations of gamma.
    pub iterations: u64,
}

impl BoundParams {
    /// The bound of the documents, from checked parameters. Documents are lent only while they are copied.
    pub(super) fn run<R: Real, B: DocumentBlocks>(
        &self,
        lambda: &Lambda<R>,
        blocks: &mut B,
        kernel: Kernel,
    ) -> Result<BoundOutcome, B::Error> {
        let topics = self.alpha.len();
        let psi_sums = psi_of_topic_sums(lambda);
        // Never with the mean: this is the bound of variational inference.
        let mut table = Table::new(topics, lambda.vocabulary(), false)?;
        table.take_topics(lambda);
        let mut estep = EStep::new(self.e_step, &self.alpha, kernel);
        let (mut copies, mut gamma) = (Copies::default(), vec![0.0; topics]);
        let mut outcome = BoundOutcome::default();
        let mut documents = self.first..self.last;
        while !documents.is_empty() {
            copies.take(blocks, documents.clone(), lambda.vocabulary())?;
            documents.start += copies.len();
            for words in copies.iter().filter(|words| !words.is_empty()) {
                table.clear();
                for &(word, _) in words {
                    table.add(word)?;
                }
                table.build(lambda, kernel, 0..table.words().len());
                estep.make_room(words.len())?;
                estep.start(words.iter().copied(), &table);
                estep.run();
                estep.write_gamma(&mut gamma);
                let mut bound = DocumentBound::new(&self.alpha, &gamma);
                for &entry in words {
                    let factors = table.factors(table.slot(entry.0)).as_flattened();
                    bound.add_factors(lambda, &psi_sums, entry, &factors[..topics]);
                }
                outcome.bound += bound.value();
                outcome.documents += 1;
                outcome.tokens += estep.total();
                outcome.nonzeros += words.len() as u64;
                outcome.iterations += u64::from(estep.iterations());
            }
        }
        Ok(outcome)
    }

    /// Refuses a sample that the documents do not have.
    pub(super) fn check_sample(&self, documents: usize) -> Result<(), SolverError> {
        let Self { first, last, .. } = self;
        if first > last || *last > documents {
            return Err(SolverError::Shape(format!(
                "documents {first} until {last} of {documents}: they must be 0 to the number of documents, and not fall"
            )));
        }
        Ok(())
    }
}
