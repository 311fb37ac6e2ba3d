//! The promises of the method on rows, for every loss, on small and random problems.

use crate::common;

use common::{
    ROUNDING, doubles, entries, previous, product_by_four,
    rows::{Cluster, LOSSES, Problem, run_round},
};
use dwell_solvers::{
    Columns, DualData, DualProduct, ElasticNetParams, Loss, MatrixView, RowNorms, Samples, Values,
    Views,
    cd::ConjugateLoss,
    order::{BucketOrder, bucket_size},
};
use proptest::prelude::*;

/// One partition with sigma' = 1 is stochastic dual coordinate ascent, nothing else.
#[test]
fn one_partition_is_plain_sdca() {
    for loss in LOSSES {
        let p = Problem::random(30, 9, loss, 2);
        let n = p.rows.len();
        let partition = p.partition(&(0..n).collect::<Vec<_>>());
        let (mut alpha, mut w, mut cursor) = (vec![0.0; n], vec![0.0; 9], 0);
        for _ in 0..4 {
            let (outcome, update) = run_round(
                &p.params(1.0, 0.0, 0, n as u64),
                &[partition.data()],
                (&alpha, &vec![0.0; n], cursor),
                &w,
                None,
            );
            let (mut plain, mut u) = (alpha.clone(), w.clone());
            let mut order = BucketOrder::new(n, bucket_size(n), 5, 0).unwrap();
            for c in cursor..cursor + n as u64 {
                let i = order.at(c).start;
                let entries = entries(&p.rows[i]);
                let z = product_by_four(&entries, &u);
                let t = 1.0 / (n as f64 * p.l2);
                let q = t * partition.norms[i];
                let (a, y) = (plain[i], p.labels[i]);
                let new = match loss {
                    Loss::Squared => a + (y - z - a) / (1.0 + q),
                    Loss::Logistic => loss.dual_step(a, z, y, q),
                    Loss::Hinge if q == 0.0 => y,
                    Loss::Hinge => y * (y * a + (1.0 - y * z) / q).clamp(0.0, 1.0),
                    Loss::SmoothedHinge(g) => {
                        y * (y * a + (1.0 - y * z - g * (y * a)) / (q + g)).clamp(0.0, 1.0)
                    }
                    Loss::SquaredHinge => y * ((1.0 - y * z + q * (y * a)) / (q + 0.5)).max(0.0),
                };
                for (j, x) in entries {
                    u[j] += t * (new - a) * x;
                }
                plain[i] = new;
            }
            let steps: Vec<f64> = plain.iter().zip(&alpha).map(|(a, b)| a - b).collect();
            assert_eq!(outcome.delta, steps, "{loss:?}");
            let changes: Vec<f64> = u.iter().zip(&w).map(|(a, b)| a - b).collect();
            assert_eq!(update, changes, "{loss:?}");
            cursor = outcome.cursor;
            for (a, delta) in alpha.iter_mut().zip(&outcome.delta) {
                *a += delta;
            }
            for (w, u) in w.iter_mut().zip(update) {
                *w += u;
            }
        }
    }
}

/// With weights, scale and intercept as well, the steps are a fixed order of operations.
#[test]
fn the_order_of_operations_is_fixed() {
    for loss in LOSSES {
        let p = Problem::random(12, 3, loss, 7)
            .weighted()
            .scaled()
            .with_intercept();
        let n = p.rows.len();
        let partition = p.partition(&(0..n).collect::<Vec<_>>());
        let weights = partition.weights.as_ref().unwrap();
        let e = partition.projections.as_ref().unwrap();
        let scale = p.scale.as_ref().unwrap();
        let (sigma, offset, h) = (3.0, 0.4, p.intercept());
        let strength = p.total_weight() * p.l2;
        let alpha: Vec<f64> = p.labels.iter().map(|y| 0.3 * y.signum()).collect();
        let w = [0.2, -0.1, 0.0];
        let (outcome, update) = run_round(
            &p.params(sigma, offset, 0, n as u64),
            &[partition.data()],
            (&alpha, &previous(&alpha), 3),
            &w,
            None,
        );
        let (mut a, mut u, mut big_c, mut big_t) = (alpha.clone(), w, 0.0, 0.0);
        let mut order = BucketOrder::new(n, bucket_size(n), 5, 0).unwrap();
        for cursor in 3..3 + n as u64 {
            let i = order.at(cursor).start;
            let dot = p.rows[i]
                .iter()
                .zip(&u)
                .filter(|(x, _)| **x != 0.0)
                .fold(0.0, |sum, (x, u)| sum + x * u);
            let t = weights[i] / strength;
            let q = sigma * t * (partition.norms[i] - 2.0 * e[i] + h);
            let z = dot + ((offset + big_c * h) - big_t) - big_c * e[i];
            let new = loss.dual_step(a[i], z, p.labels[i], q);
            if new != a[i] {
                let c = sigma * t * (new - a[i]);
                for j in 0..3 {
                    u[j] += c * p.rows[i][j] * scale[j];
                }
                big_c += c;
                big_t += c * e[i];
                a[i] = new;
            }
        }
        let steps: Vec<f64> = a.iter().zip(&alpha).map(|(a, b)| a - b).collect();
        assert_eq!(outcome.delta, steps, "{loss:?}");
        let changes: Vec<f64> = u.iter().zip(&w).map(|(a, b)| (a - b) / sigma).collect();
        assert_eq!(update, changes, "{loss:?}");
        assert_eq!(outcome.scalars.kappa, big_c / sigma, "{loss:?}");
    }
}

/// Any cut into blocks gives the same steps, and any number of threads of the pool the same bits, with one and with several copies of the vector.
#[test]
fn blocks_and_threads_do_not_change_a_bit() {
    for (loss, rows, copies, dense) in [
        (Loss::Logistic, 1100, 1, false),
        (Loss::Logistic, 1100, 1, true),
        (Loss::Hinge, 1100, 3, false),
        (Loss::Hinge, 1100, 3, true),
        (Loss::SquaredHinge, 2 * 4096 + 100, 2, false),
        (Loss::SquaredHinge, 2 * 4096 + 100, 2, true),
    ] {
        let mut p = Problem::random(rows, 5, loss, 3)
            .weighted()
            .scaled()
            .with_intercept();
        p.threads = copies;
        p.dense = dense;
        let n = p.rows.len();
        let alpha: Vec<f64> = (0..n)
            .map(|i| p.labels[i] * ((i % 7) as f64) * 0.1)
            .collect();
        let w = p.coefficients(&alpha);
        let params = p.params(4.0, 0.1, 2, n as u64 * 3 / 2);
        let run = |size: usize, pool: Option<&rayon::ThreadPool>| {
            let all: Vec<usize> = (0..n).collect();
            let blocks: Vec<_> = all.chunks(size).map(|rows| p.partition(rows)).collect();
            let data: Vec<_> = blocks.iter().map(|block| block.data()).collect();
            let start = (&alpha[..], &previous(&alpha)[..], 77);
            let (outcome, update) = run_round(&params, &data, start, &w, pool);
            let s = outcome.scalars;
            assert!([s.conjugate, s.ratio, s.correlation].map(f64::is_nan) == [true; 3]);
            let mut sums = vec![s.value_before, s.value_after, s.kappa];
            sums.extend([&s.slope[..], &s.curve, &s.samples, &s.losses].concat());
            let counts = [outcome.cursor, s.coordinates, s.nonzeros];
            ((outcome.delta, update, counts), sums)
        };
        let whole = run(n, None);
        for size in [1, 7, 300, 5000] {
            if rows > 2000 && size < 300 {
                continue;
            }
            let alone = run(size, None);
            if copies == 1 {
                assert!(alone.0 == whole.0, "{loss:?}, blocks of {size}");
                for (a, b) in alone.1.iter().zip(&whole.1) {
                    let close = a == b || (a - b).abs() <= 1e-12 * b.abs().max(1.0);
                    assert!(close, "{a} and {b}");
                }
            } else {
                assert_eq!(alone.0.2, whole.0.2);
            }
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                assert!(
                    run(size, Some(&pool)) == alone,
                    "{loss:?}, {threads} threads, blocks of {size}"
                );
            }
        }
    }
}

/// Classes 0 and 1 stand for labels -1 and 1, and computed norms for given ones.
#[test]
fn classes_and_norms_of_a_block() {
    let p = Problem::random(30, 6, Loss::Logistic, 8)
        .weighted()
        .scaled()
        .with_intercept();
    let partition = p.partition(&(0..30).collect::<Vec<_>>());
    let given = partition.data();
    let means: Vec<f64> = (0..6).map(|j| p.mean(j)).collect();
    let mut norms = RowNorms::with_room(30, true).unwrap();
    norms
        .add(given.columns(), p.scale.as_deref(), Some(&means))
        .unwrap();
    let (own, projections) = norms.of(0..30).unwrap();
    for (own, given) in own.iter().zip(&partition.norms) {
        assert!((own - given).abs() < ROUNDING * given.max(1.0));
    }
    let classes: Vec<f64> = partition
        .labels
        .iter()
        .map(|y| f64::from(*y > 0.0))
        .collect();
    let weights = partition.weights.as_deref();
    let samples = Samples::new(&classes, weights, own, projections).unwrap();
    let data = DualData::new(*given.columns(), samples.of_classes(), p.scale.as_deref()).unwrap();
    let params = p.params(1.0, 0.2, 0, 60);
    let zero = [0.0; 30];
    let run = |data| run_round(&params, &[data], (&zero, &zero, 0), &[0.0; 6], None);
    let ((a, updated), (b, expected)) = (run(data), run(given));
    for (a, b) in a
        .delta
        .iter()
        .chain(&updated)
        .zip(b.delta.iter().chain(&expected))
    {
        assert!((a - b).abs() < ROUNDING);
    }
    assert!(norms.of(20..31).is_err());
    let mut huge = RowNorms::with_room(1, false).unwrap();
    let row = MatrixView::sparse(1, &[0, 1], &[0], Values::F64(&[1e200])).unwrap();
    let error = huge
        .add(&Columns::new(row).unwrap(), None, None)
        .unwrap_err();
    assert!(
        error.to_string().contains("scale the features down"),
        "{error}"
    );
}

#[test]
fn storage_does_not_change_a_bit() {
    let mut p = Problem::random(40, 11, Loss::SmoothedHinge(0.5), 5);
    for (only_ones, dense) in [(false, false), (false, true), (true, false)] {
        p.dense = dense;
        if only_ones {
            for value in p.rows.iter_mut().flatten() {
                *value = if *value == 0.0 { 0.0 } else { 1.0 };
            }
        }
        let partition = p.partition(&(0..42).collect::<Vec<_>>());
        let narrow: Vec<f32> = partition.values.iter().map(|&v| v as f32).collect();
        let run = |values| {
            let params = p.params(1.0, 0.0, 0, 100);
            let data = partition.data_with(values);
            let zero = [0.0; 42];
            let (outcome, update) =
                run_round(&params, &[data], (&zero, &zero, 0), &[0.0; 11], None);
            (outcome.delta, update)
        };
        let wide = run(Values::F64(&partition.values));
        assert_eq!(run(Values::F32(&narrow)), wide);
        if only_ones {
            assert_eq!(run(Values::Ones), wide);
        }
    }
}

/// A dense partition gives what a sparse one gives, to rounding.
#[test]
fn forms_agree() {
    for (loss, features) in LOSSES.into_iter().zip([5, 16, 17, 40, 1100]) {
        let mut p = Problem::random(30, features, loss, 4)
            .weighted()
            .scaled()
            .with_intercept();
        let n = p.rows.len();
        let members: Vec<usize> = (0..n).collect();
        let zero = vec![0.0; n];
        let mut run = |dense| {
            p.dense = dense;
            let partition = p.partition(&members);
            let params = p.params(2.0, 0.1, 0, n as u64);
            let start = (&zero[..], &zero[..], 0);
            let w = vec![0.0; features];
            let (outcome, update) = run_round(&params, &[partition.data()], start, &w, None);
            let scalars = outcome.scalars;
            let sums = vec![scalars.value_before, scalars.value_after, scalars.kappa];
            let losses = scalars.losses.to_vec();
            (scalars.nonzeros, [outcome.delta, update, losses, sums])
        };
        let (dense, sparse) = (run(true), run(false));
        assert_eq!(dense.0, (n * features) as u64);
        assert!(sparse.0 < dense.0);
        for (dense, sparse) in dense.1.iter().flatten().zip(sparse.1.iter().flatten()) {
            assert!(
                (dense - sparse).abs() <= 1e-12 * sparse.abs().max(1.0),
                "{loss:?}: {dense} and {sparse}"
            );
        }
    }
}

#[test]
fn products_rebuild() {
    for loss in LOSSES {
        let p = Problem::random(20, 6, loss, 8)
            .weighted()
            .scaled()
            .with_intercept();
        let n = p.rows.len();
        let alpha: Vec<f64> = (0..n)
            .map(|i| p.labels[i].signum() * ((i % 5) as f64) * 0.2)
            .collect();
        let product = |size: usize| {
            let params = p.subproblem(2.0, 0.0).check().unwrap();
            let all: Vec<usize> = (0..n).collect();
            let blocks: Vec<_> = all.chunks(size).map(|rows| p.partition(rows)).collect();
            let data: Vec<_> = blocks.iter().map(|block| block.data()).collect();
            let mut blocks = Views::<ConjugateLoss>::new(&data).unwrap();
            let product = DualProduct::run(params, 6, &alpha, &mut blocks).unwrap();
            let mut out = vec![0; 48];
            product.write(0, &mut out[..16]).unwrap();
            product.write(2, &mut out[16..]).unwrap();
            (
                doubles(&out),
                product.value(),
                product.kappa(),
                product.nonzeros(),
            )
        };
        let (sum, value, kappa, nonzeros) = product(n);
        let cut = product(3);
        assert_eq!((&cut.0, cut.2, cut.3), (&sum, kappa, nonzeros));
        assert!((cut.1 - value).abs() < ROUNDING);
        assert!((value - p.separable(&alpha)).abs() < ROUNDING);
        assert!((kappa - p.kappa(&alpha)).abs() < ROUNDING);
        for (j, expected) in p.coefficients(&alpha).into_iter().enumerate() {
            let w = sum[j] - kappa * p.scale(j) * p.mean(j);
            assert!((w - expected).abs() < ROUNDING);
        }
        let read: usize = (0..n)
            .filter(|&i| alpha[i] != 0.0)
            .map(|i| p.rows[i].iter().filter(|x| **x != 0.0).count())
            .sum();
        assert_eq!(nonzeros, read as u64);
    }
}

/// Slope, curve and samples give the change of the separable part.
#[test]
fn line_search_numbers_add_up() {
    for loss in LOSSES {
        let p = Problem::random(20, 4, loss, 9).weighted();
        let n = p.rows.len();
        let partition = p.partition(&(0..n).collect::<Vec<_>>());
        let alpha: Vec<f64> = p.labels.iter().map(|y| 0.4 * y.signum()).collect();
        // Small enough that half a step stays feasible.
        let last: Vec<f64> = (0..n).map(|i| 0.2 * (i as f64).cos()).collect();
        let mut params = p.params(2.0, 0.0, 0, n as u64);
        params.points = vec![
            [0.0, 0.0],
            [1.0, 0.0],
            [0.5, 0.25],
            [0.0, -1.0],
            [1e3, 0.0],
            [-1e3, 0.0],
        ];
        let w = vec![0.0; 4];
        let (outcome, _) = run_round(&params, &[partition.data()], (&alpha, &last, 0), &w, None);
        let s = outcome.scalars;
        let before = p.separable(&alpha);
        assert!((s.value_before - before).abs() < ROUNDING);
        for ([g1, g2], sample) in params.points.iter().zip(&s.samples) {
            let there: Vec<f64> = (0..n)
                .map(|i| alpha[i] + (g1 * outcome.delta[i] + g2 * last[i]))
                .collect();
            let quadratic = s.slope[0] * g1
                + s.slope[1] * g2
                + 0.5 * (s.curve[0] * g1 * g1 + 2.0 * s.curve[1] * g1 * g2 + s.curve[2] * g2 * g2);
            let expected = p.separable(&there) - before;
            let actual = quadratic + sample;
            assert!(
                actual == expected
                    || (actual - expected).abs() < ROUNDING * expected.abs().max(1.0),
                "{loss:?} at {g1}, {g2}: {actual}, expected {expected}"
            );
            let feasible = g1.abs() < 2.0 || loss == Loss::Squared;
            // Of the two steps by a factor of a thousand, one leaves the domain of the squared hinge; both leave the other domains.
            assert!(
                sample.is_finite() || !feasible,
                "{loss:?} at {g1}, {g2}: {sample}"
            );
        }
        assert_eq!(s.samples[0], 0.0);
        let infinite = s.samples[4..].contains(&f64::INFINITY);
        assert!(infinite != (loss == Loss::Squared), "{loss:?}");
        assert!(
            (s.value_after - before - (s.slope[0] + 0.5 * s.curve[0] + s.samples[1])).abs()
                < ROUNDING
        );
    }
}

/// A row of weight 2 counts as the same row twice.
#[test]
fn weight_two_is_a_duplicate() {
    for loss in LOSSES {
        for intercept in [false, true] {
            let mut twice = Problem::random(10, 3, loss, 4);
            if intercept {
                twice = twice.with_intercept();
            }
            let mut once = twice.clone();
            let mut weights = vec![1.0; once.rows.len()];
            weights[3] = 2.0;
            once.weights = Some(weights);
            twice.rows.push(twice.rows[3].clone());
            twice.labels.push(twice.labels[3]);
            let (mut first, mut second) = (Cluster::new(&once, 2), Cluster::new(&twice, 3));
            assert!(first.solve(1e-12, 20_000) <= 1e-10, "{loss:?}");
            assert!(second.solve(1e-12, 20_000) <= 1e-10, "{loss:?}");
            for (a, b) in first.w.iter().zip(&second.w) {
                assert!((a - b).abs() < 1e-4, "{loss:?}: {a} {b}");
            }
        }
    }
}

/// Rounds on rows and rounds on columns of the same ridge regression reach the same model.
#[test]
fn squared_loss_meets_the_primal() {
    let p = Problem::random(20, 4, Loss::Squared, 11)
        .weighted()
        .with_intercept();
    let columns = p.by_columns(ElasticNetParams {
        l1: 0.0,
        l2: p.l2,
        scale_factor: 0.0,
    });
    let mut primal = common::Cluster::new(&columns, columns.partitions(2));
    for _ in 0..300 {
        primal.round(1);
    }
    let mut dual = Cluster::new(&p, 3);
    dual.solve(1e-14, 2000);
    for (a, b) in primal.alpha.iter().zip(&dual.w) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

/// A random problem, and how to run it.
#[derive(Debug, Clone)]
struct Case {
    problem: Problem,
    partitions: usize,
}

prop_compose! {
    /// Random sparse problems with an empty and a duplicated row; there may be more partitions than rows.
    fn cases()(
        rows in 1usize..14,
        features in 1usize..8,
        seed in any::<u64>(),
        loss in prop::sample::select(&LOSSES[..]),
        partitions in 1usize..11,
        threads in 1usize..4,
        weights in any::<bool>(),
        dense in any::<bool>(),
        scale in any::<bool>(),
        intercept in any::<bool>(),
        l2 in 0.02..0.5,
        nu in 0.5..5.0,
    ) -> Case {
        let mut problem = Problem::random(rows, features, loss, seed);
        if weights {
            problem = problem.weighted();
        }
        if scale {
            problem = problem.scaled();
        }
        problem.l2 = l2;
        problem.nu = intercept.then_some(nu);
        problem.threads = threads;
        problem.dense = dense;
        Case { problem, partitions }
    }
}

proptest! {
    #![proptest_config(common::properties::properties(300))]

    /// With gamma = 1 and sigma' = K the model never rises, the workers' numbers add up, and the gap is not negative and goes to 0.
    #[test]
    fn model_falls_and_gap_vanishes(case in cases()) {
        let Case { problem, partitions } = case;
        let mut cluster = Cluster::new(&problem, partitions);
        for _ in 0..15 {
            let before = cluster.augmented();
            cluster.round(1);
            let after = cluster.augmented();
            prop_assert!(after <= before + ROUNDING * before.abs().max(1.0), "{before} rose to {after}");
            prop_assert!(cluster.gap() >= -ROUNDING);
            cluster.recentre();
        }
        // The hinge is not smooth: no linear rate bounds its convergence.
        let (tolerance, rounds) = if problem.loss == Loss::Hinge { (1e-4, 20_000) } else { (1e-7, 5000) };
        let gap = cluster.solve(tolerance, rounds);
        prop_assert!(gap >= -ROUNDING && gap <= tolerance, "gap {gap}");
    }
}
