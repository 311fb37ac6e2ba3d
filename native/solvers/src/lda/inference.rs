//! Gamma of documents under topics that stay as they are.

use super::{
    documents::Documents,
    estep::EStep,
    instructions::Kernel,
    lambda::Lambda,
    params::{EStepParams, check_alpha},
    real::Real,
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

/// What the E-step of a document has found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inferred<'a> {
    /// K numbers; alpha for an empty document.
    pub gamma: &'a [f64],
    /// Iterations of gamma.
    pub iterations: u32,
    /// N: the sum of the counts.
    pub tokens: f64,
}

impl<'a, R: Real> LdaInference<'a, R> {
    /// For documents of up to `longest` words; longer ones cost an allocation.
    ///
    /// # Errors
    /// `InvalidParam`, `Shape` unless alpha is one number for each topic, `OutOfMemory`.
    pub fn new(
        lambda: &'a Lambda<R>,
        alpha: &[f64],
        params: EStepParams,
        kernel: Kernel,
        longest: usize,
    ) -> Result<Self, SolverError> {
        check_alpha(alpha)?;
        same_length("alpha", alpha.len(), lambda.topics(), "topic")?;
        let mut table = Table::new(lambda.topics(), lambda.vocabulary(), params.mean)?;
        table.take_topics(lambda);
        Ok(Self {
            lambda,
            kernel,
            table,
            estep: EStep::new(params.check()?, alpha, kernel, longest)?,
            gamma: alpha.to_vec(),
            sums: vec![0.0; alpha.len()],
        })
    }

    /// Prepares the factors of the words of some documents, in the place of those there were.
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
            for (word, _) in documents.document(d) {
                self.table.add(word)?;
            }
        }
        let rows = 0..self.table.words().len();
        self.table.build(self.lambda, self.kernel, rows);
        Ok(())
    }

    /// Gamma of document `d`, which [`LdaInference::prepare`] was told of.
    ///
    /// # Panics
    /// If it was not.
    pub fn infer(&mut self, documents: &Documents<'_>, d: usize) -> Inferred<'_> {
        self.estep.start(documents.document(d), &self.table);
        self.estep.run(usize::MAX);
        self.estep.write_gamma(&mut self.gamma);
        Inferred {
            gamma: &self.gamma,
            iterations: self.estep.iterations(),
            tokens: self.estep.total(),
        }
    }

    /// Adds what the last document gives to the statistics of its words.
    pub fn collect(&mut self) {
        self.estep.collect(&mut self.table, &mut self.sums);
    }

    /// `sum_d c_dw phi_dwk` over the documents collected since the last [`LdaInference::prepare`], of a word of them: K numbers.
    ///
    /// # Panics
    /// If it is the word of none.
    pub fn statistics(&self, word: usize) -> &[R] {
        let row = self.table.statistics(self.table.slot(word));
        &row.as_flattened()[..self.lambda.topics()]
    }

    /// Their sums over the words: K numbers.
    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// The factors of a word of the documents prepared: `exp(E[log beta_kw])` over the largest of them.
    ///
    /// # Panics
    /// If it is the word of none.
    pub fn factors(&self, word: usize) -> &[R] {
        let row = self.table.factors(self.table.slot(word));
        &row.as_flattened()[..self.lambda.topics()]
    }
}
