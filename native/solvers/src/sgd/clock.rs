//! What every step does to all coefficients alike, kept as a few numbers.
//!
//! A step multiplies all coefficients by the same `1 - eta l2` and moves all of them towards 0 by `eta l1 sqrt(scale_j)`. With `w = a x` the
//! first is a change of a; the second is one of `B`, the sum over steps of `eta l1 / a`, since soft thresholds by p and then by q are one by
//! p + q, and scaling commutes with them. A feature is brought up to date when it is next touched.
//!
//! A running average adds up `w = a x` after every step. Where x has not changed between two steps that is x times the difference of `A`, the
//! sum of a. With a threshold it is `|x| - sqrt(scale) (B_k - B_p)` for the steps k after p, times a_k, as long as that is positive: a matter
//! of `A` and of `D`, the sum of `a_k B_k`, at the last such step, which is looked up in the history.

use std::hint::select_unpredictable;

use super::shape::Shape;
use crate::{
    base::error::{SolverError, reserve},
    problem::penalty::{shrunk, soft_threshold},
};

/// Steps between two renormalisations of a model with thresholds, at most: bounds the history, and what B loses to rounding.
pub(super) const MAX_STEPS: usize = 1 << 20;

/// Below this a is multiplied into x, before x overflows or loses digits.
const MIN_FACTOR: f64 = 1e-5;

/// The same for a running average, whose sums of a would lose digits relative to the last a.
const MIN_AVERAGED_FACTOR: f64 = 1e-3;

/// Since the last renormalisation.
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
    /// With thresholds and a running average: after every step, and before the first.
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
    /// `steps`: at most so many will be made.
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

    /// All coefficients are up to date and multiplied by a.
    pub fn reset(&mut self) {
        self.factor = 1.0;
        self.threshold = 0.0;
        self.sum = 0.0;
        self.moment = 0.0;
        self.steps = 0;
        self.history.truncate(1);
    }

    /// A step has been made: `factor` is the new a, `l1` the `eta l1` of the step.
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

    /// Whether the model has to be renormalised before the next step.
    #[inline(always)]
    pub fn needs_renormalising<S: Shape>(&self, shape: S) -> bool {
        let least = if shape.paired() {
            MIN_AVERAGED_FACTOR
        } else {
            MIN_FACTOR
        };
        self.factor < least || shape.threshold() && self.steps == MAX_STEPS
    }

    /// Applies to a cell the thresholds that it has not seen.
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
            // Which features were touched by the last step cannot be predicted.
            for x in &mut cell[..shape.outputs()] {
                *x = select_unpredictable(amount == 0.0, *x, shrunk(*x, amount));
            }
            cell[shape.mark()] = self.threshold;
        }
    }

    /// Applies the thresholds since step `from` to `x`, and adds to `sum` what `a x` was after each of the steps.
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

    /// Multiplies a into a cell and starts its sums anew, so that [`Clock::reset`] can follow.
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

    /// Puts the mean over `steps` steps in the place of every x of a cell.
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
