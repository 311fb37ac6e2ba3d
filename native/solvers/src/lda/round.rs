//! A round of one worker: mini-batches of its documents, each followed by a step of the topics.

use rayon::ThreadPool;

use super::{
    concentration::add_log_theta,
    documents::{Copies, DocumentBlocks, lent},
    estep::EStep,
    found::Found,
    lambda::{Lambda, MIN_SCALE},
    lanes::{Kernel, Real},
    params::{EStepParams, LdaSchedule, check_alpha},
    sample::BoundParams,
    table::Table,
    team::Team,
};
use crate::base::{
    checks::{at_least_one, positive},
    error::{SolverError, same_length},
    order::BucketOrder,
};

/// Unchecked parameters of a round.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `alpha` | prior of the topics in a document | K numbers, 1e-6 to 1e6 |
/// | `e_step` | see [`EStepParams`] | |
/// | `schedule` | step sizes, see [`LdaSchedule`] | |
/// | `corpus` | D: documents of all workers that are not empty | finite, > 0 |
/// | `workers` | W | >= 1 |
/// | `batch` | documents of a step | >= 1 |
/// | `budget` | documents of the round that are not empty | >= 1 |
/// | `seed`, `partition` | determine the order of the documents | |
/// | `cursor` | documents visited by this worker since the start of the fit, empty ones too | |
/// | `seen` | documents of all workers since the start of the fit that were not empty | |
/// | `concentration` | whether to sum `E[log theta]`, to learn alpha | |
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the table names every field")]
pub struct LdaParams {
    pub alpha: Vec<f64>,
    pub e_step: EStepParams,
    pub schedule: LdaSchedule,
    pub corpus: f64,
    pub workers: u32,
    pub batch: usize,
    pub budget: u64,
    pub seed: u64,
    pub partition: u32,
    pub cursor: u64,
    pub seen: u64,
    pub concentration: bool,
}

/// Checked [`LdaParams`].
#[derive(Debug, Clone)]
pub struct ValidLdaParams(LdaParams);

impl LdaParams {
    /// A pass of one worker over a corpus of `documents`, from the start of a fit, in steps of all documents: `alpha` is 1 / K, and the schedule is
    /// the source's (tau0 = 1, kappa = 0.7).
    pub fn of_corpus(topics: usize, documents: usize) -> Self {
        Self {
            alpha: vec![1.0 / topics as f64; topics],
            e_step: EStepParams::default(),
            schedule: LdaSchedule {
                tau0: 1.0,
                kappa: 0.7,
                base: documents as f64,
            },
            corpus: documents as f64,
            workers: 1,
            batch: documents,
            budget: documents as u64,
            seed: 1,
            partition: 0,
            cursor: 0,
            seen: 0,
            concentration: false,
        }
    }

    /// Checks the ranges of the table above.
    ///
    /// # Errors
    /// `InvalidParam` names the first parameter out of range; `Shape` for no topic.
    pub fn check(self) -> Result<ValidLdaParams, SolverError> {
        check_alpha(&self.alpha)?;
        self.e_step.check()?;
        self.schedule.check()?;
        positive("corpus", self.corpus)?;
        at_least_one("workers", self.workers.into())?;
        at_least_one("batch", self.batch as u64)?;
        at_least_one("budget", self.budget)?;
        Ok(ValidLdaParams(self))
    }
}

impl ValidLdaParams {
    /// Runs a round on the topics: batches of documents, each followed by a step. Documents are lent only while their words are read. The
    /// result is a pure function of parameters, documents and topics. How the documents are cut into blocks does not change a bit of it, and neither do the
    /// threads of `pool`.
    ///
    /// # Errors
    /// `Shape` for topics or documents of another shape, `OutOfMemory`; those of the owner of the blocks. The topics are then of no use.
    ///
    /// # Panics
    /// If a block has other documents than its owner says, or than it had before.
    pub fn run<R: Real, B: DocumentBlocks>(
        self,
        lambda: &mut Lambda<R>,
        blocks: &mut B,
        kernel: Kernel,
        pool: Option<&ThreadPool>,
    ) -> Result<LdaOutcome, B::Error> {
        let mut round = Round::new(self.0, lambda, blocks.documents(), kernel, pool)?;
        loop {
            round.read(blocks)?;
            if round.batch.is_empty() {
                return Ok(round.outcome);
            }
            round.infer(blocks)?;
            round.step();
        }
    }

    /// Whether to sum `E[log theta]`: K sums then.
    pub(super) fn sums(&self) -> usize {
        if self.0.concentration {
            self.0.alpha.len()
        } else {
            0
        }
    }

    /// Parameters of the bound of the first `sample` documents.
    pub(super) fn bound(&self, sample: usize) -> BoundParams {
        BoundParams {
            alpha: self.0.alpha.clone(),
            e_step: self.0.e_step,
            first: 0,
            last: sample,
        }
    }
}

/// The result of a round, apart from the topics.
#[derive(Debug, Clone, PartialEq)]
pub struct LdaOutcome {
    /// Documents visited since the start of the fit, empty ones too.
    pub cursor: u64,
    /// Documents of this round that were not empty.
    pub documents: u64,
    /// Sum of the counts of these documents.
    pub tokens: f64,
    /// Entries of these documents.
    pub nonzeros: u64,
    /// Steps of the topics.
    pub updates: u64,
    /// Iterations of gamma.
    pub iterations: u64,
    /// Sum of the step sizes. Above about 1.2 in the first rounds, the workers drift apart.
    pub rho_sum: f64,
    /// `sum_d E[log theta_dk]`: K numbers; empty without `concentration`.
    pub log_theta_sums: Vec<f64>,
}

/// Most documents that are copied at a time, for each thread: what their E-step finds stays in the cache.
const COPIED_DOCUMENTS: usize = 1 << 10;

/// A round at work.
struct Round<'a, R> {
    params: LdaParams,
    kernel: Kernel,
    lambda: &'a mut Lambda<R>,
    documents: usize,
    order: BucketOrder,
    table: Table<R>,
    estep: EStep<R>,
    /// Threads that work in the place of `estep`.
    team: Option<Team<'a, R>>,
    batch: Vec<u32>,
    copies: Copies,
    /// Of the statistics of the batch, over the words.
    sums: Vec<f64>,
    gamma: Vec<f64>,
    outcome: LdaOutcome,
}

impl<'a, R: Real> Round<'a, R> {
    /// A round on so many documents.
    fn new(
        params: LdaParams,
        lambda: &'a mut Lambda<R>,
        documents: usize,
        kernel: Kernel,
        pool: Option<&'a ThreadPool>,
    ) -> Result<Self, SolverError> {
        let topics = params.alpha.len();
        same_length("alpha", topics, lambda.topics(), "topic")?;
        let log_theta_sums = vec![0.0; if params.concentration { topics } else { 0 }];
        let estep = || EStep::new(params.e_step, &params.alpha, kernel);
        Ok(Self {
            kernel,
            documents,
            order: BucketOrder::new(documents, 1, params.seed, params.partition)?,
            table: Table::new(topics, lambda.vocabulary(), params.e_step.mean)?,
            estep: estep(),
            team: pool.map(|pool| Team::new(pool, estep)).transpose()?,
            lambda,
            batch: Vec::new(),
            copies: Copies::default(),
            sums: vec![0.0; topics],
            gamma: vec![0.0; topics],
            outcome: LdaOutcome {
                cursor: params.cursor,
                documents: 0,
                tokens: 0.0,
                nonzeros: 0,
                updates: 0,
                iterations: 0,
                rho_sum: 0.0,
                log_theta_sums,
            },
            params,
        })
    }

    /// Reads the words of the documents of the next batch. It is empty after the last one.
    fn read<B: DocumentBlocks>(&mut self, blocks: &mut B) -> Result<(), B::Error> {
        let vocabulary = self.lambda.vocabulary();
        let mut longest = 0;
        let mut empty = 0;
        while !self.is_read(empty) {
            blocks.lend(|loan| {
                while !(self.is_read(empty) || loan.is_over()) {
                    let document = self.order.at(self.outcome.cursor).start;
                    self.outcome.cursor += 1;
                    let (mut words, rows) = (0, self.table.words().len());
                    for (word, _) in lent(loan, document, vocabulary)? {
                        self.table.add(word)?;
                        words += 1;
                    }
                    // A new row of the table has a number for each topic.
                    loan.spend(self.params.alpha.len() * (self.table.words().len() - rows));
                    if words == 0 {
                        empty += 1;
                        continue;
                    }
                    empty = 0;
                    longest = longest.max(words);
                    self.outcome.nonzeros += words as u64;
                    self.outcome.documents += 1;
                    self.push(document)?;
                }
                Ok(())
            })?;
        }
        Ok(match &mut self.team {
            None => self.estep.make_room(longest),
            Some(team) => {
                self.table.sort(team.pool);
                team.make_room(longest)
            }
        }?)
    }

    /// Whether the batch is as large as it gets, after so many empty documents in a row: a round ends as well once all were empty.
    fn is_read(&self, empty: usize) -> bool {
        self.batch.len() >= self.params.batch
            || self.outcome.documents >= self.params.budget
            || empty >= self.documents
    }

    /// Reserves no room for a whole batch: there may be fewer documents.
    fn push(&mut self, document: usize) -> Result<(), SolverError> {
        self.batch
            .try_reserve(1)
            .map_err(|_| SolverError::OutOfMemory {
                what: "the documents of a batch",
                bytes: (self.batch.len() + 1) * size_of::<u32>(),
            })?;
        self.batch.push(document as u32);
        Ok(())
    }

    /// The E-step of each document of the batch.
    fn infer<B: DocumentBlocks>(&mut self, blocks: &mut B) -> Result<(), B::Error> {
        self.table.take_topics(self.lambda);
        let pool = self.team.as_ref().map(|team| team.pool);
        self.table.build(self.lambda, self.kernel, pool);
        let threads = pool.map_or(1, ThreadPool::current_num_threads);
        let mut done = 0;
        while done < self.batch.len() {
            let documents = self.batch[done..].iter().map(|&document| document as usize);
            let documents = documents.take(COPIED_DOCUMENTS * threads);
            self.copies
                .take(blocks, documents, self.lambda.vocabulary(), threads)?;
            done += self.copies.len();
            if let Some(team) = &mut self.team {
                let concentration = self.params.concentration;
                let found = team.infer(&self.copies, &mut self.table, self.kernel, concentration);
                add(found, &mut self.sums, &mut self.outcome);
            } else {
                self.infer_alone();
            }
        }
        Ok(())
    }

    /// The E-step of each document copied.
    fn infer_alone(&mut self) {
        for document in 0..self.copies.len() {
            let words = self.copies.words(document).iter().copied();
            self.estep.start(words, &self.table);
            self.estep.run();
            self.estep.collect(&mut self.table, &mut self.sums);
            self.outcome.tokens += self.estep.total();
            self.outcome.iterations += u64::from(self.estep.iterations());
            if self.params.concentration {
                self.estep.write_gamma(&mut self.gamma);
                add_log_theta(&self.gamma, &mut self.outcome.log_theta_sums);
            }
        }
    }

    /// The step of the topics, from the statistics of the batch, which is empty afterwards.
    fn step(&mut self) {
        let lambda = &mut *self.lambda;
        let (batch, workers) = (self.batch.len() as f64, f64::from(self.params.workers));
        let before = (self.outcome.documents - self.batch.len() as u64) as f64;
        let seen = self.params.seen as f64 + workers * before;
        let rho = self.params.schedule.step(seen, batch, workers);
        self.outcome.rho_sum += rho;
        self.outcome.updates += 1;
        let step = rho * self.params.corpus / batch;
        lambda.decay(rho);
        lambda.add_masses(step, &self.sums);
        if lambda.scale() < MIN_SCALE {
            lambda.rescale();
        }
        let (step, topics) = (step / lambda.scale(), lambda.topics());
        let (words, statistics) = (self.table.words(), self.table.all_statistics());
        if let Some(team) = &self.team {
            lambda.add_rows(words, step, statistics.as_flattened(), team.pool);
        } else {
            for (slot, &word) in words.iter().enumerate() {
                let statistics = &self.table.statistics(slot as u32).as_flattened()[..topics];
                lambda.add_row(word as usize, step, statistics);
            }
        }
        self.table.clear();
        self.batch.clear();
        self.sums.fill(0.0);
    }
}

/// Adds what a team found to the sums, in the order of the documents.
fn add<R: Real>(documents: &[Found<R>], sums: &mut [f64], outcome: &mut LdaOutcome) {
    for found in documents {
        for (sum, &mass) in sums.iter_mut().zip(found.mass.as_flattened()) {
            *sum += mass.into();
        }
        outcome.tokens += found.total;
        outcome.iterations += u64::from(found.iterations);
        for (sum, &log_theta) in outcome.log_theta_sums.iter_mut().zip(&found.log_theta) {
            *sum += log_theta;
        }
    }
}
