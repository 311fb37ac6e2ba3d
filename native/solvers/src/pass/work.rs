//! The work on a chunk of rows: their predictions, and how far they reach.

use super::{
    chunk::Chunk,
    params::PassParams,
    plan::Plan,
    sums::{PassOutcome, Sums},
};
use crate::base::instructions::prefetch;

/// Sums of a dot product that are added at the end.
const LANES: usize = 8;

/// The work on a chunk, apart from the Hessian.
pub(super) struct Work<'a> {
    pub(super) plan: &'a Plan,
    pub(super) params: &'a PassParams,
    pub(super) chunk: &'a mut Chunk,
    pub(super) sums: &'a mut Sums,
    pub(super) outcome: &'a mut PassOutcome,
}

impl Work<'_> {
    #[inline(always)]
    pub(super) fn predict(&mut self) {
        let (plan, params, chunk) = (self.plan, self.params, &mut *self.chunk);
        chunk.predictions.clear();
        chunk.along.clear();
        let n = params.entries();
        let cells = plan.cells.get().filter(|_| chunk.is_sparse);
        let mut lines = [&mut chunk.predictions, &mut chunk.along].map(std::mem::take);
        if let Some(cells) = cells {
            chunk.products_of_cells(&plan.constants, cells, &mut lines[0]);
        }
        let along = !params.steps.is_empty();
        for output in 0..params.loss.outputs() {
            let weighted = [
                (&params.model, &plan.constants, cells.is_none()),
                (&params.direction, &plan.constants_along, along),
            ];
            for (z, (weights, constants, is_wanted)) in lines.iter_mut().zip(weighted) {
                if is_wanted {
                    chunk.products(&weights[output * n..][..n], constants[output], z);
                }
            }
        }
        [chunk.predictions, chunk.along] = lines;
    }

    #[inline(always)]
    pub(super) fn reach(&mut self) {
        let (plan, params) = (self.plan, self.params);
        let (chunk, outcome) = (&*self.chunk, &mut *self.outcome);
        let n = params.entries();
        for i in 0..chunk.rows {
            let (mut largest, mut second) = (0.0_f64, 0.0_f64);
            for (c, constant) in plan.constants_of_reach.iter().enumerate() {
                let reach = &params.reach[c * n..][..n];
                let own = if chunk.is_sparse {
                    let (indices, values) = chunk.row(i);
                    let entries = indices.iter().zip(values);
                    let of_scale = chunk.ratios.get(i).map_or(0.0, |a| a.abs() * reach[n - 1]);
                    let of_row: f64 = entries.map(|(&k, x)| x.abs() * reach[k as usize]).sum();
                    constant + of_scale + of_row
                } else {
                    absolute_dot(&chunk.values[i * n..][..n], reach)
                };
                second = second.max(own.min(largest));
                largest = largest.max(own);
            }
            outcome.reach = outcome.reach.max(largest + second);
        }
    }
}

impl Chunk {
    /// Appends the product of each row with `weights`, and of sparse rows the constant.
    #[inline(always)]
    pub(super) fn products(&self, weights: &[f64], constant: f64, out: &mut Vec<f64>) {
        let n = weights.len();
        for i in 0..self.rows {
            out.push(if self.is_sparse {
                let mut z = constant;
                for (k, x, next) in self.entries(i) {
                    prefetch(weights, next);
                    z += x * weights[k];
                }
                z
            } else {
                dot(&self.values[i * n..][..n], weights)
            });
        }
    }

    /// Writes the products of sparse rows with several models, whose numbers stand side by side in `cells`, and the constants: for each model the rows.
    #[inline(always)]
    pub(super) fn products_of_cells(&self, constants: &[f64], cells: &[f64], out: &mut Vec<f64>) {
        let (rows, models) = (self.rows, constants.len());
        out.resize(models * rows, 0.0);
        let mut z = constants.to_vec();
        for i in 0..rows {
            z.copy_from_slice(constants);
            for (k, x, next) in self.entries(i) {
                prefetch(cells, next * models);
                prefetch(cells, next * models + models - 1);
                let cell = &cells[k * models..][..models];
                for (z, w) in z.iter_mut().zip(cell) {
                    *z += x * w;
                }
            }
            for (product, z) in out[i..].iter_mut().step_by(rows).zip(&z) {
                *product = *z;
            }
        }
    }
}

#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    lanes(a, b, |x, y| x * y)
}

/// `sum_k |a_k| b_k`
#[inline(always)]
fn absolute_dot(a: &[f64], b: &[f64]) -> f64 {
    lanes(a, b, |x, y| x.abs() * y)
}

#[inline(always)]
fn lanes(a: &[f64], b: &[f64], product: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for k in 0..LANES {
            sums[k] += product(a[k], b[k]);
        }
    }
    let rest = a_rest.iter().zip(b_rest);
    sums.iter().sum::<f64>() + rest.map(|(&x, &y)| product(x, y)).sum::<f64>()
}
