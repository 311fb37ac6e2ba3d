//! The bound of a sample of documents: the E-step of each, and its part of the bound.

use super::{
    bound::{DocumentBound, psi_of_topic_sums},
    documents::Documents,
    estep::EStep,
    lambda::Lambda,
    lanes::{Kernel, Real},
    params::EStepParams,
    table::{COMPUTE, READ, Table},
};
use crate::base::{
    error::{SolverError, same_length},
    progress::Progress,
};

/// Cost of a word of the bound, and of each topic of the word, in units of [`Sample::advance`].
const WORD: usize = 40;
const TERM: usize = 2;

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

/// The bound of some documents in progress.
#[derive(Debug)]
pub(super) struct Sample<R> {
    params: BoundParams,
    kernel: Kernel,
    table: Table<R>,
    psi_sums: Vec<f64>,
    gamma: Vec<f64>,
    estep: EStep<R>,
    document: usize,
    pub outcome: BoundOutcome,
    phase: Phase,
}

/// The phases of a bound: the topics once, then the others for each document.
#[derive(Debug)]
enum Phase {
    Topics,
    Read,
    /// From this row on.
    Compute(usize),
    Infer,
    /// From this entry on.
    Add(usize, DocumentBound),
    Done,
}

impl<R: Real> Sample<R> {
    /// From checked parameters.
    pub fn new(
        params: BoundParams,
        vocabulary: usize,
        kernel: Kernel,
    ) -> Result<Self, SolverError> {
        let topics = params.alpha.len();
        Ok(Self {
            // Never with the mean: this is the bound of variational inference.
            table: Table::new(topics, vocabulary, false)?,
            psi_sums: Vec::new(),
            gamma: vec![0.0; topics],
            estep: EStep::new(params.e_step, &params.alpha, kernel, 0)?,
            kernel,
            document: params.first,
            outcome: BoundOutcome::default(),
            phase: Phase::Topics,
            params,
        })
    }

    /// Whether the bound is complete.
    pub fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Done)
    }

    /// Refuses documents of another vocabulary, or fewer than the sample has.
    pub fn check(&self, documents: &Documents<'_>, vocabulary: usize) -> Result<(), SolverError> {
        let BoundParams { first, last, .. } = self.params;
        if first > last || last > documents.len() {
            return Err(SolverError::Shape(format!(
                "documents {first} until {last} of {}: they must be 0 to the number of documents, and not fall",
                documents.len()
            )));
        }
        same_length("the vocabulary", documents.vocabulary(), vocabulary, "word")
    }

    /// Works for about `budget` units of 1 to 2 ns; [`Sample::check`] has accepted the documents.
    pub fn advance(
        &mut self,
        lambda: &Lambda<R>,
        documents: &Documents<'_>,
        budget: usize,
    ) -> Result<Progress, SolverError> {
        let mut left = budget.max(1);
        while left > 0 && !self.is_done() {
            let spent = self.advance_phase(lambda, documents, left)?;
            left = left.saturating_sub(spent.max(1));
        }
        Ok(if self.is_done() {
            Progress::Done
        } else {
            Progress::More
        })
    }

    /// Works for about `left` units in one phase; returns the units spent.
    fn advance_phase(
        &mut self,
        lambda: &Lambda<R>,
        documents: &Documents<'_>,
        left: usize,
    ) -> Result<usize, SolverError> {
        let width = self.table.width();
        let (phase, spent) = match &mut self.phase {
            _ if self.document == self.params.last => (Phase::Done, 1),
            Phase::Topics => {
                self.table.take_topics(lambda);
                self.psi_sums = psi_of_topic_sums(lambda);
                (Phase::Read, WORD * lambda.topics())
            }
            Phase::Read => {
                self.table.clear();
                for (word, _) in documents.document(self.document) {
                    self.table.add(word)?;
                }
                let spent = 1 + documents.length(self.document) * READ;
                if self.table.words().is_empty() {
                    self.document += 1;
                    (Phase::Read, spent)
                } else {
                    (Phase::Compute(0), spent)
                }
            }
            Phase::Compute(row) => {
                let rows = self.table.words().len();
                let end = rows.min(*row + (left / (COMPUTE * width)).max(1));
                let spent = (end - *row) * COMPUTE * width;
                self.table.build(lambda, self.kernel, *row..end);
                if end == rows {
                    self.estep
                        .start(documents.document(self.document), &self.table);
                    (Phase::Infer, spent)
                } else {
                    (Phase::Compute(end), spent)
                }
            }
            Phase::Infer => {
                let spent = self.estep.run(left);
                if !self.estep.is_done() {
                    return Ok(spent);
                }
                self.estep.write_gamma(&mut self.gamma);
                self.outcome.documents += 1;
                self.outcome.tokens += self.estep.total();
                self.outcome.iterations += u64::from(self.estep.iterations());
                let bound = DocumentBound::new(&self.params.alpha, &self.gamma);
                (Phase::Add(0, bound), spent)
            }
            Phase::Add(next, bound) => {
                let cost = WORD + TERM * lambda.topics();
                let entries = documents
                    .document(self.document)
                    .skip(*next)
                    .take((left / cost).max(1));
                let mut added = 0;
                for (word, count) in entries {
                    let factors = self.table.factors(self.table.slot(word)).as_flattened();
                    let factors = &factors[..lambda.topics()];
                    bound.add_factors(lambda, &self.psi_sums, (word, count), factors);
                    added += 1;
                }
                *next += added;
                if added > 0 {
                    return Ok(added * cost);
                }
                self.outcome.bound += bound.value();
                self.outcome.nonzeros += *next as u64;
                self.document += 1;
                (Phase::Read, 1)
            }
            Phase::Done => (Phase::Done, 0),
        };
        self.phase = phase;
        Ok(spent)
    }
}
