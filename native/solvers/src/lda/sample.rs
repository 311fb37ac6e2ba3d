//! The bound of a sample of documents: the E-step of each, and its part of the bound.

use rayon::{ThreadPool, prelude::*};

use super::{
    bound::{DocumentBound, psi_of_topic_sums},
    documents::{Copies, DocumentBlocks},
    estep::EStep,
    lambda::Lambda,
    lanes::{Kernel, Real},
    params::EStepParams,
    table::Table,
    team::OfThreads,
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

impl BoundOutcome {
    fn add(&mut self, document: &Self) {
        self.bound += document.bound;
        self.documents += document.documents;
        self.tokens += document.tokens;
        self.nonzeros += document.nonzeros;
        self.iterations += document.iterations;
    }
}

/// The bound of one document at a time.
struct Judge<'a, R> {
    params: &'a BoundParams,
    lambda: &'a Lambda<R>,
    psi_sums: &'a [f64],
    kernel: Kernel,
    table: Table<R>,
    estep: EStep<R>,
    gamma: Vec<f64>,
}

impl<'a, R: Real> Judge<'a, R> {
    fn new(
        params: &'a BoundParams,
        lambda: &'a Lambda<R>,
        psi_sums: &'a [f64],
        kernel: Kernel,
    ) -> Result<Self, SolverError> {
        let topics = params.alpha.len();
        // Never with the mean: this is the bound of variational inference.
        let mut table = Table::new(topics, lambda.vocabulary(), false)?;
        table.take_topics(lambda);
        Ok(Self {
            params,
            lambda,
            psi_sums,
            kernel,
            table,
            estep: EStep::new(params.e_step, &params.alpha, kernel),
            gamma: vec![0.0; topics],
        })
    }

    /// The outcome of a document with these words and counts.
    fn judge(&mut self, words: &[(usize, f64)]) -> Result<BoundOutcome, SolverError> {
        if words.is_empty() {
            return Ok(BoundOutcome::default());
        }
        let (lambda, table, estep) = (self.lambda, &mut self.table, &mut self.estep);
        table.clear();
        for &(word, _) in words {
            table.add(word)?;
        }
        table.build(lambda, self.kernel, None);
        estep.make_room(words.len())?;
        estep.start(words.iter().copied(), table);
        estep.run();
        estep.write_gamma(&mut self.gamma);
        let mut bound = DocumentBound::new(&self.params.alpha, &self.gamma);
        for &entry in words {
            let factors = table.factors(table.slot(entry.0)).as_flattened();
            let factors = &factors[..self.gamma.len()];
            bound.add_factors(lambda, self.psi_sums, entry, factors);
        }
        Ok(BoundOutcome {
            bound: bound.value(),
            documents: 1,
            tokens: estep.total(),
            nonzeros: words.len() as u64,
            iterations: u64::from(estep.iterations()),
        })
    }
}

impl BoundParams {
    /// The bound of the documents, from checked parameters. Documents are lent only while they are copied. The threads of the pool do not change a bit of it.
    pub(super) fn run<R: Real, B: DocumentBlocks>(
        &self,
        lambda: &Lambda<R>,
        blocks: &mut B,
        kernel: Kernel,
        pool: Option<&ThreadPool>,
    ) -> Result<BoundOutcome, B::Error> {
        let psi_sums = psi_of_topic_sums(lambda);
        let threads = pool.map_or(1, ThreadPool::current_num_threads);
        let judges = OfThreads::new(threads, || Judge::new(self, lambda, &psi_sums, kernel))?;
        let mut copies = Copies::default();
        let mut outcome = BoundOutcome::default();
        let mut documents = self.first..self.last;
        while !documents.is_empty() {
            copies.take(blocks, documents.clone(), lambda.vocabulary(), threads)?;
            documents.start += copies.len();
            let judge = |document| judges.own().judge(copies.words(document));
            let all = 0..copies.len();
            let judged: Result<Vec<_>, _> = match pool {
                None => all.map(judge).collect(),
                Some(pool) => {
                    pool.install(|| all.into_par_iter().with_max_len(1).map(judge).collect())
                }
            };
            for document in judged? {
                outcome.add(&document);
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
