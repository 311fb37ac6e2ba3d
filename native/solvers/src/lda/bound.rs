//! The variational bound on the log likelihood, in double precision. It is a sum of parts, each of which any worker can compute.
//!
//! ```text
//! corpus = sum_d [ sum_w c_dw log sum_k exp(E[log theta_dk] + E[log beta_kw]) + sum_k (alpha_k - gamma_dk) E[log theta_dk]
//!                  + sum_k (ln G(gamma_dk) - ln G(alpha_k)) + ln G(sum alpha) - ln G(sum gamma_d) ]
//! topics = sum_kw [ (eta - lambda_kw) E[log beta_kw] + ln G(lambda_kw) - ln G(eta) ] + sum_k [ ln G(V eta) - ln G(sum_w lambda_kw) ]
//! E[log theta_dk] = psi(gamma_dk) - psi(sum gamma_d),   E[log beta_kw] = psi(lambda_kw) - psi(sum_w lambda_kw)
//! ```
//!
//! Hoffman's bound is `D / documents corpus + topics`; Spark's `logLikelihood` is `corpus + topics`, for any number of documents.
//!
//! Source: Hoffman, Blei, Bach, "Online learning for latent Dirichlet allocation", NIPS 2010, the expanded bound on which algorithm 1 is built.

use std::ops::Range;

use super::{
    lambda::Lambda,
    lanes::Real,
    special::{digamma, ln_gamma},
};

/// Below this sum over the topics, factors that were set to 0 may matter.
const MIN_SUM: f64 = 1e-9;

/// `psi(sum_w lambda_kw)`: K numbers, the `psi_sums` of the other functions.
pub fn psi_of_topic_sums<R: Real>(lambda: &Lambda<R>) -> Vec<f64> {
    (0..lambda.topics())
        .map(|topic| digamma(lambda.topic_sum(topic)))
        .collect()
}

/// A document's part of `corpus`, from its words and counts, and from alpha and gamma (K numbers each).
///
/// # Panics
/// If a word is not in the vocabulary.
pub fn document_bound<R: Real>(
    lambda: &Lambda<R>,
    psi_sums: &[f64],
    document: impl Iterator<Item = (usize, f64)>,
    alpha: &[f64],
    gamma: &[f64],
) -> f64 {
    let mut bound = DocumentBound::new(alpha, gamma);
    for (word, count) in document {
        bound.add(lambda, psi_sums, word, count);
    }
    bound.value()
}

/// A document's part of `corpus`, word by word.
#[derive(Debug)]
pub(super) struct DocumentBound {
    log_theta: Vec<f64>,
    /// `exp(log_theta)`
    theta: Vec<f64>,
    terms: Vec<f64>,
    bound: f64,
}

impl DocumentBound {
    /// The part of a document without words.
    pub fn new(alpha: &[f64], gamma: &[f64]) -> Self {
        let gamma_sum: f64 = gamma.iter().sum();
        let psi = digamma(gamma_sum);
        let log_theta: Vec<f64> = gamma.iter().map(|&gamma| digamma(gamma) - psi).collect();
        let mut bound = ln_gamma(alpha.iter().sum()) - ln_gamma(gamma_sum);
        for ((&alpha, &gamma), log_theta) in alpha.iter().zip(gamma).zip(&log_theta) {
            bound += (alpha - gamma) * log_theta + ln_gamma(gamma) - ln_gamma(alpha);
        }
        Self {
            terms: vec![0.0; gamma.len()],
            theta: log_theta.iter().map(|log| log.exp()).collect(),
            log_theta,
            bound,
        }
    }

    /// Adds a word.
    ///
    /// # Panics
    /// If the word is not in the vocabulary.
    pub fn add<R: Real>(&mut self, lambda: &Lambda<R>, psi_sums: &[f64], word: usize, count: f64) {
        for (topic, term) in self.terms.iter_mut().enumerate() {
            *term = self.log_theta[topic] + digamma(lambda.value(word, topic)) - psi_sums[topic];
        }
        let top = self.terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = self.terms.iter().map(|term| (term - top).exp()).sum();
        self.bound += count * (top + sum.ln());
    }

    /// Adds a word from its factors, `exp(E[log beta_kw])` over the largest of them: as exact as the factors, with one digamma for all topics.
    ///
    /// # Panics
    /// If the word is not in the vocabulary.
    pub fn add_factors<R: Real>(
        &mut self,
        lambda: &Lambda<R>,
        psi_sums: &[f64],
        (word, count): (usize, f64),
        factors: &[R],
    ) {
        let (mut largest, mut sum) = (0, 0.0);
        for (topic, (theta, &factor)) in self.theta.iter().zip(factors).enumerate() {
            sum += theta * factor.into();
            if factor > factors[largest] {
                largest = topic;
            }
        }
        if sum < MIN_SUM {
            return self.add(lambda, psi_sums, word, count);
        }
        let log_largest = digamma(lambda.value(word, largest)) - psi_sums[largest];
        self.bound += count * (log_largest + sum.ln());
    }

    /// The part of the document with the words so far.
    pub fn value(&self) -> f64 {
        self.bound
    }
}

/// The part of `topics` for some words.
///
/// # Panics
/// If a word is not in the vocabulary.
pub fn words_bound<R: Real>(lambda: &Lambda<R>, psi_sums: &[f64], words: Range<usize>) -> f64 {
    let eta = lambda.eta();
    let ln_gamma_eta = ln_gamma(eta);
    let mut bound = 0.0;
    for word in words {
        for (topic, psi) in psi_sums.iter().enumerate() {
            let value = lambda.value(word, topic);
            bound += (eta - value) * (digamma(value) - psi) + ln_gamma(value) - ln_gamma_eta;
        }
    }
    bound
}

/// The part of `topics` that is no sum over words.
pub fn sums_bound<R: Real>(lambda: &Lambda<R>) -> f64 {
    let prior = ln_gamma(lambda.vocabulary() as f64 * lambda.eta());
    (0..lambda.topics())
        .map(|topic| prior - ln_gamma(lambda.topic_sum(topic)))
        .sum()
}
