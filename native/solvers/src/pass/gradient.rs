//! Rows in the sums of the gradient and of the moments.

use super::{chunk::Chunk, work::Work};
use crate::base::instructions::prefetch;

impl Work<'_> {
    #[inline(always)]
    pub(super) fn gradient(&mut self) {
        let (params, chunk, sums) = (self.params, &mut *self.chunk, &mut *self.sums);
        let n = params.entries();
        if n == 0 {
            return;
        }
        if chunk.is_sparse && params.loss.outputs() > 1 {
            chunk.add_cells(params.intercept, &mut sums.gradient);
            return;
        }
        // The derivative by the scale is there.
        let unscaled = params.unscaled();
        for (sums, slopes) in (sums.gradient.chunks_mut(n)).zip(chunk.slopes.chunks(chunk.rows)) {
            let sums = &mut sums[..unscaled];
            for (i, &slope) in slopes.iter().enumerate() {
                if chunk.is_sparse {
                    for (k, x, next) in chunk.entries(i) {
                        prefetch(sums, next);
                        sums[k] += slope * x;
                    }
                    if params.intercept {
                        sums[unscaled - 1] += slope;
                    }
                } else {
                    let row = &chunk.values[i * n..][..n];
                    for (sum, &x) in sums.iter_mut().zip(row) {
                        *sum += slope * x;
                    }
                }
            }
        }
    }

    #[inline(always)]
    pub(super) fn moments(&mut self) {
        let (params, chunk, sums) = (self.params, &mut *self.chunk, &mut *self.sums);
        let n = params.entries();
        for i in 0..chunk.rows {
            let weight = chunk.weights[i];
            sums.weight += weight;
            if chunk.is_sparse {
                let entries = chunk.offsets[i]..chunk.offsets[i + 1];
                for (&k, &x) in chunk.indices[entries.clone()]
                    .iter()
                    .zip(&chunk.values[entries])
                {
                    sums.first[k as usize] += weight * x;
                    sums.second[k as usize] += weight * (x * x);
                }
            } else {
                let row = &chunk.values[i * n..][..n];
                for ((first, second), &x) in sums.first.iter_mut().zip(&mut sums.second).zip(row) {
                    let weighted = weight * x;
                    *first += weighted;
                    *second += weighted * x;
                }
            }
        }
    }
}

impl Chunk {
    /// Adds sparse rows, times their slopes, to sums with the numbers of all outputs side by side.
    #[inline(always)]
    fn add_cells(&self, intercept: bool, sums: &mut [f64]) {
        let outputs = self.slopes.len() / self.rows;
        let mut slopes = vec![0.0; outputs];
        for i in 0..self.rows {
            let own = self.slopes[i..].iter().step_by(self.rows);
            for (to, slope) in slopes.iter_mut().zip(own) {
                *to = *slope;
            }
            for (k, x, next) in self.entries(i) {
                prefetch(sums, next * outputs);
                prefetch(sums, next * outputs + outputs - 1);
                let cell = &mut sums[k * outputs..][..outputs];
                for (sum, slope) in cell.iter_mut().zip(&slopes) {
                    *sum += slope * x;
                }
            }
            if intercept {
                let last = sums.len() - outputs;
                for (sum, slope) in sums[last..].iter_mut().zip(&slopes) {
                    *sum += slope;
                }
            }
        }
    }
}
