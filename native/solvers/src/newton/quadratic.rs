//! The quadratic model of a Newton step, with the penalty of a linear model, in a box.
//!
//! ```text
//! q(v) = v^T H v / 2 + g^T v + sum_j [ l1_j |x_j + v_j| + l2_j (x_j + v_j)^2 / 2 ]    with lower <= x + v <= upper
//! ```
//!
//! Without `l1` and bounds Cholesky's factorisation solves it. Otherwise coordinate descent finds the variables that are not 0, their signs,
//! and the variables at a bound (Friedman, Hastie, Tibshirani, "Regularization paths for generalized linear models via coordinate descent",
//! Journal of Statistical Software 33, 2010, section 2.2, covariance updates), and the factorisation solves for the others.

use super::factor::{Factor, packed, row};
use crate::{
    base::{
        checks::{at_least_zero, ensure},
        error::{SolverError, reserve, same_length},
    },
    problem::penalty::soft_threshold,
};

/// Sweeps over the variables before a try to solve for the signs; each failed try doubles them.
const SWEEPS: usize = 20;

/// Most tries.
const TRIES: usize = 12;

/// Most faces that a try goes along.
const FACES: usize = 10;

/// A sweep whose largest change, in units of the model, is below this part of the largest change of the first one is the last.
const SETTLED: f64 = 1e-12;

/// How far, relative to its terms, a condition of the minimum may be missed by rounding.
const ROUNDING: f64 = 1e-10;

/// The Hessian of several outputs: the lower triangle of order `outputs n`, row by row, from a triangle of order n for each pair of outputs
/// (a, b) with b <= a, in the order of a triangle, as a pass writes them.
///
/// # Errors
/// `Shape` if there are not as many numbers, `OutOfMemory`.
pub fn joined(pairs: &[f64], outputs: usize, n: usize) -> Result<Vec<f64>, SolverError> {
    let triangle = packed(n);
    same_length(
        "pairs",
        pairs.len(),
        packed(outputs) * triangle,
        "entry of a pair of outputs",
    )?;
    let mut whole = reserve(packed(outputs * n), "a Hessian")?;
    for a in 0..outputs {
        for i in 0..n {
            for b in 0..=a {
                let pair = &pairs[(packed(a) + b) * triangle..][..triangle];
                whole.extend_from_slice(row(pair, i));
                if b < a {
                    // The other half of a symmetric block.
                    whole.extend((i + 1..n).map(|j| pair[packed(j) + i]));
                }
            }
        }
    }
    Ok(whole)
}

/// What is added to each diagonal entry, as a part of it, to find the step of least norm.
const RIDGE: f64 = 1e-5;

/// Iterations to that step.
const LEAST_NORM: usize = 8;

/// A quadratic model of n variables.
#[derive(Debug, Clone, Copy)]
pub struct Quadratic<'a> {
    /// H: the lower triangle, row by row, `n (n + 1) / 2` numbers. Positive semidefinite.
    pub hessian: &'a [f64],
    /// g.
    pub gradient: &'a [f64],
    /// x: where the model is.
    pub at: &'a [f64],
    /// Factor of the absolute value of each variable.
    pub l1: &'a [f64],
    /// Factor of half the square of each variable.
    pub l2: &'a [f64],
    /// Variables that do not move.
    pub fixed: &'a [bool],
    /// Least value of each variable, or minus infinity; x is within its bounds.
    pub lower: &'a [f64],
    /// Largest value of each variable, or infinity.
    pub upper: &'a [f64],
    /// The objective at x: with H it says how large a gradient is, and so what its rounding may be.
    pub objective: f64,
}

/// The minimum of a [`Quadratic`].
#[derive(Debug, Clone)]
pub struct QuadraticStep {
    /// v.
    pub step: Vec<f64>,
    /// `q(0) - q(v)`, at least 0.
    pub decrease: f64,
    /// `|s|` in the norm of the inverse of `M = H + l2`, where s is `g + l2 x` and the subgradient of `l1` and of the bounds that nearly
    /// balances the step. The variables that the factor has dropped do not count: what they hide is for the data to tell.
    pub slope: f64,
    /// Whether the step balances the slope of each dropped variable, as it does if others explain the variable.
    pub balanced: bool,
    /// What the `l1` terms and the bounds bend: at every u within the bounds `(g + l2 x)^T u` and the `l1` terms are at least
    /// `offset + s^T u`. 0 or less.
    pub offset: f64,
    /// The factor of M.
    pub factor: Factor,
}

impl Quadratic<'_> {
    fn check(&self) -> Result<(), SolverError> {
        let n = self.at.len();
        same_length(
            "hessian",
            self.hessian.len(),
            packed(n),
            "entry of a triangle",
        )?;
        same_length("gradient", self.gradient.len(), n, "variable")?;
        same_length("l1", self.l1.len(), n, "variable")?;
        same_length("l2", self.l2.len(), n, "variable")?;
        same_length("fixed", self.fixed.len(), n, "variable")?;
        same_length("lower", self.lower.len(), n, "variable")?;
        same_length("upper", self.upper.len(), n, "variable")?;
        for ((lower, upper), &x) in self.lower.iter().zip(self.upper).zip(self.at) {
            ensure(
                "at",
                x,
                (*lower..=*upper).contains(&x),
                "must be within its bounds",
            )?;
        }
        for (l1, l2) in self.l1.iter().zip(self.l2) {
            at_least_zero("l1", *l1)?;
            at_least_zero("l2", *l2)?;
        }
        at_least_zero("objective", self.objective)?;
        let numbers = [self.hessian, self.gradient, self.at];
        if numbers
            .iter()
            .all(|part| part.iter().all(|x| x.is_finite()))
        {
            Ok(())
        } else {
            Err(SolverError::NonFinite(
                "a number of the quadratic model is not finite: features or coefficients are too large".into(),
            ))
        }
    }

    /// Minimises the model.
    ///
    /// # Errors
    /// `Shape`, `InvalidParam` or `NonFinite` names what is wrong; `OutOfMemory`.
    pub fn minimise(&self) -> Result<QuadraticStep, SolverError> {
        self.check()?;
        let n = self.at.len();
        let factor = Factor::new(self.hessian, self.l2, self.fixed)?;
        let linear: Vec<f64> = (0..n)
            .map(|j| self.gradient[j] + self.l2[j] * self.at[j])
            .collect();
        let unbounded = |bounds: &[f64]| bounds.iter().all(|bound| bound.is_infinite());
        let smooth = self.l1.iter().all(|&l1| l1 == 0.0);
        let step = if smooth && unbounded(self.lower) && unbounded(self.upper) {
            self.solved(&factor, &linear)?
        } else {
            self.descended(&linear)?
        };
        let product = self.product(&step);
        let (mut slopes, mut phi) = (vec![0.0; n], 0.0);
        for j in (0..n).filter(|&j| !self.fixed[j]) {
            let reached = self.reached(&step, j);
            let (least, most) = self.bends(reached, j);
            slopes[j] = linear[j] + (-product[j] - linear[j]).clamp(least, most);
            phi += linear[j] * step[j] + self.l1[j] * (reached.abs() - self.at[j].abs());
        }
        let decrease = -(phi + 0.5 * dot(&product, &step));
        let forward = factor.forward(&slopes);
        let slope = (dot(&forward, &forward) * (1.0 + factor.doubt())).sqrt();
        // A variable that others stand for has the slope that they explain.
        let balanced = (0..n)
            .filter(|&j| !self.fixed[j] && !factor.has(j))
            .all(|j| {
                let terms = self.gradient[j].abs() + self.l1[j] + product[j].abs();
                let gradient = (self.objective * self.hessian[packed(j) + j]).sqrt();
                (slopes[j] + product[j]).abs() <= 1e-6 * terms + ROUNDING * gradient
            });
        Ok(QuadraticStep {
            decrease: decrease.max(0.0),
            slope,
            balanced,
            offset: (phi - dot(&slopes, &step)).min(0.0),
            step,
            factor,
        })
    }

    /// The variable after a step, at its bound where only rounding keeps it away.
    fn reached(&self, step: &[f64], j: usize) -> f64 {
        let x = self.at[j] + step[j];
        for bound in [self.lower[j], self.upper[j]] {
            let size = self.at[j].abs() + bound.abs();
            if bound.is_finite() && (x - bound).abs() <= 4.0 * f64::EPSILON * size {
                return bound;
            }
        }
        x
    }

    /// The least and the largest subgradient of the `l1` term and the bounds where the variable is x.
    fn bends(&self, x: f64, j: usize) -> (f64, f64) {
        let l1 = self.l1[j];
        let (least, most) = if x == 0.0 {
            (-l1, l1)
        } else {
            (l1 * x.signum(), l1 * x.signum())
        };
        (
            if x <= self.lower[j] {
                f64::NEG_INFINITY
            } else {
                least
            },
            if x >= self.upper[j] {
                f64::INFINITY
            } else {
                most
            },
        )
    }

    /// `M v`, 0 for fixed variables.
    fn product(&self, v: &[f64]) -> Vec<f64> {
        let mut product: Vec<f64> = v.iter().zip(self.l2).map(|(v, l2)| v * l2).collect();
        for i in 0..v.len() {
            let row = row(self.hessian, i);
            product[i] += dot(row, v);
            for (product, h) in product.iter_mut().zip(&row[..i]) {
                *product += h * v[i];
            }
        }
        for (product, _) in product
            .iter_mut()
            .zip(self.fixed)
            .filter(|(_, fixed)| **fixed)
        {
            *product = 0.0;
        }
        product
    }

    /// The minimum without `l1`, refined: `M v = -linear`. Where variables stand for one another, the step of least norm, in units of the
    /// diagonal of M: an optimiser that starts at 0 and follows gradients of standardised features has it, too.
    fn solved(&self, factor: &Factor, linear: &[f64]) -> Result<Vec<f64>, SolverError> {
        let n = linear.len();
        let mut step = vec![0.0; n];
        if (0..n).any(|j| !self.fixed[j] && !factor.has(j)) {
            // Iterated Tikhonov regularisation: what it has not yet found falls by RIDGE over the eigenvalue each time.
            let more: Vec<f64> = (0..n)
                .map(|j| self.l2[j] + RIDGE * (self.hessian[packed(j) + j] + self.l2[j]))
                .collect();
            let ridge = Factor::new(self.hessian, &more, self.fixed)?;
            for _ in 0..LEAST_NORM {
                self.improve(&ridge, linear, &mut step);
            }
        }
        for _ in 0..2 {
            self.improve(factor, linear, &mut step);
        }
        Ok(step)
    }

    fn improve(&self, factor: &Factor, linear: &[f64], step: &mut [f64]) {
        let product = self.product(step);
        let left: Vec<f64> = linear.iter().zip(&product).map(|(b, p)| -b - p).collect();
        for (step, more) in step.iter_mut().zip(factor.solve(&left)) {
            *step += more;
        }
    }

    /// The minimum with `l1` or bounds.
    fn descended(&self, linear: &[f64]) -> Result<Vec<f64>, SolverError> {
        let n = self.at.len();
        let mut descent = Descent::new(self, linear)?;
        for doubled in 0..TRIES {
            descent.run(SWEEPS << doubled);
            // Where columns are nearly collinear, sweeps go along the face of the signs for ever.
            for _ in 0..FACES {
                match self.on_face(linear, &descent.step)? {
                    Face::Minimum(step) => return Ok(step),
                    Face::Left(step) => descent.go(linear, step),
                    Face::Lowest(step) => {
                        descent.go(linear, step);
                        break;
                    }
                }
            }
            if descent.settled {
                break;
            }
        }
        debug_assert_eq!(descent.step.len(), n);
        Ok(descent.step)
    }

    /// Goes from `step` to the minimum of the face where variables that are 0 or at a bound stay, and the others keep their signs.
    fn on_face(&self, linear: &[f64], step: &[f64]) -> Result<Face, SolverError> {
        let n = step.len();
        // Where the subgradient is one number, the variable moves freely.
        let bends: Vec<(f64, f64)> = (0..n)
            .map(|j| self.bends(self.reached(step, j), j))
            .collect();
        let left_out: Vec<bool> = (0..n)
            .map(|j| self.fixed[j] || bends[j].0 < bends[j].1)
            .collect();
        // Most variables may be 0: the factor has the others alone.
        let moving: Vec<usize> = (0..n).filter(|&j| !left_out[j]).collect();
        let minimum = self.minimum_on_face(linear, step, &moving, &bends)?;
        if self.is_minimum(linear, step, &minimum, &left_out, &bends) {
            return Ok(Face::Minimum(minimum));
        }
        let (part, first) = self.first_end(step, &minimum, &moving);
        let mut reached: Vec<f64> = (step.iter().zip(&minimum))
            .map(|(from, to)| from + part * (to - from))
            .collect();
        Ok(match first {
            None => Face::Lowest(reached),
            Some((j, end)) => {
                reached[j] = end - self.at[j];
                Face::Left(reached)
            }
        })
    }

    /// The minimum where only the variables `moving` move, along the line that the penalty is between its bends.
    fn minimum_on_face(
        &self,
        linear: &[f64],
        step: &[f64],
        moving: &[usize],
        bends: &[(f64, f64)],
    ) -> Result<Vec<f64>, SolverError> {
        let mut triangle = reserve(packed(moving.len()), "a quadratic model")?;
        for &i in moving {
            let row = row(self.hessian, i);
            triangle.extend(moving.iter().take_while(|&&j| j <= i).map(|&j| row[j]));
        }
        let more: Vec<f64> = moving.iter().map(|&j| self.l2[j]).collect();
        let factor = Factor::rough(&triangle, &more, &vec![false; moving.len()])?;
        let mut minimum: Vec<f64> = (0..step.len())
            .map(|j| if self.fixed[j] { 0.0 } else { step[j] })
            .collect();
        // From the step on, so that it is exact after two solutions.
        for _ in 0..2 {
            let product = self.product(&minimum);
            let left: Vec<f64> = (moving.iter())
                .map(|&j| -(product[j] + linear[j] + bends[j].0))
                .collect();
            for (&j, more) in moving.iter().zip(factor.solve(&left)) {
                minimum[j] += more;
            }
        }
        Ok(minimum)
    }

    /// Whether the minimum on the face of `step` is the minimum of all: it is on the face, and no variable would leave it.
    fn is_minimum(
        &self,
        linear: &[f64],
        step: &[f64],
        minimum: &[f64],
        left_out: &[bool],
        bends: &[(f64, f64)],
    ) -> bool {
        let product = self.product(minimum);
        (0..step.len()).filter(|&j| !self.fixed[j]).all(|j| {
            let x = self.reached(minimum, j);
            let slope = product[j] + linear[j];
            let rounding = ROUNDING * (product[j].abs() + linear[j].abs() + self.l1[j]);
            let keeps =
                left_out[j] || self.l1[j] == 0.0 || x.signum() == self.reached(step, j).signum();
            let (least, most) = bends[j];
            keeps
                && (self.lower[j]..=self.upper[j]).contains(&x)
                && (least - rounding..=most + rounding).contains(&-slope)
        })
    }

    /// How far it is from `step` towards `minimum` to the first variable that would leave the face, and where that variable ends.
    fn first_end(
        &self,
        step: &[f64],
        minimum: &[f64],
        moving: &[usize],
    ) -> (f64, Option<(usize, f64)>) {
        let (mut part, mut first) = (1.0, None);
        for &j in moving {
            let (x, change) = (self.reached(step, j), minimum[j] - step[j]);
            let ends = [
                self.lower[j],
                self.upper[j],
                if self.l1[j] > 0.0 { 0.0 } else { x },
            ];
            for end in ends {
                let share = (end - x) / change;
                if share > 0.0 && share < part {
                    (part, first) = (share, Some((j, end)));
                }
            }
        }
        (part, first)
    }
}

/// Where a step along a face ends.
enum Face {
    /// At the minimum of the model.
    Minimum(Vec<f64>),
    /// At the minimum of the face, which other variables would lower.
    Lowest(Vec<f64>),
    /// Where a variable comes to 0 or to a bound.
    Left(Vec<f64>),
}

/// Cyclic coordinate descent on the model; `slopes` is `M v + linear`.
struct Descent<'a> {
    model: &'a Quadratic<'a>,
    /// M, whole: a step reads a row of it.
    matrix: Vec<f64>,
    slopes: Vec<f64>,
    step: Vec<f64>,
    first: f64,
    settled: bool,
}

impl<'a> Descent<'a> {
    fn new(model: &'a Quadratic<'a>, linear: &[f64]) -> Result<Self, SolverError> {
        let n = linear.len();
        let mut matrix: Vec<f64> = reserve(n * n, "a quadratic model")?;
        matrix.resize(n * n, 0.0);
        for i in 0..n {
            for (j, &h) in row(model.hessian, i).iter().enumerate() {
                matrix[i * n + j] = h;
                matrix[j * n + i] = h;
            }
            matrix[i * n + i] += model.l2[i];
        }
        Ok(Self {
            model,
            matrix,
            slopes: linear.to_vec(),
            step: vec![0.0; n],
            first: 0.0,
            settled: false,
        })
    }

    /// Goes to another step.
    fn go(&mut self, linear: &[f64], step: Vec<f64>) {
        self.slopes = self.model.product(&step);
        for (slope, linear) in self.slopes.iter_mut().zip(linear) {
            *slope += linear;
        }
        self.step = step;
        self.settled = false;
    }

    /// At most so many sweeps; after each over all variables, the moving ones take turns until they settle.
    fn run(&mut self, sweeps: usize) {
        let all: Vec<usize> = (0..self.step.len()).collect();
        let mut left = sweeps;
        while left > 0 {
            let change = self.sweep(&all);
            self.first = self.first.max(change);
            left -= 1;
            if change <= SETTLED * self.first {
                self.settled = true;
                return;
            }
            let moving: Vec<usize> = (all.iter().copied())
                .filter(|&j| {
                    let x = self.model.reached(&self.step, j);
                    let (least, most) = self.model.bends(x, j);
                    least == most
                })
                .collect();
            while left > 0 {
                left -= 1;
                if self.sweep(&moving) <= SETTLED * self.first {
                    break;
                }
            }
        }
    }

    /// A step along each of the variables; the largest change.
    fn sweep(&mut self, variables: &[usize]) -> f64 {
        let n = self.step.len();
        let mut largest = 0.0_f64;
        for &j in variables {
            let row = &self.matrix[j * n..][..n];
            let curve = row[j];
            if self.model.fixed[j] || curve <= 0.0 {
                continue;
            }
            let x = self.model.reached(&self.step, j);
            let next = soft_threshold(x - self.slopes[j] / curve, self.model.l1[j] / curve)
                .clamp(self.model.lower[j], self.model.upper[j]);
            let change = next - x;
            if change != 0.0 {
                // Exactly 0 where the variable is 0.
                self.step[j] = next - self.model.at[j];
                for (slope, h) in self.slopes.iter_mut().zip(row) {
                    *slope += h * change;
                }
                largest = largest.max(change.abs() * curve.sqrt());
            }
        }
        largest
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    struct Case {
        hessian: Vec<f64>,
        gradient: Vec<f64>,
        at: Vec<f64>,
        l1: Vec<f64>,
        l2: Vec<f64>,
        fixed: Vec<bool>,
        lower: Vec<f64>,
        upper: Vec<f64>,
    }

    impl Case {
        fn model(&self) -> Quadratic<'_> {
            Quadratic {
                hessian: &self.hessian,
                gradient: &self.gradient,
                at: &self.at,
                l1: &self.l1,
                l2: &self.l2,
                fixed: &self.fixed,
                lower: &self.lower,
                upper: &self.upper,
                objective: 1.0,
            }
        }

        /// `q(v) - q(0)`
        fn value(&self, v: &[f64]) -> f64 {
            let model = self.model();
            let curve: f64 = 0.5 * dot(&model.product(v), v);
            let rest: f64 = (0..v.len())
                .map(|j| {
                    let x = self.at[j];
                    (self.gradient[j] + self.l2[j] * x) * v[j]
                        + self.l1[j] * ((x + v[j]).abs() - x.abs())
                })
                .sum();
            curve + rest
        }
    }

    /// Losses of squared errors: `H = X^T X / m`, and a gradient in its range.
    fn case(l1: f64, bounded: bool) -> impl Strategy<Value = Case> {
        (1_usize..14, 2_usize..30).prop_flat_map(move |(n, m)| {
            let row = proptest::collection::vec(-1.0..1.0, n);
            (
                proptest::collection::vec(row, m),
                proptest::collection::vec(-1.0..1.0, m),
                proptest::collection::vec(
                    (
                        -1.0..1.0,
                        0.0..l1.max(1e-300),
                        0.0..0.1,
                        0_u8..10,
                        -4_i32..5,
                    ),
                    n,
                ),
                proptest::collection::vec((0_u8..4, 0_u8..4), n),
            )
                .prop_map(move |(mut x, errors, columns, bounds)| {
                    for row in &mut x {
                        for (x, (_, _, _, _, power)) in row.iter_mut().zip(&columns) {
                            *x *= 10.0_f64.powi(*power);
                        }
                        if n > 2 {
                            row[1] = row[0];
                        }
                    }
                    let m = x.len() as f64;
                    let hessian = (0..n)
                        .flat_map(|i| (0..=i).map(move |j| (i, j)))
                        .map(|(i, j)| x.iter().map(|row| row[i] * row[j]).sum::<f64>() / m)
                        .collect();
                    let gradient = (0..n)
                        .map(|j| {
                            x.iter()
                                .zip(&errors)
                                .map(|(row, e)| row[j] * e)
                                .sum::<f64>()
                                / m
                        })
                        .collect();
                    // Column 1 is column 0.
                    let scale =
                        |j: usize| 10.0_f64.powi(columns[if n > 2 && j == 1 { 0 } else { j }].4);
                    let at: Vec<f64> = columns
                        .iter()
                        .enumerate()
                        .map(|(j, c)| if c.3 < 3 { 0.0 } else { c.0 / scale(j) })
                        .collect();
                    // At the model, near it, or nowhere.
                    let bound = |j: usize, side: f64, kind: u8| match kind {
                        _ if !bounded => side * f64::INFINITY,
                        0 => at[j],
                        1 => at[j] + side * 0.05 / scale(j),
                        _ => side * f64::INFINITY,
                    };
                    Case {
                        hessian,
                        gradient,
                        lower: (0..n).map(|j| bound(j, -1.0, bounds[j].0)).collect(),
                        upper: (0..n).map(|j| bound(j, 1.0, bounds[j].1)).collect(),
                        at,
                        l1: columns
                            .iter()
                            .enumerate()
                            .map(|(j, c)| if l1 == 0.0 { 0.0 } else { c.1 * scale(j) })
                            .collect(),
                        l2: columns
                            .iter()
                            .enumerate()
                            .map(|(j, c)| {
                                if c.3 < 5 {
                                    0.0
                                } else {
                                    c.2 * scale(j) * scale(j)
                                }
                            })
                            .collect(),
                        fixed: columns.iter().map(|c| c.3 == 9).collect(),
                    }
                })
        })
    }

    fn check(case: &Case) -> Result<(), TestCaseError> {
        let n = case.at.len();
        let minimum = case.model().minimise().unwrap();
        let value = case.value(&minimum.step);
        let size = minimum.decrease.abs() + 1e-300;
        prop_assert!(
            (value + minimum.decrease).abs() <= 1e-6 * size + 1e-13,
            "{value} {}",
            minimum.decrease
        );
        // No step along a coordinate lowers it.
        for j in 0..n {
            prop_assert!(!case.fixed[j] || minimum.step[j] == 0.0);
            for h in [1e-3, -1e-3, 1e-1, -1e-1] {
                let mut moved = minimum.step.clone();
                if !case.fixed[j] {
                    let curve = case.hessian[packed(j) + j] + case.l2[j];
                    moved[j] += if curve > 0.0 { h / curve.sqrt() } else { h };
                    moved[j] =
                        moved[j].clamp(case.lower[j] - case.at[j], case.upper[j] - case.at[j]);
                    prop_assert!(
                        case.value(&moved) >= value - 1e-11 * (1.0 + size),
                        "{j} {h}"
                    );
                }
            }
        }
        // For a quadratic F the bound is a bound, and without l1 it is exact, up to the digits of a pivot near the limit.
        let bound = 0.5 * minimum.slope * minimum.slope - minimum.offset;
        prop_assert!(
            bound >= minimum.decrease - 1e-2 * size - 1e-12,
            "{bound} {}",
            minimum.decrease
        );
        let inside = case
            .lower
            .iter()
            .chain(&case.upper)
            .all(|b| b.is_infinite());
        for j in 0..n {
            let x = case.model().reached(&minimum.step, j);
            prop_assert!((case.lower[j]..=case.upper[j]).contains(&x), "{j}: {x}");
        }
        if inside && case.l1.iter().all(|&l1| l1 == 0.0) {
            prop_assert!(
                bound <= minimum.decrease * (1.0 + 1e-2) + 1e-12,
                "{bound} {}",
                minimum.decrease
            );
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn smooth_models(case in case(0.0, false)) {
            check(&case)?;
        }

        #[test]
        fn models_with_l1(case in case(0.3, false)) {
            check(&case)?;
        }

        #[test]
        fn models_in_a_box(case in case(0.0, true)) {
            check(&case)?;
        }

        #[test]
        fn models_with_l1_in_a_box(case in case(0.3, true)) {
            check(&case)?;
        }
    }

    #[test]
    fn variables_that_stand_for_one_another_share() {
        // (x + y + z / 10)^2 / 2 + 3 (x + y + z / 10)
        let (a, b, c) = (1.0, 1.0, 0.1);
        let case = Case {
            hessian: vec![a * a, a * b, b * b, a * c, b * c, c * c],
            gradient: vec![3.0 * a, 3.0 * b, 3.0 * c],
            at: vec![0.0; 3],
            l1: vec![0.0; 3],
            l2: vec![0.0; 3],
            fixed: vec![false; 3],
            lower: vec![f64::NEG_INFINITY; 3],
            upper: vec![f64::INFINITY; 3],
        };
        let minimum = case.model().minimise().unwrap();
        // In units of the roots of the diagonal all three are -1.
        for (found, expected) in minimum.step.iter().zip([-1.0, -1.0, -10.0]) {
            assert!((found - expected).abs() <= 1e-8, "{:?}", minimum.step);
        }
    }

    #[test]
    fn nearly_collinear_columns_with_l1_have_a_proven_minimum() {
        // Ten columns, each twice, the second time with a deviation of 1e-6; sweeps alone stay far from the minimum.
        let (n, m) = (20, 60);
        let number =
            |i: usize, j: usize| (((i * 37 + j * 101 + i * j * 7) % 97) as f64 - 48.0) / 48.0;
        let rows: Vec<Vec<f64>> = (0..m)
            .map(|i| {
                (0..n)
                    .map(|j| number(i, j % 10) + if j < 10 { 0.0 } else { 1e-6 * number(i, j) })
                    .collect()
            })
            .collect();
        let mean =
            |f: &dyn Fn(&[f64]) -> f64| rows.iter().map(|row| f(row)).sum::<f64>() / m as f64;
        let case = Case {
            hessian: (0..n)
                .flat_map(|i| (0..=i).map(move |j| (i, j)))
                .map(|(i, j)| mean(&|row| row[i] * row[j]))
                .collect(),
            gradient: (0..n)
                .map(|j| mean(&|row| row[j] * (row[2] - row[5] + row[0] * row[1])))
                .collect(),
            at: vec![0.0; n],
            l1: vec![0.02; n],
            l2: vec![0.0; n],
            fixed: vec![false; n],
            lower: vec![f64::NEG_INFINITY; n],
            upper: vec![f64::INFINITY; n],
        };
        check(&case).unwrap();
        let minimum = case.model().minimise().unwrap();
        let bound = 0.5 * minimum.slope * minimum.slope - minimum.offset;
        assert!(
            bound <= minimum.decrease * (1.0 + 1e-9),
            "{bound} {}",
            minimum.decrease
        );
    }

    #[test]
    fn pairs_of_outputs_are_joined() {
        // Blocks (0, 0), (1, 0) and (1, 1) of two entries each.
        let pairs = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
        let whole = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 5.0, 6.0, 8.0, 9.0];
        assert_eq!(joined(&pairs, 2, 2).unwrap(), whole);
        assert!(joined(&pairs, 3, 2).is_err());
    }

    #[test]
    fn a_variable_of_zeros_stays() {
        let case = Case {
            hessian: vec![0.0, 0.0, 1.0],
            gradient: vec![0.0, 2.0],
            at: vec![0.0, 1.0],
            l1: vec![0.0, 0.5],
            l2: vec![0.0, 0.0],
            fixed: vec![false, false],
            lower: vec![f64::NEG_INFINITY; 2],
            upper: vec![f64::INFINITY; 2],
        };
        let minimum = case.model().minimise().unwrap();
        assert_eq!(minimum.step, [0.0, -1.5]);
        assert!(minimum.balanced);
    }

    #[test]
    fn wrong_numbers_are_refused() {
        let case = Case {
            hessian: vec![1.0],
            gradient: vec![1.0],
            at: vec![0.0],
            l1: vec![0.0],
            l2: vec![0.0],
            fixed: vec![false],
            lower: vec![f64::NEG_INFINITY],
            upper: vec![f64::INFINITY],
        };
        for wrong in [
            Case {
                lower: vec![0.5],
                ..case.clone()
            },
            Case {
                upper: vec![f64::NAN],
                ..case.clone()
            },
            Case {
                hessian: vec![1.0, 2.0],
                ..case.clone()
            },
            Case {
                gradient: vec![f64::NAN],
                ..case.clone()
            },
            Case {
                l1: vec![-1.0],
                ..case.clone()
            },
            Case {
                l2: vec![f64::INFINITY],
                ..case.clone()
            },
            Case {
                fixed: vec![],
                ..case.clone()
            },
        ] {
            assert!(wrong.model().minimise().is_err());
        }
    }
}
