//! A round of one worker: mini-batches of its documents, each followed by a step of the topics.

use super::{
    concentration::add_log_theta,
    documents::Documents,
    estep::EStep,
    lambda::{Lambda, MIN_SCALE},
    lanes::{Kernel, Real},
    params::{EStepParams, LdaSchedule, check_alpha},
    sample::BoundParams,
    table::{COMPUTE, READ, Table},
};
use crate::base::{
    checks::{at_least_one, positive},
    error::{SolverError, same_length},
    order::BucketOrder,
    progress::Progress,
};

/// Cost of adding 16 statistics, in units of [`LdaRound::advance`].
const ADD: usize = 2;

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

/// A round in progress. It owns everything except the documents and the topics. The caller lends them for each slice of work, and the documents may move in
/// memory between slices.
///
/// Phases of a batch: read the words of the documents; compute their factors; E-step of each document; decay; sometimes rescale; add the statistics.
/// The result is a pure function of parameters, documents and topics. Slices do not change a bit of it.
#[derive(Debug)]
pub struct LdaRound<R> {
    params: LdaParams,
    kernel: Kernel,
    table: Table<R>,
    /// Made of the documents of the first slice.
    work: Option<Work<R>>,
    batch: Vec<u32>,
    sums: Vec<f64>,
    gamma: Vec<f64>,
    /// `rho D / B` of the current batch.
    step: f64,
    outcome: LdaOutcome,
    phase: Phase,
}

/// The parts of a round whose sizes depend on the documents.
#[derive(Debug)]
struct Work<R> {
    estep: EStep<R>,
    order: BucketOrder,
    documents: usize,
}

/// The phases of a batch, in order.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// The number of empty documents in a row.
    Read(usize),
    /// From this row on.
    Compute(usize),
    /// From this document of the batch on, and whether its E-step has started.
    Infer(usize, bool),
    Decay,
    /// From this word on.
    Rescale(usize),
    /// From this row on.
    Add(usize),
    Done,
}

impl<R: Real> LdaRound<R> {
    /// A round on documents of `vocabulary` words.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn new(
        params: ValidLdaParams,
        vocabulary: usize,
        kernel: Kernel,
    ) -> Result<Self, SolverError> {
        let params = params.0;
        let topics = params.alpha.len();
        let log_theta_sums = vec![0.0; if params.concentration { topics } else { 0 }];
        Ok(Self {
            kernel,
            table: Table::new(topics, vocabulary, params.e_step.mean)?,
            work: None,
            batch: Vec::new(),
            sums: vec![0.0; topics],
            gamma: vec![0.0; topics],
            step: 0.0,
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
            phase: Phase::Read(0),
            params,
        })
    }

    /// Works for about `budget` units of 1 to 2 ns: one is a row of 16 topics in one iteration of gamma. Topics and documents must be the ones of the first
    /// call. Drop the round and the topics after an error.
    ///
    /// # Errors
    /// `Shape` for topics or documents of another shape, `OutOfMemory`.
    ///
    /// # Panics
    /// If documents have other words than in the first call.
    pub fn advance(
        &mut self,
        lambda: &mut Lambda<R>,
        documents: &Documents<'_>,
        budget: usize,
    ) -> Result<Progress, SolverError> {
        same_length("alpha", self.params.alpha.len(), lambda.topics(), "topic")?;
        same_length(
            "the vocabulary",
            documents.vocabulary(),
            lambda.vocabulary(),
            "word",
        )?;
        let mut work = match self.work.take() {
            Some(work) => work,
            None => self.work_on(documents)?,
        };
        same_length("offsets", documents.len(), work.documents, "document")?;
        let mut left = budget.max(1);
        while self.phase != Phase::Done && left > 0 {
            let spent = match self.phase {
                Phase::Read(empty) => self.read(&mut work.order, lambda, documents, empty)?,
                Phase::Compute(row) => self.compute(lambda, row, left),
                Phase::Infer(at, started) => {
                    self.infer(&mut work.estep, documents, at, started, left)
                }
                Phase::Decay => self.decay(lambda),
                Phase::Rescale(word) => self.rescale(lambda, word, left),
                Phase::Add(row) => self.add(lambda, row, left),
                Phase::Done => 0,
            };
            left = left.saturating_sub(spent);
        }
        self.work = Some(work);
        Ok(if self.phase == Phase::Done {
            Progress::Done
        } else {
            Progress::More
        })
    }

    /// The parts whose sizes depend on the documents.
    fn work_on(&self, documents: &Documents<'_>) -> Result<Work<R>, SolverError> {
        let params = &self.params;
        let longest = documents.longest();
        Ok(Work {
            estep: EStep::new(params.e_step, &params.alpha, self.kernel, longest)?,
            order: BucketOrder::new(documents.len(), 1, params.seed, params.partition)?,
            documents: documents.len(),
        })
    }

    /// Reads the words of the next document, after so many empty ones, or ends the batch.
    fn read(
        &mut self,
        order: &mut BucketOrder,
        lambda: &Lambda<R>,
        documents: &Documents<'_>,
        empty: usize,
    ) -> Result<usize, SolverError> {
        let whole = self.batch.len() == self.params.batch;
        let last = self.outcome.documents == self.params.budget || empty >= documents.len();
        if whole || last {
            if self.batch.is_empty() {
                self.phase = Phase::Done;
            } else {
                self.table.take_topics(lambda);
                self.phase = Phase::Compute(0);
            }
            return Ok(1);
        }
        let d = order.at(self.outcome.cursor).start;
        self.outcome.cursor += 1;
        let entries = self.outcome.nonzeros;
        for (word, _) in documents.document(d) {
            self.table.add(word)?;
            self.outcome.nonzeros += 1;
        }
        let filled = self.outcome.nonzeros > entries;
        if filled {
            // Reserves no room for a whole batch: there may be fewer documents.
            self.batch
                .try_reserve(1)
                .map_err(|_| SolverError::OutOfMemory {
                    what: "the documents of a batch",
                    bytes: (self.batch.len() + 1) * size_of::<u32>(),
                })?;
            self.batch.push(d as u32);
            self.outcome.documents += 1;
        }
        self.phase = Phase::Read(if filled { 0 } else { empty + 1 });
        Ok(1 + documents.length(d) * READ)
    }

    /// Computes the factors of words from `row` on.
    fn compute(&mut self, lambda: &Lambda<R>, row: usize, budget: usize) -> usize {
        let cost = COMPUTE * self.table.width();
        let rows = self.table.words().len();
        let end = rows.min(row + (budget / cost).max(1));
        self.table.build(lambda, self.kernel, row..end);
        self.phase = if end == rows {
            Phase::Infer(0, false)
        } else {
            Phase::Compute(end)
        };
        (end - row) * cost
    }

    /// Iterates on document `at` of the batch, or starts it.
    fn infer(
        &mut self,
        estep: &mut EStep<R>,
        documents: &Documents<'_>,
        at: usize,
        started: bool,
        budget: usize,
    ) -> usize {
        let Some(&document) = self.batch.get(at) else {
            self.phase = Phase::Decay;
            return 1;
        };
        if !started {
            estep.start(documents.document(document as usize), &self.table);
            self.phase = Phase::Infer(at, true);
            return 1;
        }
        let spent = estep.run(budget);
        if estep.is_done() {
            estep.collect(&mut self.table, &mut self.sums);
            self.outcome.tokens += estep.total();
            self.outcome.iterations += u64::from(estep.iterations());
            if self.params.concentration {
                estep.write_gamma(&mut self.gamma);
                add_log_theta(&self.gamma, &mut self.outcome.log_theta_sums);
            }
            self.phase = Phase::Infer(at + 1, false);
        }
        spent.max(1)
    }

    /// Shrinks the topics by the step size of the batch.
    fn decay(&mut self, lambda: &mut Lambda<R>) -> usize {
        let (batch, workers) = (self.batch.len() as f64, f64::from(self.params.workers));
        let before = (self.outcome.documents - self.batch.len() as u64) as f64;
        let seen = self.params.seen as f64 + workers * before;
        let rho = self.params.schedule.step(seen, batch, workers);
        self.outcome.rho_sum += rho;
        self.outcome.updates += 1;
        self.step = rho * self.params.corpus / batch;
        lambda.decay(rho);
        lambda.add_masses(self.step, &self.sums);
        self.phase = if lambda.scale() < MIN_SCALE {
            Phase::Rescale(0)
        } else {
            Phase::Add(0)
        };
        self.table.width()
    }

    /// Multiplies topics by their common factor, from `word` on.
    fn rescale(&mut self, lambda: &mut Lambda<R>, word: usize, budget: usize) -> usize {
        let cost = ADD * self.table.width();
        let end = lambda.vocabulary().min(word + (budget / cost).max(1));
        lambda.rescale(word..end);
        self.phase = if end == lambda.vocabulary() {
            lambda.finish_rescale();
            Phase::Add(0)
        } else {
            Phase::Rescale(end)
        };
        (end - word) * cost
    }

    /// Adds the statistics of words from `row` on; the next batch follows the last one.
    fn add(&mut self, lambda: &mut Lambda<R>, row: usize, budget: usize) -> usize {
        let cost = ADD * self.table.width();
        let rows = self.table.words().len();
        let end = rows.min(row + (budget / cost).max(1));
        let (step, topics) = (self.step / lambda.scale(), lambda.topics());
        for slot in row..end {
            let statistics = &self.table.statistics(slot as u32).as_flattened()[..topics];
            lambda.add_row(self.table.words()[slot] as usize, step, statistics);
        }
        if end == rows {
            self.table.clear();
            self.batch.clear();
            self.sums.fill(0.0);
            self.phase = Phase::Read(0);
        } else {
            self.phase = Phase::Add(end);
        }
        (end - row) * cost
    }

    /// `sum_d E[log theta_dk]` so far: K numbers; empty without `concentration`.
    pub(super) fn log_theta_sums(&self) -> &[f64] {
        &self.outcome.log_theta_sums
    }

    /// The numbers of the round.
    ///
    /// # Errors
    /// `Unfinished` before the round is done.
    pub fn finish(&self) -> Result<&LdaOutcome, SolverError> {
        if self.phase == Phase::Done {
            Ok(&self.outcome)
        } else {
            Err(SolverError::Unfinished)
        }
    }
}
