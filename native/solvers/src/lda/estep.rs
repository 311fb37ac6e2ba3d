//! The E-step of one document: gamma, and what the document adds to the statistics of its words.
//!
//! ```text
//! gamma_k = alpha_k + N / K
//! repeat  e_k = exp(psi(gamma_k))                          relative to the largest
//!         r_w = c_w / sum_k e_k f_wk                       f: the factors of the word
//!         n_k = e_k sum_w r_w f_wk
//!         done when sum_k |alpha_k + n_k - gamma_k| < tolerance K
//!         gamma_k = alpha_k + n_k, or further
//! gamma_k = alpha_k + n_k,   statistics_wk = e_k f_wk r_w
//! ```
//!
//! Source: Hoffman, Blei, Bach, "Online learning for latent Dirichlet allocation", NIPS 2010, algorithm 2; without the factor of
//! `exp(-psi(sum gamma))`, which cancels out of phi.
//!
//! Over-relaxation by f continues from `g = max(v + f (v - gamma), alpha + n / 4)` with `v = alpha + n`; it scales the part of g above alpha so that g has the
//! sum of v. If the change rises directly after it fell, the iteration continues from v itself. After eight such rises, all iterations do.
//!
//! Pruning: after iteration 2, and then after each further `1 + iteration / 4`, topics with `n_k < pruning min(1, N / K)` that do not rise leave the document,
//! provided that its rows become shorter by at least a quarter, in blocks of 16. They end with `gamma_k = alpha_k`. The topic with the largest n never leaves.
//!
//! The result is a function of alpha, the parameters, the counts and the factors alone; AVX2, AVX-512 and NEON give the same bits.

use super::{
    concentration::add_log_theta,
    found::Found,
    lanes::{Block, Kernel, LANES, Lanes, Number, Real, WithLanes, blocks},
    params::{EStepParams, MIN_PRIOR},
    table::{Table, relative_exp_digamma},
};
use crate::base::error::{SolverError, reserve};

/// Times that the change may rise after a fall before a document goes on without over-relaxation.
const PATIENCE: u32 = 8;

/// The E-step of one document at a time. Its room grows with the documents.
#[derive(Debug)]
pub(super) struct EStep<R> {
    params: EStepParams,
    kernel: Kernel,
    topics: usize,
    alpha: Vec<f64>,

    /// Words of the document, and rows: words rounded up to 16.
    words: usize,
    rows: usize,
    /// Blocks of a row, and topics in it.
    width: usize,
    columns: usize,
    /// Factors of the document's words, rows of `width` blocks; rows without a word are 0.
    block: Vec<R>,
    /// Index of the first row in it, at an address that is a multiple of 64: no load crosses cache lines.
    lead: usize,
    counts: Vec<Block<R>>,
    ratios: Vec<Block<R>>,
    slots: Vec<u32>,
    /// Topic of each column.
    active: Vec<u32>,
    /// Columns that stay after a pruning.
    kept: Vec<u32>,
    /// alpha by columns. In columns without a topic alpha and gamma are 1e-6, and factors 0.
    prior: Vec<Block<R>>,
    gamma: Vec<Block<R>>,
    weights: Vec<Block<R>>,
    mass: Vec<Block<R>>,
    steps: Vec<Block<R>>,
    /// N.
    total: f64,
    iteration: u32,
    next_pruning: u32,
    change: R,
    /// Whether the last change was less than the one before.
    falling: bool,
    rises: u32,
}

impl<R: Real> EStep<R> {
    /// An E-step without room for words: see [`EStep::make_room`].
    pub fn new(params: EStepParams, alpha: &[f64], kernel: Kernel) -> Self {
        let topics = alpha.len();
        let width = blocks(topics);
        let of_topics = || vec![[R::ZERO; LANES]; width];
        Self {
            params,
            kernel,
            topics,
            alpha: alpha.to_vec(),
            words: 0,
            rows: 0,
            width,
            columns: topics,
            block: Vec::new(),
            lead: 0,
            counts: Vec::new(),
            ratios: Vec::new(),
            slots: Vec::new(),
            active: (0..topics as u32).collect(),
            kept: Vec::with_capacity(topics),
            prior: of_topics(),
            gamma: of_topics(),
            weights: of_topics(),
            mass: of_topics(),
            steps: of_topics(),
            total: 0.0,
            iteration: 0,
            next_pruning: 0,
            change: R::ZERO,
            falling: false,
            rises: 0,
        }
    }

    /// Makes room for documents of up to so many words.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn make_room(&mut self, words: usize) -> Result<(), SolverError> {
        let (width, tiles) = (blocks(self.topics), blocks(words));
        if tiles <= self.counts.len() {
            return Ok(());
        }
        let factors = (tiles * width)
            .saturating_mul(LANES * LANES)
            .saturating_add(LANES);
        self.block = reserve(factors, "the factors of a document")?;
        self.slots = reserve(tiles * LANES, "the words of a document")?;
        for numbers in [&mut self.counts, &mut self.ratios] {
            *numbers = reserve(tiles, "the counts of a document")?;
            numbers.resize(tiles, [R::ZERO; LANES]);
        }
        Ok(())
    }

    /// Starts on the document with these words and counts. The table holds the factors of the words.
    ///
    /// # Panics
    /// If there is no room for as many words, or a word is not in the table.
    pub fn start(&mut self, document: impl Iterator<Item = (usize, f64)>, table: &Table<R>) {
        self.width = table.width();
        self.columns = self.topics;
        self.block.clear();
        // The alignment matters only to speed.
        self.lead = Some(self.block.as_ptr().align_offset(64))
            .filter(|&lead| lead < LANES)
            .unwrap_or(0);
        self.block.resize(self.lead, R::ZERO);
        self.slots.clear();
        self.total = 0.0;
        for (word, count) in document {
            let slot = table.slot(word);
            self.block
                .extend_from_slice(table.factors(slot).as_flattened());
            self.counts.as_flattened_mut()[self.slots.len()] = R::of(count);
            self.slots.push(slot);
            self.total += count;
        }
        self.words = self.slots.len();
        self.rows = blocks(self.words) * LANES;
        self.block
            .resize(self.lead + self.rows * self.width * LANES, R::ZERO);
        self.counts.as_flattened_mut()[self.words..self.rows].fill(R::ZERO);

        self.active.clear();
        self.active.extend(0..self.topics as u32);
        let share = self.total / self.topics as f64;
        for (column, &alpha) in self.alpha.iter().enumerate() {
            self.prior.as_flattened_mut()[column] = R::of(alpha);
            self.gamma.as_flattened_mut()[column] = R::of(alpha + share);
        }
        for numbers in [&mut self.prior, &mut self.gamma] {
            numbers.as_flattened_mut()[self.topics..].fill(R::of(MIN_PRIOR));
        }
        self.mass.fill([R::ZERO; LANES]);
        self.iteration = 0;
        self.next_pruning = 2;
        self.change = R::MAX_RATIO;
        self.falling = false;
        self.rises = 0;
    }

    /// Iterates until gamma is done.
    pub fn run(&mut self) {
        R::run(self.kernel, Iterations { estep: self });
    }

    /// Iterations so far.
    pub fn iterations(&self) -> u32 {
        self.iteration
    }

    /// N: the sum of the counts.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// gamma: K numbers.
    pub fn write_gamma(&self, gamma: &mut [f64]) {
        gamma.copy_from_slice(&self.alpha);
        for (&topic, &mass) in self.active.iter().zip(self.mass.as_flattened()) {
            gamma[topic as usize] += mass.into();
        }
    }

    /// Adds `statistics_wk` to the table and their sums over w to `sums`.
    pub fn collect(&self, table: &mut Table<R>, sums: &mut [f64]) {
        for (&topic, &mass) in self.active.iter().zip(self.mass.as_flattened()) {
            sums[topic as usize] += mass.into();
        }
        R::run(self.kernel, Collect { estep: self, table });
    }

    /// Writes what the document adds to the statistics and their sums, and with `concentration` its `E[log theta]`.
    pub fn write(&self, found: &mut Found<R>, concentration: bool) {
        let width = blocks(self.topics);
        found.slots.clone_from(&self.slots);
        found.ratios.clear();
        let ratios = &self.ratios.as_flattened()[..self.words];
        found.ratios.extend_from_slice(ratios);
        for (numbers, of_topics) in [
            (&self.weights, &mut found.weights),
            (&self.mass, &mut found.mass),
        ] {
            of_topics.clear();
            of_topics.resize(width, [R::ZERO; LANES]);
            let of_topics = of_topics.as_flattened_mut();
            for (&topic, &number) in self.active.iter().zip(numbers.as_flattened()) {
                of_topics[topic as usize] = number;
            }
        }
        found.total = self.total;
        found.iterations = self.iteration;
        found.log_theta.clear();
        if concentration {
            let mut gamma = vec![0.0; self.topics];
            self.write_gamma(&mut gamma);
            found.log_theta.resize(self.topics, 0.0);
            add_log_theta(&gamma, &mut found.log_theta);
        }
    }

    /// Sets gamma to the start of the next iteration.
    #[inline(always)]
    fn proceed<L: Lanes<Number = R>>(&mut self, l: L, further: bool) {
        let width = self.width;
        let (mut excess_sum, mut mass_sum) = (l.splat(R::ZERO), l.splat(R::ZERO));
        let factor = l.splat(R::of(self.params.over_relaxation));
        let quarter = l.splat(R::of(0.25));
        for c in 0..width {
            let (prior, mass) = (l.load(&self.prior[c]), l.load(&self.mass[c]));
            let plain = l.add(prior, mass);
            if further {
                let step = l.mul_add(factor, l.sub(plain, l.load(&self.gamma[c])), plain);
                let excess = l.max(l.sub(step, prior), l.mul(quarter, mass));
                excess_sum = l.add(excess_sum, excess);
                mass_sum = l.add(mass_sum, mass);
                self.steps[c] = l.store(excess);
            }
            self.gamma[c] = l.store(plain);
        }
        let (excess_sum, mass_sum) = (l.sum(excess_sum), l.sum(mass_sum));
        if further && excess_sum > R::SUM_FLOOR {
            let scale = l.splat(mass_sum / excess_sum);
            for c in 0..width {
                let next = l.mul_add(scale, l.load(&self.steps[c]), l.load(&self.prior[c]));
                self.gamma[c] = l.store(next);
            }
        }
    }

    /// Lists the columns that stay, in order. Returns whether dropping the others shortens the rows enough to pay for the copy.
    fn select(&mut self) -> bool {
        let threshold = R::of(self.params.pruning * (self.total / self.topics as f64).min(1.0));
        let mass = &self.mass.as_flattened()[..self.columns];
        let (prior, gamma) = (self.prior.as_flattened(), self.gamma.as_flattened());
        let largest = mass
            .iter()
            .copied()
            .fold(R::ZERO, |most, n| if n > most { n } else { most });
        self.kept.clear();
        self.kept.extend((0..self.columns as u32).filter(|&column| {
            let column = column as usize;
            let n = mass[column];
            n >= threshold || n >= largest || prior[column] + n > gamma[column]
        }));
        !self.kept.is_empty() && 4 * blocks(self.kept.len()) <= 3 * self.width
    }

    /// Removes all columns but those that [`EStep::select`] listed.
    fn compact(&mut self) {
        let kept = &self.kept[..];
        let (from, to) = (self.width * LANES, blocks(kept.len()) * LANES);
        let block = &mut self.block[self.lead..];
        // Indices below the length of a copy need no check.
        const SHORT: usize = 128;
        let mut copy = [R::ZERO; SHORT];
        for row in 0..self.rows {
            let (source, target) = (row * from, row * to);
            if from <= SHORT {
                copy[..from].copy_from_slice(&block[source..source + from]);
                let (kept_part, rest) = block[target..target + to].split_at_mut(kept.len());
                for (number, &old) in kept_part.iter_mut().zip(kept) {
                    *number = copy[old as usize % SHORT];
                }
                rest.fill(R::ZERO);
            } else {
                for (column, &old) in kept.iter().enumerate() {
                    block[target + column] = block[source + old as usize];
                }
                block[target + kept.len()..target + to].fill(R::ZERO);
            }
        }
        for numbers in [
            &mut self.prior,
            &mut self.gamma,
            &mut self.mass,
            &mut self.weights,
        ] {
            let numbers = numbers.as_flattened_mut();
            for (column, &old) in kept.iter().enumerate() {
                numbers[column] = numbers[old as usize];
            }
        }
        for (column, &old) in kept.iter().enumerate() {
            self.active[column] = self.active[old as usize];
        }
        self.active.truncate(kept.len());
        for numbers in [&mut self.prior, &mut self.gamma] {
            numbers.as_flattened_mut()[kept.len()..to].fill(R::of(MIN_PRIOR));
        }
        self.mass.as_flattened_mut()[kept.len()..to].fill(R::ZERO);
        self.columns = kept.len();
        self.width = to / LANES;
    }
}

/// [`EStep::run`], compiled once for each kind of lanes.
struct Iterations<'a, R> {
    estep: &'a mut EStep<R>,
}

impl<R: Real> WithLanes<R> for Iterations<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<Number = R>>(self, l: L) {
        let Self { estep: e } = self;
        let enough = R::of(e.params.tolerance * e.topics as f64);
        let zero = l.splat(R::ZERO);
        while e.words > 0 {
            let width = e.width;
            e.weights[..width].copy_from_slice(&e.gamma[..width]);
            relative_exp_digamma(l, &mut e.weights[..width], &mut e.steps[..width], None);
            pass(l, e);
            e.iteration += 1;

            let mut change = zero;
            for c in 0..width {
                let new = l.add(l.load(&e.prior[c]), l.load(&e.mass[c]));
                let by = l.sub(new, l.load(&e.gamma[c]));
                change = l.add(change, l.max(by, l.sub(zero, by)));
            }
            let change = l.sum(change);
            if change < enough || e.iteration >= e.params.cap {
                break;
            }
            // Changes grow while a document finds its topics. After a fall, only over-relaxation makes them rise.
            let falls = change <= e.change;
            let rose = e.falling && !falls;
            e.rises += u32::from(rose);
            (e.change, e.falling) = (change, falls);
            let mut shorter = false;
            if e.iteration == e.next_pruning && e.params.pruning > 0.0 {
                e.next_pruning += 1 + e.iteration / 4;
                shorter = e.select();
            }
            let further = e.params.over_relaxation > 0.0 && !rose && e.rises < PATIENCE;
            e.proceed(l, further);
            if shorter {
                e.compact();
                // The topics that stay take over the share of the topics that left: this change does not count as a rise.
                (e.change, e.falling) = (R::MAX_RATIO, false);
            }
        }
    }
}

#[inline(always)]
fn pass<R: Real, L: Lanes<Number = R>>(l: L, e: &mut EStep<R>) {
    let width = e.width;
    let block = &e.block[e.lead..].as_chunks::<LANES>().0[..e.rows * width];
    let tiles = e.rows / LANES;
    let (counts, ratios) = (&e.counts[..tiles], &mut e.ratios[..tiles]);
    let (weights, mass) = (&e.weights[..width], &mut e.mass[..width]);
    macro_rules! narrow {
        ($($width:literal)*) => {
            match width {
                $($width => narrow_pass::<R, L, $width>(l, block, counts, weights, ratios, mass),)*
                _ => wide_pass(l, block, counts, weights, ratios, mass),
            }
        };
    }
    narrow!(1 2 3 4 5 6 7 8);
}

/// `c / (dot + tiny)`, limited so that sums stay finite.
#[inline(always)]
fn ratio<L: Lanes>(l: L, count: &Block<L::Number>, dots: L::Vector) -> Block<L::Number> {
    let dots = l.add(dots, l.splat(L::Number::TINY));
    l.store(l.min(l.div(l.load(count), dots), l.splat(L::Number::MAX_RATIO)))
}

/// One pass over rows of `C` blocks, 16 rows at a time: their dot products with the weights, then the same rows, times their ratios, into sums in
/// registers.
#[inline(always)]
fn narrow_pass<R: Real, L: Lanes<Number = R>, const C: usize>(
    l: L,
    block: &[Block<R>],
    counts: &[Block<R>],
    weights: &[Block<R>],
    ratios: &mut [Block<R>],
    mass: &mut [Block<R>],
) {
    let tiles = block.as_chunks::<C>().0.as_chunks::<LANES>().0;
    let zero = l.splat(R::ZERO);
    let mut loaded = [zero; C];
    for c in 0..C {
        loaded[c] = l.load(&weights[c]);
    }
    let weights = loaded;
    // Few columns get two sums each, so that additions need not wait for one another.
    let second = usize::from(C <= 3);
    let mut sums = [[zero; C]; 2];
    for ((tile, count), ratios) in tiles.iter().zip(counts).zip(ratios) {
        let mut dots = [zero; LANES];
        for i in 0..LANES {
            let mut dot = l.mul(weights[0], l.load(&tile[i][0]));
            for c in 1..C {
                dot = l.mul_add(weights[c], l.load(&tile[i][c]), dot);
            }
            dots[i] = dot;
        }
        *ratios = ratio(l, count, l.sums(dots));
        for i in 0..LANES {
            let ratio = l.splat(ratios[i]);
            let sums = &mut sums[(i & 1) * second];
            for c in 0..C {
                sums[c] = l.mul_add(ratio, l.load(&tile[i][c]), sums[c]);
            }
        }
    }
    for c in 0..C {
        mass[c] = l.store(l.mul(weights[c], l.add(sums[0][c], sums[1][c])));
    }
}

/// One pass over rows of any width, with the sums in memory.
#[inline(always)]
fn wide_pass<R: Real, L: Lanes<Number = R>>(
    l: L,
    block: &[Block<R>],
    counts: &[Block<R>],
    weights: &[Block<R>],
    ratios: &mut [Block<R>],
    mass: &mut [Block<R>],
) {
    let (width, zero) = (weights.len(), l.splat(R::ZERO));
    mass.fill([R::ZERO; LANES]);
    for ((tile, count), ratios) in block.chunks_exact(width * LANES).zip(counts).zip(ratios) {
        let mut dots = [zero; LANES];
        for (dot, row) in dots.iter_mut().zip(tile.chunks_exact(width)) {
            for (weight, factor) in weights.iter().zip(row) {
                *dot = l.mul_add(l.load(weight), l.load(factor), *dot);
            }
        }
        *ratios = ratio(l, count, l.sums(dots));
        let mut splats = [zero; LANES];
        for i in 0..LANES {
            splats[i] = l.splat(ratios[i]);
        }
        for (c, mass) in mass.iter_mut().enumerate() {
            let mut sum = l.load(mass);
            for i in 0..LANES {
                sum = l.mul_add(splats[i], l.load(&tile[i * width + c]), sum);
            }
            *mass = l.store(sum);
        }
    }
    for (mass, weight) in mass.iter_mut().zip(weights) {
        *mass = l.store(l.mul(l.load(mass), l.load(weight)));
    }
}

/// [`EStep::collect`], compiled once for each kind of lanes.
struct Collect<'a, R> {
    estep: &'a EStep<R>,
    table: &'a mut Table<R>,
}

impl<R: Real> WithLanes<R> for Collect<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<Number = R>>(self, l: L) {
        let Self { estep: e, table } = self;
        let (width, floor, zero) = (e.width, l.splat(R::SUM_FLOOR), l.splat(R::ZERO));
        let ratios = e.ratios.as_flattened();
        let block = e.block[e.lead..].as_chunks::<LANES>().0;
        for (row, &slot) in e.slots.iter().enumerate() {
            let ratio = l.splat(ratios[row]);
            let statistics = table.statistics_mut(slot);
            for c in 0..width {
                let factor = l.mul(l.load(&e.weights[c]), l.load(&block[row * width + c]));
                let value = l.mul(factor, ratio);
                let value = l.where_greater(value, floor, value, zero);
                if e.columns == e.topics {
                    statistics[c] = l.store(l.add(l.load(&statistics[c]), value));
                } else {
                    let values = l.store(value);
                    let statistics = statistics.as_flattened_mut();
                    let active = &e.active[c * LANES..e.columns.min((c + 1) * LANES)];
                    for (&topic, &value) in active.iter().zip(&values) {
                        let sum = &mut statistics[topic as usize];
                        *sum = *sum + value;
                    }
                }
            }
        }
    }
}
