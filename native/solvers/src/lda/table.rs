//! The distinct words of a batch: their factors, and the statistics that the documents add to.

use std::{mem, ops::Range};

use rayon::{ThreadPool, prelude::*};

use super::{
    lambda::Lambda,
    lanes::{Block, Kernel, Lanes, Real, WithLanes, blocks},
    params::MIN_PRIOR,
    special,
};
use crate::base::error::{SolverError, reserve};

const ABSENT: u32 = u32::MAX;

/// Rows whose factors a thread computes at a time.
const TOGETHER: usize = 64;

/// One row of `width` blocks for each distinct word of a batch, in the order of [`Table::add`], or after [`Table::sort`] in that of the words.
#[derive(Debug)]
pub(super) struct Table<R> {
    topics: usize,
    /// Whether factors are means: see [`EStepParams`](super::EStepParams).
    mean: bool,
    width: usize,
    /// Row of each word of the vocabulary, or [`ABSENT`].
    slots: Vec<u32>,
    words: Vec<u32>,
    /// `exp(E[log beta_kw])`, or the mean of `beta_kw`, over the largest of the row: a common factor of a word cancels out of phi. The rows keep the
    /// numbers of earlier batches until [`Table::build`] computes them.
    factors: Vec<Block<R>>,
    /// `sum_d c_dw phi_dwk`
    statistics: Vec<Block<R>>,
    /// `exp(-psi(sum_w lambda_kw))`, or `1 / sum_w lambda_kw`, over the largest of the topics.
    by_topic: Vec<Block<R>>,
    steps: Vec<Block<R>>,
}

impl<R: Real> Table<R> {
    /// A table without words. `mean`: whether factors are means. `OutOfMemory`.
    pub fn new(topics: usize, vocabulary: usize, mean: bool) -> Result<Self, SolverError> {
        let width = blocks(topics);
        let mut slots = reserve(vocabulary, "the words of a batch")?;
        slots.resize(vocabulary, ABSENT);
        Ok(Self {
            topics,
            mean,
            width,
            slots,
            words: Vec::new(),
            factors: Vec::new(),
            statistics: Vec::new(),
            by_topic: vec![[R::ZERO; 16]; width],
            steps: vec![[R::ZERO; 16]; width],
        })
    }

    /// Blocks of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Forgets all words.
    pub fn clear(&mut self) {
        for word in self.words.drain(..) {
            self.slots[word as usize] = ABSENT;
        }
        self.statistics.clear();
    }

    /// Computes the factors of the topics, `by_topic`, from the model.
    pub fn take_topics(&mut self, lambda: &Lambda<R>) {
        // The logarithm of the divisor of the topic's numbers.
        let divisor = |topic| {
            let sum = lambda.topic_sum(topic);
            if self.mean {
                sum.ln()
            } else {
                special::digamma(sum)
            }
        };
        let least = (0..self.topics).map(divisor).fold(f64::INFINITY, f64::min);
        let by_topic = self.by_topic.as_flattened_mut();
        for (topic, factor) in by_topic[..self.topics].iter_mut().enumerate() {
            *factor = R::of((least - divisor(topic)).exp());
            if *factor < R::FACTOR_FLOOR {
                *factor = R::ZERO;
            }
        }
    }

    /// Gives the word a row, unless it has one already.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn add(&mut self, word: usize) -> Result<(), SolverError> {
        if self.slots[word] != ABSENT {
            return Ok(());
        }
        let length = self.statistics.len() + self.width;
        for rows in [&mut self.factors, &mut self.statistics] {
            if rows.len() < length {
                rows.try_reserve(length - rows.len())
                    .map_err(|_| SolverError::OutOfMemory {
                        what: "the words of a batch",
                        bytes: length * size_of::<Block<R>>(),
                    })?;
                rows.resize(length, [R::ZERO; 16]);
            }
        }
        self.slots[word] = self.words.len() as u32;
        self.words.push(word as u32);
        Ok(())
    }

    /// Orders the rows by their words, so that words of a document have rising rows. Nothing may have been added to the statistics.
    pub fn sort(&mut self, pool: &ThreadPool) {
        pool.install(|| self.words.par_sort_unstable());
        for (slot, &word) in self.words.iter().enumerate() {
            self.slots[word as usize] = slot as u32;
        }
    }

    /// The words, in the order of their rows.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Row of the word. If the word was not added, every function that takes the row panics.
    #[inline(always)]
    pub fn slot(&self, word: usize) -> u32 {
        self.slots[word]
    }

    /// The factors of a row.
    #[inline(always)]
    pub fn factors(&self, slot: u32) -> &[Block<R>] {
        &self.factors[slot as usize * self.width..][..self.width]
    }

    /// The statistics of a row.
    #[inline(always)]
    pub fn statistics(&self, slot: u32) -> &[Block<R>] {
        &self.statistics[slot as usize * self.width..][..self.width]
    }

    /// The statistics of a row, to add to.
    #[inline(always)]
    pub fn statistics_mut(&mut self, slot: u32) -> &mut [Block<R>] {
        &mut self.statistics[slot as usize * self.width..][..self.width]
    }

    /// All statistics, row by row.
    pub fn all_statistics(&self) -> &[Block<R>] {
        &self.statistics
    }

    /// The rows in ranges, which end before each of `ends` and at the end. `ends` rise.
    pub fn split(&mut self, ends: &[u32]) -> Vec<Rows<'_, R>> {
        let width = self.width;
        let (mut factors, mut statistics) = (&self.factors[..], &mut self.statistics[..]);
        let (mut start, last) = (0, self.words.len() as u32);
        let ends = ends.iter().copied().chain([last]);
        ends.map(|end| {
            let slots = mem::replace(&mut start, end)..end;
            let length = slots.len() * width;
            let (own_factors, others) = factors.split_at(length);
            factors = others;
            let (own_statistics, others) = mem::take(&mut statistics).split_at_mut(length);
            statistics = others;
            Rows {
                slots,
                width,
                factors: own_factors,
                statistics: own_statistics,
            }
        })
        .collect()
    }

    /// Computes the factors of all rows, by the threads of a pool if there is one.
    pub fn build(&mut self, lambda: &Lambda<R>, kernel: Kernel, pool: Option<&ThreadPool>) {
        let (topics, mean, width) = (self.topics, self.mean, self.width);
        let (words, by_topic) = (&self.words[..], &self.by_topic[..]);
        let factors = &mut self.factors[..words.len() * width];
        let build = |steps: &mut Vec<Block<R>>, (words, factors): (&[u32], &mut [Block<R>])| {
            let build = Build {
                topics,
                mean,
                by_topic,
                words,
                factors,
                steps,
                lambda,
            };
            R::run(kernel, build);
        };
        match pool {
            None => build(&mut self.steps, (words, factors)),
            Some(pool) => pool.install(|| {
                let factors = factors.par_chunks_mut(TOGETHER * width);
                let each = words.par_chunks(TOGETHER).zip(factors);
                each.for_each_init(|| vec![[R::ZERO; 16]; width], build);
            }),
        }
    }
}

/// Some rows of a table that follow one another.
pub(super) struct Rows<'a, R> {
    pub slots: Range<u32>,
    /// Blocks of a row.
    pub width: usize,
    pub factors: &'a [Block<R>],
    pub statistics: &'a mut [Block<R>],
}

/// [`Table::build`], compiled once for each kind of lanes.
struct Build<'a, R> {
    topics: usize,
    mean: bool,
    by_topic: &'a [Block<R>],
    words: &'a [u32],
    factors: &'a mut [Block<R>],
    steps: &'a mut [Block<R>],
    lambda: &'a Lambda<R>,
}

impl<R: Real> WithLanes<R> for Build<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<Number = R>>(self, l: L) {
        let Self {
            topics,
            mean,
            by_topic,
            words,
            factors,
            steps,
            lambda,
        } = self;
        let width = blocks(topics);
        let (scale, eta) = (l.splat(R::of(lambda.scale())), l.splat(R::of(lambda.eta())));
        for (&word, factors) in words.iter().zip(factors.chunks_exact_mut(width)) {
            let numbers = lambda.row(word as usize);
            factors.as_flattened_mut()[..topics].copy_from_slice(numbers);
            for block in factors.iter_mut() {
                *block = l.store(l.mul_add(scale, l.load(block), eta));
            }
            factors.as_flattened_mut()[topics..].fill(R::of(MIN_PRIOR));
            if mean {
                relative(l, factors, by_topic);
            } else {
                relative_exp_digamma(l, factors, steps, Some(by_topic));
            }
        }
    }
}

/// Replaces each x by `exp(psi(x))` times its factor, over the largest of these products; by 0 below the floor of factors.
#[inline(always)]
pub(super) fn relative_exp_digamma<R: Real, L: Lanes<Number = R>>(
    l: L,
    numbers: &mut [Block<R>],
    steps: &mut [Block<R>],
    times: Option<&[Block<R>]>,
) {
    let zero = l.splat(R::ZERO);
    let mut nearest = l.splat(R::ZERO - R::MAX_RATIO);
    for (number, step) in numbers.iter_mut().zip(steps.iter_mut()) {
        let (e, s) = l.exp_digamma(l.load(number));
        let away = l.sub(zero, s);
        nearest = l.max(nearest, away);
        *number = l.store(e);
        *step = l.store(away);
    }
    let nearest = l.splat(l.greatest(nearest));
    let far = l.splat(R::ZERO - R::CUTOFF);
    let mut largest = l.splat(R::TINY);
    for (c, (number, step)) in numbers.iter_mut().zip(steps.iter()).enumerate() {
        let away = l.sub(l.load(step), nearest);
        let mut value = l.mul(l.load(number), l.exp(away));
        if let Some(times) = times {
            value = l.mul(value, l.load(&times[c]));
        }
        let value = l.where_greater(away, far, value, zero);
        largest = l.max(largest, value);
        *number = l.store(value);
    }
    over_largest(l, numbers, largest);
}

/// Replaces each number by its product with its factor, over the largest of these products; by 0 below the floor of factors.
#[inline(always)]
fn relative<R: Real, L: Lanes<Number = R>>(l: L, numbers: &mut [Block<R>], times: &[Block<R>]) {
    let mut largest = l.splat(R::TINY);
    for (number, times) in numbers.iter_mut().zip(times) {
        let value = l.mul(l.load(number), l.load(times));
        largest = l.max(largest, value);
        *number = l.store(value);
    }
    over_largest(l, numbers, largest);
}

/// Divides numbers by the largest lane of `largest`; those below the floor of factors become 0.
#[inline(always)]
fn over_largest<R: Real, L: Lanes<Number = R>>(l: L, numbers: &mut [Block<R>], largest: L::Vector) {
    let scale = l.splat(R::ONE / l.greatest(largest));
    let (floor, zero) = (l.splat(R::FACTOR_FLOOR), l.splat(R::ZERO));
    for number in numbers {
        let value = l.mul(l.load(number), scale);
        *number = l.store(l.where_greater(value, floor, value, zero));
    }
}
