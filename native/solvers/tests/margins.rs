//! Margins of a slice of rows, against the plain formulas of each loss.

use dwell_solvers::{
    Loss, SolverError,
    cd::{BLOCK, MAX_SUMS, MarginCall, MarginSlice, Operation},
    order::SplitMix64,
};
use rayon::ThreadPoolBuilder;

const LOSSES: [Loss; 4] = [
    Loss::Squared,
    Loss::Logistic,
    Loss::SmoothedHinge(0.5),
    Loss::SquaredHinge,
];

#[derive(Debug, Clone, PartialEq)]
struct Rows {
    margins: Vec<f64>,
    direction: Vec<f64>,
    update: Vec<f64>,
    losses: Vec<f64>,
    residuals: Vec<f64>,
    labels: Vec<f64>,
    weights: Option<Vec<f64>>,
}

impl Rows {
    fn random(count: usize, weighted: bool) -> Self {
        let mut random = SplitMix64::for_epoch(7, count as u32, 0);
        let mut numbers = |scale: f64| -> Vec<f64> {
            (0..count)
                .map(|_| scale * ((random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5))
                .collect()
        };
        Self {
            margins: numbers(8.0),
            direction: numbers(1.0),
            update: numbers(2.0),
            losses: vec![0.0; count],
            residuals: vec![0.0; count],
            labels: numbers(1.0).into_iter().map(f64::signum).collect(),
            weights: weighted.then(|| numbers(1.0).into_iter().map(|x| x + 1.0).collect()),
        }
    }

    fn slice(&mut self) -> MarginSlice<'_> {
        MarginSlice {
            margins: &mut self.margins,
            direction: &mut self.direction,
            update: &self.update,
            losses: &mut self.losses,
            residuals: &mut self.residuals,
            labels: &self.labels,
            weights: self.weights.as_deref(),
        }
    }

    /// Runs an operation in one call.
    fn run(&mut self, loss: Loss, intercept: f64, operation: Operation) -> [f64; MAX_SUMS] {
        let call = MarginCall::new(loss, intercept, operation).unwrap();
        let rows = 0..self.margins.len();
        let mut sums = [0.0; MAX_SUMS];
        call.run(&mut self.slice(), rows, false, &mut sums).unwrap();
        sums
    }

    /// The sum over the rows of the weight times `term(j)`.
    fn sum(&self, term: impl Fn(usize) -> f64) -> f64 {
        (0..self.margins.len())
            .map(|j| self.weights.as_ref().map_or(1.0, |s| s[j]) * term(j))
            .sum()
    }
}

/// The second derivative by the formula of each loss.
fn curve(loss: Loss, z: f64, y: f64) -> f64 {
    let short = 1.0 - y * z;
    match loss {
        Loss::Squared => 1.0,
        Loss::Logistic => {
            let p = 1.0 / (1.0 + (y * z).exp());
            p * (1.0 - p)
        }
        Loss::SmoothedHinge(gamma) if short > 0.0 && short <= gamma => 1.0 / gamma,
        Loss::SquaredHinge if short > 0.0 => 2.0,
        _ => 0.0,
    }
}

#[track_caller]
fn close(actual: f64, expected: f64, scale: f64) {
    assert!(
        (actual - expected).abs() <= 1e-12 * scale.max(expected.abs()),
        "{actual:e} instead of {expected:e}"
    );
}

#[test]
fn operations_are_the_sums_of_their_formulas() {
    for loss in LOSSES {
        for weighted in [false, true] {
            let mut rows = Rows::random(9_001, weighted);
            let (b, count) = (0.3, rows.margins.len() as f64);
            let z = |rows: &Rows, j: usize| rows.margins[j] + b;

            let sums = rows.run(loss, b, Operation::Losses);
            let slope = |rows: &Rows, j: usize| loss.derivative(z(rows, j), rows.labels[j]);
            let value = |rows: &Rows, j: usize| loss.value(z(rows, j), rows.labels[j]);
            close(sums[0], rows.sum(|j| value(&rows, j)), count);
            close(sums[1], rows.sum(|j| slope(&rows, j).powi(2)), count);
            close(
                sums[2],
                rows.sum(|j| slope(&rows, j) * rows.labels[j]),
                count,
            );
            for j in 0..rows.margins.len() {
                close(rows.losses[j], value(&rows, j), 1e-3);
            }

            let sums = rows.run(loss, b, Operation::Slopes);
            close(sums[0], rows.sum(|j| slope(&rows, j)), count);
            close(sums[1], rows.sum(|j| slope(&rows, j).abs()), count);
            close(
                sums[2],
                rows.sum(|j| curve(loss, z(&rows, j), rows.labels[j])),
                count,
            );

            let (g1, g2) = (0.8, -0.3);
            let sums = rows.run(loss, b, Operation::Along(g1, g2));
            let there = |j: usize| z(&rows, j) + g1 * rows.update[j] + g2 * rows.direction[j];
            let (u, d, y) = (&rows.update, &rows.direction, &rows.labels);
            close(
                sums[0],
                rows.sum(|j| loss.value(there(j), y[j]) - value(&rows, j)),
                count,
            );
            close(
                sums[1],
                rows.sum(|j| loss.derivative(there(j), y[j]) * u[j]),
                count,
            );
            close(
                sums[2],
                rows.sum(|j| loss.derivative(there(j), y[j]) * d[j]),
                count,
            );
            close(
                sums[3],
                rows.sum(|j| curve(loss, there(j), y[j]) * u[j] * u[j]),
                count,
            );
            close(
                sums[4],
                rows.sum(|j| curve(loss, there(j), y[j]) * u[j] * d[j]),
                count,
            );
            close(
                sums[5],
                rows.sum(|j| curve(loss, there(j), y[j]) * d[j] * d[j]),
                count,
            );

            let sums = rows.run(loss, b, Operation::Conjugates(1.0, 0.7));
            for (sum, rho) in sums.into_iter().zip([1.0, 0.7]) {
                let expected = rows.sum(|j| loss.conjugate(-rho * slope(&rows, j), rows.labels[j]));
                close(sum, expected, count);
            }

            rows.run(loss, b, Operation::Residuals);
            for j in 0..rows.margins.len() {
                let expected = -slope(&rows, j) / loss.curvature().unwrap();
                close(rows.residuals[j], expected, 1e-3);
            }

            let before = rows.clone();
            rows.run(loss, b, Operation::Move(g1, g2));
            for j in 0..rows.margins.len() {
                let step = g1 * before.update[j] + g2 * before.direction[j];
                assert_eq!(rows.direction[j], step);
                assert_eq!(rows.margins[j], before.margins[j] + step);
            }
        }
    }
}

#[test]
fn extreme_margins_of_the_logistic_loss() {
    let mut rows = Rows::random(6, false);
    rows.margins = vec![0.0, 800.0, -800.0, 40.0, -40.0, 1e-12];
    rows.labels = vec![1.0; 6];
    rows.run(Loss::Logistic, 0.0, Operation::Losses);
    for (j, &z) in rows.margins.iter().enumerate() {
        close(rows.losses[j], Loss::Logistic.value(z, 1.0), 1e-290);
    }
    let sums = rows.run(Loss::Logistic, 0.0, Operation::Conjugates(1.0, 2.0));
    assert!(sums[0].is_finite() && sums[0] <= 0.0);
    assert_eq!(
        sums[1],
        f64::INFINITY,
        "twice the derivative leaves the domain"
    );
}

#[test]
fn neither_calls_nor_threads_change_a_bit() {
    let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for loss in LOSSES {
        let operations = [
            Operation::Losses,
            Operation::Slopes,
            Operation::Along(0.4, 0.2),
            Operation::Conjugates(1.0, 0.5),
            Operation::Residuals,
            Operation::Move(0.9, 0.1),
        ];
        for operation in operations {
            let mut whole = Rows::random(3 * BLOCK + 77, true);
            let mut cut = whole.clone();
            let expected = whole.run(loss, 0.1, operation);
            let call = MarginCall::new(loss, 0.1, operation).unwrap();
            let mut sums = [0.0; MAX_SUMS];
            let last = cut.margins.len();
            for rows in [0..BLOCK, BLOCK..3 * BLOCK, 3 * BLOCK..last] {
                pool.install(|| call.run(&mut cut.slice(), rows, true, &mut sums))
                    .unwrap();
            }
            assert_eq!(sums.map(f64::to_bits), expected.map(f64::to_bits));
            assert_eq!(cut, whole);
        }
    }
}

#[test]
fn wrong_calls() {
    let refused = |loss, intercept, operation| MarginCall::new(loss, intercept, operation).is_err();
    assert!(refused(Loss::Hinge, 0.0, Operation::Losses));
    assert!(refused(Loss::SmoothedHinge(0.0), 0.0, Operation::Losses));
    assert!(refused(Loss::Squared, f64::NAN, Operation::Losses));
    assert!(refused(
        Loss::Squared,
        0.0,
        Operation::Move(f64::INFINITY, 0.0)
    ));

    let call = MarginCall::new(Loss::Squared, 0.0, Operation::Losses).unwrap();
    let mut sums = [0.0; MAX_SUMS];
    let mut shape = |spoil: fn(&mut Rows), rows: std::ops::Range<usize>| {
        let mut spoiled = Rows::random(10, true);
        spoil(&mut spoiled);
        match call.run(&mut spoiled.slice(), rows, false, &mut sums) {
            Err(SolverError::Shape(message)) => message,
            other => panic!("{other:?}"),
        }
    };
    assert!(shape(|r| r.labels.truncate(9), 0..10).contains("labels has length 9"));
    assert!(shape(|r| r.weights = Some(vec![]), 0..10).contains("weights"));
    assert!(shape(|_| {}, 0..11).contains("rows 0..11 of 10"));
    assert!(shape(|_| {}, 1..10).contains("multiple of 4096"));
}
