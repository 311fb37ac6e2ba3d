//! The quadratic model of a Newton step, with the penalty of a linear model.
//!
//! ```text
//! q(v) = v^T H v / 2 + g^T v + sum_j [ l1_j |x_j + v_j| + l2_j (x_j + v_j)^2 / 2 ]
//! ```
//!
//! Without `l1` Cholesky's factorisation solves it. With `l1` coordinate descent finds the variables that are not 0 and their signs
//! (Friedman, Hastie, Tibshirani, "Regularization paths for generalized linear models via coordinate descent", Journal of Statistical
//! Software 33, 2010, section 2.2, covariance updates), and the factorisation solves for them.

use super::cholesky::{Cholesky, packed, row};
use crate::{
    base::{
        checks::at_least_zero,
        error::{SolverError, reserve, same_length},
    },
    problem::penalty::soft_threshold,
};

/// Sweeps over the variables before a try to solve for the signs; each failed try doubles them.
const SWEEPS: usize = 20;

/// Most tries.
const TRIES: usize = 12;

/// A sweep whose largest change, in units of the model, is below this part of the largest change of the first one is the last.
const SETTLED: f64 = 1e-12;

/// How far, relative to its terms, a condition of the minimum may be missed by rounding.
const ROUNDING: f64 = 1e-10;

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
    /// `|s|` in the norm of the inverse of `M = H + l2`, where s is `g + l2 x` and the subgradient of `l1` that nearly balances the step.
    pub slope: f64,
    /// What the `l1` terms bend: at every u they and `(g + l2 x)^T u` are at least `offset + s^T u`. 0 or less.
    pub offset: f64,
    /// The factor of M.
    pub factor: Cholesky,
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
        let factor = Cholesky::new(self.hessian, self.l2, self.fixed)?;
        let linear: Vec<f64> = (0..n)
            .map(|j| self.gradient[j] + self.l2[j] * self.at[j])
            .collect();
        let step = if self.l1.iter().all(|&l1| l1 == 0.0) {
            self.solved(&factor, &linear)
        } else {
            self.descended(&linear)?
        };
        let product = self.product(&step);
        let (mut slopes, mut phi) = (vec![0.0; n], 0.0);
        for j in (0..n).filter(|&j| !self.fixed[j]) {
            let reached = self.at[j] + step[j];
            let bend = if self.l1[j] == 0.0 {
                0.0
            } else if reached != 0.0 {
                self.l1[j] * reached.signum()
            } else {
                (-product[j] - linear[j]).clamp(-self.l1[j], self.l1[j])
            };
            slopes[j] = linear[j] + bend;
            phi += linear[j] * step[j] + self.l1[j] * (reached.abs() - self.at[j].abs());
        }
        let decrease = -(phi + 0.5 * dot(&product, &step));
        let slope = dot(&factor.forward(&slopes), &factor.forward(&slopes)).sqrt();
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
            slope: if balanced { slope } else { f64::INFINITY },
            offset: (phi - dot(&slopes, &step)).min(0.0),
            step,
            factor,
        })
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

    /// The minimum without `l1`, refined once: `M v = -linear`.
    fn solved(&self, factor: &Cholesky, linear: &[f64]) -> Vec<f64> {
        let negative: Vec<f64> = linear.iter().map(|x| -x).collect();
        let mut step = factor.solve(&negative);
        let product = self.product(&step);
        let left: Vec<f64> = negative.iter().zip(&product).map(|(b, p)| b - p).collect();
        for (step, more) in step.iter_mut().zip(factor.solve(&left)) {
            *step += more;
        }
        step
    }

    /// The minimum with `l1`.
    fn descended(&self, linear: &[f64]) -> Result<Vec<f64>, SolverError> {
        let n = self.at.len();
        let mut descent = Descent::new(self, linear)?;
        for doubled in 0..TRIES {
            descent.run(SWEEPS << doubled);
            if let Some(step) = self.with_signs(linear, &descent.step)? {
                return Ok(step);
            }
            if descent.settled {
                break;
            }
        }
        debug_assert_eq!(descent.step.len(), n);
        Ok(descent.step)
    }

    /// The minimum, if the variables that are not 0 after `step`, and their signs, are right.
    fn with_signs(&self, linear: &[f64], step: &[f64]) -> Result<Option<Vec<f64>>, SolverError> {
        let n = step.len();
        let reached = |step: &[f64], j: usize| self.at[j] + step[j];
        let left_out: Vec<bool> = (0..n)
            .map(|j| self.fixed[j] || (self.l1[j] > 0.0 && reached(step, j) == 0.0))
            .collect();
        let factor = Cholesky::new(self.hessian, self.l2, &left_out)?;
        let mut minimum: Vec<f64> = (0..n)
            .map(|j| {
                if factor.has(j) {
                    step[j]
                } else if self.fixed[j] {
                    0.0
                } else {
                    step[j]
                }
            })
            .collect();
        // From the step on, so that it is exact after two solutions.
        for _ in 0..2 {
            let product = self.product(&minimum);
            let left: Vec<f64> = (0..n)
                .map(|j| {
                    let bend = self.l1[j] * reached(step, j).signum();
                    -(product[j] + linear[j] + if self.l1[j] > 0.0 { bend } else { 0.0 })
                })
                .collect();
            for (minimum, more) in minimum.iter_mut().zip(factor.solve(&left)) {
                *minimum += more;
            }
        }
        let product = self.product(&minimum);
        let right = (0..n).filter(|&j| !self.fixed[j]).all(|j| {
            let slope = product[j] + linear[j];
            let terms = product[j].abs() + linear[j].abs() + self.l1[j];
            if left_out[j] {
                slope.abs() <= self.l1[j] + ROUNDING * terms
            } else {
                let keeps =
                    self.l1[j] == 0.0 || reached(&minimum, j).signum() == reached(step, j).signum();
                let bend = if self.l1[j] > 0.0 {
                    self.l1[j] * reached(step, j).signum()
                } else {
                    0.0
                };
                keeps && (slope + bend).abs() <= ROUNDING * terms
            }
        });
        Ok(right.then_some(minimum))
    }
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
                .filter(|&j| self.model.at[j] + self.step[j] != 0.0)
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
            let x = self.model.at[j] + self.step[j];
            let next = soft_threshold(x - self.slopes[j] / curve, self.model.l1[j] / curve);
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
    fn case(l1: f64) -> impl Strategy<Value = Case> {
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
            )
                .prop_map(move |(mut x, errors, columns)| {
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
                    let scale = |j: usize| 10.0_f64.powi(columns[j].4);
                    Case {
                        hessian,
                        gradient,
                        at: columns
                            .iter()
                            .enumerate()
                            .map(|(j, c)| if c.3 < 3 { 0.0 } else { c.0 / scale(j) })
                            .collect(),
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
        if case.l1.iter().all(|&l1| l1 == 0.0) {
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
        fn smooth_models(case in case(0.0)) {
            check(&case)?;
        }

        #[test]
        fn models_with_l1(case in case(0.3)) {
            check(&case)?;
        }
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
        };
        let minimum = case.model().minimise().unwrap();
        assert_eq!(minimum.step, [0.0, -1.5]);
        assert!(minimum.slope.is_finite());
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
        };
        for wrong in [
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
