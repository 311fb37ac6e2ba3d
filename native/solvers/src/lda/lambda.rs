//! The topics as a worker keeps them: `lambda_kw = eta + s u_wk`.
//!
//! A step multiplies all numbers by `1 - rho`; here it multiplies one, s, and touches only the words of its batch:
//!
//! ```text
//! s' = s (1 - rho),   u'_w = u_w + rho (D / B) / s' statistics_w,   m'_k = (1 - rho) m_k + rho (D / B) sum_w statistics_wk
//! ```
//!
//! with `m_k = s sum_w u_wk`. It is exact: `lambda' = (1 - rho) lambda + rho (eta + (D / B) statistics)`.
//!
//! Source: Hoffman, Blei, Bach, "Online learning for latent Dirichlet allocation", NIPS 2010, algorithm 2; the scale as in Guo et al.,
//! "Model averaging in distributed machine learning", VLDB Journal 30, 2021 (lazy updates), with the prior outside of it.

use std::ops::Range;

use super::{params::check_eta, real::Real};
use crate::{
    error::{SolverError, reserve, same_length},
    order::SplitMix64,
};

/// Scale under which numbers are multiplied by it and it is 1 again: an `f32` holds 1e32 times more.
pub(super) const LEAST_SCALE: f64 = 1e-6;

/// Topics of `vocabulary` words.
///
/// | array | shape | meaning |
/// |---|---|---|
/// | numbers | V K, by words: word w and topic k at `w K + k` | u, at least 0 |
/// | masses | K, f64 | `m_k = s sum_w u_wk`: without the prior |
#[derive(Debug, Clone, PartialEq)]
pub struct Lambda<R> {
    topics: usize,
    vocabulary: usize,
    eta: f64,
    scale: f64,
    numbers: Vec<R>,
    masses: Vec<f64>,
    /// What the last averaging left, as far as it is not there any more.
    base: Base<R>,
}

/// Rows, scale and masses as they were before the first step since the last averaging.
#[derive(Debug, Clone, PartialEq)]
struct Base<R> {
    /// Place of each word's row in `rows`.
    places: Vec<u32>,
    words: Vec<u32>,
    rows: Vec<R>,
    scale: f64,
    masses: Vec<f64>,
}

const UNTOUCHED: u32 = u32::MAX;

impl<R: Real> Lambda<R> {
    /// `eta` plus numbers of mean 1 and variance 0.01, each of which is a function of the seed, its word and its topic alone: all workers start alike.
    ///
    /// In the place of a Gamma(100, 1/100) it is Wilson's and Hilferty's cube of a normal number, that one the sum of twelve uniform ones: multiplications and
    /// additions only, so that other implementations can give the same bits.
    ///
    /// # Errors
    /// `InvalidParam` for eta, `Shape` for no topic, no word or too many of them, `OutOfMemory`.
    pub fn initial(
        topics: usize,
        vocabulary: usize,
        eta: f64,
        seed: u64,
    ) -> Result<Self, SolverError> {
        let mut lambda = Self::zero(topics, vocabulary, eta)?;
        for (word, row) in lambda.numbers.chunks_exact_mut(topics).enumerate() {
            let mut random = SplitMix64::for_epoch(seed, word as u32, 0);
            for (number, mass) in row.iter_mut().zip(&mut lambda.masses) {
                let uniform: f64 = (0..12)
                    .map(|_| (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64)
                    .sum();
                let root = 1.0 - 1.0 / 900.0 + (uniform - 6.0) / 30.0;
                *number = R::of(root * root * root);
                *mass += (*number).into();
            }
        }
        lambda.forget();
        Ok(lambda)
    }

    /// `eta` everywhere.
    ///
    /// # Errors
    /// As [`Lambda::initial`].
    pub fn zero(topics: usize, vocabulary: usize, eta: f64) -> Result<Self, SolverError> {
        check_eta(eta)?;
        let length = topics
            .checked_mul(vocabulary)
            .filter(|&n| n > 0 && vocabulary <= i32::MAX as usize);
        let Some(length) = length else {
            return Err(SolverError::Shape(format!(
                "{topics} topics of {vocabulary} words: at least 1, and at most {} words",
                i32::MAX
            )));
        };
        let mut numbers = reserve(length, "the topics")?;
        numbers.resize(length, R::ZERO);
        let mut places = reserve(vocabulary, "the words touched")?;
        places.resize(vocabulary, UNTOUCHED);
        Ok(Self {
            topics,
            vocabulary,
            eta,
            scale: 1.0,
            numbers,
            masses: vec![0.0; topics],
            base: Base {
                places,
                words: Vec::new(),
                rows: Vec::new(),
                scale: 1.0,
                masses: vec![0.0; topics],
            },
        })
    }

    /// The topics with these lambda, f64, by words (V K); no word is touched.
    ///
    /// # Errors
    /// `Shape` for another length, `NonFinite` names the word and the topic of a number that is not finite or less than eta; otherwise as [`Lambda::initial`].
    pub fn from_values(
        topics: usize,
        vocabulary: usize,
        eta: f64,
        values: &[f64],
    ) -> Result<Self, SolverError> {
        let mut lambda = Self::zero(topics, vocabulary, eta)?;
        same_length(
            "values",
            values.len(),
            lambda.numbers.len(),
            "word and topic",
        )?;
        for (i, (&value, number)) in values.iter().zip(&mut lambda.numbers).enumerate() {
            let (word, topic) = (i / topics, i % topics);
            if !(value.is_finite() && value >= eta) {
                return Err(SolverError::NonFinite(format!(
                    "lambda of word {word} and topic {topic} is {value}: it must be finite and at least eta"
                )));
            }
            *number = R::of(value - eta);
            lambda.masses[topic] += (*number).into();
        }
        lambda.forget();
        Ok(lambda)
    }

    /// K.
    pub fn topics(&self) -> usize {
        self.topics
    }

    /// V.
    pub fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// The prior of a word in a topic.
    pub fn eta(&self) -> f64 {
        self.eta
    }

    /// s.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// m: K numbers, without the prior.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// u of the word: K numbers.
    ///
    /// # Panics
    /// If there is no such word.
    #[inline(always)]
    pub fn row(&self, word: usize) -> &[R] {
        &self.numbers[word * self.topics..][..self.topics]
    }

    /// u of all words: V K numbers.
    pub fn numbers(&self) -> &[R] {
        &self.numbers
    }

    /// lambda of a word and a topic.
    ///
    /// # Panics
    /// If there is no such word or topic.
    pub fn value(&self, word: usize, topic: usize) -> f64 {
        self.eta + self.scale * self.row(word)[topic].into()
    }

    /// `sum_w lambda_kw = V eta + m_k`.
    pub fn topic_sum(&self, topic: usize) -> f64 {
        self.vocabulary as f64 * self.eta + self.masses[topic]
    }

    /// Words touched since the last averaging, in rising order; all of them after a step that changed them all.
    pub fn touched(&self) -> impl Iterator<Item = usize> {
        (0..self.vocabulary).filter(|&word| self.base.places[word] != UNTOUCHED)
    }

    /// u of the word after the last averaging: the same on every worker.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn base_row(&self, word: usize) -> &[R] {
        match self.base.places[word] {
            UNTOUCHED => self.row(word),
            place => &self.base.rows[place as usize * self.topics..][..self.topics],
        }
    }

    /// Back to the last averaging, bit for bit: for a round that is made again.
    pub fn roll_back(&mut self) {
        let rows = self.base.rows.chunks_exact(self.topics);
        for (&word, row) in self.base.words.iter().zip(rows) {
            self.numbers[word as usize * self.topics..][..self.topics].copy_from_slice(row);
        }
        self.scale = self.base.scale;
        self.masses.copy_from_slice(&self.base.masses);
        self.forget();
    }

    /// The present is what the last averaging left.
    fn forget(&mut self) {
        for word in self.base.words.drain(..) {
            self.base.places[word as usize] = UNTOUCHED;
        }
        self.base.rows.clear();
        self.base.scale = self.scale;
        self.base.masses.copy_from_slice(&self.masses);
    }

    /// Keeps the word's row, unless an older one is kept.
    fn keep(&mut self, word: usize) -> Result<(), SolverError> {
        if self.base.places[word] != UNTOUCHED {
            return Ok(());
        }
        let (rows, topics) = (&mut self.base.rows, self.topics);
        let length = rows.len() + topics;
        rows.try_reserve(topics)
            .map_err(|_| SolverError::OutOfMemory {
                what: "the rows of the last averaging",
                bytes: length * size_of::<R>(),
            })?;
        rows.extend_from_slice(&self.numbers[word * topics..][..topics]);
        self.base.places[word] = self.base.words.len() as u32;
        self.base.words.push(word as u32);
        Ok(())
    }

    /// Takes what an averaging has made: the scale, masses, and rows of the words that some worker had touched (K numbers each, in the order of the
    /// words). All other rows are those of the last averaging on every worker. No word is touched any more.
    ///
    /// Where the scale has become small, numbers are multiplied by it, in the same way on every worker.
    ///
    /// # Errors
    /// `Shape` for unequal lengths or words out of range, `InvalidParam` for a scale that is not positive and finite; nothing is changed then.
    pub fn install(
        &mut self,
        scale: f64,
        masses: &[f64],
        words: &[i32],
        rows: &[R],
    ) -> Result<(), SolverError> {
        crate::penalty::positive("scale", scale)?;
        same_length("masses", masses.len(), self.topics, "topic")?;
        same_length(
            "rows",
            rows.len(),
            words.len() * self.topics,
            "word and topic",
        )?;
        if let Some(&word) = words
            .iter()
            .find(|&&word| word < 0 || word as usize >= self.vocabulary)
        {
            return Err(SolverError::Shape(format!(
                "a row of word {word}: words are 0 to {}",
                self.vocabulary - 1
            )));
        }
        for (&word, row) in words.iter().zip(rows.chunks_exact(self.topics)) {
            self.numbers[word as usize * self.topics..][..self.topics].copy_from_slice(row);
        }
        self.scale = scale;
        self.masses.copy_from_slice(masses);
        // Long before a worker would do it within a round, which makes it send every row.
        if scale < LEAST_SCALE.sqrt() {
            self.shrink(0..self.vocabulary);
            self.scale = 1.0;
        }
        self.forget();
        Ok(())
    }

    fn shrink(&mut self, words: Range<usize>) {
        let scale = R::of(self.scale);
        for number in &mut self.numbers[words.start * self.topics..words.end * self.topics] {
            let product = *number * scale;
            *number = if product < R::SUM_FLOOR {
                R::ZERO
            } else {
                product
            };
        }
    }

    /// Multiplies the numbers of some words by s, of which a step with `rho = 1` makes 0. When all words are done, [`Lambda::settle`] follows.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub(super) fn rescale(&mut self, words: Range<usize>) -> Result<(), SolverError> {
        words.clone().try_for_each(|word| self.keep(word))?;
        self.shrink(words);
        Ok(())
    }

    /// After [`Lambda::rescale`] of all words.
    pub(super) fn settle(&mut self) {
        self.scale = 1.0;
    }

    /// The decay of a step: s and the masses. The scale may be 0, or so small that numbers have to be rescaled, before rows are added.
    pub(super) fn decay(&mut self, rho: f64) {
        self.scale *= 1.0 - rho;
        for mass in &mut self.masses {
            *mass *= 1.0 - rho;
        }
    }

    /// `u_w += step statistics`, where `step = rho (D / B) / s`.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub(super) fn add_row(
        &mut self,
        word: usize,
        step: f64,
        statistics: &[R],
    ) -> Result<(), SolverError> {
        self.keep(word)?;
        let step = R::of(step);
        let row = &mut self.numbers[word * self.topics..][..self.topics];
        for (number, &statistic) in row.iter_mut().zip(statistics) {
            *number = *number + step * statistic;
        }
        Ok(())
    }

    /// `m += step sums`, where `step = rho (D / B)`.
    pub(super) fn add_masses(&mut self, step: f64, sums: &[f64]) {
        for (mass, sum) in self.masses.iter_mut().zip(sums) {
            *mass += step * sum;
        }
    }
}
