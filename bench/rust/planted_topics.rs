//! Documents that come from topics, as those of `bench/spark/lda/PlantedTopics.scala` do:
//!
//! ```text
//! popularity of a word ~ 1 / (rank + 100)^1.05, words in random order
//! topic k ~ Dirichlet(800 popularity)
//! theta ~ Dirichlet(alpha), alpha_k ~ 1 / (k + 10), of sum 1.2
//! ```
//!
//! A word of a document is of a topic of its own, or, with a probability of 0.22, an earlier word once more. Documents have as many distinct words as asked.

use dwell_solvers::order::BucketOrder;

use crate::{
    common::lda::Corpus,
    random::{Cumulative, Random},
};

const TOPIC_SUM: f64 = 800.0;
const ALPHA_SUM: f64 = 1.2;
const REPEATED: f64 = 0.22;

/// For each distinct word, so that small vocabularies come to an end.
const MOST_WORDS: usize = 100;

pub struct PlantedTopics {
    vocabulary: usize,
    alpha: Vec<f64>,
    topics: Vec<Cumulative>,
    random: Random,
}

impl PlantedTopics {
    pub fn new(vocabulary: usize, topics: usize, seed: u64) -> Self {
        let weights: Vec<f64> = (0..vocabulary)
            .map(|rank| (rank as f64 + 100.0).powf(-1.05))
            .collect();
        let total: f64 = weights.iter().sum();
        let mut order = BucketOrder::new(vocabulary, 1, seed, 0).expect("it fits memory");
        let shapes: Vec<f64> = (0..vocabulary as u64)
            .map(|word| weights[order.at(word).start] * TOPIC_SUM / total)
            .collect();
        let alpha: Vec<f64> = (0..topics).map(|k| 1.0 / (k as f64 + 10.0)).collect();
        let alpha_sum: f64 = alpha.iter().sum();
        Self {
            vocabulary,
            alpha: alpha.iter().map(|a| a * ALPHA_SUM / alpha_sum).collect(),
            topics: (1..=topics as u32)
                .map(|k| Cumulative::new(Random::new(seed, k).dirichlet(&shapes)))
                .collect(),
            random: Random::new(seed, 0),
        }
    }

    /// The next documents.
    pub fn documents(&mut self, count: usize, distinct: usize) -> Corpus {
        let mut corpus = Corpus::new(self.vocabulary);
        for _ in 0..count {
            let theta = Cumulative::new(self.random.dirichlet(&self.alpha));
            let mut words: Vec<usize> = Vec::new();
            let mut document = std::collections::BTreeMap::new();
            while document.len() < distinct && words.len() < MOST_WORDS * distinct {
                let again = !words.is_empty() && self.random.uniform() < REPEATED;
                let word = if again {
                    words[(self.random.uniform() * words.len() as f64) as usize]
                } else {
                    self.topics[theta.draw(&mut self.random)].draw(&mut self.random)
                };
                words.push(word);
                *document.entry(word).or_insert(0.0) += 1.0;
            }
            corpus.push(&document.into_iter().collect::<Vec<_>>());
        }
        corpus
    }
}
