//! Inference: gamma of documents under fixed topics.

use super::{
    documents::Documents,
    estep::EStep,
    lambda::Lambda,
    lanes::{Kernel, Real},
    params::{EStepParams, check_alpha},
    table::Table,
};
use crate::base::error::{SolverError, same_length};

/// The E-step of any number of documents under the same topics.
#[derive(Debug)]
pub struct LdaInference<'a, R> {
    lambda: &'a Lambda<R>,
    kernel: Kernel,
    table: Table<R>,
    estep: EStep<R>,
    gamma: Vec<f64>,
    sums: Vec<f64>,
}

/// The result of the E-step of a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inferred<'a> {
    /// gamma, K numbers; alpha for an empty document.
    pub gamma: &'a [f64],
    /// Iterations of gamma.
    pub iterations: u32,
    /// N: the sum of the counts.
    pub tokens: f64,
}

impl<'a, R: Real> LdaInference<'a, R> {
    /// Inference under these topics.
    ///
    /// # Errors
    /// `InvalidParam` for a parameter out of range, `Shape` unless alpha is one number for each topic, `OutOfMemory`.
    pub fn new(
        lambda: &'a Lambda<R>,
        alpha: &[f64],
        params: EStepParams,
        kernel: Kernel,
    ) -> Result<Self, SolverError> {
        check_alpha(alpha)?;
        same_length("alpha", alpha.len(), lambda.topics(), "topic")?;
        let mut table = Table::new(lambda.topics(), lambda.vocabulary(), params.mean)?;
        table.take_topics(lambda);
        Ok(Self {
            lambda,
            kernel,
            table,
            estep: EStep::new(params.check()?, alpha, kernel),
            gamma: alpha.to_vec(),
            sums: vec![0.0; alpha.len()],
        })
    }

    /// Prepares the factors of the words of some documents, and forgets the factors of other words.
    ///
    /// # Errors
    /// `Shape` for another vocabulary, `OutOfMemory`.
    ///
    /// # Panics
    /// If there is no such document.
    pub fn prepare(
        &mut self,
        documents: &Documents<'_>,
        which: std::ops::Range<usize>,
    ) -> Result<(), SolverError> {
        same_length(
            "the vocabulary",
            documents.vocabulary(),
            self.lambda.vocabulary(),
            "word",
        )?;
        self.table.clear();
        self.sums.fill(0.0);
        for d in which {
            self.estep.make_room(documents.length(d))?;
            for (word, _) in documents.document(d) {
                self.table.add(word)?;
            }
        }
        self.table.build(self.lambda, self.kernel, None);
        Ok(())
    }

    /// Gamma of document `d`, which the last [`LdaInference::prepare`] took.
    ///
    /// # Panics
    /// If `d` is another document.
    pub fn infer(&mut self, documents: &Documents<'_>, d: usize) -> Inferred<'_> {
        self.estep.start(documents.document(d), &self.table);
        self.estep.run();
        self.estep.write_gamma(&mut self.gamma);
        Inferred {
            gamma: &self.gamma,
            iterations: self.estep.iterations(),
            tokens: self.estep.total(),
        }
    }

    /// Adds the last document to the statistics of its words.
    pub fn collect(&mut self) {
        self.estep.collect(&mut self.table, &mut self.sums);
    }

    /// `sum_d c_dw phi_dwk` of a word over the documents collected since the last [`LdaInference::prepare`]: K numbers.
    ///
    /// # Panics
    /// If no prepared document has the word.
    pub fn statistics(&self, word: usize) -> &[R] {
        let row = self.table.statistics(self.table.slot(word));
        &row.as_flattened()[..self.lambda.topics()]
    }

    /// The sums of the statistics over the words: K numbers.
    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// The factors of a word: `exp(E[log beta_kw])` over the largest of them, K numbers.
    ///
    /// # Panics
    /// If no prepared document has the word.
    pub fn factors(&self, word: usize) -> &[R] {
        let row = self.table.factors(self.table.slot(word));
        &row.as_flattened()[..self.lambda.topics()]
    }
}
