//! Proximal passes: their sums by definition, and what is refused.

use dwell_solvers::{
    Loss, MatrixView, RowLoss, Values,
    pass::{PassLoss, PassOutcome, PassParams, RowPass},
};

/// Loss, dual variable and curvature by the definition.
fn at(before: f64, distance: f64, gamma: f64) -> (f64, f64, f64) {
    let free = before + distance / gamma;
    let a = free.clamp(0.0, 1.0);
    let curve = if free > 0.0 && free <= 1.0 {
        1.0 / gamma
    } else {
        0.0
    };
    (
        a * distance - 0.5 * gamma * (a - before) * (a - before),
        a,
        curve,
    )
}

/// Rows (x, 1) with x = i / 8 - 2, and labels that a third of them have wrong.
const ROWS: usize = 300;

fn value(i: usize) -> f64 {
    (i % 40) as f64 / 8.0 - 2.0
}

fn label(i: usize) -> f64 {
    f64::from(u8::from((value(i) > 0.25) != (i.is_multiple_of(3))))
}

fn weight(i: usize) -> f64 {
    0.5 + (i % 4) as f64 / 4.0
}

fn params(gamma: f64, earlier: &[f64]) -> PassParams {
    PassParams {
        centre: vec![0.5],
        model: vec![0.75, -0.25],
        direction: vec![-1.0, 0.5],
        steps: vec![0.25, 2.0],
        gradient: true,
        hessian: true,
        proximal: true,
        earlier: earlier.to_vec(),
        ..PassParams::at_zero(
            PassLoss::Row(RowLoss::Margin(Loss::SmoothedHinge(gamma))),
            true,
            1,
        )
    }
}

fn run(params: &PassParams, is_sparse: bool) -> (Vec<f64>, PassOutcome) {
    let values: Vec<f64> = (0..ROWS).map(value).collect();
    let labels: Vec<f64> = (0..ROWS).map(label).collect();
    let weights: Vec<f64> = (0..ROWS).map(weight).collect();
    let offsets: Vec<i32> = (0..=ROWS as i32).collect();
    let indices = vec![0; ROWS];
    let rows = if is_sparse {
        MatrixView::sparse(1, &offsets, &indices, Values::F64(&values))
    } else {
        MatrixView::dense(ROWS, 1, Values::F64(&values))
    }
    .unwrap();
    let mut pass = RowPass::new(params.clone()).unwrap();
    pass.add(rows, (&labels).into(), Some((&weights).into()))
        .unwrap();
    let mut out = vec![f64::NAN; pass.length()];
    pass.write(&mut out).unwrap();
    (out, pass.outcome().clone())
}

#[test]
fn sums_follow_from_the_variables_of_earlier_models() {
    let earlier = [0.1, 0.2, 2.0, 1.0, -0.5, 0.5];
    let params = params(0.25, &earlier);
    let mut expected = [0.0; 3];
    let (mut loss, mut hinge, mut losses) = (0.0, 0.0, [0.0; 2]);
    let mut gradient = [0.0; 2];
    let mut slopes = [0.0; 2];
    let mut inside = 0;
    for i in 0..ROWS {
        let (x, y, s) = (value(i) - 0.5, 2.0 * label(i) - 1.0, weight(i));
        let mut a: f64 = 0.0;
        for model in earlier.chunks(3) {
            let z = model[0] * x + model[1];
            a = (a + (1.0 - y * z) / model[2]).clamp(0.0, 1.0);
        }
        let distance = |step: f64| 1.0 - y * ((0.75 - step) * x - 0.25 + 0.5 * step);
        let (value, now, curve) = at(a, distance(0.0), 0.25);
        inside += usize::from(curve > 0.0);
        loss += s * value;
        hinge += s * distance(0.0).max(0.0);
        for (sum, step) in losses.iter_mut().zip([0.25, 2.0]) {
            *sum += s * at(a, distance(step), 0.25).0;
        }
        slopes[usize::from(y > 0.0)] += s * now;
        gradient[0] -= s * y * now * x;
        gradient[1] -= s * y * now;
        for (sum, product) in expected.iter_mut().zip([x * x, x, 1.0]) {
            *sum += s * curve * product;
        }
    }
    // Some rows have a curvature and most have none, so that both ways of adding them run.
    assert!(inside > 10 && inside < ROWS / 2, "{inside}");
    for is_sparse in [false, true] {
        let (vector, outcome) = run(&params, is_sparse);
        let numbers = [vector[0], vector[1], vector[4], vector[5], vector[6]];
        let wanted = [
            gradient[0],
            gradient[1],
            expected[0],
            expected[1],
            expected[2],
        ];
        for (found, wanted) in numbers.iter().zip(wanted) {
            assert!(
                (found - wanted).abs() < 1e-9 * ROWS as f64,
                "{found}, expected {wanted}"
            );
        }
        let numbers = [
            outcome.loss,
            outcome.hinge,
            outcome.losses[0],
            outcome.losses[1],
        ];
        for (found, wanted) in numbers.iter().zip([loss, hinge, losses[0], losses[1]]) {
            assert!(
                (found - wanted).abs() < 1e-9 * ROWS as f64,
                "{found}, expected {wanted}"
            );
        }
        for (found, wanted) in outcome.slopes.iter().zip(slopes) {
            assert!(
                (found - wanted).abs() < 1e-9 * ROWS as f64,
                "{found}, expected {wanted}"
            );
        }
    }
}

#[test]
fn without_earlier_models_it_is_the_smoothed_hinge() {
    let proximal = params(0.5, &[]);
    let smoothed = PassParams {
        proximal: false,
        remainders: vec![],
        ..proximal.clone()
    };
    let ((ours, mine), (theirs, other)) = (run(&proximal, false), run(&smoothed, false));
    for (a, b) in ours.iter().zip(&theirs) {
        assert!((a - b).abs() < 1e-9, "{a}, expected {b}");
    }
    assert!((mine.loss - other.loss).abs() < 1e-9 && mine.hinge > mine.loss && other.hinge == 0.0);
}

#[test]
fn wrong_parameters_are_refused() {
    let good = params(0.5, &[0.0, 0.0, 1.0]);
    let logistic = PassLoss::Row(RowLoss::Margin(Loss::Logistic));
    for wrong in [
        PassParams {
            loss: logistic,
            ..good.clone()
        },
        PassParams {
            proximal: false,
            remainders: vec![],
            ..good.clone()
        },
        PassParams {
            earlier: vec![0.0, 1.0],
            ..good.clone()
        },
        PassParams {
            earlier: vec![0.0, 0.0, 0.0],
            ..good.clone()
        },
        PassParams {
            earlier: vec![0.0, f64::NAN, 1.0],
            ..good.clone()
        },
    ] {
        assert!(RowPass::new(wrong).is_err());
    }
    assert!(RowPass::new(good).is_ok());
}
