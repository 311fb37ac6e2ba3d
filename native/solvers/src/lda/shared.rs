//! From the vector that the workers share to a worker's share of the next vector, and to its part of the bound.
//!
//! The vector is `v = lambda - eta`, the topics without their prior: V K little-endian numbers of type `R`, by words (word w and topic k at `w K + k`). Its
//! length in bytes is a multiple of 8, see [`vector_bytes`]: a 0 follows an odd number of `f32`. Each worker makes a round from it and writes `share v'`.
//! The shares of all workers sum to 1, so the sum of their vectors is the mean of their topics.
//!
//! A word that is in no document of the round only decays. Its numbers are the numbers of the vector times each of [`SharedOutcome::factors`] in turn, rounded
//! to `R` after every product, to the bit, subnormal numbers and underflow included. A receiver that has the vector and the factors needs only the words that
//! the round has touched.
//!
//! Every round needs memory for V K numbers, its **room**. The caller can pass the room of one round to the next, which saves the system from finding and
//! clearing memory again. Room is a vector of any capacity; its elements do not matter.
//!
//! Source: Guo et al., "Model averaging in distributed machine learning", VLDB Journal 30, 2021, algorithm 6 (the mean of lambda).

use rayon::ThreadPool;

use super::{
    documents::DocumentBlocks,
    lambda::{Lambda, MAX_RESCALES, numbers_of},
    lanes::{Kernel, Number, Real},
    params::check_alpha,
    round::{LdaOutcome, ValidLdaParams},
};
use crate::base::{checks::fraction, error::SolverError};

pub use super::{
    lambda::vector_bytes,
    sample::{BoundOutcome, BoundParams},
};

/// Most numbers of [`SharedOutcome::factors`].
pub const MAX_FACTORS: usize = MAX_RESCALES + 2;

/// A round of one worker from the shared vector to its share of the next, and the bound of some documents at the shared vector. The bound costs little
/// here, because the round reads the topics anyway.
///
/// The result is a pure function of parameters, documents and vector.
#[derive(Debug)]
pub struct SharedRound<R> {
    /// The bound. It holds the topics, which the round uses as well.
    bound: SharedBound<R>,
    params: ValidLdaParams,
    share: f64,
    /// Of the round, once it is done, and of its bound.
    outcome: Option<(LdaOutcome, BoundOutcome)>,
}

/// The numbers of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedOutcome<'a, R> {
    /// Sums over the documents of the round.
    pub round: &'a LdaOutcome,
    /// The bound of the sample at the shared vector.
    pub bound: BoundOutcome,
    /// A number of a word that is in no document of the round equals the number in the shared vector times each of these factors in turn, rounded after every product. The
    /// share is the last factor. Empty if there were more than [`MAX_FACTORS`].
    pub factors: Vec<R>,
}

impl<R: Real> SharedRound<R> {
    /// A round on documents of `vocabulary` words, and the bound of the first `sample` documents. `share`: the weight of this worker in the average, 0 to 1.
    /// `room`: see the module.
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
            params,
            share,
            outcome: None,
        })
    }

    /// Computes the bound and the round, once. The threads of the pool do not change a bit of them.
    ///
    /// # Errors
    /// `Shape` for documents or a vector of another shape, or fewer documents than the sample has; `NonFinite` for a number of the vector that is not 0 to
    /// 1e30; `OutOfMemory`; those of the owner of the blocks.
    ///
    /// # Panics
    /// If a block has other documents than its owner says, or than it had before.
    pub fn run<B: DocumentBlocks>(
        &mut self,
        blocks: &mut B,
        shared: &[u8],
        pool: Option<&ThreadPool>,
    ) -> Result<(), B::Error> {
        let bound = self.bound.run(blocks, shared, pool)?;
        let (params, kernel) = (self.params.clone(), self.bound.kernel);
        let round = params.run(&mut self.bound.lambda, blocks, kernel, pool)?;
        self.outcome = Some((round, bound));
        Ok(())
    }

    /// Length of the update in bytes: a shared vector, and 8 K bytes more with `concentration`.
    pub fn length(&self) -> usize {
        vector_bytes::<R>(self.numbers()) + 8 * self.params.sums()
    }

    /// V K.
    fn numbers(&self) -> usize {
        self.bound.lambda.vocabulary() * self.bound.lambda.topics()
    }

    /// Writes the update from byte `start` on, as much as `out` has room for: `share v'` as a shared vector, padding included, then with `concentration` the
    /// sums of `E[log theta]` as little endian `f64`. `start` and the length of `out` are multiples of 8; `shared` is the vector of [`SharedRound::run`].
    ///
    /// # Errors
    /// `Unfinished` before the round is done, `Shape` for wrong lengths.
    pub fn write_update(
        &self,
        shared: &[u8],
        start: usize,
        out: &mut [u8],
    ) -> Result<(), SolverError> {
        let SharedOutcome { round, factors, .. } = self.finish()?;
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
                    // A whole row by one factor after the other: the compiler vectorises these loops.
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
        // The rest of the vector is its padding.
        out.fill(R::ZERO.to_bytes());
        let first = start.saturating_sub(vector) / 8;
        let wanted = round.log_theta_sums.iter().skip(first);
        for (slot, sum) in f64::split_mut(sums).iter_mut().zip(wanted) {
            *slot = sum.to_bytes();
        }
        Ok(())
    }

    /// The room, for another round or bound; in any state of this one.
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
        let (round, bound) = self.outcome.as_ref().ok_or(SolverError::Unfinished)?;
        let (scales, share) = (self.bound.lambda.factors(), R::of(self.share));
        Ok(SharedOutcome {
            round,
            bound: *bound,
            factors: scales.map_or_else(Vec::new, |scales| scales.chain([share]).collect()),
        })
    }
}

/// The bound of some documents at the shared vector.
#[derive(Debug)]
pub struct SharedBound<R> {
    lambda: Lambda<R>,
    params: BoundParams,
    kernel: Kernel,
}

impl<R: Real> SharedBound<R> {
    /// A bound of documents of `vocabulary` words. `room`: see the module.
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
            params,
            kernel,
        })
    }

    /// Computes the bound, once. The threads of the pool do not change a bit of it.
    ///
    /// # Errors
    /// As [`SharedRound::run`].
    ///
    /// # Panics
    /// As [`SharedRound::run`].
    pub fn run<B: DocumentBlocks>(
        &mut self,
        blocks: &mut B,
        shared: &[u8],
        pool: Option<&ThreadPool>,
    ) -> Result<BoundOutcome, B::Error> {
        self.params.check_sample(blocks.documents())?;
        self.lambda.load(shared)?;
        self.params.run(&self.lambda, blocks, self.kernel, pool)
    }

    /// The room, for another round or bound; in any state of this one.
    pub fn into_room(self) -> Vec<R> {
        self.lambda.into_room()
    }
}
