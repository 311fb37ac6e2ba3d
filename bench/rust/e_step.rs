//! The E-step of documents under topics that stay as they are: each kernel of this machine beside the plain code of the tests (double precision, the
//! recurrence of digamma up to 49, rows of the topics by words). What the E-step starts from is ready: tables of all words of the documents.

use std::hint::black_box;

use criterion::{Criterion, SamplingMode, Throughput};
use dwell_solvers::lda::{EStepParams, Kernel, Lambda, LdaInference, LdaParams, LdaSchedule};

use crate::{
    common::lda::{Corpus, dense, plain_beta, plain_e_step, round},
    planted_topics::PlantedTopics,
    thread_time::ThreadTime,
};

const TOPICS: usize = 100;

/// Distinct ones of a document.
const WORDS: usize = 225;

const VOCABULARY: f64 = 100_000.0;
const LEAST_VOCABULARY: usize = 2000;

/// Documents that the topics have learned from, in steps of so many, and those whose E-step is measured.
const LEARNED: usize = 16_000;
const BATCH: usize = 1000;
const MEASURED: usize = 200;

/// As in `bench/spark/lda/LdaProblems.scala`.
const SCHEDULE: LdaSchedule = LdaSchedule {
    tau0: 10.0,
    kappa: 0.7,
    base: BATCH as f64,
};

/// What the E-step is run with: as in fits, with pruning alone, and without any short cut, as the reference.
fn profiles() -> [(&'static str, EStepParams); 3] {
    let default = EStepParams::default();
    let pruning = EStepParams {
        over_relaxation: 0.0,
        ..default
    };
    [
        ("default", default),
        ("pruning", pruning),
        ("plain", EStepParams::PLAIN),
    ]
}

pub fn run(criterion: &mut Criterion<ThreadTime>, scale: f64, seed: u64) {
    let vocabulary = ((VOCABULARY * scale) as usize).max(LEAST_VOCABULARY);
    let mut planted = PlantedTopics::new(vocabulary, TOPICS, seed);
    let lambda = learned(&planted.documents(LEARNED, WORDS), seed);
    let corpus = planted.documents(MEASURED, WORDS);
    let documents = corpus.documents();
    let alpha = [1.0 / TOPICS as f64; TOPICS];

    let mut group = criterion.benchmark_group("e-step");
    // A document is an element.
    group.throughput(Throughput::Elements(MEASURED as u64));
    group.sampling_mode(SamplingMode::Flat);

    let beta = plain_beta(&dense(&lambda), 0..vocabulary);
    let owned: Vec<Vec<(usize, f64)>> = (0..MEASURED)
        .map(|d| documents.document(d).collect())
        .collect();
    group.bench_function("reference", |b| {
        b.iter(|| {
            for document in &owned {
                let rows: Vec<&[f64]> = document.iter().map(|&(word, _)| &beta[word][..]).collect();
                black_box(plain_e_step(
                    document,
                    &rows,
                    &alpha,
                    EStepParams::PLAIN.tolerance,
                    EStepParams::PLAIN.cap,
                ));
            }
        });
    });

    for kernel in Kernel::available() {
        for (profile, params) in profiles() {
            let mut inference =
                LdaInference::new(&lambda, &alpha, params, kernel).expect("it fits memory");
            inference
                .prepare(&documents, 0..MEASURED)
                .expect("it fits memory");
            group.bench_function(format!("{}/{profile}", kernel.name()), |b| {
                b.iter(|| {
                    for d in 0..MEASURED {
                        black_box(inference.infer(&documents, d));
                        inference.collect();
                    }
                });
            });
        }
    }
    group.finish();
}

/// Topics after one pass over the documents.
fn learned(corpus: &Corpus, seed: u64) -> Lambda<f32> {
    let eta = 1.0 / TOPICS as f64;
    let mut lambda = Lambda::initial(TOPICS, corpus.vocabulary, eta, seed).expect("it fits memory");
    let params = LdaParams {
        alpha: vec![1.0 / TOPICS as f64; TOPICS],
        e_step: EStepParams::default(),
        schedule: SCHEDULE,
        corpus: corpus.len() as f64,
        workers: 1,
        batch: BATCH,
        budget: corpus.len() as u64,
        seed,
        partition: 0,
        cursor: 0,
        seen: 0,
        concentration: false,
    };
    round(&params, corpus, &mut lambda, Kernel::detect(), usize::MAX);
    lambda
}
