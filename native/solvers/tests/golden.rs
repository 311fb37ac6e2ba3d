//! Against numbers made by tests/golden/primal.py, which shares no code with this crate.

use crate::common;

use common::{
    Problem, bytes, doubles,
    golden::{count, exact, exacts, golden, integers, number, numbers, partitions, table},
    matrix, run_round,
};
use dwell_solvers::{
    ColumnMoments, DualData, ElasticNetParams, Loss, PrimalData, PrimalParams, Samples, Values,
    cd::{DualSubproblemParams, LocalDualSubproblem, LocalSubproblem, SubproblemParams},
    order::{BucketOrder, SplitMix64, bucket_size},
};

/// Python adds in another order: a few units in the last place.
const TOLERANCE: f64 = 1e-13;

fn assert_close(actual: &[f64], expected: &[f64], what: &str) {
    common::assert_close(actual, expected, TOLERANCE, what);
}

#[test]
fn generator_and_order() {
    let order = golden("order");
    for case in order["generators"].as_array().unwrap() {
        let mut random = SplitMix64::for_epoch(
            case["seed"].as_i64().unwrap() as u64,
            count(&case["partition"]) as u32,
            count(&case["epoch"]),
        );
        for next in case["next"].as_array().unwrap() {
            assert_eq!(format!("{:016x}", random.next_u64()), *next);
        }
    }
    for case in order["orders"].as_array().unwrap() {
        let coordinates = count(&case["coordinates"]) as usize;
        let size = bucket_size(coordinates);
        assert_eq!(size as u64, count(&case["bucketSize"]));
        let (seed, partition) = (count(&case["seed"]), count(&case["partition"]) as u32);
        let mut order = BucketOrder::new(coordinates, size, seed, partition).unwrap();
        assert_eq!(order.buckets() as u64, count(&case["buckets"]));
        for (cursor, &start) in (count(&case["cursor"])..).zip(&integers(&case["starts"])) {
            assert_eq!(order.at(cursor).start, start as usize, "{case}");
        }
    }
}

/// Ridge, lasso and elastic net on the small matrix: cyclic order, one epoch a round, two partitions, sigma' = 2.
#[test]
fn cocoa_rounds_and_optimum() {
    let cocoa = golden("cocoa");
    let (rows, members) = (table(&cocoa["rows"]), partitions(&cocoa["partitions"]));
    for case in cocoa["cases"].as_array().unwrap() {
        let problem = Problem {
            columns: (0..4)
                .map(|i| rows.iter().map(|row| row[i]).collect())
                .collect(),
            labels: numbers(&cocoa["labels"]),
            weights: None,
            loss: Loss::Squared,
            penalty: ElasticNetParams {
                l1: number(&case["l1"]),
                l2: number(&case["l2"]),
                scale_factor: 0.0,
            },
            centred: false,
            dense: false,
        };
        let params = problem
            .subproblem(number(&cocoa["sigmaPrime"]))
            .check()
            .unwrap();
        let mut alpha = vec![0.0; 4];
        for round in 1..=200 {
            let residual = problem.residual(&alpha);
            let residual_bytes = bytes(&residual);
            let mut updated = alpha.clone();
            for members in &members {
                let partition = problem.partition(members);
                let data = partition.data();
                let local: Vec<f64> = members.iter().map(|&i| alpha[i]).collect();
                let mut subproblem =
                    LocalSubproblem::new(params, residual.clone(), None, &local).unwrap();
                subproblem
                    .descend(&data, 0, 0..members.len(), usize::MAX)
                    .unwrap();
                for (&i, &a) in members.iter().zip(subproblem.alpha()) {
                    updated[i] = a;
                }
                let mut update = vec![0; 48];
                subproblem
                    .write_update(None, 0, &residual_bytes, &mut update)
                    .unwrap();
                let mut expected = vec![0.0; 6];
                for &i in members {
                    for (e, c) in expected.iter_mut().zip(&problem.columns[i]) {
                        *e += (updated[i] - alpha[i]) * c;
                    }
                }
                assert_close(&doubles(&update), &expected, "update");
            }
            alpha = updated;
            if round == 1 {
                assert_close(&alpha, &numbers(&case["round1"]), "round 1");
            }
            if round <= 2 {
                let expected = number(&case[["objective1", "objective2"][round - 1]]);
                assert_close(&[problem.objective(&alpha)], &[expected], "objective");
            }
        }
        assert_close(&alpha, &numbers(&case["optimum"]), "optimum");
        let lowest = number(&case["optimalObjective"]);
        assert_close(&[problem.objective(&alpha)], &[lowest], "lowest objective");
    }
}

/// Hinge on the rows of the same matrix, with alternating labels: cyclic order, one epoch a round, two partitions, sigma' = 2, lambda =
/// 0.1. The numbers were made in plain Python.
#[test]
fn cocoa_rounds_of_the_hinge() {
    let rows = table(&golden("cocoa")["rows"]);
    let labels = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
    let params = DualSubproblemParams {
        loss: Loss::Hinge,
        sigma_prime: 2.0,
        l2: 0.1,
        total_weight: 6.0,
        intercept: 0.0,
        offset: 0.0,
    }
    .check()
    .unwrap();
    let objective = |w: &[f64]| -> f64 {
        let losses: f64 = rows
            .iter()
            .zip(labels)
            .map(|(row, y)| {
                let z: f64 = row.iter().zip(w).map(|(x, w)| x * w).sum();
                Loss::Hinge.value(z, y)
            })
            .sum();
        losses / 6.0 + 0.05 * w.iter().map(|w| w * w).sum::<f64>()
    };
    let (mut alpha, mut w) = (vec![0.0; 6], vec![0.0; 4]);
    let mut gap = f64::NAN;
    for round in 1..=2000 {
        let shared = bytes(&w);
        for members in [0..3, 3..6] {
            let own = rows[members.clone()].iter();
            let norms: Vec<f64> = own.clone().map(|x| x.iter().map(|x| x * x).sum()).collect();
            let (offsets, indices, values) = matrix::stored(own, false);
            let columns = matrix::columns(4, &offsets, indices.as_deref(), Values::F64(&values));
            let samples = Samples::new(&labels[members.clone()], None, &norms, None).unwrap();
            let data = DualData::new(columns, samples, None).unwrap();
            let mut local =
                LocalDualSubproblem::new(params, doubles(&shared), None, &alpha[members.clone()])
                    .unwrap();
            local.descend(&data, 0, 0..3, usize::MAX).unwrap();
            let mut update = vec![0; 32];
            local.write_update(None, 0, &shared, &mut update).unwrap();
            for (w, u) in w.iter_mut().zip(doubles(&update)) {
                *w += u;
            }
            alpha[members].copy_from_slice(local.alpha());
        }
        let p: Vec<f64> = alpha.iter().zip(labels).map(|(a, y)| a * y).collect();
        let dual = p.iter().sum::<f64>() / 6.0 - 0.05 * w.iter().map(|w| w * w).sum::<f64>();
        gap = objective(&w) - dual;
        if round == 1 {
            assert_close(&p, &[0.06, 0.15, 0.195, 0.06, 0.084, 0.024], "round 1");
            assert_close(&w, &[0.705, -0.045, 0.06, -0.31], "round 1");
            assert!((objective(&w) - 0.450770833333).abs() < 1e-12);
            // 0.450770833333 - (0.573 / 6 - 0.05 |w|^2).
            assert!((gap - 0.385208333333).abs() < 1e-12);
        }
    }
    assert!(gap.abs() < 1e-12, "{gap}");
    for (w, expected) in w.iter().zip([9.0, -2.0, -1.0, -5.0]) {
        assert!((w - expected / 7.0).abs() < 1e-6, "{w}");
    }
    assert!((objective(&w) - 0.113265306122).abs() < 1e-12);
}

#[test]
fn rounds_to_the_last_bit() {
    for case in golden("round").as_array().unwrap() {
        let rows = count(&case["rows"]) as usize;
        let offsets = integers(&case["offsets"]);
        let is_sparse = case["indices"].is_array();
        let indices = is_sparse.then(|| integers(&case["indices"]));
        let values = exacts(&case["values"]);
        let narrow: Vec<f32> = values.iter().map(|&v| v as f32).collect();
        let [mean, variance, deviation] =
            ["mean", "variance", "deviation"].map(|m| exacts(&case[m]));
        let weights = case["weights"].is_array().then(|| exacts(&case["weights"]));
        let params = PrimalParams {
            subproblem: SubproblemParams {
                penalty: ElasticNetParams {
                    l1: exact(&case["l1"]),
                    l2: exact(&case["l2"]),
                    scale_factor: exact(&case["scaleFactor"]),
                },
                sigma_prime: exact(&case["sigmaPrime"]),
                total_weight: exact(&case["totalWeight"]),
                centred: case["centred"].as_bool().unwrap(),
            },
            seed: count(&case["seed"]),
            partition: count(&case["partition"]) as u32,
            budget: count(&case["budget"]),
            certificate: true,
            points: Vec::new(),
            threads: 1,
        };
        let expected = &case["expected"];
        for values in [Values::F64(&values), Values::F32(&narrow)] {
            let columns = matrix::columns(rows, &offsets, indices.as_deref(), values);
            let moments = ColumnMoments::new(&mean, &variance, &deviation).unwrap();
            let data = PrimalData::new(columns, moments, weights.as_deref()).unwrap();
            let (alpha, residual) = (exacts(&case["alpha"]), exacts(&case["residual"]));
            let cursor = count(&case["cursor"]);
            let (outcome, update) = run_round(&params, &[data], &alpha, cursor, &residual, None);
            let (scalars, name) = (outcome.scalars, &case["name"]);
            assert_eq!(outcome.delta, exacts(&expected["delta"]), "{name}");
            assert_eq!(update, exacts(&expected["update"]), "{name}");
            let counts = ["cursor", "coordinates", "nonzeros"].map(|key| count(&expected[key]));
            assert_eq!(
                [outcome.cursor, scalars.coordinates, scalars.nonzeros],
                counts
            );
            for (key, actual) in [
                ("penaltyBefore", scalars.value_before),
                ("penaltyAfter", scalars.value_after),
                ("conjugate", scalars.conjugate),
                ("ratio", scalars.ratio),
                ("correlation", scalars.correlation),
                ("kappa", scalars.kappa),
            ] {
                assert_eq!(actual, exact(&expected[key]), "{name}: {key}");
            }
        }
    }
}
