//! Minimisers of small dense problems that share no code with the solvers: Newton's method and an interior point. The conditions of
//! optimality alone decide whether a result is accepted.

use super::{Problem, rows};
use dwell_solvers::Loss;

/// Largest entry of the gradient at which a smooth problem is solved.
const GRADIENT: f64 = 1e-12;

/// Largest violation of the conditions of optimality at which the others are solved; a right active set leaves only rounding.
const OPTIMALITY: f64 = 1e-12;

/// `F(w) = sum_i share_i loss(x_i^T w; y_i) + sum_j [ l1_j |w_j| + l2_j w_j^2 / 2 ]`; an intercept is a last feature of ones without
/// penalty.
#[derive(Debug)]
pub struct Dense {
    rows: Vec<Vec<f64>>,
    labels: Vec<f64>,
    /// s_i / S.
    shares: Vec<f64>,
    loss: Loss,
    l1: Vec<f64>,
    l2: Vec<f64>,
    intercept: bool,
}

impl Dense {
    /// The problem of rounds on columns.
    pub fn of_columns(problem: &Problem) -> Self {
        let penalties = (0..problem.columns.len()).map(|i| problem.penalty_of(i));
        let (l1, mut l2): (Vec<f64>, Vec<f64>) = penalties.unzip();
        for (column, l2) in problem.columns.iter().zip(&mut l2) {
            // Every coefficient of an empty column without a penalty is optimal: a round leaves 0.
            if column.iter().all(|c| *c == 0.0) {
                *l2 = 1.0;
            }
        }
        let row = |j: usize| problem.columns.iter().map(|c| c[j]).collect();
        Self {
            rows: (0..problem.rows()).map(row).collect(),
            labels: problem.labels.clone(),
            shares: (0..problem.rows())
                .map(|j| problem.weight(j) / problem.total_weight())
                .collect(),
            loss: problem.loss,
            l1,
            l2,
            intercept: false,
        }
        .with_intercept(problem.centred)
    }

    /// The problem of rounds on rows.
    pub fn of_rows(problem: &rows::Problem) -> Self {
        let excluded = |j: usize| problem.scale(j) == 0.0;
        let without_excluded = |row: &Vec<f64>| {
            let kept = |(j, &x): (usize, &f64)| if excluded(j) { 0.0 } else { x };
            row.iter().enumerate().map(kept).collect()
        };
        let l2 = |j| problem.l2 / if excluded(j) { 1.0 } else { problem.scale(j) };
        Self {
            rows: problem.rows.iter().map(without_excluded).collect(),
            labels: problem.labels.clone(),
            shares: (0..problem.rows.len())
                .map(|i| problem.weight(i) / problem.total_weight())
                .collect(),
            loss: problem.loss,
            l1: vec![0.0; problem.features],
            l2: (0..problem.features).map(l2).collect(),
            intercept: false,
        }
        .with_intercept(problem.nu.is_some())
    }

    fn with_intercept(mut self, intercept: bool) -> Self {
        if intercept {
            for row in &mut self.rows {
                row.push(1.0);
            }
            self.l1.push(0.0);
            self.l2.push(0.0);
        }
        Self { intercept, ..self }
    }

    /// Number of coefficients that have a penalty.
    fn features(&self) -> usize {
        self.l2.len() - usize::from(self.intercept)
    }

    /// Coefficients, and the intercept if there is one.
    pub fn model(&self, coefficients: &[f64], intercept: f64) -> Vec<f64> {
        let mut model = coefficients.to_vec();
        model.extend(self.intercept.then_some(intercept));
        model
    }

    /// The loss, its first and its second derivative by the prediction.
    fn loss(&self, z: f64, y: f64) -> [f64; 3] {
        let m = y * z;
        match self.loss {
            Loss::Squared => [(z - y) * (z - y) / 2.0, z - y, 1.0],
            Loss::Logistic => {
                // The probability of the other class, with all its digits if it is small.
                let p = if m > 0.0 {
                    (-m).exp() / (1.0 + (-m).exp())
                } else {
                    1.0 / (1.0 + m.exp())
                };
                let value = if m > 0.0 {
                    (-m).exp().ln_1p()
                } else {
                    m.exp().ln_1p() - m
                };
                [value, -y * p, p * (1.0 - p)]
            }
            Loss::Hinge if m >= 1.0 => [0.0; 3],
            Loss::Hinge => [1.0 - m, -y, 0.0],
            Loss::SmoothedHinge(_) | Loss::SquaredHinge if m >= 1.0 => [0.0; 3],
            Loss::SmoothedHinge(gamma) if m <= 1.0 - gamma => [1.0 - m - gamma / 2.0, -y, 0.0],
            Loss::SmoothedHinge(gamma) => [
                (1.0 - m).powi(2) / (2.0 * gamma),
                -y * (1.0 - m) / gamma,
                1.0 / gamma,
            ],
            Loss::SquaredHinge => [(1.0 - m).powi(2), -2.0 * y * (1.0 - m), 2.0],
        }
    }

    /// Losses and derivatives of all rows.
    fn losses(&self, model: &[f64]) -> Vec<[f64; 3]> {
        self.rows
            .iter()
            .zip(&self.labels)
            .map(|(row, &y)| self.loss(product(row, model), y))
            .collect()
    }

    /// `F` at `model`.
    pub fn value(&self, model: &[f64]) -> f64 {
        let losses = self.losses(model);
        let loss: f64 = losses.iter().zip(&self.shares).map(|(l, s)| s * l[0]).sum();
        let penalty: f64 = (0..model.len())
            .map(|j| self.l1[j] * model[j].abs() + self.l2[j] * model[j].powi(2) / 2.0)
            .sum();
        loss + penalty
    }

    /// `sum_j l2_j (u_j - v_j)^2 / 2`: the value rises at least by this from its minimiser to another model.
    pub fn distance(&self, u: &[f64], v: &[f64]) -> f64 {
        let squares = u.iter().zip(v).map(|(u, v)| (u - v).powi(2));
        squares.zip(&self.l2).map(|(d, l2)| l2 * d / 2.0).sum()
    }

    /// Derivatives of losses and squares.
    fn gradient(&self, model: &[f64]) -> Vec<f64> {
        let mut gradient: Vec<f64> = model.iter().zip(&self.l2).map(|(w, l2)| l2 * w).collect();
        for ((row, loss), s) in self.rows.iter().zip(self.losses(model)).zip(&self.shares) {
            for (g, x) in gradient.iter_mut().zip(row) {
                *g += s * loss[1] * x;
            }
        }
        gradient
    }

    /// The minimiser for a smooth loss and squares, by Newton's method with halved steps. For the squared loss its first step solves the
    /// normal equations.
    pub fn newton(&self) -> Vec<f64> {
        let n = self.l2.len();
        let mut model = vec![0.0; n];
        for _ in 0..100 {
            let gradient = self.gradient(&model);
            let size = largest(&gradient);
            if size <= GRADIENT {
                return model;
            }
            let losses = self.losses(&model);
            let mut hessian = vec![vec![0.0; n]; n];
            for ((row, loss), s) in self.rows.iter().zip(&losses).zip(&self.shares) {
                for (h, x) in hessian.iter_mut().zip(row) {
                    for (h, other) in h.iter_mut().zip(row) {
                        *h += s * loss[2] * x * other;
                    }
                }
            }
            for (j, h) in hessian.iter_mut().enumerate() {
                h[j] += self.l2[j];
                // The intercept has no curvature if no row is on a curved part of its loss.
                if self.loss != Loss::Squared {
                    h[j] += 1e-6 * size;
                }
            }
            let step = Cholesky::of(hessian).solve(&gradient);
            let value = self.value(&model);
            let slope = product(&gradient, &step);
            let mut t = 1.0;
            model = loop {
                let next: Vec<f64> = model.iter().zip(&step).map(|(w, d)| w - t * d).collect();
                let (lower, flatter) = (self.value(&next), largest(&self.gradient(&next)));
                // Close to the minimum the value is flat to its last digits, but the gradient is not.
                if lower <= value - 1e-4 * t * slope
                    || lower <= value + 1e-13 && flatter <= 0.5 * size
                {
                    break next;
                }
                t *= 0.5;
                assert!(t > 1e-10, "no descent from {model:?} along {step:?}");
            };
        }
        panic!("Newton's method has not converged: {self:?}")
    }

    /// The minimiser for the squared loss, with `w_j = x_j - x_{n+j}` of two parts that are not negative.
    pub fn lasso(&self) -> Vec<f64> {
        // An upper bound beyond any coefficient.
        const FAR: f64 = 1e4;
        let n = self.features();
        let mean = |term: &dyn Fn(usize) -> f64| -> f64 {
            let terms = self.shares.iter().enumerate().map(|(i, s)| s * term(i));
            terms.sum()
        };
        // The best intercept takes the means out of columns and labels.
        let centre: Vec<f64> = (0..n)
            .map(|j| mean(&|i| self.rows[i][j]) * f64::from(self.intercept))
            .collect();
        let middle = mean(&|i| self.labels[i]) * f64::from(self.intercept);
        let part = |k: usize| (k % n, if k < n { 1.0 } else { -1.0 });
        let entry = |k: usize, l: usize| {
            let ((i, sign), (j, other)) = (part(k), part(l));
            let square = mean(&|r| (self.rows[r][i] - centre[i]) * (self.rows[r][j] - centre[j]));
            sign * other * (square + if i == j { self.l2[i] } else { 0.0 })
        };
        let linear = |k: usize| {
            let (j, sign) = part(k);
            let product = mean(&|r| (self.rows[r][j] - centre[j]) * (self.labels[r] - middle));
            sign * product - self.l1[j]
        };
        let model = |x: &[f64]| {
            let w: Vec<f64> = (0..n).map(|j| x[j] - x[n + j]).collect();
            self.model(&w, middle - product(&w, &centre))
        };
        let quadratic = Quadratic {
            q: (0..2 * n)
                .map(|k| (0..2 * n).map(|l| entry(k, l)).collect())
                .collect(),
            c: (0..2 * n).map(linear).collect(),
            a: vec![0.0; 2 * n],
            upper: FAR,
        };
        let (x, _) = quadratic.minimise(|x, _| {
            let model = model(x);
            let violation = |((&w, g), l1): ((&f64, f64), &f64)| {
                let t = w - g;
                w - t.signum() * (t.abs() - l1).max(0.0)
            };
            let gradient = self.gradient(&model);
            let violations = model.iter().zip(gradient).zip(&self.l1).map(violation);
            largest(&violations.collect::<Vec<_>>())
        });
        model(&x)
    }

    /// The minimiser for the hinge and squares, by its dual: `p_i` of every row is in [0, 1], and an intercept is the multiplier of the
    /// constraint that both classes have the same sum.
    pub fn hinge(&self) -> Vec<f64> {
        let (m, n) = (self.rows.len(), self.features());
        let signed: Vec<f64> = (0..m).map(|i| self.shares[i] * self.labels[i]).collect();
        let entry = |i: usize, k: usize| {
            let terms = (0..n).map(|j| self.rows[i][j] * self.rows[k][j] / self.l2[j]);
            signed[i] * signed[k] * terms.sum::<f64>()
        };
        let model = |p: &[f64], b: f64| {
            let coefficient = |j: usize| {
                let terms = (0..m).map(|i| signed[i] * p[i] * self.rows[i][j]);
                terms.sum::<f64>() / self.l2[j]
            };
            self.model(&(0..n).map(coefficient).collect::<Vec<_>>(), b)
        };
        let quadratic = Quadratic {
            q: (0..m)
                .map(|i| (0..m).map(|k| entry(i, k)).collect())
                .collect(),
            c: self.shares.clone(),
            a: signed
                .iter()
                .map(|s| s * f64::from(self.intercept))
                .collect(),
            upper: 1.0,
        };
        let (p, b) = quadratic.minimise(|p, b| {
            let model = model(p, b);
            let violation = |i: usize| {
                let distance = 1.0 - self.labels[i] * product(&self.rows[i], &model);
                p[i] - (p[i] + distance).clamp(0.0, 1.0)
            };
            let mut violations: Vec<f64> = (0..m).map(violation).collect();
            if self.intercept {
                violations.push(product(p, &signed));
            }
            largest(&violations)
        });
        model(&p, b)
    }
}

/// `x^T q x / 2 - c^T x` for `0 <= x <= upper` and `a^T x = 0`.
#[derive(Debug)]
struct Quadratic {
    q: Vec<Vec<f64>>,
    c: Vec<f64>,
    a: Vec<f64>,
    upper: f64,
}

impl Quadratic {
    /// A primal-dual interior point (Nocedal, Wright, "Numerical Optimization", 2006, section 16.6), until the violation at `x` and the
    /// multiplier of `a` is small enough when the bounds close to `x` are taken as active.
    fn minimise(&self, violation: impl Fn(&[f64], f64) -> f64) -> (Vec<f64>, f64) {
        let n = self.c.len();
        // The distances to both bounds, their multipliers, and that of `a`.
        let mut x = vec![0.5 * self.upper; n];
        let mut rest = x.clone();
        let (mut below, mut above, mut b) = (vec![1.0; n], vec![1.0; n], 0.0);
        for _ in 0..100 {
            let mut settled = (x.clone(), b);
            for _ in 0..5 {
                settled = self.settle(&settled.0, settled.1);
                if violation(&settled.0, settled.1) <= OPTIMALITY {
                    return settled;
                }
            }
            let products = product(&x, &below) + product(&rest, &above);
            let aim = 0.1 * products / (2 * n) as f64;
            let mut q = self.q.clone();
            let mut right = self.slopes(&x, b);
            for i in 0..n {
                // Rounding may take the barrier's curvature from duplicates; a proximal term stays. It only shortens the step.
                q[i][i] += below[i] / x[i] + above[i] / rest[i] + 1e-12 * self.q[i][i];
                right[i] += aim / x[i] - aim / rest[i];
            }
            let (step, change) = solve(&Cholesky::of(q), &right, &self.a, product(&self.a, &x));
            let multipliers: Vec<[f64; 2]> = (0..n)
                .map(|i| {
                    [
                        (aim - below[i] * step[i]) / x[i] - below[i],
                        (aim + above[i] * step[i]) / rest[i] - above[i],
                    ]
                })
                .collect();
            let mut t = 1.0f64;
            for (i, [low, high]) in multipliers.iter().enumerate() {
                for (now, change) in [
                    (x[i], step[i]),
                    (rest[i], -step[i]),
                    (below[i], *low),
                    (above[i], *high),
                ] {
                    if change < 0.0 {
                        t = t.min(-0.99 * now / change);
                    }
                }
            }
            for (i, [low, high]) in multipliers.into_iter().enumerate() {
                x[i] += t * step[i];
                rest[i] -= t * step[i];
                below[i] += t * low;
                above[i] += t * high;
            }
            b += t * change;
        }
        panic!("the interior point has not converged: {self:?}")
    }

    /// Minus the gradient, with the multiplier of `a`.
    fn slopes(&self, x: &[f64], b: f64) -> Vec<f64> {
        (0..x.len())
            .map(|i| self.c[i] - product(&self.q[i], x) - b * self.a[i])
            .collect()
    }

    /// The minimiser when a coordinate whose own minimiser lies outside of the bounds stays at its bound.
    fn settle(&self, x: &[f64], mut b: f64) -> (Vec<f64>, f64) {
        let mut settled = x.to_vec();
        for (i, slope) in self.slopes(x, b).into_iter().enumerate() {
            let alone = x[i] + slope / self.q[i][i];
            if alone <= 0.0 {
                settled[i] = 0.0;
            } else if alone >= self.upper {
                settled[i] = self.upper;
            }
        }
        let free: Vec<bool> = settled
            .iter()
            .map(|x| 0.0 < *x && *x < self.upper)
            .collect();
        let only_free = |numbers: &[f64]| -> Vec<f64> {
            let numbers = numbers.iter().zip(&free);
            numbers
                .map(|(v, free)| if *free { *v } else { 0.0 })
                .collect()
        };
        let mut q: Vec<Vec<f64>> = self.q.iter().map(|row| only_free(row)).collect();
        for (i, row) in q.iter_mut().enumerate() {
            if !free[i] {
                row.fill(0.0);
            }
            // Duplicates have no curvature between them. A proximal term gives them some; the repetitions below remove its effect.
            row[i] += if free[i] {
                (1e-8 * self.q[i][i]).max(1e-12)
            } else {
                1.0
            };
        }
        let factor = Cholesky::of(q);
        for _ in 0..4 {
            let right = only_free(&self.slopes(&settled, b));
            let excess = product(&self.a, &settled);
            let (step, change) = solve(&factor, &right, &only_free(&self.a), excess);
            for (x, d) in settled.iter_mut().zip(step) {
                *x += d;
            }
            b += change;
        }
        (settled, b)
    }
}

/// The step `d` and the change of the multiplier of `a` with `q d + change a = right` and `a^T d = -excess`; without an `a` (all 0) only
/// the step.
fn solve(q: &Cholesky, right: &[f64], a: &[f64], excess: f64) -> (Vec<f64>, f64) {
    let (mut step, along) = (q.solve(right), q.solve(a));
    let square = product(a, &along);
    let change = if square > 0.0 {
        (product(a, &step) + excess) / square
    } else {
        0.0
    };
    for (d, v) in step.iter_mut().zip(along) {
        *d -= change * v;
    }
    (step, change)
}

/// The lower triangular factor of a positive definite matrix.
struct Cholesky(Vec<Vec<f64>>);

impl Cholesky {
    fn of(mut matrix: Vec<Vec<f64>>) -> Self {
        for j in 0..matrix.len() {
            for i in j..matrix.len() {
                let before = product(&matrix[i][..j], &matrix[j][..j]);
                let rest = matrix[i][j] - before;
                matrix[i][j] = if i == j {
                    assert!(rest > 0.0, "pivot {j} is {rest}");
                    rest.sqrt()
                } else {
                    rest / matrix[j][j]
                };
            }
        }
        Self(matrix)
    }

    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let Self(factor) = self;
        let mut x = right.to_vec();
        for i in 0..x.len() {
            x[i] = (x[i] - product(&factor[i][..i], &x[..i])) / factor[i][i];
        }
        for i in (0..x.len()).rev() {
            for k in i + 1..x.len() {
                x[i] -= factor[k][i] * x[k];
            }
            x[i] /= factor[i][i];
        }
        x
    }
}

fn product(u: &[f64], v: &[f64]) -> f64 {
    u.iter().zip(v).map(|(u, v)| u * v).sum()
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |most, x| most.max(x.abs()))
}
