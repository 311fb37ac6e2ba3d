//! Sums against their definitions, however rows come.

use super::{expected::dual_variables, *};
use crate::problem::labels::Labels;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn sums_are_those_of_the_definitions(case in case(), intercept: bool, majorise: bool) {
        for loss in LOSSES {
            let params = PassParams { majorise, ..case.params(loss, intercept) };
            let (vector, outcome) = case.expected(&params);
            let largest = vector.iter().fold(outcome.loss, |a, x| a.max(x.abs()));
            for kernel in Kernel::available() {
                for kinds in [&[0][..], &[1], &[2], &[0, 2]] {
                    let (found, numbers) = case.run(params.clone(), kernel, kinds, 97);
                    for (k, (a, b)) in found.iter().zip(&vector).enumerate() {
                        prop_assert!(close(*a, *b, largest), "{loss:?} {kinds:?} number {k}: {a}, expected {b}");
                    }
                    prop_assert!(close(numbers.loss, outcome.loss, largest));
                    for (a, b) in numbers.losses.iter().zip(&outcome.losses) {
                        prop_assert!(close(*a, *b, b.abs() + largest));
                    }
                    for side in 0..2 {
                        prop_assert!(close(numbers.slopes[side], outcome.slopes[side], largest));
                        let squares = outcome.slope_squares[side];
                        prop_assert!(close(numbers.slope_squares[side], squares, squares + largest));
                    }
                    prop_assert_eq!(numbers.rows, outcome.rows);
                    // A sparse row's bound may be above its reach.
                    if kinds.contains(&2) {
                        prop_assert!(numbers.reach >= outcome.reach * (1.0 - 1e-12));
                    } else {
                        prop_assert!(close(numbers.reach, outcome.reach, outcome.reach));
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_gradient_alone_is_that_of_a_whole_pass(case in case(), intercept: bool) {
        for loss in LOSSES {
            let whole = PassParams { centre: vec![0.0; case.p], ..case.params(loss, intercept) };
            let (vector, outcome) = case.expected(&whole);
            let params = gradient_alone(whole);
            let largest = vector.iter().fold(outcome.loss, |a, x| a.max(x.abs()));
            for kinds in [&[0][..], &[2], &[0, 2]] {
                let (found, numbers) = case.run(params.clone(), Kernel::detect(), kinds, 97);
                prop_assert_eq!(found.len(), params.model.len());
                for (a, b) in found.iter().zip(&vector) {
                    prop_assert!(close(*a, *b, largest), "{loss:?} {kinds:?}: {a}, expected {b}");
                }
                prop_assert!(close(numbers.loss, outcome.loss, largest));
            }
        }
    }

    #[test]
    fn dual_points_are_those_of_the_loss(case in case(), intercept: bool, a in 0.0..1.0, b in 0.0..1.0) {
        for loss in LOSSES {
            let PassLoss::Row(rows) = loss else { continue };
            let dual = match rows {
                RowLoss::Margin(Loss::Squared) => vec![a - 0.5],
                RowLoss::Margin(_) => vec![a, b],
                RowLoss::Softmax(_) => vec![a, 0.5 * b, 0.5 * b, 1.0 - b, 1.0 - a * b],
            };
            let params =
                PassParams { dual: dual.clone(), ..gradient_alone(case.params(loss, intercept)) };
            let (p, n, outputs) = (case.p, params.entries(), loss.outputs());
            let (mut expected, mut sum) = (vec![0.0; n * outputs], 0.0);
            for ((row, &label), &s) in case.rows.iter().zip(&case.labels).zip(&case.weights) {
                let y = if loss.labels() == Labels::Signed { 2.0 * label - 1.0 } else { label };
                let z: Vec<f64> = params.model.chunks(n.max(1)).map(|w| {
                    let product: f64 = row.iter().zip(w).map(|(x, w)| x * w).sum();
                    product + if intercept { w[p] } else { 0.0 }
                }).collect();
                let z = if z.is_empty() { vec![0.0; outputs] } else { z };
                let (conjugate, variables) = dual_variables(rows, &dual, &z, y);
                sum += s * conjugate;
                for (sums, a) in expected.chunks_mut(n.max(1)).zip(&variables) {
                    for (sum, x) in sums.iter_mut().zip(row) {
                        *sum += s * a * x;
                    }
                    if intercept {
                        sums[p] += s * a;
                    }
                }
            }
            let largest = expected.iter().fold(sum.abs(), |a, x| a.max(x.abs()));
            for kinds in [&[0][..], &[2]] {
                let (found, numbers) = case.run(params.clone(), Kernel::detect(), kinds, 97);
                prop_assert!(close(numbers.loss, sum, largest), "{loss:?}: {}, expected {sum}", numbers.loss);
                for (a, b) in found.iter().zip(&expected) {
                    prop_assert!(close(*a, *b, largest), "{loss:?} {kinds:?}: {a}, expected {b}");
                }
            }
        }
    }
}

#[test]
fn joined_passes_have_the_sums_of_all_rows() {
    let labels = [0.0, 1.0, 1.0];
    let dense = MatrixView::dense(3, 2, Values::F64(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])).unwrap();
    let sparse = MatrixView::sparse(2, &[0, 1, 1, 2], &[1, 0], Values::F64(&[3.0, -1.0])).unwrap();
    let params = PassParams {
        centre: vec![1.0, 0.5],
        model: vec![0.25, -0.5, 0.125],
        direction: vec![1.0, 0.0, 1.0],
        steps: vec![0.5],
        reach: vec![1.0; 3],
        ..whole(LOSSES[1], true, 2)
    };
    let pass = |blocks: &[MatrixView<'_>]| {
        let mut pass = RowPass::new(params.clone()).unwrap();
        for &block in blocks {
            pass.add(block, (&labels).into(), None).unwrap();
        }
        pass
    };
    let mut joined = pass(&[dense]);
    joined.join(pass(&[sparse, dense])).unwrap();
    joined.join(joined.fork()).unwrap();
    let (found, numbers) = read(&joined);
    let (expected, outcome) = read(&pass(&[dense, sparse, dense]));
    for (a, b) in found.iter().zip(&expected) {
        assert!(close(*a, *b, b.abs()), "{a}, expected {b}");
    }
    assert!(
        close(numbers.loss, outcome.loss, 1.0) && close(numbers.losses[0], outcome.losses[0], 1.0)
    );
    assert!(close(numbers.slopes[1], outcome.slopes[1], 1.0));
    assert!(close(
        numbers.slope_squares[0],
        outcome.slope_squares[0],
        1.0
    ));
    assert_eq!(
        (numbers.reach, numbers.rows, numbers.entries),
        (outcome.reach, 9, 14)
    );
    let (offsets, indices) = ([0, 2, 2, 3, 3, 4], [0, 1, 1, 0]);
    let larger = sprs::CsMatViewI::new((5, 2), &offsets, &indices, &[9.0, 8.0, 3.0, -1.0]);
    let last_rows = larger.slice_outer(2..5);
    assert_eq!(
        last_rows.into_raw_storage().0[0],
        2,
        "a part whose offsets do not start at 0"
    );
    let of_part = pass(&[dense, MatrixView::Sparse64(last_rows), dense]);
    assert_eq!(
        read(&of_part),
        (expected, outcome),
        "rows of a larger matrix"
    );
    let other = RowPass::new(PassParams {
        moments: false,
        ..params.clone()
    })
    .unwrap();
    assert!(joined.join(other).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn remainders_stand_for_features(case in case(), intercept in proptest::bool::ANY) {
        prop_assume!(case.p >= 2);
        for loss in LOSSES.into_iter().filter(|loss| loss.scales() == 0) {
            let params = case.params(loss, intercept);
            let (p, n) = (case.p, params.entries());
            let replaced = [p - 1, 0];
            let weights = |k: usize| -> Vec<f64> { (0..n).map(|e| case.numbers[(3 * k + e) % case.numbers.len()]).collect() };
            let remainders = replaced.iter().enumerate().flat_map(|(k, &feature)| {
                std::iter::once(feature as f64).chain(weights(k))
            }).collect();
            // The same rows with the remainders in the features' places.
            let mut centre = params.centre.clone();
            replaced.iter().for_each(|&feature| centre[feature] = 0.0);
            let rows = case.rows.iter().map(|row| {
                let mut own: Vec<f64> = row.iter().zip(&params.centre).map(|(x, c)| x - c).collect();
                own.extend(intercept.then_some(1.0));
                let mut made: Vec<f64> = row.clone();
                for (k, &feature) in replaced.iter().enumerate() {
                    made[feature] = own.iter().zip(weights(k)).map(|(x, t)| x * t).sum();
                }
                made
            }).collect();
            let plain = Case { rows, ..case.clone() };
            let (vector, outcome) = plain.expected(&PassParams { centre, ..params.clone() });
            for kinds in [&[0][..], &[2]] {
                let params = PassParams { remainders: Vec::clone(&remainders), ..params.clone() };
                let (found, numbers) = case.run(params, Kernel::detect(), kinds, case.rows.len());
                let size = vector.iter().fold(outcome.loss, |size, x| size.max(x.abs()));
                for (a, b) in found.iter().zip(&vector) {
                    prop_assert!(close(*a, *b, size), "{}, expected {}", a, b);
                }
                prop_assert!(close(numbers.loss, outcome.loss, outcome.loss));
            }
        }
    }
}

#[test]
fn the_same_calls_give_the_same_bits() {
    let case = Case {
        p: 3,
        rows: (0..600)
            .map(|i| {
                vec![
                    f64::from(i) * 0.37,
                    1.0 / f64::from(i + 1),
                    f64::from(i % 7),
                ]
            })
            .collect(),
        labels: (0..600).map(|i| f64::from(i % 2)).collect(),
        weights: vec![1.5; 600],
        numbers: (0..12).map(|i| 0.01 * f64::from(i)).collect(),
    };
    let run = || case.run(case.params(LOSSES[1], true), Kernel::detect(), &[0], 600);
    assert_eq!(run(), run());
}
