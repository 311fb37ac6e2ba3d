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
    documents::Documents,
    instructions::Kernel,
    lambda::{Lambda, MAX_RESCALES, numbers_of},
    number::Number,
    params::check_alpha,
    real::Real,
    round::{LdaOutcome, LdaRound, ValidLdaParams},
    sample::Sample,
};
use crate::base::{checks::fraction, error::SolverError, progress::Progress};

pub use super::{
    lambda::vector_bytes,
    sample::{BoundOutcome, BoundParams},
};

/// Numbers of [`SharedOutcome::factors`], at most.
pub const MAX_FACTORS: usize = MAX_RESCALES + 2;

/// A round of one worker from the shared vector to what it adds to the next one, and the bound of some documents at that vector, which costs least where
/// the topics have been read anyway.
///
/// The result is a pure function of parameters, documents and vector: slices do not change a bit of it.
#[derive(Debug)]
pub struct SharedRound<R> {
    /// It has the topics, too.
    bound: SharedBound<R>,
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
            bound: SharedBound::new(params.bound(sample), eta, vocabulary, kernel, room)?,
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
        if !self.bound.is_done() {
            self.bound.advance(documents, shared, budget)?;
            return Ok(Progress::More);
        }
        self.bound.check(documents)?;
        self.round
            .advance(&mut self.bound.lambda, documents, budget)
    }

    /// Bytes that [`SharedRound::write_update`] writes: those of a shared vector, and 8 K more with `concentration`.
    pub fn length(&self) -> usize {
        vector_bytes::<R>(self.numbers()) + 8 * self.round.log_theta_sums().len()
    }

    /// V K.
    fn numbers(&self) -> usize {
        self.bound.lambda.vocabulary() * self.bound.lambda.topics()
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
        let lambda = &self.bound.lambda;
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
        self.bound.into_room()
    }

    /// The topics reached.
    pub fn lambda(&self) -> &Lambda<R> {
        &self.bound.lambda
    }

    /// The numbers of the round.
    ///
    /// # Errors
    /// `Unfinished` before the round is done.
    pub fn finish(&self) -> Result<SharedOutcome<'_, R>, SolverError> {
        let round = self.round.finish()?;
        let (scales, share) = (self.bound.lambda.factors(), R::of(self.share));
        Ok(SharedOutcome {
            round,
            bound: self.bound.sample.outcome,
            factors: scales.map_or_else(Vec::new, |scales| scales.chain([share]).collect()),
        })
    }
}

/// The bound of some documents at the shared vector, in progress. It owns everything it needs but the data and the vector, which are lent for each slice of
/// work. Slices do not change a bit of the result.
#[derive(Debug)]
pub struct SharedBound<R> {
    lambda: Lambda<R>,
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
            lambda: Lambda::unloaded(params.alpha.len(), vocabulary, eta, room)?,
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
        self.check(documents)?;
        if self.lambda.is_loaded() {
            return self.sample.advance(&self.lambda, documents, budget);
        }
        let left = self.lambda.vocabulary() - self.lambda.loaded();
        let words = (budget / self.lambda.topics()).max(1).min(left);
        self.lambda.load(shared, words)?;
        Ok(Progress::More)
    }

    /// Refuses documents of another vocabulary, or fewer than the sample has.
    fn check(&self, documents: &Documents<'_>) -> Result<(), SolverError> {
        self.sample.check(documents, self.lambda.vocabulary())
    }

    fn is_done(&self) -> bool {
        self.sample.is_done()
    }

    /// Room for others, done or not.
    pub fn into_room(self) -> Vec<R> {
        self.lambda.into_room()
    }

    /// What was found.
    ///
    /// # Errors
    /// `Unfinished` before it is done.
    pub fn finish(&self) -> Result<BoundOutcome, SolverError> {
        if self.is_done() {
            Ok(self.sample.outcome)
        } else {
            Err(SolverError::Unfinished)
        }
    }
}
