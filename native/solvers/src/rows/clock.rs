//! The change that every step makes to all coefficients, in a few numbers.
//!
//! A step multiplies all coefficients by `1 - eta l2` and moves all of them towards 0 by `eta l1 sqrt(scale_j)`. With `w = a x` the first
//! is a change of a. The second is a change of `B`, the sum over the steps of `eta l1 / a`: a soft threshold by p and then by q equals one
//! by p + q, and thresholds commute with scaling. The next step that touches a feature brings it up to date.

use std::hint::select_unpredictable;

use super::shape::Shape;
use crate::problem::penalty::shrunk;

/// Most steps between two renormalisations of a model with thresholds: bounds the rounding error of B.
pub(super) const MAX_STEPS: usize = 1 << 20;

/// Below this, `a` is multiplied into x: a smaller `a` would let x overflow or lose digits.
const MIN_FACTOR: f64 = 1e-5;

/// The sums over the steps since the last renormalisation.
#[derive(Debug)]
pub(super) struct Clock {
    /// a
    pub factor: f64,
    /// B
    pub threshold: f64,
    steps: usize,
}

impl Clock {
    /// A clock before its first step.
    pub fn new() -> Self {
        Self {
            factor: 1.0,
            threshold: 0.0,
            steps: 0,
        }
    }

    /// Starts again, after the caller has brought all coefficients up to date and multiplied `a` into them.
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// Counts a step: `factor` is the new `a`, and `l1` is `eta l1` of the step.
    #[inline(always)]
    pub fn tick<S: Shape>(&mut self, shape: S, factor: f64, l1: f64) {
        self.factor = factor;
        self.steps += 1;
        if shape.threshold() {
            self.threshold += l1 / factor;
        }
    }

    /// Whether a renormalisation has to precede the next step.
    #[inline(always)]
    pub fn needs_renormalising<S: Shape>(&self, shape: S) -> bool {
        self.factor < MIN_FACTOR || shape.threshold() && self.steps == MAX_STEPS
    }

    /// Brings a cell up to date: applies the thresholds since its mark.
    #[inline(always)]
    pub fn sync<S: Shape>(&self, shape: S, cell: &mut [f64]) {
        if !shape.threshold() {
            return;
        }
        let amount = root(shape, cell) * (self.threshold - cell[shape.mark()]);
        // No branch: the processor cannot predict which features the last step touched.
        for x in &mut cell[..shape.outputs()] {
            *x = select_unpredictable(amount == 0.0, *x, shrunk(*x, amount));
        }
        cell[shape.mark()] = self.threshold;
    }

    /// Multiplies `a` into a cell. A [`Clock::reset`] follows after all cells.
    pub fn renormalise<S: Shape>(&self, shape: S, cell: &mut [f64]) {
        self.sync(shape, cell);
        if shape.threshold() {
            cell[shape.mark()] = 0.0;
        }
        for x in &mut cell[..shape.outputs()] {
            *x *= self.factor;
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
