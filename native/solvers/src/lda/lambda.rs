//! The topics of a worker, kept lazily: `lambda_kw = eta + s u_wk`.
//!
//! A step multiplies all of `lambda - eta` by `1 - rho`. Here it multiplies one number, s, and touches only the words of its batch:
//!
//! ```text
//! s' = s (1 - rho),   u'_w = u_w + rho (D / B) / s' statistics_w,   m'_k = (1 - rho) m_k + rho (D / B) sum_w statistics_wk
//! ```
//!
//! with `m_k = s sum_w u_wk`. This is, exactly, `lambda' = (1 - rho) lambda + rho (eta + (D / B) statistics)`.
//!
//! Source: Hoffman, Blei, Bach, "Online learning for latent Dirichlet allocation", NIPS 2010, algorithm 2; the scale as in Guo et al.,
//! "Model averaging in distributed machine learning", VLDB Journal 30, 2021 (lazy updates), with the prior outside of it.

use rayon::ThreadPool;

use super::{
    lanes::{LANES, Real, blocks},
    params::check_eta,
};
use crate::base::{
    error::{SolverError, reserve, reserve_in, same_length},
    order::SplitMix64,
};

/// Below this scale a rescale multiplies all numbers by it and sets it to 1. An `f32` has room for 1e32 times more.
pub(super) const MIN_SCALE: f64 = 1e-6;

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
    /// Whether a step has added to the word.
    touched: Vec<bool>,
    /// The scales by which all numbers were multiplied: the first [`MAX_RESCALES`] of them, and how many there were.
    rescales: Vec<R>,
    rescale_count: u64,
}

/// Most rescales whose factors [`Lambda::factors`] keeps: that many turn any number up to 1e30 into almost 0.
pub(super) const MAX_RESCALES: usize = 22;

/// Words to whose rows a thread adds at a time.
const TOGETHER: usize = 64;

/// Largest number of a shared vector: an `f32` has room for the addends of many steps.
const MAX_VALUE: f64 = 1e30;

impl<R: Real> Lambda<R> {
    /// `eta` plus random numbers of mean 1 and variance 0.01. Each is a function of the seed, its word and its topic alone: all workers start alike.
    ///
    /// Hoffman draws from Gamma(100, 1/100). Here the draw is Wilson's and Hilferty's approximation, the cube of a normal number, and that is the sum of
    /// twelve uniform numbers of 16 bits. Other implementations can give the same bits, because it takes only sums of whole numbers, products and a division.
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
                let sum: u64 = (0..3)
                    .map(|_| random.next_u64())
                    .flat_map(|bits| [bits, bits >> 16, bits >> 32, bits >> 48])
                    .map(|bits| bits & 0xffff)
                    .sum();
                // The mean of the sum is 12 times 65535 / 2. One unit is 2^-16.
                let normal = (sum as f64 - 393_210.0) / 65536.0;
                let root = 1.0 - 1.0 / 900.0 + normal / 30.0;
                *number = R::of(root * root * root);
                *mass += (*number).into();
            }
        }
        Ok(lambda)
    }

    /// Topics that are `eta` everywhere.
    ///
    /// # Errors
    /// As [`Lambda::initial`].
    pub fn zero(topics: usize, vocabulary: usize, eta: f64) -> Result<Self, SolverError> {
        let mut lambda = Self::unloaded(topics, vocabulary, eta, Vec::new())?;
        lambda.numbers.resize(topics * vocabulary, R::ZERO);
        Ok(lambda)
    }

    /// Topics with these lambda, V K numbers by words; no word is touched.
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
        Ok(lambda)
    }

    /// K, the number of topics.
    pub fn topics(&self) -> usize {
        self.topics
    }

    /// V, the number of words.
    pub fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// The prior of a word in a topic.
    pub fn eta(&self) -> f64 {
        self.eta
    }

    /// s, the scale of the numbers.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// m, the sums of the topics without the prior: K numbers.
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

    /// Whether a step has added to the word.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn is_touched(&self, word: usize) -> bool {
        self.touched[word]
    }

    /// Number of words to which a step has added.
    pub fn touched(&self) -> usize {
        self.touched.iter().filter(|&&touched| touched).count()
    }

    /// The factors of a number to which no step has added: its value is the loaded one times each of these in turn. None after too many rescales.
    pub fn factors(&self) -> Option<impl Iterator<Item = R>> {
        let last = R::of(self.scale);
        (self.rescale_count <= MAX_RESCALES as u64)
            .then(|| self.rescales.iter().copied().chain([last]))
    }

    /// Topics without numbers: call [`Lambda::load`] once, before anything else. They take `room` as their memory, if it is large enough.
    ///
    /// # Errors
    /// As [`Lambda::initial`].
    pub(super) fn unloaded(
        topics: usize,
        vocabulary: usize,
        eta: f64,
        room: Vec<R>,
    ) -> Result<Self, SolverError> {
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
        let mut touched = reserve(vocabulary, "the words touched")?;
        touched.resize(vocabulary, false);
        Ok(Self {
            topics,
            vocabulary,
            eta,
            scale: 1.0,
            numbers: reserve_in(room, length, "the topics")?,
            masses: vec![0.0; topics],
            touched,
            rescales: Vec::with_capacity(MAX_RESCALES),
            rescale_count: 0,
        })
    }

    /// The memory of the numbers, for other topics.
    pub(super) fn into_room(self) -> Vec<R> {
        let mut room = self.numbers;
        room.clear();
        room
    }

    /// Loads a shared vector, which is `v = lambda - eta` of all words.
    ///
    /// | array | shape | meaning |
    /// |---|---|---|
    /// | shared | [`vector_bytes`] of V K | v as little endian `R`, by words; the padding is not read |
    ///
    /// # Errors
    /// `Shape` for another length, `NonFinite` names the word and the topic of a number that is not 0 to 1e30.
    pub(super) fn load(&mut self, shared: &[u8]) -> Result<(), SolverError> {
        let topics = self.topics;
        let rows = numbers_of::<R>(shared, self.vocabulary * topics)?;
        let largest = R::of(MAX_VALUE);
        for (word, bytes) in rows.chunks_exact(topics).enumerate() {
            // Loops over a whole row, without an exit in between: the compiler vectorises them.
            let good = |bytes: &R::Bytes| (R::ZERO..=largest).contains(&R::from_bytes(*bytes));
            if !bytes.iter().fold(true, |all, bytes| all & good(bytes)) {
                let topic = bytes.iter().take_while(|bytes| good(bytes)).count();
                let bad: f64 = R::from_bytes(bytes[topic]).into();
                return Err(SolverError::NonFinite(format!(
                    "the shared vector is {bad} at word {word} and topic {topic}: it must be 0 to 1e30"
                )));
            }
            let start = self.numbers.len();
            let row = bytes.iter().map(|bytes| floored(R::from_bytes(*bytes)));
            self.numbers.extend(row);
            for (mass, &number) in self.masses.iter_mut().zip(&self.numbers[start..]) {
                *mass += number.into();
            }
        }
        Ok(())
    }

    /// Multiplies all numbers by s, which is 0 after a step with `rho = 1`. The scale is 1 again.
    pub(super) fn rescale(&mut self) {
        let scale = R::of(self.scale);
        for number in &mut self.numbers {
            *number = floored(*number * scale);
        }
        self.rescale_count += 1;
        if self.rescales.len() < MAX_RESCALES {
            self.rescales.push(R::of(self.scale));
        }
        self.scale = 1.0;
    }

    /// Applies the decay of a step to s and to the masses. If the scale is then below [`MIN_SCALE`], a rescale must precede [`Lambda::add_row`].
    pub(super) fn decay(&mut self, rho: f64) {
        self.scale *= 1.0 - rho;
        for mass in &mut self.masses {
            *mass *= 1.0 - rho;
        }
    }

    /// `u_w += step statistics`, with `step = rho (D / B) / s`.
    pub(super) fn add_row(&mut self, word: usize, step: f64, statistics: &[R]) {
        self.touched[word] = true;
        let row = &mut self.numbers[word * self.topics..][..self.topics];
        add(row, R::of(step), statistics);
    }

    /// [`Lambda::add_row`] for words that rise, by the threads of a pool. `statistics`: a row of whole blocks for each word.
    pub(super) fn add_rows(
        &mut self,
        words: &[u32],
        step: f64,
        statistics: &[R],
        pool: &ThreadPool,
    ) {
        for &word in words {
            self.touched[word as usize] = true;
        }
        let rows = Rows {
            topics: self.topics,
            stride: LANES * blocks(self.topics),
            first: 0,
            numbers: &mut self.numbers,
        };
        pool.install(|| rows.add(words, R::of(step), statistics));
    }

    /// `m += step sums`, with `step = rho (D / B)`.
    pub(super) fn add_masses(&mut self, step: f64, sums: &[f64]) {
        for (mass, sum) in self.masses.iter_mut().zip(sums) {
            *mass += step * sum;
        }
    }
}

/// Rows that follow one another.
struct Rows<'a, R> {
    topics: usize,
    /// Numbers in a row of statistics.
    stride: usize,
    /// The word of the first row.
    first: usize,
    numbers: &'a mut [R],
}

impl<R: Real> Rows<'_, R> {
    /// See [`Lambda::add_rows`].
    fn add(self, words: &[u32], step: R, statistics: &[R]) {
        let (topics, stride) = (self.topics, self.stride);
        let at = |word: u32| (word as usize - self.first) * topics;
        if words.len() <= TOGETHER {
            for (&word, statistics) in words.iter().zip(statistics.chunks_exact(stride)) {
                add(&mut self.numbers[at(word)..][..topics], step, statistics);
            }
            return;
        }
        let half = words.len() / 2;
        let split = stride * half;
        let (first, second) = self.numbers.split_at_mut(at(words[half]));
        let rows = |first, numbers| Rows {
            topics,
            stride,
            first,
            numbers,
        };
        let (first, second) = (rows(self.first, first), rows(words[half] as usize, second));
        rayon::join(
            || first.add(&words[..half], step, &statistics[..split]),
            || second.add(&words[half..], step, &statistics[split..]),
        );
    }
}

/// Adds `step` times each statistic to its number.
fn add<R: Real>(row: &mut [R], step: R, statistics: &[R]) {
    for (number, &statistic) in row.iter_mut().zip(statistics) {
        *number = *number + step * statistic;
    }
}

/// `x`, or 0 if it is below the floor of sums.
fn floored<R: Real>(x: R) -> R {
    if x < R::SUM_FLOOR { R::ZERO } else { x }
}

/// Bytes of a shared vector of this many numbers. They are a multiple of 8: a 0 follows an odd number of `f32`.
pub fn vector_bytes<R: Real>(numbers: usize) -> usize {
    let words = numbers.saturating_mul(size_of::<R>()).div_ceil(8);
    words.saturating_mul(8)
}

/// The numbers of a shared vector, as bytes, without the padding. Refuses another length.
pub(super) fn numbers_of<R: Real>(
    shared: &[u8],
    length: usize,
) -> Result<&[R::Bytes], SolverError> {
    let expected = vector_bytes::<R>(length);
    if shared.len() != expected {
        return Err(SolverError::Shape(format!(
            "the shared vector has {} bytes, expected {expected}: {} for each of {length} numbers, and a multiple of 8",
            shared.len(),
            size_of::<R>()
        )));
    }
    Ok(&R::split(shared)[..length])
}
