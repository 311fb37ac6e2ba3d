//! From the vector that workers share to a worker's part of the next one, and to its part of the bound.
//!
//! The vector is `v = lambda - eta`, topics without their prior: V K little-endian numbers of the type that the worker computes in, `f32` but for tests of
//! identities, by words (word w and topic k at `w K + k`). Its length in bytes is a multiple of 8, see [`vector_bytes`]: one 0 follows an odd number of
//! `f32`. Each worker makes a round from it and writes `share v'`; shares of all workers add up to 1, so the sum of what they write is the mean of their
//! topics.
//!
//! A word that is in no document of the round only decays: its numbers are those of the vector times [`SharedOutcome::factors`], one after the other and
//! rounded to the type of the vector every time, to the bit, subnormal numbers and underflow included. Whoever has the vector and the factors needs only the
//! words that a round has touched.
//!
//! Numbers of topics need memory of V K `R` in every round. Who makes many rounds passes it on from one to the next as **room**, which the system does not have
//! to find and to clear then: a vector whose elements do not matter, and that may be of any capacity.
//!
//! Source: Guo et al., "Model averaging in distributed machine learning", VLDB Journal 30, 2021, algorithm 6 (the mean of lambda).

use super::{
    bound::{DocumentBound, psi_of_topic_sums},
    documents::Documents,
    estep::EStep,
    lambda::{Lambda, MOST_SCALES, numbers_of},
    lanes::Kernel,
    params::{EStepParams, check_alpha},
    real::Real,
    round::{LdaOutcome, LdaRound, ValidLdaParams},
    table::Table,
};
use crate::base::{
    checks::fraction,
    error::{SolverError, same_length},
    progress::Progress,
};

pub use super::lambda::vector_bytes;

/// Numbers of [`SharedOutcome::factors`], at most.
pub const MAX_FACTORS: usize = MOST_SCALES + 2;

/// What a word of the bound costs, a topic of it, a row of 16 factors, and reading an entry, in units of [`SharedRound::advance`].
const WORD: usize = 40;
const TERM: usize = 2;
const COMPUTE: usize = 8;
const READ: usize = 4;

/// Topics that are being read from the vector.
#[derive(Debug)]
struct Loading<R> {
    lambda: Lambda<R>,
}

impl<R: Real> Loading<R> {
    fn new(topics: usize, vocabulary: usize, eta: f64, room: Vec<R>) -> Result<Self, SolverError> {
        let lambda = Lambda::unloaded(topics, vocabulary, eta, room)?;
        Ok(Self { lambda })
    }

    fn is_done(&self) -> bool {
        self.lambda.loaded() == self.lambda.vocabulary()
    }

    /// Reads about `budget` numbers, one word at least. Returns how many there were.
    fn advance(&mut self, shared: &[u8], budget: usize) -> Result<usize, SolverError> {
        let topics = self.lambda.topics();
        let words = (budget / topics)
            .max(1)
            .min(self.lambda.vocabulary() - self.lambda.loaded());
        self.lambda.load(shared, words)?;
        Ok(words * topics)
    }
}

/// A round of one worker from the shared vector to what it adds to the next one, and the bound of some documents at that vector, which costs least where
/// the topics have been read anyway.
///
/// The result is a pure function of parameters, documents and vector: slices do not change a bit of it.
#[derive(Debug)]
pub struct SharedRound<R> {
    topics: Loading<R>,
    sample: Sample<R>,
    round: LdaRound<R>,
    share: f64,
}

/// The numbers of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedOutcome<'a, R> {
    pub round: &'a LdaOutcome,
    /// That of the sample, at the shared vector.
    pub bound: BoundOutcome,
    /// A number of a word that is in no document of the round is that of the shared vector times each of these in turn, rounded every time; the share is
    /// the last. Empty if they were more than [`MAX_FACTORS`].
    pub factors: Vec<R>,
}

impl<R: Real> SharedRound<R> {
    /// A round on documents of `vocabulary` words, and the bound of the first `sample` of them. `share`: the part of this worker in the average, 0 to 1. `room`
    /// is memory to work in, see the module.
    ///
    /// # Errors
    /// `InvalidParam` for eta or share out of range, `Shape` for no word or too many, `OutOfMemory`.
    pub fn new(
        params: ValidLdaParams,
        sample: usize,
        eta: f64,
        share: f64,
        vocabulary: usize,
        kernel: Kernel,
        room: Vec<R>,
    ) -> Result<Self, SolverError> {
        fraction("share", share)?;
        Ok(Self {
            topics: Loading::new(params.topics(), vocabulary, eta, room)?,
            sample: Sample::new(params.bound(sample), vocabulary, kernel)?,
            round: LdaRound::new(params, vocabulary, kernel)?,
            share,
        })
    }

    /// Works for about `budget` units of 1 to 2 ns. Documents and vector must be those of the first call; they may be elsewhere in memory.
    ///
    /// # Errors
    /// `Shape` for documents or a vector of another shape, or fewer documents than the sample has, `NonFinite` for a number of the vector that is not 0 to
    /// 1e30, `OutOfMemory`.
    ///
    /// # Panics
    /// If the words of documents are others than in the first call.
    pub fn advance(
        &mut self,
        documents: &Documents<'_>,
        shared: &[u8],
        budget: usize,
    ) -> Result<Progress, SolverError> {
        self.sample
            .check(documents, self.topics.lambda.vocabulary())?;
        if !self.topics.is_done() {
            self.topics.advance(shared, budget)?;
            return Ok(Progress::More);
        }
        if !self.sample.is_done() {
            self.sample
                .advance(&self.topics.lambda, documents, budget)?;
            return Ok(Progress::More);
        }
        self.round
            .advance(&mut self.topics.lambda, documents, budget)
    }

    /// Bytes that [`SharedRound::write_update`] writes: those of a shared vector, and 8 K more with `concentration`.
    pub fn length(&self) -> usize {
        vector_bytes::<R>(self.numbers()) + 8 * self.round.log_theta_sums().len()
    }

    /// V K.
    fn numbers(&self) -> usize {
        self.topics.lambda.vocabulary() * self.topics.lambda.topics()
    }

    /// Writes `share v'` as a shared vector, padding included, and behind it the sums of `E[log theta]` as little endian `f64` if they were wanted, from byte
    /// `start` on, as many as `out` has room for. `start` and the length of `out` are multiples of 8; `shared` is that of [`SharedRound::advance`].
    ///
    /// # Errors
    /// `Unfinished` before the round is done, `Shape` for wrong lengths.
    pub fn write_update(
        &self,
        shared: &[u8],
        start: usize,
        out: &mut [u8],
    ) -> Result<(), SolverError> {
        let factors = self.finish()?.factors;
        let lambda = &self.topics.lambda;
        let (topics, numbers) = (lambda.topics(), self.numbers());
        let shared = numbers_of::<R>(shared, numbers)?;
        let whole = start.is_multiple_of(8) && out.len().is_multiple_of(8);
        if !whole || start.saturating_add(out.len()) > self.length() {
            return Err(SolverError::Shape(format!(
                "{} bytes from byte {start} of an update on: expected multiples of 8, and {} bytes at most",
                out.len(),
                self.length()
            )));
        }
        let vector = vector_bytes::<R>(numbers);
        let (out, sums) = out.split_at_mut(out.len().min(vector.saturating_sub(start)));
        let (mut out, mut at) = (R::split_mut(out), start / size_of::<R>());
        while at < numbers && !out.is_empty() {
            let word = at / topics;
            let length = ((word + 1) * topics - at).min(out.len());
            let (part, others) = out.split_at_mut(length);
            match factors.split_first() {
                Some((first, more)) if !lambda.is_touched(word) => {
                    // All of a row by one factor after the other: the compiler makes vectors of that.
                    for (slot, v) in part.iter_mut().zip(&shared[at..]) {
                        *slot = (R::from_bytes(*v) * *first).to_bytes();
                    }
                    for factor in more {
                        for slot in part.iter_mut() {
                            *slot = (R::from_bytes(*slot) * *factor).to_bytes();
                        }
                    }
                }
                _ => {
                    let (share, scale) = (self.share, lambda.scale());
                    for (slot, &u) in part.iter_mut().zip(&lambda.numbers()[at..]) {
                        *slot = R::of(share * (scale * u.into())).to_bytes();
                    }
                }
            }
            out = others;
            at += length;
        }
        // What is left of the vector is its padding.
        out.fill(R::ZERO.to_bytes());
        let first = start.saturating_sub(vector) / 8;
        let wanted = self.round.log_theta_sums().iter().skip(first);
        for (slot, sum) in f64::split_mut(sums).iter_mut().zip(wanted) {
            *slot = sum.to_bytes();
        }
        Ok(())
    }

    /// Room for others, done or not.
    pub fn into_room(self) -> Vec<R> {
        self.topics.lambda.into_room()
    }

    /// The topics reached.
    pub fn lambda(&self) -> &Lambda<R> {
        &self.topics.lambda
    }

    /// The numbers of the round.
    ///
    /// # Errors
    /// `Unfinished` before the round is done.
    pub fn finish(&self) -> Result<SharedOutcome<'_, R>, SolverError> {
        let round = self.round.finish()?;
        let (scales, share) = (self.topics.lambda.factors(), R::of(self.share));
        Ok(SharedOutcome {
            round,
            bound: self.sample.outcome,
            factors: scales.map_or_else(Vec::new, |scales| scales.chain([share]).collect()),
        })
    }
}

/// Unchecked parameters of a bound.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `alpha` | prior of the topics in a document | K numbers, 1e-6 to 1e6 |
/// | `e_step` | see [`EStepParams`]; `mean` is not read | |
/// | `first`, `last` | documents `first..last` | 0 to the documents, not falling |
#[derive(Debug, Clone, PartialEq)]
pub struct BoundParams {
    pub alpha: Vec<f64>,
    pub e_step: EStepParams,
    pub first: usize,
    pub last: usize,
}

/// What a bound has found. Empty documents count for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BoundOutcome {
    /// The sum of [`document_bound`](super::bound::document_bound), but for the precision of factors.
    pub bound: f64,
    /// Documents that were not empty.
    pub documents: u64,
    /// The sum of their counts.
    pub tokens: f64,
    /// Their entries.
    pub nonzeros: u64,
    /// Iterations of gamma.
    pub iterations: u64,
}

/// The bound of some documents at the shared vector, in progress. It owns everything it needs but the data and the vector, which are lent for each slice of
/// work. Slices do not change a bit of the result.
#[derive(Debug)]
pub struct SharedBound<R> {
    topics: Loading<R>,
    sample: Sample<R>,
}

impl<R: Real> SharedBound<R> {
    /// A bound of documents of `vocabulary` words. `room` is memory to work in, see the module.
    ///
    /// # Errors
    /// `InvalidParam` for parameters out of range, `Shape` for no topic, no word or too many, `OutOfMemory`.
    pub fn new(
        params: BoundParams,
        eta: f64,
        vocabulary: usize,
        kernel: Kernel,
        room: Vec<R>,
    ) -> Result<Self, SolverError> {
        check_alpha(&params.alpha)?;
        params.e_step.check()?;
        Ok(Self {
            topics: Loading::new(params.alpha.len(), vocabulary, eta, room)?,
            sample: Sample::new(params, vocabulary, kernel)?,
        })
    }

    /// Works for about `budget` units of 1 to 2 ns. Documents and vector must be those of the first call; they may be elsewhere in memory.
    ///
    /// # Errors
    /// As [`SharedRound::advance`].
    ///
    /// # Panics
    /// If the words of documents are others than in the first call.
    pub fn advance(
        &mut self,
        documents: &Documents<'_>,
        shared: &[u8],
        budget: usize,
    ) -> Result<Progress, SolverError> {
        self.sample
            .check(documents, self.topics.lambda.vocabulary())?;
        if !self.topics.is_done() {
            self.topics.advance(shared, budget)?;
            return Ok(Progress::More);
        }
        self.sample.advance(&self.topics.lambda, documents, budget)
    }

    /// Room for others, done or not.
    pub fn into_room(self) -> Vec<R> {
        self.topics.lambda.into_room()
    }

    /// What was found.
    ///
    /// # Errors
    /// `Unfinished` before it is done.
    pub fn finish(&self) -> Result<BoundOutcome, SolverError> {
        if self.sample.is_done() {
            Ok(self.sample.outcome)
        } else {
            Err(SolverError::Unfinished)
        }
    }
}

/// Documents whose bound is computed: the E-step of each, and its part of the bound.
#[derive(Debug)]
struct Sample<R> {
    params: BoundParams,
    kernel: Kernel,
    table: Table<R>,
    psi_sums: Vec<f64>,
    gamma: Vec<f64>,
    estep: EStep<R>,
    document: usize,
    outcome: BoundOutcome,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    Weigh,
    Read,
    /// From this row on.
    Compute(usize),
    Infer,
    /// From this entry on.
    Add(usize, DocumentBound),
    Done,
}

impl<R: Real> Sample<R> {
    /// With parameters that have been checked.
    fn new(params: BoundParams, vocabulary: usize, kernel: Kernel) -> Result<Self, SolverError> {
        let topics = params.alpha.len();
        Ok(Self {
            // The bound is that of variational inference, whatever factors topics are learned by.
            table: Table::new(topics, vocabulary, false)?,
            psi_sums: Vec::new(),
            gamma: vec![0.0; topics],
            estep: EStep::new(params.e_step, &params.alpha, kernel, 0)?,
            kernel,
            document: params.first,
            outcome: BoundOutcome::default(),
            phase: Phase::Weigh,
            params,
        })
    }

    fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Done)
    }

    /// That the documents are there, and have words of the vocabulary.
    fn check(&self, documents: &Documents<'_>, vocabulary: usize) -> Result<(), SolverError> {
        let BoundParams { first, last, .. } = self.params;
        if first > last || last > documents.len() {
            return Err(SolverError::Shape(format!(
                "documents {first} until {last} of {}: they must be 0 to the number of documents, and not fall",
                documents.len()
            )));
        }
        same_length("the vocabulary", documents.vocabulary(), vocabulary, "word")
    }

    /// See [`SharedBound::advance`]; documents have been checked.
    fn advance(
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

    /// Works on for about `left` units; returns those spent.
    fn advance_phase(
        &mut self,
        lambda: &Lambda<R>,
        documents: &Documents<'_>,
        left: usize,
    ) -> Result<usize, SolverError> {
        let width = self.table.width();
        let (phase, spent) = match &mut self.phase {
            _ if self.document == self.params.last => (Phase::Done, 1),
            Phase::Weigh => {
                self.table.weigh(lambda);
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
