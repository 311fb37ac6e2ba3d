//! Losses of one output, with a scale or without: values and derivatives; conjugates and dual variables.

use super::{chunk::CHUNK, work::Work};
use crate::problem::{
    feasibility::Feasibility,
    huber::Huber,
    labels::Labels,
    loss::{Formulas, WithFormulas},
};

/// Values and derivatives of a loss of one output.
pub(super) struct Margins<'a, 'b>(pub(super) &'a mut Work<'b>);

impl WithFormulas for Margins<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<F: Formulas>(self, formulas: F) {
        let work = &mut *self.0;
        let (params, chunk, outcome) = (work.params, &mut *work.chunk, &mut *work.outcome);
        let rows = chunk.rows;
        for numbers in [&mut chunk.slopes, &mut chunk.curves] {
            numbers.clear();
            numbers.resize(rows, 0.0);
        }
        for (total, &step) in outcome.losses.iter_mut().zip(&params.steps) {
            let mut sum = 0.0;
            for i in 0..rows {
                let z = chunk.predictions[i] + step * chunk.along[i];
                sum += chunk.weights[i] * formulas.all(z, chunk.labels[i]).0;
            }
            *total += sum;
        }
        let mut values = [0.0; CHUNK];
        let columns = chunk
            .predictions
            .iter()
            .zip(&chunk.labels)
            .zip(&chunk.weights);
        let outputs = chunk
            .slopes
            .iter_mut()
            .zip(&mut chunk.curves)
            .zip(&mut values);
        for (((&z, &y), &s), ((slope, curve), value)) in columns.zip(outputs) {
            let (l, first, second) = formulas.all(z, y);
            *value = s * l;
            *slope = s * first;
            *curve = s * second;
        }
        outcome.loss += values[..rows].iter().sum::<f64>();
        if params.loss.labels() == Labels::Signed {
            self.0.by_class();
        }
    }
}

/// Conjugates and dual variables of a loss of one output.
pub(super) struct DualMargins<'a, 'b>(pub(super) &'a mut Work<'b>, pub(super) Feasibility);

impl WithFormulas for DualMargins<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<F: Formulas>(self, formulas: F) {
        let Self(work, feasibility) = self;
        let (params, chunk, outcome) = (work.params, &mut *work.chunk, &mut *work.outcome);
        chunk.slopes.clear();
        let rows = chunk
            .predictions
            .iter()
            .zip(&chunk.labels)
            .zip(&chunk.weights);
        let mut sum = 0.0;
        for ((&z, &y), &s) in rows {
            let variable = feasibility.variable(&params.dual, formulas.all(z, y).1);
            sum += s * formulas.conjugate(variable, y);
            chunk.slopes.push(s * variable);
        }
        outcome.loss += sum;
    }
}

impl Work<'_> {
    /// Values and derivatives of a loss with a scale, and the last entry of each row.
    #[inline(always)]
    pub(super) fn scaled(&mut self, huber: Huber) {
        let (params, sums) = (self.params, &mut *self.sums);
        let (chunk, outcome) = (&mut *self.chunk, &mut *self.outcome);
        let (rows, n) = (chunk.rows, params.entries());
        let sigma = params.model[n - 1];
        for (total, &step) in outcome.losses.iter_mut().zip(&params.steps) {
            let moved = sigma + step * params.direction[n - 1];
            let mut sum = 0.0;
            for i in 0..rows {
                let z = chunk.predictions[i] + step * chunk.along[i];
                sum += chunk.weights[i] * huber.all(chunk.labels[i] - z, moved).value;
            }
            *total += sum;
        }
        for numbers in [&mut chunk.slopes, &mut chunk.curves, &mut chunk.ratios] {
            numbers.clear();
            numbers.resize(rows, 0.0);
        }
        let mut by_scale = 0.0;
        for i in 0..rows {
            let (s, error) = (chunk.weights[i], chunk.labels[i] - chunk.predictions[i]);
            let at = huber.all(error, sigma);
            outcome.loss += s * at.value;
            let is_linear = at.curve == 0.0;
            chunk.slopes[i] = -s * at.ratio;
            (chunk.curves[i], chunk.ratios[i]) = if params.majorise && is_linear {
                (s * (at.ratio / error), 0.0)
            } else {
                (s * at.curve, at.ratio)
            };
            by_scale += 0.5 * s * (1.0 - at.ratio * at.ratio);
            if !chunk.is_sparse {
                chunk.values[i * n + n - 1] = chunk.ratios[i];
            }
        }
        if params.gradient {
            sums.gradient[n - 1] += by_scale;
        }
    }

    /// Sums of the slopes of a loss of two classes.
    #[inline(always)]
    pub(super) fn by_class(&mut self) {
        let (chunk, outcome) = (&*self.chunk, &mut *self.outcome);
        for ((&slope, &y), &s) in chunk.slopes.iter().zip(&chunk.labels).zip(&chunk.weights) {
            let side = usize::from(y > 0.0);
            outcome.slopes[side] += slope.abs();
            if s > 0.0 {
                outcome.slope_squares[side] += slope * (slope / s);
            }
        }
    }
}
