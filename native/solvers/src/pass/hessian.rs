//! Rows in the sums of the Hessian.

use super::{chunk::Chunk, params::PassParams};
use crate::base::{error::SolverError, gram::Gram};

impl Chunk {
    /// Adds the rows to the Hessian.
    pub(super) fn add_curved(
        &mut self,
        params: &PassParams,
        hessian: &mut [Gram],
    ) -> Result<(), SolverError> {
        let rows = self.rows;
        if self.is_sparse {
            for (gram, curves) in hessian.iter_mut().zip(self.curves.chunks(rows)) {
                self.add_sparse(gram, curves, params);
            }
        } else if let ([gram], true) = (&mut *hessian, self.is_partly_curved()) {
            self.pack_curved(params.entries());
            gram.add(&self.packed, &self.packed_curves, &mut self.weighted)?;
        } else {
            for (gram, curves) in hessian.iter_mut().zip(self.curves.chunks(rows)) {
                gram.add(&self.values, curves, &mut self.weighted)?;
            }
        }
        Ok(())
    }

    /// Whether a copy of the rows that have a curvature is worth its while.
    fn is_partly_curved(&self) -> bool {
        let curved = self.curves.iter().filter(|&&curve| curve != 0.0).count();
        4 * curved <= 3 * self.curves.len()
    }

    fn pack_curved(&mut self, n: usize) {
        self.packed.clear();
        self.packed_curves.clear();
        for (row, &curve) in self.values.chunks(n.max(1)).zip(&self.curves) {
            if curve != 0.0 {
                self.packed.extend_from_slice(row);
                self.packed_curves.push(curve);
            }
        }
    }

    fn add_sparse(&self, gram: &mut Gram, curves: &[f64], params: &PassParams) {
        let (p, n) = (params.features, params.entries());
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        let curved = curves.iter().enumerate().filter(|(_, c)| **c != 0.0);
        for (i, &curve) in curved {
            let (row, numbers) = self.row(i);
            if n == p {
                gram.add_sparse(row, numbers, curve);
                continue;
            }
            indices.clear();
            indices.extend_from_slice(row);
            indices.extend(p as i32..n as i32);
            values.clear();
            values.extend_from_slice(numbers);
            if params.intercept {
                values.push(1.0);
            }
            values.extend(self.ratios.get(i));
            gram.add_sparse(&indices, &values, curve);
        }
    }
}
