//! The algorithm on threads, against dense arithmetic.

mod common;

use std::path::Path;

use common::{Dense, certified_fit_on_threads, fit_on_threads};
use dwell_mpi::{Certificates, Partition, Problem};
use dwell_solvers::{ElasticNetParams, PrimalParams, PrimalRound, Progress, cd::SubproblemParams};

/// Rounding of sums of some hundred terms.
const ROUNDING: f64 = 1e-12;

/// Error of coefficients of size one, once rounds have converged as far as rounding allows.
const CONVERGED: f64 = 1e-9;

/// Rounds after which the slowest of the fits below has converged.
const MANY_ROUNDS: usize = 800;

/// Rounds driven by hand: so few that a wrong order shows.
const HAND_ROUNDS: usize = 4;

const SETTINGS: [(usize, f64); 6] = [(1, 0.5), (1, 1.0), (2, 0.5), (2, 1.0), (3, 0.5), (3, 1.0)];

#[test]
fn objectives_are_those_of_alpha_and_never_rise() {
    let dense = Dense::random(50, 31, 0.01, 0.02);
    for (count, local_work) in SETTINGS {
        let directory = dense.write("objectives", count);
        let mut before = dense.objective(&[0.0; 31]);
        // A fit of t rounds for every t: its coefficients are those after round t of a longer fit.
        for rounds in 1..=12 {
            let ranks = fit_on_threads(&directory, local_work, rounds).unwrap();
            let alpha: Vec<f64> = ranks.iter().flat_map(|(_, alpha)| alpha.clone()).collect();
            let expected = dense.objective(&alpha);
            for (history, _) in &ranks {
                let objective = history[rounds - 1].objective;
                assert!(
                    (objective - expected).abs() <= ROUNDING * expected,
                    "{objective} is not {expected} after {rounds} rounds, K={count}, H={local_work}"
                );
            }
            let objective = ranks[0].0[rounds - 1].objective;
            assert!(
                objective <= before * (1.0 + ROUNDING),
                "{objective} after {before}, round {rounds}, K={count}, H={local_work}"
            );
            before = objective;
        }
        assert!(
            before < 0.9 * dense.objective(&[0.0; 31]),
            "nothing was learnt"
        );
    }
}

#[test]
fn many_rounds_find_the_optimum_of_ridge() {
    let dense = Dense::random(50, 31, 0.0, 0.05);
    let optimum = dense.ridge();
    for (count, local_work) in SETTINGS {
        let directory = dense.write("ridge", count);
        let ranks = fit_on_threads(&directory, local_work, MANY_ROUNDS).unwrap();
        let alpha = ranks.iter().flat_map(|(_, alpha)| alpha);
        for (i, (a, expected)) in alpha.zip(&optimum).enumerate() {
            assert!(
                (a - expected).abs() <= CONVERGED,
                "coefficient {i} is {a}, not {expected}, K={count}, H={local_work}"
            );
        }
        let (objective, least) = (
            ranks[0].0[MANY_ROUNDS - 1].objective,
            dense.objective(&optimum),
        );
        assert!(
            (objective - least).abs() <= CONVERGED * least,
            "{objective} is not {least}"
        );
    }
}

/// Coefficients after some rounds driven by hand. Every other implementation makes the same steps, so the program must give the solver the
/// same order, budget and parameters.
fn by_hand(dense: &Dense, directory: &Path, count: usize, local_work: f64) -> Vec<f64> {
    let problem = Problem::read(directory).unwrap();
    let n = dense.columns.len();
    let (mut alpha, mut previous, mut cursors) = (vec![0.0; n], vec![0.0; n], vec![0; count]);
    for _ in 0..HAND_ROUNDS {
        let residual: Vec<u8> = dense
            .product(&alpha)
            .iter()
            .zip(&dense.labels)
            .flat_map(|(z, y)| (y - z).to_le_bytes())
            .collect();
        for (k, cursor) in cursors.iter_mut().enumerate() {
            let members = k * n / count..(k + 1) * n / count;
            let params = PrimalParams {
                subproblem: SubproblemParams {
                    penalty: ElasticNetParams {
                        l1: dense.l1,
                        l2: dense.l2,
                        scale_factor: 0.0,
                    },
                    sigma_prime: count as f64,
                    total_weight: dense.rows() as f64,
                    centred: false,
                },
                seed: -5i64 as u64,
                partition: k as u32,
                budget: (members.len() as f64 * local_work).ceil() as u64,
                certificate: false,
                points: Vec::new(),
                threads: 1,
                batch: false,
            };
            let partition = Partition::read(directory, &problem, k).unwrap();
            let data = partition.data().unwrap();
            let (a, p) = (&mut alpha[members.clone()], &mut previous[members]);
            let mut round =
                PrimalRound::new(params.check().unwrap(), dense.rows(), a, p, *cursor).unwrap();
            while round.advance(&data, &residual, 100, None).unwrap() == Progress::More {}
            let outcome = round.finish(a).unwrap();
            for (a, d) in a.iter_mut().zip(&outcome.delta) {
                *a += d;
            }
            p.copy_from_slice(&outcome.delta);
            *cursor = outcome.cursor;
        }
    }
    alpha
}

#[test]
fn steps_are_those_of_rounds_driven_by_hand() {
    let dense = Dense::random(50, 31, 0.01, 0.02);
    for (count, local_work) in SETTINGS {
        let directory = dense.write("hand", count);
        let expected = by_hand(&dense, &directory, count, local_work);
        let ranks = fit_on_threads(&directory, local_work, HAND_ROUNDS).unwrap();
        let alpha = ranks.iter().flat_map(|(_, alpha)| alpha);
        for (i, (a, expected)) in alpha.zip(&expected).enumerate() {
            assert!(
                (a - expected).abs() <= ROUNDING,
                "coefficient {i} is {a}, not {expected}, K={count}, H={local_work}"
            );
        }
    }
}

#[test]
fn times_of_a_round_fit_one_another() {
    let directory = Dense::random(50, 31, 0.01, 0.02).write("times", 3);
    for (history, _) in fit_on_threads(&directory, 1.0, 40).unwrap() {
        let mut before = 0.0;
        for round in history {
            assert!(round.worker > 0.0 && round.leader > 0.0, "{round:?}");
            // A rank that begins late waits for less time than the slowest worker took, so only absurd times are wrong.
            assert!(
                round.worker < 60.0,
                "times of the rounds before are in it: {round:?}"
            );
            assert!(round.elapsed - before > round.leader, "{round:?}");
            before = round.elapsed;
        }
    }
}

#[test]
fn certificates_change_nothing_but_the_time() {
    let dense = Dense::random(50, 31, 0.01, 0.02);
    let directory = dense.write("certificates", 2);
    let coefficients = |certificates| -> Vec<Vec<f64>> {
        certified_fit_on_threads(&directory, 0.5, 5, certificates)
            .unwrap()
            .into_iter()
            .map(|(_, alpha)| alpha)
            .collect()
    };
    let plain = coefficients(Certificates::Never);
    for wanted in [Certificates::EveryOther, Certificates::Always] {
        assert_eq!(coefficients(wanted), plain, "{wanted:?}");
    }
    assert_eq!(Certificates::new(true, 1.0), Certificates::EveryOther);
    assert_eq!(Certificates::new(true, 2.0), Certificates::Always);
    assert_eq!(Certificates::new(false, 2.0), Certificates::Never);
}
