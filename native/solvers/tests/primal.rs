//! The promises of the method, on small and random problems.

use crate::common;

use common::{
    Cluster, Problem, ROUNDING, Random, dense::Dense, entries, product_by_four, run_round,
};
use dwell_solvers::{
    ElasticNet, ElasticNetParams, Loss, PrimalParams, PrimalProduct, Values, Verdict, Views,
    cd::LocalSubproblem,
    order::{BucketOrder, bucket_size},
};
use proptest::prelude::*;

/// Every third column is sparse to a different degree; values fit an `f32`.
fn problem(rows: usize, columns: usize, seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let columns: Vec<Vec<f64>> = (0..columns)
        .map(|i| {
            let density = [0.1, 0.4, 1.0][i % 3];
            (0..rows)
                .map(|_| {
                    let value = random.number();
                    let keep = random.number().abs() < density;
                    if keep {
                        f64::from((value + 0.3) as f32)
                    } else {
                        0.0
                    }
                })
                .collect()
        })
        .collect();
    let labels = (0..rows)
        .map(|j| columns[0][j] - 2.0 * columns[columns.len() - 1][j] + random.number() + 3.0)
        .collect();
    Problem {
        columns,
        labels,
        weights: None,
        loss: Loss::Squared,
        penalty: ElasticNetParams {
            l1: 0.02,
            l2: 0.05,
            scale_factor: 0.0,
        },
        centred: true,
        dense: false,
    }
}

fn weighted(mut problem: Problem) -> Problem {
    let mut random = Random::new(99);
    problem.weights = Some((0..problem.rows()).map(|_| 1.5 + random.number()).collect());
    problem
}

#[test]
fn ridge_reaches_the_closed_form() {
    for centred in [false, true] {
        for scale_factor in [0.0, 1.3] {
            let mut problem = weighted(problem(40, 9, 1));
            problem.centred = centred;
            problem.penalty = ElasticNetParams {
                l1: 0.0,
                l2: 0.1,
                scale_factor,
            };
            let expected = Dense::of_columns(&problem).newton();
            let mut cluster = Cluster::new(&problem, problem.partitions(3));
            for _ in 0..400 {
                cluster.round(1);
            }
            for (a, e) in cluster.alpha.iter().zip(expected) {
                assert!((a - e).abs() < ROUNDING, "{a} {e}");
            }
        }
    }
}

/// One partition with sigma' = 1 is coordinate descent with a residual, nothing else.
#[test]
fn one_partition_is_plain_coordinate_descent() {
    let mut problem = problem(30, 12, 2);
    problem.centred = false;
    let partition = problem.partition(&(0..12).collect::<Vec<_>>());
    let data = partition.data();
    let m = problem.rows() as f64;
    let mut alpha = vec![0.0; 12];
    let mut plain = alpha.clone();
    let mut cursor = 0;
    for _ in 0..5 {
        let residual = problem.residual(&alpha);
        let (outcome, _) = run_round(
            &problem.round(1.0, 0, 12),
            &[data],
            &alpha,
            cursor,
            &residual,
            None,
        );

        let mut w = residual;
        let start = plain.clone();
        let mut order = BucketOrder::new(12, bucket_size(12), 5, 0).unwrap();
        for c in cursor..cursor + 12 {
            let i = order.at(c).start;
            let entries = entries(&problem.columns[i]);
            let dot = product_by_four(&entries, &w);
            let q = partition.variance[i] + partition.mean[i] * partition.mean[i];
            let t = q * plain[i] + dot * (1.0 / m);
            let l1 = problem.penalty.l1;
            let soft = if t > l1 {
                t - l1
            } else if t < -l1 {
                t + l1
            } else {
                0.0
            };
            let new = soft / (q + problem.penalty.l2);
            for (j, c) in entries {
                w[j] -= (new - plain[i]) * c;
            }
            plain[i] = new;
        }
        let steps: Vec<f64> = plain.iter().zip(start).map(|(a, b)| a - b).collect();
        assert_eq!(outcome.delta, steps);
        cursor = outcome.cursor;
        for (a, delta) in alpha.iter_mut().zip(&outcome.delta) {
            *a += delta;
        }
        plain.clone_from(&alpha);
    }
}

/// Any cut into slices gives the same bits, also with several buckets and chunks.
#[test]
fn slices_do_not_change_a_bit() {
    for dense in [false, true] {
        slices_do_not_change_a_bit_of(dense);
    }
}

fn slices_do_not_change_a_bit_of(dense: bool) {
    let mut problem = weighted(problem(25, 1100, 3));
    problem.dense = dense;
    let residual = problem.residual(&[0.0; 1100]);
    let alpha: Vec<f64> = (0..1100).map(|i| f64::from(i % 7) * 0.01).collect();
    let params = problem.round(4.0, 2, 1700);
    let penalty = problem.penalty.check().unwrap();
    let run = |size: usize| {
        let all: Vec<usize> = (0..1100).collect();
        let blocks: Vec<_> = all.chunks(size).map(|own| problem.partition(own)).collect();
        let data: Vec<_> = blocks.iter().map(|block| block.data()).collect();
        let (outcome, update) = run_round(&params, &data, &alpha, 77, &residual, None);
        let mut blocks = Views::<ElasticNet>::new(&data).unwrap();
        let product = PrimalProduct::run(penalty, true, 25, &alpha, &mut blocks).unwrap();
        let mut out = vec![0; 200];
        product.write(0, &mut out[..80]).unwrap();
        product.write(10, &mut out[80..]).unwrap();
        let s = outcome.scalars;
        let sums = [
            s.value_before,
            s.value_after,
            s.conjugate,
            s.ratio,
            product.value(),
        ];
        let counts = [
            s.coordinates,
            s.nonzeros,
            outcome.cursor,
            product.nonzeros(),
        ];
        ((outcome.delta, update, counts, out, product.kappa()), sums)
    };
    let whole = run(1100);
    assert!(whole.0.2[0] >= 1700 && whole.0.2[0] < 1704);
    assert_eq!(whole.1[4], whole.1[0]);
    for size in [1, 3, 17, 1000] {
        let cut = run(size);
        assert!(cut.0 == whole.0, "blocks of {size}");
        for (a, b) in cut.1.iter().zip(whole.1) {
            assert!((a - b).abs() < ROUNDING, "{a} and {b}");
        }
    }
    let expected = problem.residual(&alpha);
    for ((v, r), y) in common::doubles(&whole.0.3)
        .iter()
        .zip(expected)
        .zip(problem.centred_labels())
    {
        assert!((v - (y - r)).abs() < ROUNDING);
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    for dense in [false, true] {
        threads_do_not_change_a_bit_of(dense);
    }
}

fn threads_do_not_change_a_bit_of(dense: bool) {
    // Three chunks of 4096 columns, the last one not full.
    let columns = 2 * 4096 + 100;
    let mut problem = problem(6, columns, 4);
    problem.dense = dense;
    let partition = problem.partition(&(0..columns).collect::<Vec<_>>());
    let data = partition.data();
    let residual = problem.residual(&vec![0.0; columns]);
    let alpha: Vec<f64> = (0..columns).map(|i| (i as f64).sin()).collect();
    let params = problem.round(2.0, 0, 1);
    let (alone, _) = run_round(&params, &[data], &alpha, 0, &residual, None);
    assert!(alone.scalars.conjugate > 0.0);
    for threads in [1, 2, 3, 5] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let (shared, _) = run_round(&params, &[data], &alpha, 0, &residual, Some(&pool));
        assert_eq!(shared.scalars, alone.scalars, "{threads} threads");
    }
}

/// The type of the stored values makes no difference if the narrower type holds them exactly.
#[test]
fn storage_does_not_change_a_bit() {
    for (weights, dense) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut problem = problem(33, 40, 5);
        problem.dense = dense;
        if weights {
            problem = weighted(problem);
        }
        for only_ones in [false, true] {
            if only_ones {
                for value in problem.columns.iter_mut().flatten() {
                    *value = if *value == 0.0 { 0.0 } else { 1.0 };
                }
            }
            let partition = problem.partition(&(0..40).collect::<Vec<_>>());
            let narrow: Vec<f32> = partition.values.iter().map(|&v| v as f32).collect();
            let residual = problem.residual(&[0.0; 40]);
            let run = |values| {
                let params = problem.round(1.0, 0, 100);
                let (outcome, update) = run_round(
                    &params,
                    &[partition.data_with(values)],
                    &[0.0; 40],
                    0,
                    &residual,
                    None,
                );
                (outcome.delta, outcome.scalars, update)
            };
            let wide = run(Values::F64(&partition.values));
            assert_eq!(run(Values::F32(&narrow)), wide);
            if only_ones && !dense {
                assert_eq!(run(Values::Ones), wide);
            }
        }
    }
}

/// A dense partition gives what a sparse one gives, to rounding: rounds and products, with one and with three copies of the vector.
#[test]
fn forms_agree() {
    for (rows, centred) in [(7, true), (16, false), (1100, true)] {
        let mut problem = weighted(problem(rows, 40, 6));
        problem.centred = centred;
        let alpha: Vec<f64> = (0..40).map(|i| f64::from(i % 5) * 0.1).collect();
        let residual = problem.residual(&alpha);
        let members: Vec<usize> = (0..40).collect();
        let mut run = |dense, threads| {
            problem.dense = dense;
            let partition = problem.partition(&members);
            let params = PrimalParams {
                threads,
                ..problem.round(2.0, 0, 40)
            };
            let data = partition.data();
            let (outcome, update) = run_round(&params, &[data], &alpha, 0, &residual, None);
            let penalty = problem.penalty.check().unwrap();
            let blocks = [data];
            let mut blocks = Views::<ElasticNet>::new(&blocks).unwrap();
            let product = PrimalProduct::run(penalty, centred, rows, &alpha, &mut blocks).unwrap();
            let mut out = vec![0; 8 * rows];
            product.write(0, &mut out).unwrap();
            let entries = [outcome.scalars.nonzeros, product.nonzeros()];
            let scalars = &outcome.scalars;
            let sums = vec![
                scalars.value_before,
                scalars.value_after,
                scalars.conjugate,
                scalars.kappa,
            ];
            (
                entries,
                [outcome.delta, update, common::doubles(&out), sums],
            )
        };
        for threads in [1, 3] {
            let (dense, sparse) = (run(true, threads), run(false, threads));
            // The product leaves out the coefficients of 0.
            assert_eq!(dense.0, [40 * rows as u64, 32 * rows as u64]);
            assert!(sparse.0[0] < dense.0[0] && sparse.0[1] < dense.0[1]);
            for (dense, sparse) in dense.1.iter().flatten().zip(sparse.1.iter().flatten()) {
                assert!((dense - sparse).abs() <= 1e-12, "{dense} and {sparse}");
            }
        }
    }
}

/// Slope, curve and samples give the change of the penalty.
#[test]
fn line_search_numbers_add_up() {
    for scale_factor in [0.0, 1.3] {
        let mut problem = weighted(problem(12, 8, 7));
        problem.penalty.scale_factor = scale_factor;
        let partition = problem.partition(&(0..8).collect::<Vec<_>>());
        let alpha: Vec<f64> = (0..8).map(|i| (i as f64).sin()).collect();
        let last = common::previous(&alpha);
        let params = problem.round(2.0, 0, 8);
        let residual = problem.residual(&alpha);
        let (outcome, _) = run_round(&params, &[partition.data()], &alpha, 0, &residual, None);
        let s = outcome.scalars;
        let penalty = |a: &[f64]| problem.objective(a) - problem.losses(&problem.margins(a));
        assert_eq!(s.samples.len(), params.points.len());
        for ([g1, g2], sample) in params.points.iter().zip(&s.samples) {
            let there: Vec<f64> = (0..8)
                .map(|i| alpha[i] + g1 * outcome.delta[i] + g2 * last[i])
                .collect();
            let quadratic = s.slope[0] * g1
                + s.slope[1] * g2
                + 0.5 * (s.curve[0] * g1 * g1 + 2.0 * s.curve[1] * g1 * g2 + s.curve[2] * g2 * g2);
            let expected = penalty(&there) - penalty(&alpha);
            assert!(
                (quadratic + sample - expected).abs() < ROUNDING,
                "{g1}, {g2}"
            );
        }
        assert!(s.losses.is_empty());
    }
}

/// Steps on copies of the residual, averaged after every epoch: the objective falls, to the same optimum, and the numbers add up.
#[test]
fn copies_meet_the_optimum() {
    for centred in [false, true] {
        let mut problem = weighted(problem(30, 600, 12));
        problem.centred = centred;
        problem.penalty.l2 = 1.0;
        let partition = problem.partition(&(0..600).collect::<Vec<_>>());
        let data = partition.data();
        let solve = |threads: usize, rounds: usize| {
            let (mut alpha, mut cursor) = (vec![0.0; 600], 0);
            let mut objective = problem.objective(&alpha);
            for _ in 0..rounds {
                // Two and a half epochs: copies are averaged within a round, and at its end.
                let mut params = problem.round(1.0, 0, 1500);
                params.threads = threads;
                let residual = problem.residual(&alpha);
                let (outcome, update) =
                    run_round(&params, &[data], &alpha, cursor, &residual, None);
                cursor = outcome.cursor;
                for (a, delta) in alpha.iter_mut().zip(&outcome.delta) {
                    *a += delta;
                }
                for ((r, u), now) in residual.iter().zip(update).zip(problem.residual(&alpha)) {
                    assert!((r - u - now).abs() < ROUNDING);
                }
                let next = problem.objective(&alpha);
                assert!(next <= objective + ROUNDING, "{objective} rose to {next}");
                objective = next;
            }
            objective
        };
        let expected = solve(1, 30);
        for threads in [2, 5] {
            let objective = solve(threads, 80);
            assert!(
                (objective - expected).abs() < 1e-7,
                "{threads}: {objective}, alone {expected}"
            );
        }
    }
}

#[test]
fn an_empty_column_keeps_or_loses_its_coefficient() {
    for (l1, expected) in [(0.0, 0.7), (0.1, 0.0)] {
        let mut problem = problem(5, 1, 6);
        problem.columns = vec![vec![0.0; 5]];
        problem.penalty = ElasticNetParams {
            l1,
            l2: 0.0,
            scale_factor: 0.0,
        };
        let partition = problem.partition(&[0]);
        let params = problem.subproblem(1.0).check().unwrap();
        let mut subproblem =
            LocalSubproblem::new(params, problem.labels.clone(), None, &[0.7]).unwrap();
        subproblem
            .descend(&partition.data(), 0, 0..1, usize::MAX)
            .unwrap();
        assert_eq!(subproblem.alpha(), [expected]);
    }
}

#[test]
fn verdict_commits_both_directions() {
    let (mut alpha, mut previous) = (vec![1.0, 2.0], vec![0.5, -1.0]);
    let verdict = Verdict {
        pending: 2.0,
        previous: 0.25,
    };
    verdict
        .commit(&mut alpha, &mut previous, &[3.0, 4.0])
        .unwrap();
    assert_eq!(previous, [6.125, 7.75]);
    assert_eq!(alpha, [7.125, 9.75]);
    assert!(verdict.commit(&mut alpha, &mut previous, &[1.0]).is_err());
    assert_eq!(alpha, [7.125, 9.75]);
}

/// A random problem, and how to run it.
#[derive(Debug, Clone)]
struct Case {
    problem: Problem,
    partitions: usize,
}

prop_compose! {
    /// Random sparse problems with an empty, a constant and a duplicated column, any penalty; there may be more partitions than columns.
    fn cases()(
        rows in 2usize..14,
        columns in 1usize..9,
        seed in any::<u64>(),
        partitions in 1usize..11,
        weights in any::<bool>(),
        centred in any::<bool>(),
        dense in any::<bool>(),
        l1 in prop_oneof![Just(0.0), 0.001..0.5],
        l2 in prop_oneof![Just(0.0), 0.001..0.5],
        scale_factor in prop_oneof![Just(0.0), 0.2..3.0],
    ) -> Case {
        let mut problem = problem(rows, columns, seed);
        problem.columns.push(vec![0.0; rows]);
        problem.columns.push(vec![2.0; rows]);
        problem.columns.push(problem.columns[0].clone());
        problem.penalty = ElasticNetParams { l1, l2, scale_factor };
        problem.centred = centred;
        problem.dense = dense;
        if weights {
            problem = weighted(problem);
        }
        Case { problem, partitions }
    }
}

proptest! {
    #![proptest_config(common::properties::properties(100))]

    /// With gamma = 1 and sigma' = K: the objective never rises, the numbers of the workers add up to it, and the gap bounds the true
    /// suboptimality.
    #[test]
    fn objective_falls_and_gap_bounds(case in cases()) {
        let Case { problem, partitions } = case;
        let mut reference = Cluster::new(&problem, problem.partitions(1));
        for _ in 0..60 {
            reference.round(20);
        }
        let mut best = problem.objective(&reference.alpha);
        let mut cluster = Cluster::new(&problem, problem.partitions(partitions));
        let mut history = Vec::new();
        for _ in 0..25 {
            let before = problem.objective(&cluster.alpha);
            cluster.round(1);
            let after = problem.objective(&cluster.alpha);
            let size = before.abs().max(1.0);
            prop_assert!((cluster.objective - before).abs() <= ROUNDING * size);
            prop_assert!(after <= before + ROUNDING * size, "{before} rose to {after}");
            history.push((before, cluster.dual));
            best = best.min(after);
        }
        for (primal, dual) in history {
            prop_assert!(dual <= best + 1e-8 * best.abs().max(1.0), "dual {dual} above the optimum {best}");
            prop_assert!(primal - dual >= -ROUNDING * primal.abs().max(1.0));
        }
    }

    /// With an L2 part the gap goes to 0, by a factor of at least 1 - 1/(1 + sigma' |A|^2 / l2) a round: l2 is large enough for this number
    /// of rounds.
    #[test]
    fn gap_vanishes(case in cases()) {
        let Case { mut problem, partitions } = case;
        problem.penalty = ElasticNetParams { l2: 3.0, scale_factor: 0.0, ..problem.penalty };
        let mut cluster = Cluster::new(&problem, problem.partitions(partitions));
        for _ in 0..1000 {
            cluster.round(1);
        }
        let gap = cluster.objective - cluster.dual;
        prop_assert!(gap.abs() <= 1e-7 * cluster.objective.max(1.0), "{gap}");
    }

    /// Scaling all weights by the same factor changes only rounding.
    #[test]
    fn only_ratios_of_weights_matter(case in cases()) {
        let mut problem = case.problem;
        problem.weights = Some(vec![1.0; problem.rows()]);
        let mut scaled = problem.clone();
        scaled.weights = Some(vec![4.0; problem.rows()]);
        let mut one = Cluster::new(&problem, problem.partitions(case.partitions));
        let mut four = Cluster::new(&scaled, problem.partitions(case.partitions));
        for _ in 0..5 {
            one.round(1);
            four.round(1);
        }
        for (a, b) in one.alpha.iter().zip(&four.alpha) {
            prop_assert!((a - b).abs() <= 1e-9 * a.abs().max(1.0), "{a} {b}");
        }
    }
}
