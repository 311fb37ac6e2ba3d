//! Documents for LDA, and the E-step and the steps of the topics written as plainly as possible: double precision, the recurrence of
//! digamma up to 49, a dense matrix of topics, no pruning, no over-relaxation.

use dwell_solvers::{
    Values, Views,
    lda::{
        Documents, Kernel, Lambda, LdaOutcome, LdaParams, LdaSchedule, Real, WordCounts,
        shared::{BoundOutcome, BoundParams, SharedBound, SharedRound, vector_bytes},
    },
    order::BucketOrder,
};

use rayon::ThreadPool;

use super::Random;

/// A schedule of steps.
pub fn schedule(tau0: f64, kappa: f64, base: f64) -> LdaSchedule {
    LdaSchedule { tau0, kappa, base }
}

/// A round of one worker from the start of a fit.
pub fn params(topics: usize, corpus: f64) -> LdaParams {
    LdaParams {
        schedule: schedule(9.0, 0.7, 20.0),
        corpus,
        batch: 20,
        budget: 100,
        seed: 3,
        ..LdaParams::of_corpus(topics, 1)
    }
}

/// A number in 0..1.
pub fn uniform(random: &mut Random) -> f64 {
    (random.number() + 1.0) / 2.0
}

/// Documents that own their arrays.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    pub vocabulary: usize,
    pub offsets: Vec<i32>,
    pub words: Vec<i32>,
    pub counts: Vec<f32>,
}

impl Corpus {
    /// No document.
    pub fn new(vocabulary: usize) -> Self {
        Self {
            vocabulary,
            offsets: vec![0],
            ..Self::default()
        }
    }

    /// Adds a document: words and their counts.
    pub fn push(&mut self, document: &[(usize, f32)]) {
        for &(word, count) in document {
            self.words.push(word as i32);
            self.counts.push(count);
        }
        self.offsets.push(self.words.len() as i32);
    }

    /// `documents` of up to `longest` words each; every seventh is empty if `empty`.
    pub fn random(
        random: &mut Random,
        documents: usize,
        vocabulary: usize,
        longest: usize,
        empty: bool,
    ) -> Self {
        let mut corpus = Self::new(vocabulary);
        for d in 0..documents {
            let length = 1.0 + uniform(random) * longest as f64;
            let mut document = Vec::new();
            for word in 0..vocabulary {
                if uniform(random) < length / vocabulary as f64 && !(empty && d % 7 == 3) {
                    // Some counts are 0.
                    document.push((word, (uniform(random) * 4.0).floor() as f32));
                }
            }
            corpus.push(&document);
        }
        corpus
    }

    /// Documents of planted topics: topic k has words k, k + K and so on, ten times as likely as others.
    pub fn planted(
        random: &mut Random,
        documents: usize,
        vocabulary: usize,
        topics: usize,
        tokens: usize,
    ) -> (Self, Vec<Vec<f64>>) {
        let planted: Vec<Vec<f64>> = (0..topics)
            .map(|k| {
                let p: Vec<f64> = (0..vocabulary)
                    .map(|w| {
                        if w % topics == k {
                            1.0 + (w / topics) as f64 % 4.0
                        } else {
                            0.05
                        }
                    })
                    .collect();
                let sum: f64 = p.iter().sum();
                p.into_iter().map(|x| x / sum).collect()
            })
            .collect();
        let draw = |random: &mut Random, p: &[f64]| {
            let mut left = uniform(random) * p.iter().sum::<f64>();
            p.iter()
                .position(|x| {
                    left -= x;
                    left < 0.0
                })
                .unwrap_or(p.len() - 1)
        };
        let mut corpus = Self::new(vocabulary);
        for _ in 0..documents {
            // One topic makes up most of a document.
            let mut theta: Vec<f64> = (0..topics).map(|_| 0.1 * uniform(random)).collect();
            theta[(uniform(random) * topics as f64) as usize] += 1.0;
            let mut counts = vec![0.0f32; vocabulary];
            for _ in 0..tokens {
                let topic = draw(random, &theta);
                counts[draw(random, &planted[topic])] += 1.0;
            }
            let document: Vec<_> = counts
                .into_iter()
                .enumerate()
                .filter(|pair| pair.1 > 0.0)
                .collect();
            corpus.push(&document);
        }
        (corpus, planted)
    }

    /// The documents as the solver takes them.
    pub fn documents(&self) -> Documents<'_> {
        Documents::new(
            self.vocabulary,
            &self.offsets,
            &self.words,
            Values::F32(&self.counts),
        )
        .unwrap()
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The documents in blocks of so many.
    pub fn cut(&self, documents: usize) -> Vec<Self> {
        let blocks = (0..self.len()).step_by(documents);
        let mut blocks: Vec<_> = blocks
            .map(|from| self.part(from..self.len().min(from.saturating_add(documents))))
            .collect();
        if blocks.is_empty() {
            blocks.push(Self::new(self.vocabulary));
        }
        blocks
    }

    /// The documents with these numbers.
    pub fn part(&self, which: impl Iterator<Item = usize>) -> Self {
        let mut part = Self::new(self.vocabulary);
        for d in which {
            let document: Vec<_> = self
                .documents()
                .document(d)
                .map(|(w, c)| (w, c as f32))
                .collect();
            part.push(&document);
        }
        part
    }
}

/// Digamma as in the model-averaging paper, with terms up to x^-10.
pub fn digamma_49(mut x: f64) -> f64 {
    let mut below = 0.0;
    while x < 49.0 {
        below += 1.0 / x;
        x += 1.0;
    }
    let i = 1.0 / (x * x);
    let series =
        i * (1.0 / 12.0 - i * (1.0 / 120.0 - i * (1.0 / 252.0 - i * (1.0 / 240.0 - i / 132.0))));
    x.ln() - 0.5 / x - series - below
}

/// The result of [`plain_e_step`].
pub struct Plain {
    pub gamma: Vec<f64>,
    /// By words of the document, then topics.
    pub statistics: Vec<Vec<f64>>,
}

/// `beta`: exp(E[log beta]) of the document's words, by words.
pub fn plain_e_step(
    document: &[(usize, f64)],
    beta: &[impl AsRef<[f64]>],
    alpha: &[f64],
    tolerance: f64,
    cap: u32,
) -> Plain {
    let beta: Vec<&[f64]> = beta.iter().map(AsRef::as_ref).collect();
    let topics = alpha.len();
    let total: f64 = document.iter().map(|pair| pair.1).sum();
    let mut gamma: Vec<f64> = alpha.iter().map(|a| a + total / topics as f64).collect();
    let mut iterations = 0;
    loop {
        let psi = digamma_49(gamma.iter().sum());
        let theta: Vec<f64> = gamma.iter().map(|&g| (digamma_49(g) - psi).exp()).collect();
        let mut mass = vec![0.0; topics];
        let mut ratios = Vec::new();
        for (&row, &(_, count)) in beta.iter().zip(document) {
            let dot: f64 = row.iter().zip(&theta).map(|(b, t)| b * t).sum();
            ratios.push(count / (dot + 1e-100));
            for (m, b) in mass.iter_mut().zip(row) {
                *m += count / (dot + 1e-100) * b;
            }
        }
        let new: Vec<f64> = (0..topics).map(|k| alpha[k] + theta[k] * mass[k]).collect();
        let change: f64 = new.iter().zip(&gamma).map(|(a, b)| (a - b).abs()).sum();
        gamma = new;
        iterations += 1;
        if document.is_empty() || change < tolerance * topics as f64 || iterations >= cap {
            let statistics = beta
                .iter()
                .zip(&ratios)
                .map(|(row, ratio)| row.iter().zip(&theta).map(|(b, t)| b * t * ratio).collect())
                .collect();
            return Plain { gamma, statistics };
        }
    }
}

/// `exp(E[log beta])` of some words, from a dense lambda by words.
pub fn plain_beta(lambda: &[Vec<f64>], words: impl Iterator<Item = usize>) -> Vec<Vec<f64>> {
    let topics = lambda[0].len();
    let psi: Vec<f64> = (0..topics)
        .map(|k| digamma_49(lambda.iter().map(|row| row[k]).sum()))
        .collect();
    words
        .map(|w| {
            (0..topics)
                .map(|k| (digamma_49(lambda[w][k]) - psi[k]).exp())
                .collect()
        })
        .collect()
}

/// The mean of beta of some words, from a dense lambda by words.
pub fn mean_beta(lambda: &[Vec<f64>], words: impl Iterator<Item = usize>) -> Vec<Vec<f64>> {
    let sum = |k: usize| lambda.iter().map(|row| row[k]).sum::<f64>();
    words
        .map(|w| {
            (0..lambda[0].len())
                .map(|k| lambda[w][k] / sum(k))
                .collect()
        })
        .collect()
}

/// All of lambda, by words.
pub fn dense<R: Real>(lambda: &Lambda<R>) -> Vec<Vec<f64>> {
    (0..lambda.vocabulary())
        .map(|w| (0..lambda.topics()).map(|k| lambda.value(w, k)).collect())
        .collect()
}

/// A round with steps on all of lambda. Returns the sum of the counts.
pub fn eager(params: &LdaParams, corpus: &Corpus, eta: f64, lambda: &mut Vec<Vec<f64>>) -> f64 {
    let documents = corpus.documents();
    let mut order = BucketOrder::new(corpus.len(), 1, params.seed, params.partition).unwrap();
    let (mut cursor, mut done, mut tokens) = (params.cursor, 0, 0.0);
    while done < params.budget {
        let mut batch: Vec<Vec<(usize, f64)>> = Vec::new();
        while batch.len() < params.batch && done + (batch.len() as u64) < params.budget {
            let document: Vec<_> = documents.document(order.at(cursor).start).collect();
            cursor += 1;
            if !document.is_empty() {
                batch.push(document);
            }
        }
        let workers = f64::from(params.workers);
        let seen = params.seen as f64 + workers * done as f64;
        let rho = params.schedule.step(seen, batch.len() as f64, workers);
        let factor = params.corpus / batch.len() as f64;
        let mut next: Vec<Vec<f64>> = lambda
            .iter()
            .map(|row| row.iter().map(|x| (1.0 - rho) * x + rho * eta).collect())
            .collect();
        for document in &batch {
            let beta = plain_beta(lambda, document.iter().map(|pair| pair.0));
            let plain = plain_e_step(
                document,
                &beta,
                &params.alpha,
                params.e_step.tolerance,
                params.e_step.cap,
            );
            for ((word, count), statistics) in document.iter().zip(plain.statistics) {
                tokens += count;
                for (x, s) in next[*word].iter_mut().zip(statistics) {
                    *x += rho * factor * s;
                }
            }
        }
        *lambda = next;
        done += batch.len() as u64;
    }
    tokens
}

/// The documents of blocks.
fn list(blocks: &[Corpus]) -> Vec<Documents<'_>> {
    blocks.iter().map(Corpus::documents).collect()
}

/// Blocks as their owner lends them.
pub fn lent<'v>(blocks: &'v [Documents<'v>]) -> Views<'v, WordCounts> {
    Views::new(blocks).unwrap()
}

/// Runs a round on blocks of `cut` documents.
pub fn round<R: Real>(
    params: &LdaParams,
    corpus: &Corpus,
    lambda: &mut Lambda<R>,
    kernel: Kernel,
    cut: usize,
) -> LdaOutcome {
    round_by(None, params, corpus, lambda, kernel, cut)
}

/// As [`round`], by the threads of a pool if there is one.
pub fn round_by<R: Real>(
    pool: Option<&ThreadPool>,
    params: &LdaParams,
    corpus: &Corpus,
    lambda: &mut Lambda<R>,
    kernel: Kernel,
    cut: usize,
) -> LdaOutcome {
    let blocks = corpus.cut(cut);
    let params = params.clone().check().unwrap();
    params
        .run(lambda, &mut lent(&list(&blocks)), kernel, pool)
        .unwrap()
}

/// The result of a round on a shared vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Update<R> {
    pub outcome: LdaOutcome,
    pub factors: Vec<R>,
    pub bound: BoundOutcome,
    /// V K numbers, exactly.
    pub vector: Vec<f64>,
    /// K numbers with `concentration`.
    pub sums: Vec<f64>,
    /// The whole result, as it was written.
    pub bytes: Vec<u8>,
}

/// The bytes of memory not written yet: NaN, as `f32` and as `f64`.
pub const GARBAGE: u8 = 0xff;

/// A shared vector of these numbers, rounded. Its padding is NaN.
pub fn bytes<R: Real>(numbers: &[f64]) -> Vec<u8> {
    let mut bytes = vec![GARBAGE; vector_bytes::<R>(numbers.len())];
    for (slot, &number) in R::split_mut(&mut bytes).iter_mut().zip(numbers) {
        *slot = R::of(number).to_bytes();
    }
    bytes
}

/// All bytes as numbers.
pub fn numbers_of<R: Real>(bytes: &[u8]) -> Vec<f64> {
    let numbers = R::split(bytes).iter();
    numbers.map(|&bytes| R::from_bytes(bytes).into()).collect()
}

/// Documents in the sample of [`shared_round`], if there are as many.
pub const SAMPLE: usize = 5;

/// Runs a round from a shared vector, on blocks of `cut` documents, and writes its result in pieces of `piece` times 8 bytes.
pub fn shared_round<R: Real>(
    params: &LdaParams,
    (eta, share): (f64, f64),
    corpus: &Corpus,
    shared: &[f64],
    pieces: (usize, usize),
) -> (Update<R>, SharedRound<R>) {
    shared_round_by(None, params, (eta, share), corpus, shared, pieces)
}

/// As [`shared_round`], by the threads of a pool if there is one.
pub fn shared_round_by<R: Real>(
    pool: Option<&ThreadPool>,
    params: &LdaParams,
    (eta, share): (f64, f64),
    corpus: &Corpus,
    shared: &[f64],
    (cut, piece): (usize, usize),
) -> (Update<R>, SharedRound<R>) {
    let blocks = corpus.cut(cut);
    let numbers = shared.len();
    let shared = bytes::<R>(shared);
    let checked = params.clone().check().unwrap();
    let (sample, vocabulary) = (SAMPLE.min(corpus.len()), corpus.vocabulary);
    let (kernel, room) = (Kernel::detect(), Vec::new());
    let mut round =
        SharedRound::new(checked, sample, eta, share, vocabulary, kernel, room).unwrap();
    round.run(&mut lent(&list(&blocks)), &shared, pool).unwrap();
    let mut bytes = vec![GARBAGE; round.length()];
    for (i, out) in bytes.chunks_mut(8 * piece).enumerate() {
        round.write_update(&shared, 8 * i * piece, out).unwrap();
    }
    let outcome = round.finish().unwrap();
    let (vector, sums) = bytes.split_at(vector_bytes::<R>(numbers));
    let (vector, padding) = vector.split_at(numbers * size_of::<R>());
    assert!(padding.iter().all(|&byte| byte == 0), "{padding:?}");
    let update = Update {
        outcome: outcome.round.clone(),
        factors: outcome.factors,
        bound: outcome.bound,
        vector: numbers_of::<R>(vector),
        sums: numbers_of::<f64>(sums),
        bytes,
    };
    (update, round)
}

/// The bound of some documents at a shared vector, on blocks of `cut` documents.
pub fn shared_bound<R: Real>(
    params: &BoundParams,
    eta: f64,
    corpus: &Corpus,
    shared: &[f64],
    cut: usize,
) -> BoundOutcome {
    let (blocks, shared) = (corpus.cut(cut), bytes::<R>(shared));
    let (kernel, room) = (Kernel::detect(), Vec::new());
    let mut bound =
        SharedBound::<R>::new(params.clone(), eta, corpus.vocabulary, kernel, room).unwrap();
    bound.run(&mut lent(&list(&blocks)), &shared, None).unwrap()
}
