//! LDA: against numbers of other code, against the plain E-step and steps on all of lambda, and properties that must hold for all
//! documents.

use crate::common;

use common::{
    Random, assert_close,
    golden::{golden, number, numbers},
    lda::{
        Corpus, GARBAGE, SAMPLE, Update, bytes, dense, digamma_49, eager, lent, mean_beta,
        numbers_of, params, plain_beta, plain_e_step, round, round_by, schedule, shared_bound,
        shared_round, shared_round_by, uniform,
    },
};
use dwell_solvers::{
    SolverError, Values,
    lda::{
        Documents, EStepParams, Kernel, Lambda, LdaInference, LdaParams, Real,
        bound::{document_bound, psi_of_topic_sums, sums_bound, words_bound},
        concentration::{add_log_theta, newton_step},
        shared::{BoundParams, MAX_FACTORS, SharedBound, SharedRound, vector_bytes},
        special::{digamma, ln_gamma},
    },
};
use proptest::prelude::*;

/// A few roundings of numbers of size one.
const GOLDEN: f64 = 1e-13;

/// The recurrence up to 49 adds up as many roundings.
const PLAIN_DIGAMMA: f64 = 1e-11;

/// Rounding of `f32` and of the fused exp-digamma, in a few iterations.
const SINGLE: f64 = 1e-5;

/// Roundings in double precision after 300 steps.
const LAZY: f64 = 1e-9;

/// Roundings of `f32` after 300 steps, over the largest lambda.
const LAZY_SINGLE: f64 = 1e-4;

/// The largest distance, in tokens, between gammas that reach the same optimum in different ways.
const SAME_OPTIMUM: f64 = 0.3;

/// The most that pruning may cost in perplexity, and that all shortcuts may, in the mean of five seeds, some of which find another optimum.
const PRUNING_COST: f64 = 1e-3;
const RECOMMENDED_COST: f64 = 1e-2;

/// Rounding of `f32` in sums of thousands of numbers.
const SUMS: f64 = 1e-6;

const FIXED: EStepParams = EStepParams {
    tolerance: 1e-300,
    cap: 12,
    ..EStepParams::PLAIN
};

fn doubles<R: Real>(numbers: &[R]) -> Vec<f64> {
    numbers.iter().map(|&x| x.into()).collect()
}

/// The document step of tests/golden/lda.py: two topics, three words, words 0 and 2 with counts 2 and 1.
fn golden_document<R: Real>(kernel: Kernel, tolerance: f64) {
    let lambda = Lambda::<R>::from_values(2, 3, 0.5, &[1.0, 0.5, 2.0, 1.5, 0.5, 3.0]).unwrap();
    let mut corpus = Corpus::new(3);
    corpus.push(&[(0, 2.0), (1, 0.0), (2, 1.0)]);
    let documents = corpus.documents();
    let golden = golden("lda");
    for (cap, gamma) in [(1, &golden["firstGamma"]), (500, &golden["gamma"])] {
        let converged = EStepParams {
            tolerance: 1e-15,
            cap,
            ..EStepParams::PLAIN
        };
        let mut inference = LdaInference::new(&lambda, &[0.5, 0.5], converged, kernel).unwrap();
        inference.prepare(&documents, 0..1).unwrap();
        let inferred = inference.infer(&documents, 0);
        assert_close(inferred.gamma, &numbers(gamma), tolerance, "gamma");
        assert!((inferred.gamma.iter().sum::<f64>() - 4.0).abs() <= tolerance);
        inference.collect();
        if cap > 1 {
            let statistics = [
                doubles(inference.statistics(0)),
                doubles(inference.statistics(2)),
            ]
            .concat();
            let expected: Vec<f64> = golden["statistics"]
                .as_array()
                .unwrap()
                .iter()
                .flat_map(numbers)
                .collect();
            assert_close(&statistics, &expected, tolerance, "statistics");
        }
    }
    // rho = 0.1, D = 10.
    let step = LdaParams {
        alpha: vec![0.5; 2],
        e_step: EStepParams {
            tolerance: 1e-15,
            cap: 500,
            ..EStepParams::PLAIN
        },
        schedule: schedule(9.0, 1.0, 1.0),
        batch: 1,
        budget: 1,
        ..params(2, 10.0)
    };
    let mut lambda = lambda;
    let outcome = round(&step, &corpus, &mut lambda, kernel, usize::MAX);
    let expected: Vec<f64> = golden["lambda"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(numbers)
        .collect();
    assert_close(
        &dense(&lambda).concat(),
        &expected,
        10.0 * tolerance,
        "lambda",
    );
    assert!((lambda.topic_sum(0) + lambda.topic_sum(1) - 10.95).abs() <= 10.0 * tolerance);
    assert_eq!(
        (
            outcome.documents,
            outcome.updates,
            outcome.nonzeros,
            outcome.tokens
        ),
        (1, 1, 2, 3.0)
    );
}

#[test]
fn golden_document_in_every_kernel() {
    golden_document::<f64>(Kernel::PORTABLE, GOLDEN);
    for kernel in Kernel::available() {
        golden_document::<f32>(kernel, SINGLE);
    }
}

/// The suite of the leader reads the same file.
#[test]
fn initial_topics_to_the_bit() {
    let cases = &golden("topics")["initial"];
    for case in cases.as_array().unwrap() {
        let size = |name: &str| case[name].as_u64().unwrap() as usize;
        // The file holds a signed seed.
        let seed = case["seed"].as_i64().unwrap() as u64;
        let lambda = Lambda::<f32>::initial(size("topics"), size("words"), 0.1, seed).unwrap();
        // Reading decimals can lose the last bit of a double; these numbers have single precision.
        let expected: Vec<f32> = numbers(&case["numbers"])
            .iter()
            .map(|&x| x as f32)
            .collect();
        assert_eq!(lambda.numbers(), expected, "{case}");
    }
}

/// Gamma and statistics after a fixed number of iterations, of one document.
fn one_document<R: Real>(
    lambda: &Lambda<R>,
    corpus: &Corpus,
    alpha: &[f64],
    e_step: EStepParams,
    kernel: Kernel,
) -> (Vec<f64>, Vec<f64>) {
    let documents = corpus.documents();
    let mut inference = LdaInference::new(lambda, alpha, e_step, kernel).unwrap();
    inference.prepare(&documents, 0..1).unwrap();
    let gamma = inference.infer(&documents, 0).gamma.to_vec();
    inference.collect();
    let statistics = documents
        .document(0)
        .flat_map(|(word, _)| doubles(inference.statistics(word)))
        .collect();
    (gamma, statistics)
}

#[test]
fn kernels_are_the_plain_e_step() {
    let mut random = Random::new(11);
    for topics in [1, 2, 15, 16, 17, 33, 100, 112, 128, 129, 200] {
        for length in [1, 15, 16, 17, 60] {
            let vocabulary = 80;
            let values: Vec<f64> = (0..vocabulary * topics)
                .map(|_| 0.011 + uniform(&mut random).powi(4) * 20.0)
                .collect();
            let alpha: Vec<f64> = (0..topics)
                .map(|_| 0.01 + uniform(&mut random) * 0.2)
                .collect();
            let mut corpus = Corpus::new(vocabulary);
            let document: Vec<_> = (0..length)
                .map(|w| (w, 1.0 + (uniform(&mut random) * 3.0).floor() as f32))
                .collect();
            corpus.push(&document);
            let document: Vec<_> = corpus.documents().document(0).collect();
            let total: f64 = document.iter().map(|pair| pair.1).sum();
            for mean in [false, true] {
                let e_step = EStepParams { mean, ..FIXED };
                let plain = |lambda: &[Vec<f64>]| {
                    let words = document.iter().map(|pair| pair.0);
                    let beta = if mean {
                        mean_beta(lambda, words)
                    } else {
                        plain_beta(lambda, words)
                    };
                    let plain = plain_e_step(&document, &beta, &alpha, FIXED.tolerance, FIXED.cap);
                    (plain.gamma, plain.statistics.concat())
                };
                let check = |found: &(Vec<f64>, Vec<f64>),
                             plain: &(Vec<f64>, Vec<f64>),
                             most,
                             kernel: Kernel| {
                    let what = format!(
                        "{topics} topics, {length} words, mean {mean}, {}",
                        kernel.name()
                    );
                    assert_close(&found.0, &plain.0, most * total, &what);
                    assert_close(&found.1, &plain.1, most * total, &what);
                };
                let lambda = Lambda::<f32>::from_values(topics, vocabulary, 0.01, &values).unwrap();
                let expected = plain(&dense(&lambda));
                let mut bits = Vec::new();
                for kernel in Kernel::available() {
                    let found = one_document(&lambda, &corpus, &alpha, e_step, kernel);
                    check(&found, &expected, 2.0 * SINGLE, kernel);
                    bits.push(found);
                }
                assert!(
                    bits[1..].windows(2).all(|pair| pair[0] == pair[1]),
                    "AVX2 and AVX-512 give the same bits"
                );
                // The same code in double precision.
                let exact = Lambda::<f64>::from_values(topics, vocabulary, 0.01, &values).unwrap();
                let found = one_document(&exact, &corpus, &alpha, e_step, Kernel::PORTABLE);
                check(&found, &plain(&dense(&exact)), 1e-10, Kernel::PORTABLE);
            }
        }
    }
}

/// Topics after one pass over planted documents, and the documents.
fn trained(topics: usize, seed: u64) -> (Corpus, Lambda<f32>) {
    let (corpus, _) = Corpus::planted(&mut Random::new(seed), 400, 200, topics, 60);
    let mut lambda = Lambda::initial(topics, 200, 0.05, seed).unwrap();
    let pass = LdaParams {
        budget: 400,
        ..params(topics, 400.0)
    };
    round(&pass, &corpus, &mut lambda, Kernel::detect(), usize::MAX);
    (corpus, lambda)
}

#[test]
fn pruning_and_over_relaxation_find_the_same_gamma() {
    let (corpus, lambda) = trained(40, 5);
    let documents = corpus.documents();
    let alpha = vec![0.025; 40];
    let tight = EStepParams {
        tolerance: 1e-5,
        ..EStepParams::PLAIN
    };
    let variants = [
        EStepParams {
            over_relaxation: 0.7,
            ..tight
        },
        EStepParams {
            pruning: 0.01,
            ..tight
        },
        EStepParams {
            over_relaxation: 0.7,
            pruning: 0.01,
            ..tight
        },
    ];
    let mut iterations = [0; 4];
    let gammas = |e_step: EStepParams, count: &mut u32| -> Vec<Vec<f64>> {
        let mut inference = LdaInference::new(&lambda, &alpha, e_step, Kernel::detect()).unwrap();
        inference.prepare(&documents, 0..corpus.len()).unwrap();
        (0..corpus.len())
            .map(|d| {
                let inferred = inference.infer(&documents, d);
                *count += inferred.iterations;
                // All the mass is there.
                let sum: f64 = inferred.gamma.iter().sum();
                assert!(
                    (sum - 1.0 - inferred.tokens).abs() <= 1e-5 * inferred.tokens,
                    "{sum}"
                );
                inferred.gamma.to_vec()
            })
            .collect()
    };
    let plain = gammas(tight, &mut iterations[0]);
    for (v, variant) in variants.into_iter().enumerate() {
        let mut apart = 0;
        for (gamma, plain) in gammas(variant, &mut iterations[v + 1]).iter().zip(&plain) {
            let distance: f64 = gamma.iter().zip(plain).map(|(a, b)| (a - b).abs()).sum();
            // The bound has several optima; some runs find another one.
            apart += usize::from(distance > SAME_OPTIMUM);
        }
        assert!(
            apart <= corpus.len() / 20,
            "variant {v}: {apart} documents apart"
        );
    }
    assert!(iterations[1] < iterations[0], "{iterations:?}");
}

#[test]
fn lazy_is_eager() {
    let mut random = Random::new(7);
    let corpus = Corpus::random(&mut random, 40, 30, 8, true);
    for (workers, batch, tau0) in [(1, 1, 1.5), (3, 4, 5.0), (1, 7, 0.0)] {
        let steps = LdaParams {
            e_step: FIXED,
            batch,
            // The last batch holds one document.
            budget: 299 * batch as u64 + 1,
            workers,
            schedule: schedule(tau0, 0.3, 4.0),
            ..params(5, 40.0)
        };
        let mut lazy = Lambda::<f64>::initial(5, 30, 0.1, 1).unwrap();
        let mut single = Lambda::<f32>::initial(5, 30, 0.1, 1).unwrap();
        let mut all = dense(&lazy);
        let outcome = round(&steps, &corpus, &mut lazy, Kernel::PORTABLE, usize::MAX);
        let tokens = eager(&steps, &corpus, 0.1, &mut all);
        assert_eq!(outcome.updates, 300);
        assert_eq!(outcome.tokens, tokens);
        // The scale was reset to 1 at least twice: a reset comes whenever rho adds up to about 14.
        assert!(outcome.rho_sum > 30.0, "{}", outcome.rho_sum);
        for (lazy, all) in dense(&lazy).concat().iter().zip(all.concat()) {
            assert!((lazy - all).abs() <= LAZY * all, "{lazy}, eager {all}");
        }
        round(&steps, &corpus, &mut single, Kernel::detect(), usize::MAX);
        let largest = all.concat().into_iter().fold(0.0, f64::max);
        for (single, all) in dense(&single).concat().iter().zip(all.concat()) {
            assert!(
                (single - all).abs() <= LAZY_SINGLE * largest,
                "{single}, eager {all}"
            );
        }
    }
}

fn column_sums<R: Real>(lambda: &Lambda<R>) -> Vec<f64> {
    (0..lambda.topics())
        .map(|k| (0..lambda.vocabulary()).map(|w| lambda.value(w, k)).sum())
        .collect()
}

fn mass_identity<R: Real>(e_step: EStepParams, tolerance: f64) {
    let (corpus, _) = Corpus::planted(&mut Random::new(2), 200, 300, 20, 80);
    let mut lambda = Lambda::<R>::initial(20, 300, 0.05, 9).unwrap();
    let steps = LdaParams {
        e_step,
        batch: 50,
        budget: 50,
        workers: 2,
        ..params(20, 1000.0)
    };
    for _ in 0..4 {
        let before: f64 = column_sums(&lambda).iter().sum();
        let outcome = round(&steps, &corpus, &mut lambda, Kernel::detect(), usize::MAX);
        let rho = outcome.rho_sum;
        let expected =
            (1.0 - rho) * before + rho * (20.0 * 300.0 * 0.05 + 1000.0 / 50.0 * outcome.tokens);
        let sums = column_sums(&lambda);
        let actual: f64 = sums.iter().sum();
        assert!(
            (actual / expected - 1.0).abs() <= tolerance,
            "{actual}, expected {expected}"
        );
        for (topic, sum) in sums.iter().enumerate() {
            assert!(
                (lambda.topic_sum(topic) / sum - 1.0).abs() <= tolerance,
                "{} {sum}",
                lambda.topic_sum(topic)
            );
        }
        assert!(dense(&lambda).concat().iter().all(|&x| x >= 0.05));
    }
}

#[test]
fn masses_are_what_they_have_to_be() {
    mass_identity::<f64>(EStepParams::PLAIN, 1e-12);
    mass_identity::<f64>(EStepParams::default(), 1e-12);
    mass_identity::<f32>(EStepParams::PLAIN, SUMS);
    mass_identity::<f32>(EStepParams::default(), SUMS);
}

/// The mean of what workers write is the mean of their topics.
fn mean_of(updates: &[Vec<f64>]) -> Vec<f64> {
    let length = updates[0].len();
    (0..length)
        .map(|i| updates.iter().map(|u| u[i]).sum())
        .collect()
}

#[test]
fn one_update_each_averaged_is_one_update_of_all() {
    let corpus = Corpus::random(&mut Random::new(4), 30, 40, 6, false);
    let nonempty: Vec<usize> = (0..corpus.len())
        .filter(|&d| corpus.documents().document(d).next().is_some())
        .collect();
    let all = corpus.part(nonempty[..24].iter().copied());
    let start = doubles(Lambda::<f64>::initial(6, 40, 0.1, 2).unwrap().numbers());
    let steps = |workers, batch| LdaParams {
        e_step: FIXED,
        workers,
        batch,
        budget: batch as u64,
        ..params(6, 24.0)
    };
    let work = |workers, batch, share, part: &Corpus| {
        let (update, round) = shared_round::<f64>(
            &steps(workers, batch),
            (0.1, share),
            part,
            &start,
            (1000, 1000),
        );
        let touched = (0..40).filter(|&w| round.lambda().is_touched(w)).count();
        (update.vector, touched)
    };
    let (one, _) = work(1, 24, 1.0, &all);
    let (workers, touched): (Vec<_>, Vec<_>) = (0..4)
        .map(|r| work(4, 6, 0.25, &all.part(6 * r..6 * r + 6)))
        .unzip();
    assert!(
        touched.iter().all(|&words| words > 0 && words < 40),
        "{touched:?}"
    );
    assert_close(&mean_of(&workers), &one, 1e-12, "one update");
}

/// A round whose numbers match to the bit: words in no document follow the factors, all other words the topics. If there were too many
/// factors, the former are 0.
fn decays_as_reported<R: Real>(
    steps: &LdaParams,
    share: f64,
    corpus: &Corpus,
    shared: &[f64],
) -> (Update<R>, SharedRound<R>) {
    let topics = steps.alpha.len();
    let (update, round) = shared_round::<R>(steps, (0.1, share), corpus, shared, (500, 13));
    let lambda = round.lambda();
    let has = |w: usize| corpus.words.contains(&(w as i32));
    assert!((0..corpus.vocabulary).all(|w| has(w) || !lambda.is_touched(w)));
    assert!((0..corpus.vocabulary).any(|w| lambda.is_touched(w)));
    assert_eq!(update.vector.len(), shared.len());
    for (i, (actual, &v)) in update.vector.iter().zip(shared).enumerate() {
        let u: f64 = lambda.row(i / topics)[i % topics].into();
        let expected = if lambda.is_touched(i / topics) {
            R::of(share * (lambda.scale() * u))
        } else if update.factors.is_empty() {
            R::ZERO
        } else {
            update
                .factors
                .iter()
                .fold(R::of(v), |x, &factor| x * factor)
        };
        let expected: f64 = expected.into();
        assert_eq!(actual.to_bits(), expected.to_bits(), "number {i}");
    }
    (update, round)
}

#[test]
fn untouched_words_decay_as_reported() {
    let mut random = Random::new(5);
    let mut corpus = Corpus::random(&mut random, 30, 25, 6, true);
    corpus.vocabulary = 41;
    let single = |x: f64| f64::from(x as f32);
    let shared: Vec<f64> = (0..287)
        .map(|_| single(3.0 * uniform(&mut random)))
        .collect();
    let mut most = 0;
    for (tau0, kappa, budget) in [
        (50.0, 0.6, 1),
        (50.0, 0.6, 60),
        (0.0, 0.6, 60),
        (0.2, 0.4, 400),
        (0.2, 0.2, 400),
        (0.0, 0.0, 60),
    ] {
        let steps = LdaParams {
            schedule: schedule(tau0, kappa, 2.0),
            batch: 2,
            budget,
            workers: 3,
            ..params(7, 30.0)
        };
        let (update, _) = decays_as_reported::<f32>(&steps, 0.3, &corpus, &shared);
        let (exact, _) = decays_as_reported::<f64>(&steps, 0.3, &corpus, &shared);
        most = most.max(update.factors.len());
        // A step of 1 forgets all numbers and resets the scale to 1 each time: here more often than there is room for factors.
        let known = kappa > 0.0;
        assert_eq!(update.factors.last(), known.then_some(&0.3));
        assert!(known || update.outcome.updates as usize > MAX_FACTORS);
        let rounded: Vec<f32> = exact.factors.iter().map(|&factor| factor as f32).collect();
        assert_eq!(update.factors, rounded);
        // The update depends on the vector alone.
        let values: Vec<f64> = shared.iter().map(|v| v + 0.1).collect();
        let mut same = Lambda::<f32>::from_values(7, 41, 0.1, &values).unwrap();
        round_on(&steps, &corpus, &mut same);
        for (i, actual) in update.vector.iter().enumerate() {
            let expected = 0.3 * (same.value(i / 7, i % 7) - 0.1);
            assert!(
                (actual - expected).abs() <= LAZY_SINGLE * expected.max(1.0),
                "{actual}, expected {expected}"
            );
        }
    }
    assert!((4..MAX_FACTORS).contains(&most), "{most} factors");
}

/// Numbers, factors and products of all sizes: results equal those of plain multiplication, also where these are subnormal or 0.
#[test]
fn untouched_words_underflow_as_reported() {
    let mut random = Random::new(15);
    let mut corpus = Corpus::random(&mut random, 10, 5, 3, false);
    corpus.vocabulary = 61;
    // Numbers of words in documents are of size one. The others go up to the largest legal number, and include subnormal numbers, 0 and -0.
    let mut shared: Vec<f64> = (0..183)
        .map(|i| match i {
            0..15 => 1.0 + uniform(&mut random),
            _ => 10f64.powf(30.0 - 76.0 * uniform(&mut random)).min(1e30),
        })
        .map(|x| f64::from(x as f32))
        .collect();
    shared[90..93].copy_from_slice(&[f64::from(1e30f32), 0.0, -0.0]);
    let (mut subnormal, mut gone) = (0, 0);
    // With so many workers the first step multiplies by 0.5 to the power of their number.
    for (workers, share) in [
        (1, 0.3),
        (30, 1e-20),
        (133, 0.3),
        (133, 1e-41),
        (160, 0.3),
        (20, 1e-50),
        (20, 0.0),
    ] {
        let steps = LdaParams {
            schedule: schedule(1.0, 1.0, 1.0),
            batch: 1,
            budget: 3,
            workers,
            ..params(3, 10.0)
        };
        let (update, round) = decays_as_reported::<f32>(&steps, share, &corpus, &shared);
        assert_eq!(update.factors.last(), Some(&(share as f32)));
        if workers > 100 {
            assert_eq!(update.factors[0], 2f32.powi(-(workers as i32)));
        }
        let untouched = update.vector.iter().zip(&shared).enumerate();
        for (_, (&x, &v)) in untouched.filter(|(i, _)| !round.lambda().is_touched(i / 3)) {
            subnormal += usize::from(x > 0.0 && x < f64::from(f32::MIN_POSITIVE));
            gone += usize::from(x == 0.0 && v > 0.0);
        }
    }
    assert!(subnormal > 20 && gone > 100, "{subnormal} {gone}");
}

/// A 0 follows an odd number of `f32`, and the sums follow it.
#[test]
fn shared_vectors_are_of_whole_words() {
    for (numbers, single, double) in [(0, 0, 0), (1, 8, 8), (2, 8, 16), (15, 64, 120)] {
        assert_eq!(vector_bytes::<f32>(numbers), single);
        assert_eq!(vector_bytes::<f64>(numbers), double);
    }
    assert!(vector_bytes::<f32>(usize::MAX) > usize::MAX / 2);
    padded::<f32>(64, &[0; 4]);
    padded::<f64>(120, &[]);
}

/// A vector of 5 words and 3 topics, with and without sums.
fn padded<R: Real>(length: usize, padding: &[u8]) {
    let corpus = Corpus::random(&mut Random::new(3), 6, 5, 3, false);
    let blocks = [corpus.documents()];
    let mut documents = lent(&blocks);
    let numbers: Vec<f64> = (0..15).map(|i| 0.25 * f64::from(i)).collect();
    let steps = |concentration| LdaParams {
        concentration,
        ..params(3, 6.0)
    };
    let new = |concentration| {
        let checked = steps(concentration).check().unwrap();
        SharedRound::<R>::new(checked, 0, 0.1, 0.5, 5, Kernel::detect(), Vec::new()).unwrap()
    };
    let good = bytes::<R>(&numbers);
    assert_eq!(good.len(), length);
    assert_eq!(new(false).length(), length);
    assert_eq!(new(true).length(), length + 24);
    for bad in [
        0,
        length - 8,
        length - 4,
        length - 1,
        length + 4,
        length + 8,
    ] {
        let mut longer = [&good[..], &[0; 8]].concat();
        longer.truncate(bad);
        let refused = new(false).run(&mut documents, &longer, None);
        assert!(
            matches!(&refused, Err(SolverError::Shape(text)) if text.contains(&format!("{bad} bytes, expected {length}"))),
            "{refused:?}"
        );
    }
    let (without, _) = shared_round::<R>(&steps(false), (0.1, 0.5), &corpus, &numbers, (99, 1000));
    for piece in [1, 3, 1000] {
        let (with, round) =
            shared_round::<R>(&steps(true), (0.1, 0.5), &corpus, &numbers, (99, piece));
        assert_eq!(with.bytes[..length], without.bytes);
        assert_eq!(&with.bytes[15 * size_of::<R>()..length], padding);
        // Sums are doubles, whatever the type of the numbers.
        let sums = numbers_of::<f64>(&with.bytes[length..]);
        assert_eq!(sums, with.outcome.log_theta_sums);
        assert!(sums.len() == 3 && sums.iter().all(|&sum| sum < 0.0));
        // A refused call writes nothing.
        for (start, length) in [
            (0, 4),
            (4, 8),
            (length + 16, 16),
            (length + 24, 8),
            (usize::MAX - 7, 8),
        ] {
            let mut out = vec![GARBAGE; length];
            let refused = round.write_update(&good, start, &mut out);
            assert!(matches!(refused, Err(SolverError::Shape(_))), "{start}");
            assert!(out.iter().all(|&byte| byte == GARBAGE));
        }
        assert!(round.write_update(&good, length + 24, &mut []).is_ok());
    }
}

/// Memory of other rounds does not change a bit. It comes from rounds that ended or failed, and is too little, enough, or more; a round
/// uses it if it is enough.
#[test]
fn room_changes_nothing() {
    let corpus = Corpus::random(&mut Random::new(16), 20, 31, 6, true);
    let blocks = [corpus.documents()];
    let mut documents = lent(&blocks);
    let numbers: Vec<f64> = (0..93).map(|i| 0.1 + f64::from(i % 7)).collect();
    let steps = params(3, 20.0);
    let sampled = BoundParams {
        alpha: steps.alpha.clone(),
        e_step: steps.e_step,
        first: 0,
        last: 20,
    };
    let (fresh, _) = shared_round::<f32>(&steps, (0.1, 0.5), &corpus, &numbers, (500, 1000));
    let fresh_bound = shared_bound::<f32>(&sampled, 0.1, &corpus, &numbers, 500);
    let good = bytes::<f32>(&numbers);
    let mut bad = good.clone();
    bad[4 * 50..4 * 51].fill(GARBAGE);
    let (kernel, sample) = (Kernel::detect(), SAMPLE);
    for length in [0, 1, 92, 93, 5000] {
        let mut room = vec![f32::NAN; length];
        for shared in [&bad, &good, &good, &bad, &good] {
            let enough = (room.capacity() >= 93).then_some(room.as_ptr());
            let checked = steps.clone().check().unwrap();
            let mut round =
                SharedRound::<f32>::new(checked, sample, 0.1, 0.5, 31, kernel, room).unwrap();
            let done = round.run(&mut documents, shared, None);
            assert_eq!(done.is_ok(), shared == &good);
            if done.is_ok() {
                let mut out = vec![GARBAGE; round.length()];
                round.write_update(shared, 0, &mut out).unwrap();
                assert_eq!(out, fresh.bytes);
                assert_eq!(round.finish().unwrap().bound, fresh.bound);
            }
            room = round.into_room();
            assert!(room.is_empty() && room.capacity() >= 93);
            assert!(enough.is_none_or(|start| start == room.as_ptr()));
            // Every number is overwritten, so that nothing of the last round remains.
            room.resize(room.capacity(), f32::NAN);
            let start = room.as_ptr();
            let mut bound = SharedBound::new(sampled.clone(), 0.1, 31, kernel, room).unwrap();
            assert_eq!(bound.run(&mut documents, &good, None).unwrap(), fresh_bound);
            room = bound.into_room();
            assert!(room.is_empty() && room.as_ptr() == start);
        }
    }
}

fn round_on<R: Real>(steps: &LdaParams, corpus: &Corpus, lambda: &mut Lambda<R>) {
    round(steps, corpus, lambda, Kernel::detect(), usize::MAX);
}

#[test]
fn averages_of_rounds_are_those_of_dense_topics() {
    let corpus = Corpus::random(&mut Random::new(5), 60, 80, 5, true);
    let shares = [0.5, 0.3, 0.2];
    // In the last case steps are so large that some workers reset the scale to 1 within a round.
    for tau0 in [30.0, 0.5] {
        let mut shared = doubles(Lambda::<f64>::initial(4, 80, 0.2, 8).unwrap().numbers());
        let mut all = shared.clone();
        for turn in 0..6u64 {
            let steps = |r: usize| LdaParams {
                e_step: FIXED,
                batch: 1 + r,
                budget: 8,
                workers: 3,
                partition: r as u32,
                cursor: 40 * turn,
                schedule: schedule(tau0, 0.5, 1.0),
                ..params(4, 60.0)
            };
            let updates: Vec<_> = (0..3)
                .map(|r| {
                    shared_round::<f64>(&steps(r), (0.2, shares[r]), &corpus, &shared, (700, 999))
                        .0
                        .vector
                })
                .collect();
            let plain: Vec<Vec<f64>> = (0..3)
                .map(|r| {
                    let mut lambda: Vec<Vec<f64>> = all
                        .chunks(4)
                        .map(|row| row.iter().map(|v| v + 0.2).collect())
                        .collect();
                    eager(&steps(r), &corpus, 0.2, &mut lambda);
                    let numbers = lambda.concat();
                    numbers.iter().map(|x| shares[r] * (x - 0.2)).collect()
                })
                .collect();
            shared = mean_of(&updates);
            all = mean_of(&plain);
            for (actual, expected) in shared.iter().zip(&all) {
                assert!(
                    (actual - expected).abs() <= LAZY * (expected + 0.2),
                    "{actual}, expected {expected}"
                );
            }
        }
    }
}

/// From one vector to the next, mass is neither lost nor created.
#[test]
fn masses_of_shared_vectors() {
    let (corpus, _) = Corpus::planted(&mut Random::new(2), 200, 300, 20, 80);
    let mut shared = doubles(Lambda::<f32>::initial(20, 300, 0.05, 9).unwrap().numbers());
    for turn in 0..4 {
        let steps = LdaParams {
            batch: 50,
            budget: 50,
            workers: 2,
            cursor: 50 * turn,
            seen: 100 * turn,
            ..params(20, 1000.0)
        };
        let (update, round) =
            shared_round::<f32>(&steps, (0.05, 0.25), &corpus, &shared, (9999, 777));
        let rho = update.outcome.rho_sum;
        let expected = 0.25
            * ((1.0 - rho) * shared.iter().sum::<f64>()
                + rho * 1000.0 / 50.0 * update.outcome.tokens);
        let actual: f64 = update.vector.iter().sum();
        assert!(
            (actual / expected - 1.0).abs() <= SUMS,
            "{actual}, expected {expected}"
        );
        let masses: f64 = round.lambda().masses().iter().sum();
        assert!((0.25 * masses / expected - 1.0).abs() <= SUMS);
        shared = update.vector.iter().map(|v| 4.0 * v).collect();
    }
}

#[test]
fn a_step_of_one_forgets_the_topics() {
    let corpus = Corpus::random(&mut Random::new(6), 20, 25, 6, false);
    let steps = LdaParams {
        schedule: schedule(0.0, 0.7, 5.0),
        batch: 5,
        budget: 5,
        ..params(3, 20.0)
    };
    let mut lambda = Lambda::<f32>::initial(3, 25, 0.5, 1).unwrap();
    let outcome = round(&steps, &corpus, &mut lambda, Kernel::detect(), usize::MAX);
    let sum: f64 = dense(&lambda).concat().iter().sum();
    let expected = 0.5 * 75.0 + 20.0 / 5.0 * outcome.tokens;
    assert!(
        (sum / expected - 1.0).abs() <= SUMS,
        "{sum}, expected {expected}"
    );
    assert!(
        dense(&lambda).concat().contains(&0.5),
        "a word of no document has the prior only"
    );
    let has = |w: usize| corpus.words.contains(&(w as i32));
    assert!((0..25).all(|w| has(w) || !lambda.is_touched(w)));
    assert!((0..25).any(|w| lambda.is_touched(w)));
}

#[test]
fn a_hundred_thousand_steps_do_not_underflow() {
    let corpus = Corpus::random(&mut Random::new(9), 50, 6, 3, true);
    let steps = LdaParams {
        schedule: schedule(1024.0, 0.51, 1.0),
        workers: 1,
        batch: 1,
        budget: 100_000,
        ..params(2, 1e6)
    };
    let mut lambda = Lambda::<f32>::initial(2, 6, 0.5, 1).unwrap();
    let outcome = round(&steps, &corpus, &mut lambda, Kernel::detect(), usize::MAX);
    assert_eq!(outcome.updates, 100_000);
    assert!(outcome.rho_sum > 300.0, "{}", outcome.rho_sum);
    assert!(lambda.scale() >= 1e-6);
    let sum: f64 = dense(&lambda).concat().iter().sum();
    let expected = 6.0 + 1e6 * outcome.tokens / outcome.documents as f64;
    assert!(
        (sum / expected - 1.0).abs() < 0.1,
        "{sum}, expected about {expected}"
    );
    for topic in 0..2 {
        let recomputed = column_sums(&lambda)[topic];
        assert!(
            (lambda.topic_sum(topic) / recomputed - 1.0).abs() <= 1e-4,
            "{} {recomputed}",
            lambda.topic_sum(topic)
        );
    }
}

fn normal_or_zero(x: f32) -> bool {
    x == 0.0 || x.is_normal()
}

#[test]
fn odd_documents() {
    let topics = 130;
    let lambda = Lambda::<f32>::initial(topics, 50, 1e-3, 3).unwrap();
    let alpha = vec![1e-3; topics];
    let mut corpus = Corpus::new(50);
    corpus.push(&[]);
    corpus.push(&[(3, 0.0), (9, 0.0)]);
    corpus.push(&[(49, 1.0)]);
    corpus.push(&[(0, 1e-6)]);
    corpus.push(&[(0, 1e9), (1, 1e-6)]);
    corpus.push(&[(7, 0.0), (8, 1.0), (9, 0.0)]);
    let documents = corpus.documents();
    for kernel in Kernel::available() {
        let everything = EStepParams {
            pruning: 0.5,
            ..EStepParams::default()
        };
        for e_step in [EStepParams::default(), EStepParams::PLAIN, everything] {
            let mut inference = LdaInference::new(&lambda, &alpha, e_step, kernel).unwrap();
            inference.prepare(&documents, 0..6).unwrap();
            for d in 0..6 {
                let inferred = inference.infer(&documents, d);
                let sum: f64 = inferred.gamma.iter().sum();
                let expected = 0.13 + inferred.tokens;
                assert!(
                    (sum / expected - 1.0).abs() < 1e-4,
                    "document {d}: {sum}, expected {expected}"
                );
                assert!(inferred.gamma.iter().all(|&g| g >= 1e-3));
                assert_eq!(inferred.iterations == 0, d < 2);
                inference.collect();
            }
            for word in [0, 1, 8, 49] {
                assert!(inference.factors(word).iter().all(|&x| normal_or_zero(x)));
                assert!(
                    inference
                        .statistics(word)
                        .iter()
                        .all(|&x| normal_or_zero(x) && x.is_finite())
                );
            }
        }
    }
    // A round with empty documents only, and a round without documents.
    for few in [corpus.part(0..2), corpus.part(0..0)] {
        let mut same = lambda.clone();
        let outcome = round(
            &params(topics, 1.0),
            &few,
            &mut same,
            Kernel::detect(),
            usize::MAX,
        );
        assert_eq!((outcome.documents, outcome.updates), (0, 0));
        assert!(same == lambda);
    }
}

/// Gamma starts at alpha + N / K, whichever document came before: a longer one, a pruned one, or the same.
#[test]
fn gamma_does_not_depend_on_earlier_documents() {
    let (corpus, lambda) = trained(20, 4);
    let few = corpus.part(0..50);
    let documents = few.documents();
    let alpha = vec![0.05; 20];
    for kernel in Kernel::available() {
        let fresh = || {
            let mut inference =
                LdaInference::new(&lambda, &alpha, EStepParams::default(), kernel).unwrap();
            inference.prepare(&documents, 0..few.len()).unwrap();
            inference
        };
        let mut after_others = fresh();
        for d in (0..few.len()).rev() {
            let alone = fresh().infer(&documents, d).gamma.to_vec();
            assert_eq!(after_others.infer(&documents, d).gamma, alone, "{d}");
            assert_eq!(after_others.infer(&documents, d).gamma, alone, "{d} again");
        }
    }
}

/// Topics in which some words have almost no mass and others almost all: exp(psi) leaves the range of `f32`.
#[test]
fn no_number_is_subnormal() {
    let (topics, vocabulary) = (60, 40);
    let mut random = Random::new(12);
    let values: Vec<f64> = (0..topics * vocabulary)
        .map(|_| 1e-6 * 10f64.powf(12.0 * uniform(&mut random)))
        .collect();
    let mut lambda = Lambda::<f32>::from_values(topics, vocabulary, 1e-6, &values).unwrap();
    let corpus = Corpus::random(&mut random, 50, vocabulary, 20, false);
    let documents = corpus.documents();
    for kernel in Kernel::available() {
        let mut inference =
            LdaInference::new(&lambda, &[1e-6; 60], EStepParams::default(), kernel).unwrap();
        inference.prepare(&documents, 0..50).unwrap();
        for d in 0..50 {
            assert!(
                inference
                    .infer(&documents, d)
                    .gamma
                    .iter()
                    .all(|x| x.is_finite() && *x >= 1e-6)
            );
            inference.collect();
        }
        for word in documents_words(&documents) {
            assert!(inference.factors(word).iter().all(|&x| normal_or_zero(x)));
            assert!(
                inference
                    .statistics(word)
                    .iter()
                    .all(|&x| normal_or_zero(x) && x.is_finite())
            );
        }
    }
    round(
        &params(topics, 1e9),
        &corpus,
        &mut lambda,
        Kernel::detect(),
        usize::MAX,
    );
    assert!(
        lambda
            .numbers()
            .iter()
            .all(|&x| normal_or_zero(x) && x.is_finite())
    );
    // The processor still computes with subnormal numbers: no code has switched them off.
    assert!(std::hint::black_box(f32::MIN_POSITIVE) / std::hint::black_box(2.0) > 0.0);
}

fn documents_words(documents: &Documents<'_>) -> Vec<usize> {
    (0..documents.len())
        .flat_map(|d| documents.document(d).map(|pair| pair.0).collect::<Vec<_>>())
        .collect()
}

#[test]
fn bound_of_a_tiny_case() {
    let lambda = Lambda::<f64>::from_values(2, 3, 0.5, &[1.0, 0.5, 2.0, 1.5, 0.5, 3.0]).unwrap();
    let psi = psi_of_topic_sums(&lambda);
    let (alpha, gamma) = ([0.5, 0.7], [2.4, 1.8]);
    // Brute force, from the definition, with the other digamma.
    let theta = |k: usize| digamma_49(gamma[k]) - digamma_49(4.2);
    let beta = |w: usize, k: usize| digamma_49(lambda.value(w, k)) - digamma_49([3.5, 5.0][k]);
    let mut corpus = ln_gamma(1.2) - ln_gamma(4.2);
    for (w, c) in [(0, 2.0), (2, 1.0)] {
        corpus += c
            * (0..2)
                .map(|k| (theta(k) + beta(w, k)).exp())
                .sum::<f64>()
                .ln();
    }
    let mut topics = 0.0;
    for k in 0..2 {
        corpus += (alpha[k] - gamma[k]) * theta(k) + ln_gamma(gamma[k]) - ln_gamma(alpha[k]);
        topics += ln_gamma(1.5) - ln_gamma([3.5, 5.0][k]);
        for w in 0..3 {
            let x = lambda.value(w, k);
            topics += (0.5 - x) * beta(w, k) + ln_gamma(x) - ln_gamma(0.5);
        }
    }
    let document = || [(0, 2.0), (2, 1.0)].into_iter();
    assert_close(
        &[document_bound(&lambda, &psi, document(), &alpha, &gamma)],
        &[corpus],
        PLAIN_DIGAMMA,
        "corpus",
    );
    let parts =
        words_bound(&lambda, &psi, 0..1) + words_bound(&lambda, &psi, 1..3) + sums_bound(&lambda);
    assert_close(&[parts], &[topics], PLAIN_DIGAMMA, "topics");
    let golden = golden("lda");
    let gamma = numbers(&golden["gamma"]);
    let parts = [
        document_bound(&lambda, &psi, document(), &[0.5, 0.5], &gamma),
        parts,
    ];
    let expected = [
        number(&golden["corpusBound"]),
        number(&golden["topicsBound"]),
    ];
    assert_close(&parts, &expected, GOLDEN, "golden bound");
    // Minus the divergence of the topics from their prior.
    assert!(topics < 0.0);
    let prior = Lambda::<f64>::zero(2, 3, 0.5).unwrap();
    assert_close(
        &[words_bound(&prior, &psi_of_topic_sums(&prior), 0..3) + sums_bound(&prior)],
        &[0.0],
        GOLDEN,
        "prior",
    );
}

#[test]
fn bound_of_documents_at_a_shared_vector() {
    let corpus = Corpus::random(&mut Random::new(14), 20, 30, 6, true);
    let lambda = Lambda::<f32>::initial(5, 30, 0.1, 3).unwrap();
    let shared = doubles(lambda.numbers());
    let alpha = [0.1, 0.2, 0.3, 0.4, 0.5];
    let psi = psi_of_topic_sums(&lambda);
    let e_step = EStepParams::default();
    let documents = corpus.documents();
    for (first, last) in [(0, 20), (4, 11), (7, 7)] {
        let (mut bound, mut tokens, mut filled, mut nonzeros, mut iterations) = (0.0, 0.0, 0, 0, 0);
        let mut inference = LdaInference::new(&lambda, &alpha, e_step, Kernel::detect()).unwrap();
        for d in first..last {
            inference.prepare(&documents, d..d + 1).unwrap();
            let inferred = inference.infer(&documents, d);
            let entries = documents.document(d);
            bound += document_bound(&lambda, &psi, entries, &alpha, inferred.gamma);
            tokens += inferred.tokens;
            filled += u64::from(inferred.tokens > 0.0);
            nonzeros += documents.document(d).count() as u64;
            iterations += u64::from(inferred.iterations);
        }
        let params = BoundParams {
            alpha: alpha.to_vec(),
            e_step,
            first,
            last,
        };
        for cut in [1, 7, usize::MAX] {
            let outcome = shared_bound::<f32>(&params, 0.1, &corpus, &shared, cut);
            assert_close(&[outcome.bound], &[bound], SINGLE * bound.abs(), "bound");
            assert_eq!(
                (
                    outcome.tokens,
                    outcome.documents,
                    outcome.nonzeros,
                    outcome.iterations
                ),
                (tokens, filled, nonzeros, iterations)
            );
        }
    }
}

#[test]
fn bound_is_below_the_likelihood_and_highest_at_gamma() {
    let (corpus, lambda) = trained(5, 6);
    let documents = corpus.documents();
    let psi = psi_of_topic_sums(&lambda);
    let alpha = [0.2; 5];
    let tight = EStepParams {
        tolerance: 1e-6,
        ..EStepParams::PLAIN
    };
    let mut inference = LdaInference::new(&lambda, &alpha, tight, Kernel::detect()).unwrap();
    inference.prepare(&documents, 0..20).unwrap();
    for d in 0..20 {
        let gamma = inference.infer(&documents, d).gamma.to_vec();
        let bound =
            |gamma: &[f64]| document_bound(&lambda, &psi, documents.document(d), &alpha, gamma);
        let best = bound(&gamma);
        for k in 0..5 {
            for factor in [0.9, 1.1] {
                let mut other = gamma.clone();
                other[k] *= factor;
                assert!(bound(&other) <= best + 1e-4, "document {d}");
            }
        }
    }
    // One word: the likelihood has a closed form.
    let (word, gamma) = (17, [0.4, 0.4, 0.4, 0.4, 0.4]);
    let likelihood: f64 = (0..5)
        .map(|k| 0.2 * lambda.value(word, k) / lambda.topic_sum(k))
        .sum();
    assert!(
        document_bound(&lambda, &psi, [(word, 1.0)].into_iter(), &alpha, &gamma) <= likelihood.ln()
    );
}

#[test]
fn alpha_is_found_from_its_own_documents() {
    let truth = [0.1, 0.5, 2.0];
    let sums = truth.map(|a| 1000.0 * (digamma(a) - digamma(2.6)));
    // From below: steps from above may leave the range and are then refused.
    let mut alpha = vec![0.05; 3];
    for _ in 0..200 {
        alpha = newton_step(&alpha, &sums, 1000.0, 0.5).unwrap();
    }
    assert_close(&alpha, &truth, 1e-9, "alpha");
    // A step that leaves the range is refused, and without documents there is no step.
    assert_eq!(
        newton_step(&[1.0; 3], &[-1e9, 0.0, 0.0], 1.0, 1.0).unwrap(),
        [1.0; 3]
    );
    assert_eq!(
        newton_step(&[1.0; 3], &[0.0; 3], 0.0, 1.0).unwrap(),
        [1.0; 3]
    );
    assert!(newton_step(&[1.0; 3], &[0.0; 2], 1.0, 1.0).is_err());
    // The sums of rounds are the sums of their documents.
    let mut sums = [0.0; 2];
    add_log_theta(&[2.0, 1.0], &mut sums);
    assert_close(
        &sums,
        &[digamma(2.0) - digamma(3.0), digamma(1.0) - digamma(3.0)],
        GOLDEN,
        "log theta",
    );
    let corpus = Corpus::random(&mut Random::new(14), 30, 40, 6, true);
    let steps = LdaParams {
        concentration: true,
        ..params(4, 30.0)
    };
    let outcome = round(
        &steps,
        &corpus,
        &mut Lambda::<f32>::initial(4, 40, 0.1, 1).unwrap(),
        Kernel::detect(),
        1,
    );
    assert_eq!(outcome.log_theta_sums.len(), 4);
    assert!(
        outcome
            .log_theta_sums
            .iter()
            .all(|&sum| sum < 0.0 && sum.is_finite())
    );
}

#[test]
fn schedule_counts_documents() {
    let decaying = schedule(10.0, 0.7, 1000.0);
    let rho = 11f64.powf(-0.7);
    assert_close(
        &[
            decaying.step(0.0, 1000.0, 1.0),
            decaying.step(0.0, 125.0, 8.0),
        ],
        &[rho; 2],
        1e-15,
        "rho",
    );
    assert_close(
        &[decaying.step(5000.0, 1000.0, 1.0)],
        &[16f64.powf(-0.7)],
        1e-15,
        "later",
    );
    // Ten small batches forget as much as one large one, apart from the change of rho.
    let small = decaying.step(0.0, 100.0, 1.0);
    assert_close(&[(1.0 - small).powi(10)], &[1.0 - rho], 1e-14, "small");
    let first = schedule(0.0, 0.7, 1000.0);
    assert_eq!(first.step(0.0, 10.0, 1.0), 1.0);
}

/// Every start leads to a local optimum of its own, in which two topics may merge into one.
#[test]
fn planted_topics_are_found() {
    let (topics, vocabulary) = (6, 120);
    let (corpus, planted) = Corpus::planted(&mut Random::new(21), 1200, vocabulary, topics, 80);
    let (starts, least) = if common::properties::is_long() {
        (12, 7)
    } else {
        (2, 1)
    };
    let found = (0..starts)
        .filter(|&seed| {
            let found = topics_found(&corpus, topics, seed);
            planted_cosines(&planted, &found)
                .iter()
                .all(|&cosine| cosine > 0.9)
        })
        .count();
    assert!(found >= least, "from {found} of {starts} starts");
}

/// The average of the topics that four workers find: lambda, by words.
fn topics_found(corpus: &Corpus, topics: usize, seed: u64) -> Vec<Vec<f64>> {
    let vocabulary = corpus.vocabulary;
    let start = Lambda::<f32>::initial(topics, vocabulary, 0.1, seed).unwrap();
    let mut shared = doubles(start.numbers());
    let parts: Vec<_> = (0..4)
        .map(|r| corpus.part(300 * r..300 * (r + 1)))
        .collect();
    for turn in 0..15 {
        let updates: Vec<_> = (0..4)
            .map(|r| {
                let steps = LdaParams {
                    alpha: vec![0.1; topics],
                    batch: 25,
                    budget: 100,
                    workers: 4,
                    partition: r as u32,
                    cursor: 100 * turn,
                    seen: 400 * turn,
                    schedule: schedule(16.0, 0.6, 100.0),
                    ..params(topics, 1200.0)
                };
                let whole = (usize::MAX, topics * vocabulary);
                shared_round::<f32>(&steps, (0.1, 0.25), &parts[r], &shared, whole)
                    .0
                    .vector
            })
            .collect();
        shared = mean_of(&updates);
    }
    shared
        .chunks(topics)
        .map(|row| row.iter().map(|v| v + 0.1).collect())
        .collect()
}

/// The cosine of each planted topic with the nearest topic found, which later ones may not take again.
fn planted_cosines(planted: &[Vec<f64>], found: &[Vec<f64>]) -> Vec<f64> {
    let mut left: Vec<usize> = (0..planted.len()).collect();
    planted
        .iter()
        .map(|planted| {
            let cosine = |k: usize| {
                let (mut dot, mut square, mut truth) = (0.0f64, 0.0f64, 0.0f64);
                for (row, p) in found.iter().zip(planted) {
                    dot += row[k] * p;
                    square += row[k] * row[k];
                    truth += p * p;
                }
                dot / (square * truth).sqrt()
            };
            let best = (0..left.len())
                .max_by(|&a, &b| cosine(left[a]).total_cmp(&cosine(left[b])))
                .unwrap();
            cosine(left.remove(best))
        })
        .collect()
}

/// Document completion: gamma from every second word, perplexity of the other words.
fn perplexity(lambda: &Lambda<f32>, corpus: &Corpus, alpha: &[f64]) -> f64 {
    let half = |from: usize| {
        let mut half = Corpus::new(corpus.vocabulary);
        for d in 0..corpus.len() {
            let documents = corpus.documents();
            let words = documents.document(d).skip(from).step_by(2);
            half.push(&words.map(|(w, c)| (w, c as f32)).collect::<Vec<_>>());
        }
        half
    };
    let (observed, held) = (half(0), half(1));
    let (observed, held) = (observed.documents(), held.documents());
    let tight = EStepParams {
        tolerance: 1e-4,
        ..EStepParams::PLAIN
    };
    let mut inference = LdaInference::new(lambda, alpha, tight, Kernel::detect()).unwrap();
    inference.prepare(&observed, 0..observed.len()).unwrap();
    let (mut logs, mut tokens) = (0.0, 0.0);
    for d in 0..observed.len() {
        let gamma = inference.infer(&observed, d).gamma;
        let sum: f64 = gamma.iter().sum();
        for (word, count) in held.document(d) {
            let p = |(k, g): (usize, &f64)| g / sum * lambda.value(word, k) / lambda.topic_sum(k);
            logs += count * gamma.iter().enumerate().map(p).sum::<f64>().ln();
            tokens += count;
        }
    }
    (-logs / tokens).exp()
}

#[test]
fn shortcuts_do_not_cost_perplexity() {
    // More topics than were planted: rows have three blocks, which pruning shortens.
    let (topics, seeds) = (40, if common::properties::is_long() { 5 } else { 1 });
    let strict = EStepParams::PLAIN;
    let pruned = EStepParams {
        pruning: 0.01,
        ..strict
    };
    let mut means = [0.0; 3];
    for seed in 0..seeds {
        let (corpus, _) = Corpus::planted(&mut Random::new(seed), 700, 300, 8, 90);
        let (train, test) = (corpus.part(0..600), corpus.part(600..700));
        let variants = [strict, pruned, EStepParams::default()];
        let perplexities = variants.map(|e_step| {
            let mut lambda = Lambda::initial(topics, 300, 0.05, seed).unwrap();
            let pass = LdaParams {
                e_step,
                budget: 3600,
                alpha: vec![0.05; topics],
                schedule: schedule(4.0, 0.6, 20.0),
                batch: 50,
                ..params(topics, 600.0)
            };
            round(&pass, &train, &mut lambda, Kernel::detect(), usize::MAX);
            perplexity(&lambda, &test, &pass.alpha)
        });
        for (mean, perplexity) in means.iter_mut().zip(perplexities) {
            *mean += perplexity / seeds as f64;
        }
    }
    let [strict, pruned, recommended] = means;
    assert!(strict < 230.0, "{means:?}: words alone give 300");
    assert!(pruned / strict - 1.0 < PRUNING_COST, "{means:?}");
    assert!(recommended / strict - 1.0 < RECOMMENDED_COST, "{means:?}");
}

#[test]
fn bad_input_is_refused() {
    let documents =
        |counts: &[f32]| Documents::new(5, &[0, 1, 2], &[1, 4], Values::F32(counts)).map(|_| ());
    assert!(documents(&[1.0, 0.0]).is_ok());
    for (counts, part) in [
        ([1.0, -1.0], "document 1"),
        ([1e-9, 1.0], "document 0"),
        ([1.0, 1e10], "word 4"),
    ] {
        assert!(matches!(documents(&counts), Err(SolverError::Shape(text)) if text.contains(part)));
    }
    assert!(matches!(
        documents(&[1.0, f32::NAN]),
        Err(SolverError::NonFinite(_))
    ));
    assert!(Documents::new(4, &[0, 1, 2], &[1, 4], Values::Ones).is_err());
    assert!(Documents::new(4, &[0, 2], &[3, 3], Values::Ones).is_err());
    assert!(Documents::new(4, &[], &[], Values::Ones).is_err());

    for (topics, vocabulary, eta) in [
        (0, 5, 0.1),
        (5, 0, 0.1),
        (2, 2, 0.0),
        (2, 2, f64::NAN),
        (2, 2, 1e7),
    ] {
        assert!(Lambda::<f32>::zero(topics, vocabulary, eta).is_err());
    }
    assert!(Lambda::<f32>::zero(usize::MAX, 2, 0.1).is_err());
    assert!(Lambda::<f32>::from_values(1, 2, 0.5, &[1.0, 0.4]).is_err());
    assert!(Lambda::<f32>::from_values(1, 2, 0.5, &[1.0, f64::INFINITY]).is_err());
    assert!(Lambda::<f32>::from_values(1, 2, 0.5, &[1.0]).is_err());

    let bad: [fn(&mut LdaParams); 13] = [
        |p| p.alpha = vec![],
        |p| p.alpha = vec![1.0, 0.0],
        |p| p.corpus = 0.0,
        |p| p.workers = 0,
        |p| p.batch = 0,
        |p| p.budget = 0,
        |p| p.schedule.tau0 = -1.0,
        |p| p.schedule.kappa = f64::NAN,
        |p| p.schedule.base = 0.0,
        |p| p.e_step.tolerance = 0.0,
        |p| p.e_step.cap = 0,
        |p| p.e_step.over_relaxation = 1.5,
        |p| p.e_step.pruning = 0.6,
    ];
    for (number, bad) in bad.into_iter().enumerate() {
        let mut params = params(3, 10.0);
        bad(&mut params);
        assert!(params.check().is_err(), "{number}");
    }

    let corpus = Corpus::random(&mut Random::new(1), 5, 8, 3, false);
    for (topics, vocabulary, part) in [(4, 8, "alpha"), (3, 9, "vocabulary")] {
        let mut lambda = Lambda::<f32>::zero(topics, vocabulary, 0.1).unwrap();
        let checked = params(3, 10.0).check().unwrap();
        let refused = checked.run(
            &mut lambda,
            &mut lent(&[corpus.documents()]),
            Kernel::PORTABLE,
            None,
        );
        assert!(matches!(refused, Err(SolverError::Shape(text)) if text.contains(part)));
    }
}

#[test]
fn bad_shared_vectors_are_refused() {
    let corpus = Corpus::random(&mut Random::new(1), 5, 8, 3, false);
    let blocks = [corpus.documents()];
    let mut documents = lent(&blocks);
    let good = bytes::<f32>(&[0.5; 24]);
    let kernel = Kernel::PORTABLE;
    let round = |eta, share, vocabulary| {
        let params = params(3, 10.0).check().unwrap();
        SharedRound::<f32>::new(params, 5, eta, share, vocabulary, kernel, Vec::new())
    };
    for (eta, share, vocabulary) in [
        (0.0, 0.5, 8),
        (0.1, 1.5, 8),
        (0.1, -0.5, 8),
        (0.1, f64::NAN, 8),
        (0.1, 0.5, 0),
    ] {
        assert!(round(eta, share, vocabulary).is_err());
    }
    let bound = |first, last| {
        let alpha = vec![0.1; 3];
        let e_step = EStepParams::default();
        let params = BoundParams {
            alpha,
            e_step,
            first,
            last,
        };
        SharedBound::<f32>::new(params, 0.1, 8, kernel, Vec::new()).unwrap()
    };
    for bad in [-0.1, 1.0001e30, f64::NAN, f64::INFINITY] {
        let mut numbers = [0.5; 24];
        numbers[16] = bad;
        let shared = bytes::<f32>(&numbers);
        let mut round = round(0.1, 0.5, 8).unwrap();
        let refused = round.run(&mut documents, &shared, None);
        assert!(
            matches!(&refused, Err(SolverError::NonFinite(text)) if text.contains("word 5 and topic 1")),
            "{refused:?}"
        );
        let refused = bound(0, 5).run(&mut documents, &shared, None);
        assert!(matches!(refused, Err(SolverError::NonFinite(_))));
    }
    for length in [0, 95, 97, 104, 192] {
        let shared = vec![0; length];
        assert!(matches!(
            round(0.1, 0.5, 8)
                .unwrap()
                .run(&mut documents, &shared, None),
            Err(SolverError::Shape(_))
        ));
    }
    let checked = params(3, 10.0).check().unwrap();
    let mut larger = SharedRound::<f32>::new(checked, 6, 0.1, 0.5, 8, kernel, Vec::new()).unwrap();
    let refused = larger.run(&mut documents, &good, None);
    assert!(matches!(refused, Err(SolverError::Shape(_))));
    for (first, last) in [(0, 6), (3, 2)] {
        let refused = bound(first, last).run(&mut documents, &good, None);
        assert!(matches!(refused, Err(SolverError::Shape(_))));
    }
    let mut begun = round(0.1, 0.5, 8).unwrap();
    let unfinished = Some(SolverError::Unfinished);
    assert_eq!(begun.finish().err(), unfinished);
    assert_eq!(begun.write_update(&good, 0, &mut [0; 8]).err(), unfinished);
    begun.run(&mut documents, &good, None).unwrap();
    assert_eq!(begun.length(), 96);
    for (start, length) in [(0, 7), (0, 104), (96, 8), (usize::MAX, 8)] {
        let mut out = vec![0; length];
        assert!(begun.write_update(&good, start, &mut out).is_err());
    }
    assert!(begun.write_update(&good[8..], 0, &mut [0; 8]).is_err());
}

/// Documents that are copied in several parts, and words in several ranges: any number of threads gives the same bits.
#[test]
fn threads_do_not_matter() {
    let corpus = Corpus::random(&mut Random::new(15), 600, 300, 80, true);
    for (concentration, pruning) in [(true, 0.0), (false, 0.01)] {
        let steps = LdaParams {
            batch: 480,
            budget: 500,
            concentration,
            e_step: EStepParams {
                pruning,
                cap: 20,
                ..EStepParams::default()
            },
            ..params(5, 600.0)
        };
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = (threads > 0).then(|| pool.build().unwrap());
            let mut lambda = Lambda::<f32>::initial(5, 300, 0.1, 1).unwrap();
            let kernel = Kernel::detect();
            let outcome = round_by(pool.as_ref(), &steps, &corpus, &mut lambda, kernel, 350);
            (outcome, lambda)
        };
        let alone = run(0);
        assert_eq!(alone.0.updates, 2);
        assert!([1, 2, 4].into_iter().all(|threads| run(threads) == alone));
    }
}

proptest! {
    #![proptest_config(common::properties::properties(60))]

    /// Neither how documents are cut into blocks nor the choice between the fast kernels nor threads change a bit.
    #[test]
    fn blocks_do_not_matter(seed in 0u64..1000, topics in 1usize..40, batch in 1usize..9, cut in 1usize..26, tau0 in 0.0..20.0) {
        let corpus = Corpus::random(&mut Random::new(seed), 25, 31, 9, true);
        let steps = LdaParams {
            batch,
            budget: 40,
            seed,
            concentration: true,
            schedule: schedule(tau0, 0.6, 3.0),
            ..params(topics, 25.0)
        };
        let start = Lambda::<f32>::initial(topics, 31, 0.1, seed).unwrap();
        let run = |kernel, cut| {
            let mut lambda = start.clone();
            let outcome = round(&steps, &corpus, &mut lambda, kernel, cut);
            (outcome, lambda)
        };
        for kernel in Kernel::available() {
            let whole = run(kernel, usize::MAX);
            prop_assert!(whole == run(kernel, cut));
            prop_assert!(whole.1.numbers().iter().all(|&x| normal_or_zero(x) && x >= 0.0));
        }
        let numbers = doubles(start.numbers());
        let update = |cut, piece| shared_round::<f32>(&steps, (0.1, 0.7), &corpus, &numbers, (cut, piece)).0;
        let whole = update(usize::MAX, 10_000);
        prop_assert_eq!(whole.vector.len(), 31 * topics);
        prop_assert_eq!(&whole.sums, &whole.outcome.log_theta_sums);
        prop_assert!(whole == update(cut, 1 + cut));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let together = shared_round_by::<f32>(Some(&pool), &steps, (0.1, 0.7), &corpus, &numbers, (cut, 10_000)).0;
        prop_assert!(whole == together);
        let sampled = BoundParams { alpha: steps.alpha.clone(), e_step: steps.e_step, first: 0, last: SAMPLE };
        prop_assert_eq!(whole.bound, shared_bound::<f32>(&sampled, 0.1, &corpus, &numbers, cut));
        let fast: Vec<_> = Kernel::available()[1..].iter().map(|&kernel| run(kernel, usize::MAX)).collect();
        prop_assert!(fast.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
