//! The bound of LDA against the likelihood itself, by enumeration: every assignment of the tokens of a few tiny documents to topics.

use crate::common;

use common::{
    Random,
    lda::{Corpus, dense, params, plain_beta, round, schedule, uniform},
};
use dwell_solvers::lda::{
    EStepParams, Kernel, Lambda, LdaInference, LdaParams,
    bound::{document_bound, psi_of_topic_sums, sums_bound, words_bound},
    special::ln_gamma,
};

const VOCABULARY: usize = 4;

/// Rounding of sums of thousands of products.
const ROUNDING: f64 = 1e-9;

const TIGHT: EStepParams = EStepParams {
    tolerance: 1e-9,
    cap: 10_000,
    ..EStepParams::PLAIN
};

/// A case that can be enumerated: words of each document, one for each token.
struct Case {
    documents: Vec<Vec<usize>>,
    alpha: Vec<f64>,
    eta: f64,
}

impl Case {
    fn random(random: &mut Random, topics: usize) -> Self {
        let mut number = |least: f64, most: f64| least + (most - least) * uniform(random);
        let lengths = [1, 2, 4];
        Self {
            documents: lengths
                .map(|n| {
                    (0..n)
                        .map(|_| number(0.0, VOCABULARY as f64) as usize)
                        .collect()
                })
                .to_vec(),
            alpha: (0..topics).map(|_| number(0.05, 2.0)).collect(),
            eta: number(0.05, 1.0),
        }
    }

    fn corpus(&self) -> Corpus {
        let mut corpus = Corpus::new(VOCABULARY);
        for tokens in &self.documents {
            let count = |w| tokens.iter().filter(|&&word| word == w).count() as f32;
            let document: Vec<_> = (0..VOCABULARY)
                .map(|w| (w, count(w)))
                .filter(|pair| pair.1 > 0.0)
                .collect();
            corpus.push(&document);
        }
        corpus
    }

    fn topics(&self) -> usize {
        self.alpha.len()
    }

    /// Logarithm of the sum of `exp(term)` over all assignments of `tokens` tokens to topics.
    fn enumerate(&self, tokens: usize, term: impl Fn(&[usize]) -> f64) -> f64 {
        let mut assignment = vec![0; tokens];
        let mut sum = 0.0;
        for number in 0..self.topics().pow(tokens as u32) {
            let mut rest = number;
            for topic in &mut assignment {
                *topic = rest % self.topics();
                rest /= self.topics();
            }
            sum += term(&assignment).exp();
        }
        sum.ln()
    }

    /// ln p(words of a document), for topics that give a word the weights `beta`, by words of the document, then topics.
    fn document_likelihood(&self, beta: &[Vec<f64>]) -> f64 {
        self.enumerate(beta.len(), |assignment| {
            let weights: f64 = assignment
                .iter()
                .zip(beta)
                .map(|(&k, row)| row[k].ln())
                .sum();
            weights + polya(&counts(assignment, self.topics()), &self.alpha)
        })
    }

    /// ln p(all words), topics and documents integrated out.
    fn likelihood(&self) -> f64 {
        let words = self.documents.concat();
        self.enumerate(words.len(), |assignment| {
            let mut first = 0;
            let mut sum = 0.0;
            for document in &self.documents {
                let part = &assignment[first..first + document.len()];
                sum += polya(&counts(part, self.topics()), &self.alpha);
                first += document.len();
            }
            for topic in 0..self.topics() {
                let of_topic: Vec<usize> = (0..words.len())
                    .filter(|&n| assignment[n] == topic)
                    .map(|n| words[n])
                    .collect();
                sum += polya(&counts(&of_topic, VOCABULARY), &[self.eta; VOCABULARY]);
            }
            sum
        })
    }

    /// Bound of each document, and that of the topics.
    fn bound(&self, lambda: &Lambda<f64>) -> (Vec<f64>, f64) {
        let (corpus, psi) = (self.corpus(), psi_of_topic_sums(lambda));
        let documents = corpus.documents();
        let mut inference =
            LdaInference::new(lambda, &self.alpha, TIGHT, Kernel::PORTABLE).unwrap();
        inference.prepare(&documents, 0..corpus.len()).unwrap();
        let of_documents = (0..corpus.len()).map(|d| {
            let gamma = inference.infer(&documents, d).gamma.to_vec();
            document_bound(lambda, &psi, documents.document(d), &self.alpha, &gamma)
        });
        (
            of_documents.collect(),
            words_bound(lambda, &psi, 0..VOCABULARY) + sums_bound(lambda),
        )
    }
}

fn counts(items: &[usize], kinds: usize) -> Vec<f64> {
    let mut counts = vec![0.0; kinds];
    for &item in items {
        counts[item] += 1.0;
    }
    counts
}

/// Logarithm of the probability of a sequence with these counts, whose distribution has this Dirichlet prior.
fn polya(counts: &[f64], prior: &[f64]) -> f64 {
    let (all, whole): (f64, f64) = (counts.iter().sum(), prior.iter().sum());
    let each: f64 = counts
        .iter()
        .zip(prior)
        .map(|(c, p)| ln_gamma(p + c) - ln_gamma(*p))
        .sum();
    ln_gamma(whole) - ln_gamma(whole + all) + each
}

#[test]
fn bounds_are_below_the_likelihood() {
    let mut random = Random::new(5);
    for topics in [1, 2, 3] {
        for _ in 0..8 {
            let case = Case::random(&mut random, topics);
            let values: Vec<f64> = (0..VOCABULARY * topics)
                .map(|_| case.eta + 5.0 * uniform(&mut random).powi(3))
                .collect();
            let lambda = Lambda::<f64>::from_values(topics, VOCABULARY, case.eta, &values).unwrap();
            let (documents, of_topics) = case.bound(&lambda);
            for (d, (bound, words)) in documents.iter().zip(&case.documents).enumerate() {
                let beta = plain_beta(&dense(&lambda), words.iter().copied());
                let likelihood = case.document_likelihood(&beta);
                assert!(
                    *bound <= likelihood + ROUNDING,
                    "document {d}: {bound}, likelihood {likelihood}"
                );
                // With one topic the bound is exact.
                if topics == 1 {
                    assert!(
                        *bound >= likelihood - 1e-6,
                        "document {d}: {bound}, likelihood {likelihood}"
                    );
                }
            }
            let (bound, likelihood) =
                (documents.iter().sum::<f64>() + of_topics, case.likelihood());
            assert!(
                bound <= likelihood + ROUNDING,
                "{bound}, likelihood {likelihood}"
            );
        }
    }
}

/// A step on all documents with rho = 1 is an iteration of variational Bayes, and never lowers the bound.
#[test]
fn full_steps_climb_towards_the_likelihood() {
    let mut random = Random::new(6);
    for topics in [1, 2, 3] {
        for seed in 0..3 {
            let case = Case::random(&mut random, topics);
            let corpus = case.corpus();
            let steps = LdaParams {
                alpha: case.alpha.clone(),
                e_step: TIGHT,
                schedule: schedule(0.0, 1.0, 3.0),
                batch: 3,
                budget: 3,
                seed,
                ..params(topics, 3.0)
            };
            let mut lambda = Lambda::<f64>::initial(topics, VOCABULARY, case.eta, seed).unwrap();
            let mut last = f64::NEG_INFINITY;
            for _ in 0..60 {
                round(&steps, &corpus, &mut lambda, Kernel::PORTABLE, usize::MAX);
                let (documents, of_topics) = case.bound(&lambda);
                let bound = documents.iter().sum::<f64>() + of_topics;
                assert!(bound >= last - 1e-6, "{bound} after {last}");
                last = bound;
            }
            let likelihood = case.likelihood();
            assert!(last <= likelihood + ROUNDING);
            if topics == 1 {
                assert!(
                    (last - likelihood).abs() <= 1e-6,
                    "{last}, likelihood {likelihood}"
                );
            }
        }
    }
}
