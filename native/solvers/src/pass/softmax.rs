//! The softmax: values and derivatives; conjugates and dual variables.

use super::{chunk::CHUNK, work::Work};
use crate::base::elementary::{exp, ln_1p};

impl Work<'_> {
    /// Conjugates and dual variables in the place of losses and their derivatives.
    #[inline(always)]
    pub(super) fn dual_softmax(&mut self) {
        let (params, chunk, outcome) = (self.params, &mut *self.chunk, &mut *self.outcome);
        let rows = chunk.rows;
        let (eps, prior) = (params.dual[0], &params.dual[1..]);
        let kept = prior[prior.len() - 1];
        chunk.slopes.clear();
        chunk.slopes.extend_from_slice(&chunk.predictions);
        probabilities(&mut chunk.slopes, rows, &chunk.labels, &chunk.weights);
        for ((c, slopes), r) in chunk.slopes.chunks_mut(rows).enumerate().zip(prior) {
            let class = c as f64;
            for (i, slope) in slopes.iter_mut().enumerate() {
                let own = if chunk.labels[i] == class { 1.0 } else { 0.0 };
                let mixed = (1.0 - eps) * *slope + eps * r;
                let q = kept * mixed + (1.0 - kept) * own;
                let conjugate = if q == 0.0 { 0.0 } else { q * q.ln() };
                outcome.loss += chunk.weights[i] * conjugate;
                *slope = chunk.weights[i] * (kept * (own - mixed));
            }
        }
    }

    /// Values and derivatives of the softmax, output by output, so that several rows go together.
    #[inline(always)]
    pub(super) fn softmax(&mut self) {
        let (params, chunk, outcome) = (self.params, &mut *self.chunk, &mut *self.outcome);
        let (rows, outputs) = (chunk.rows, params.loss.outputs());
        for (total, &step) in outcome.losses.iter_mut().zip(&params.steps) {
            chunk.slopes.clear();
            let moved = chunk.predictions.iter().zip(&chunk.along);
            chunk
                .slopes
                .extend(moved.map(|(z, along)| z + step * along));
            *total += probabilities(&mut chunk.slopes, rows, &chunk.labels, &chunk.weights);
        }
        chunk.slopes.clear();
        chunk.slopes.extend_from_slice(&chunk.predictions);
        outcome.loss += probabilities(&mut chunk.slopes, rows, &chunk.labels, &chunk.weights);
        chunk.curves.clear();
        let pairs = if params.hessian { params.summed() } else { 0 };
        chunk.curves.resize(pairs * rows, 0.0);
        if params.hessian {
            let mut curves = chunk.curves.chunks_mut(rows);
            for a in 0..outputs - 1 {
                let of_a = &chunk.slopes[a * rows..][..rows];
                for b in 0..=a {
                    let of_b = &chunk.slopes[b * rows..][..rows];
                    let Some(curves) = curves.next() else { return };
                    for i in 0..rows {
                        let other = if a == b { 1.0 - of_b[i] } else { -of_b[i] };
                        curves[i] = chunk.weights[i] * (of_a[i] * other);
                    }
                }
            }
        }
        for (c, slopes) in chunk.slopes.chunks_mut(rows).enumerate() {
            let class = c as f64;
            let rows = chunk.labels.iter().zip(&chunk.weights);
            for (slope, (&label, &weight)) in slopes.iter_mut().zip(rows) {
                let own = if label == class { 1.0 } else { 0.0 };
                *slope = weight * (*slope - own);
            }
        }
    }
}

/// Turns predictions, for each output those of all rows, into probabilities, and returns the sum of the weighted losses
/// `log sum exp(z) - z_y`. No exponent is positive, and a small loss keeps its digits.
#[inline(always)]
fn probabilities(z: &mut [f64], rows: usize, labels: &[f64], weights: &[f64]) -> f64 {
    let mut top = [f64::NEG_INFINITY; CHUNK];
    let (mut class_of_top, mut own) = ([0.0; CHUNK], [0.0; CHUNK]);
    for (c, z) in z.chunks(rows).enumerate() {
        let class = c as f64;
        for i in 0..rows {
            let higher = z[i] > top[i];
            top[i] = if higher { z[i] } else { top[i] };
            class_of_top[i] = if higher { class } else { class_of_top[i] };
            own[i] = if labels[i] == class { z[i] } else { own[i] };
        }
    }
    let mut others = [0.0; CHUNK];
    for (c, z) in z.chunks_mut(rows).enumerate() {
        let class = c as f64;
        for i in 0..rows {
            z[i] = exp(z[i] - top[i]);
            others[i] += if class_of_top[i] == class { 0.0 } else { z[i] };
        }
    }
    for z in z.chunks_mut(rows) {
        for i in 0..rows {
            z[i] /= 1.0 + others[i];
        }
    }
    let mut losses = [0.0; CHUNK];
    for i in 0..rows {
        // The logarithm of NaN is a number, and would hide it.
        let log = ln_1p(others[i]) + 0.0 * others[i];
        losses[i] = weights[i] * ((top[i] - own[i]) + log);
    }
    losses[..rows].iter().sum()
}
