//! The change that every step makes to all coefficients, in a few numbers.
//!
//! A step multiplies all coefficients by `1 - eta l2` and moves all of them towards 0 by `eta l1 sqrt(scale_j)`. With `w = a x` the first
//! is a change of a. The second is a change of `B`, the sum over the steps of `eta l1 / a`: a soft threshold by p and then by q equals one
//! by p + q, and thresholds commute with scaling. The next step that touches a feature brings it up to date.
//!
//! A running average sums `w = a x` after every step. While x does not change, that sum is x times the difference of `A`, the sum of a. With
//! a threshold the term of step k, after an update at step p, is `a_k (|x| - sqrt(scale) (B_k - B_p))` as long as it is positive. The sum
//! of the positive terms follows from `A` and from `D`, the sum of `a_k B_k`, at the last of them. A search in the history finds that step.

use std::hint::select_unpredictable;

use super::shape::Shape;
use crate::{
    base::error::{SolverError, reserve},
    problem::penalty::{shrunk, soft_threshold},
};

/// Most steps between two renormalisations of a model with thresholds: bounds the history, and the rounding error of B.
pub(super) const MAX_STEPS: usize = 1 << 20;

/// Below this, `a` is multiplied into x: a smaller `a` would let x overflow or lose digits.
const MIN_FACTOR: f64 = 1e-5;

/// The same for a running average: a smaller `a` would lose digits in the sums of `a`.
const MIN_AVERAGED_FACTOR: f64 = 1e-3;

/// The sums over the steps since the last renormalisation.
#[derive(Debug)]
pub(super) struct Clock {
    /// a
    pub factor: f64,
    /// B
    pub threshold: f64,
    /// A
    pub sum: f64,
    /// D
    moment: f64,
    steps: usize,
    /// With thresholds and a running average: the sums before the first step and after every step.
    history: Vec<Moment>,
}

/// B, A and D after a step.
#[derive(Debug, Clone, Copy)]
struct Moment {
    threshold: f64,
    sum: f64,
    moment: f64,
}

const START: Moment = Moment {
    threshold: 0.0,
    sum: 0.0,
    moment: 0.0,
};

impl Clock {
    /// A clock for at most `steps` steps.
    pub fn new<S: Shape>(shape: S, steps: u64) -> Result<Self, SolverError> {
        let mut history = Vec::new();
        if shape.paired() && shape.threshold() {
            let most = steps.min(MAX_STEPS as u64) as usize;
            history = reserve(most + 1, "the history of a running average")?;
            history.push(START);
        }
        Ok(Self {
            factor: 1.0,
            threshold: 0.0,
            sum: 0.0,
            moment: 0.0,
            steps: 0,
            history,
        })
    }

    /// Starts again, after the caller has brought all coefficients up to date and multiplied `a` into them.
    pub fn reset(&mut self) {
        self.factor = 1.0;
        self.threshold = 0.0;
        self.sum = 0.0;
        self.moment = 0.0;
        self.steps = 0;
        self.history.truncate(1);
    }

    /// Counts a step: `factor` is the new `a`, and `l1` is `eta l1` of the step.
    #[inline(always)]
    pub fn tick<S: Shape>(&mut self, shape: S, factor: f64, l1: f64) {
        self.factor = factor;
        self.steps += 1;
        if shape.threshold() {
            self.threshold += l1 / factor;
        }
        if shape.paired() {
            self.sum += factor;
        }
        if shape.paired() && shape.threshold() {
            self.moment += factor * self.threshold;
            self.history.push(Moment {
                threshold: self.threshold,
                sum: self.sum,
                moment: self.moment,
            });
        }
    }

    /// Whether a renormalisation has to precede the next step.
    #[inline(always)]
    pub fn needs_renormalising<S: Shape>(&self, shape: S) -> bool {
        let least = if shape.paired() {
            MIN_AVERAGED_FACTOR
        } else {
            MIN_FACTOR
        };
        self.factor < least || shape.threshold() && self.steps == MAX_STEPS
    }

    /// Brings a cell up to date: applies the thresholds since its mark.
    #[inline(always)]
    pub fn sync<S: Shape>(&self, shape: S, cell: &mut [f64]) {
        if !shape.threshold() {
            return;
        }
        let root = root(shape, cell);
        let mark = cell[shape.mark()];
        if shape.paired() {
            let (numbers, sums) = cell[..shape.mark()].split_at_mut(shape.outputs());
            for (x, sum) in numbers.iter_mut().zip(sums) {
                self.shrink(mark as usize, root, x, sum);
            }
            cell[shape.mark()] = self.steps as f64;
        } else {
            let amount = root * (self.threshold - mark);
            // No branch: the processor cannot predict which features the last step touched.
            for x in &mut cell[..shape.outputs()] {
                *x = select_unpredictable(amount == 0.0, *x, shrunk(*x, amount));
            }
            cell[shape.mark()] = self.threshold;
        }
    }

    /// Applies the thresholds since step `from` to `x`, and adds `a x` after each of these steps to `sum`.
    #[inline(always)]
    fn shrink(&self, from: usize, root: f64, x: &mut f64, sum: &mut f64) {
        if *x == 0.0 || from == self.steps {
            return;
        }
        let start = self.history[from];
        let magnitude = x.abs();
        let amount = root * (self.threshold - start.threshold);
        let last = if magnitude - amount > 0.0 {
            self.steps
        } else {
            let rest = &self.history[from + 1..];
            from + rest.partition_point(|k| root * (k.threshold - start.threshold) < magnitude)
        };
        let end = self.history[last];
        let factors = end.sum - start.sum;
        let moments = (end.moment - start.moment) - start.threshold * factors;
        let area = magnitude * factors - root * moments;
        *sum += if *x > 0.0 { area } else { -area };
        *x = soft_threshold(*x, amount);
    }

    /// Multiplies `a` into a cell and rebases its sums. A [`Clock::reset`] follows after all cells.
    pub fn renormalise<S: Shape>(&self, shape: S, cell: &mut [f64]) {
        self.sync(shape, cell);
        if shape.threshold() {
            cell[shape.mark()] = 0.0;
        } else if shape.paired() {
            let (numbers, sums) = cell[..shape.mark()].split_at_mut(shape.outputs());
            for (x, sum) in numbers.iter().zip(sums) {
                *sum -= x * self.sum;
            }
        }
        for x in &mut cell[..shape.outputs()] {
            *x *= self.factor;
        }
    }

    /// Replaces every x of a cell by its mean over `steps` steps.
    pub fn average<S: Shape>(&self, shape: S, cell: &mut [f64], steps: f64) {
        self.sync(shape, cell);
        let (numbers, sums) = cell[..shape.mark()].split_at_mut(shape.outputs());
        for (x, sum) in numbers.iter_mut().zip(sums) {
            *x = if shape.threshold() {
                *sum / steps
            } else {
                (*x * self.sum - *sum) / steps
            };
        }
    }
}

/// sqrt(scale) of a cell with thresholds.
#[inline(always)]
fn root<S: Shape>(shape: S, cell: &[f64]) -> f64 {
    if shape.scaled() {
        cell[shape.root()]
    } else {
        1.0
    }
}
