//! Mini-batches: no step of a round sees the result of another.

mod common;

use common::{
    POINTS, Problem, Random,
    rows::{self, LOSSES},
    run_round,
};
use dwell_solvers::{ElasticNetParams, Loss, SolverError};

fn columns(weighted: bool, centred: bool) -> Problem {
    let mut random = Random::new(3);
    let mut vector = |length: usize| -> Vec<f64> { (0..length).map(|_| random.number()).collect() };
    let columns = (0..40).map(|_| vector(25)).collect();
    Problem {
        columns,
        labels: vector(25),
        weights: weighted.then(|| vector(25).iter().map(|v| v.abs() + 0.1).collect()),
        penalty: ElasticNetParams {
            l1: 0.02,
            l2: 0.01,
            scale_factor: 1.0,
        },
        centred,
        dense: false,
        loss: Loss::Squared,
    }
}

/// Every coordinate moves as it would alone, and the update is the product of the matrix with all steps.
#[test]
fn steps_of_columns_do_not_see_one_another() {
    for (weighted, centred) in [(false, false), (true, false), (true, true)] {
        let problem = columns(weighted, centred);
        let residual = problem.residual(&vec![0.0; 40]);
        let alpha = vec![0.0; 40];
        let all: Vec<usize> = (0..40).collect();
        let whole = problem.partition(&all);
        let mut params = problem.round(3.0, 0, 40);
        params.batch = true;
        for slice in [usize::MAX, 7] {
            let (outcome, update) =
                run_round(&params, &whole.data(), &alpha, 0, &residual, slice, None);
            let mut expected = vec![0.0; 25];
            for i in 0..40 {
                let alone = problem.partition(&[i]);
                let (one, step) = run_round(
                    &problem.round(3.0, 0, 1),
                    &alone.data(),
                    &[0.0],
                    0,
                    &residual,
                    usize::MAX,
                    None,
                );
                assert_eq!(outcome.delta[i], one.delta[0], "column {i}");
                for (sum, u) in expected.iter_mut().zip(step) {
                    *sum += u;
                }
            }
            assert!(outcome.delta.iter().filter(|d| **d != 0.0).count() > 20);
            for (j, (u, v)) in update.iter().zip(&expected).enumerate() {
                assert!((u - v).abs() < 1e-13, "row {j}: {u}, not {v}");
            }
        }
    }
}

#[test]
fn steps_of_rows_do_not_see_one_another() {
    for loss in LOSSES {
        let problem = rows::Problem::random(30, 12, loss, 4)
            .weighted()
            .scaled()
            .with_intercept();
        let all: Vec<usize> = (0..30).collect();
        let whole = problem.partition(&all);
        let w: Vec<f64> = (0..12).map(|j| f64::from(j).sin() * 0.2).collect();
        let alpha = vec![0.0; 30];
        let mut params = problem.params(2.0, 0.1, 0, 30);
        params.batch = true;
        let (outcome, update) =
            rows::run_round(&params, &whole.data(), (&alpha, &alpha, 0), &w, 11, None);
        let mut expected = vec![0.0; 12];
        for i in 0..30 {
            let alone = problem.partition(&[i]);
            let (one, step) = rows::run_round(
                &problem.params(2.0, 0.1, 0, 1),
                &alone.data(),
                (&[0.0], &[0.0], 0),
                &w,
                usize::MAX,
                None,
            );
            assert_eq!(outcome.delta[i], one.delta[0], "{loss:?}, row {i}");
            for (sum, u) in expected.iter_mut().zip(step) {
                *sum += u;
            }
        }
        for (j, (u, v)) in update.iter().zip(&expected).enumerate() {
            assert!((u - v).abs() < 1e-12, "{loss:?}, feature {j}: {u}, not {v}");
        }
        let kappa = problem.kappa(&outcome.delta);
        assert!((outcome.scalars.kappa - kappa).abs() < 1e-12);
    }
}

/// The update is minus the gradient of the mean loss, divided by l2 and in the scale of the features; the variables are minus the derivatives.
#[test]
fn gradients_are_those_of_the_losses() {
    for loss in LOSSES {
        for centred in [false, true] {
            let mut problem = rows::Problem::random(48, 9, loss, 8).weighted().scaled();
            if centred {
                problem = problem.with_intercept();
            }
            let all: Vec<usize> = (0..50).collect();
            let part = problem.partition(&all);
            let w: Vec<f64> = (0..9).map(|j| f64::from(j).cos() * 0.4).collect();
            let offset = if centred { -0.3 } else { 0.0 };
            let mut params = problem.params(1.0, offset, 0, 50);
            params.batch = true;
            params.subproblem.gradient = true;
            let (outcome, update) = rows::run_round(
                &params,
                &part.data(),
                (&[0.0; 50], &[0.0; 50], 0),
                &w,
                13,
                None,
            );
            for j in 0..9 {
                // Central differences: exact to 1e-9, unless a corner of the hinge lies in between. With this seed none does.
                let h = 1e-6;
                let moved = |by: f64| {
                    let mut v = w.clone();
                    v[j] += by;
                    problem.losses(&v, offset)
                };
                let slope = (moved(h) - moved(-h)) / (2.0 * h);
                let expected = -slope * problem.scale(j) / problem.l2;
                assert!(
                    (update[j] - expected).abs() < 1e-6 * (1.0 + expected.abs()),
                    "{loss:?}, feature {j}: {}, not {expected}",
                    update[j]
                );
            }
            let kappa = problem.kappa(&outcome.delta);
            assert!((outcome.scalars.kappa - kappa).abs() < 1e-12);
        }
    }
}

#[test]
fn a_batch_ends_with_its_epoch() {
    let problem = columns(false, true);
    let all: Vec<usize> = (0..40).collect();
    let part = problem.partition(&all);
    let residual = problem.residual(&vec![0.0; 40]);
    let mut params = problem.round(40.0, 0, 25);
    params.batch = true;
    let (first, _) = run_round(&params, &part.data(), &[0.0; 40], 0, &residual, 50, None);
    let (second, _) = run_round(
        &params,
        &part.data(),
        &[0.0; 40],
        first.cursor,
        &residual,
        50,
        None,
    );
    assert!(first.scalars.coordinates >= 25);
    assert_eq!(first.scalars.coordinates + second.scalars.coordinates, 40);
    let both = first.delta.iter().zip(&second.delta);
    assert!(both.clone().all(|(a, b)| *a == 0.0 || *b == 0.0));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |result: Result<(), SolverError>, part: &str| match result {
        Err(SolverError::InvalidParam { name, .. }) => assert_eq!(name, part),
        other => panic!("{other:?}"),
    };
    let mut params = columns(false, false).round(1.0, 0, 1);
    params.batch = true;
    params.points = POINTS.to_vec();
    assert!(params.check().is_ok());
    params.threads = 2;
    refused(params.check().map(|_| ()), "threads");
    let mut params = rows::Problem::random(3, 2, Loss::Squared, 1).params(1.0, 0.0, 0, 1);
    params.subproblem.gradient = true;
    refused(params.check().map(|_| ()), "batch");
}
