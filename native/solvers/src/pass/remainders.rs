//! Remainders in the place of the features that they replace.

use super::{
    chunk::{AHEAD, Chunk},
    plan::Plan,
    work::dot,
};

impl Chunk {
    /// Puts the remainders in the place of the features that they replace.
    pub(super) fn replace(&mut self, plan: &Plan, rows: usize) {
        if self.is_sparse {
            self.replace_sparse(plan, rows);
            return;
        }
        let n = plan.params.entries();
        let mut found = vec![0.0; plan.remainders.len()];
        for row in self.values.chunks_exact_mut(n) {
            for (found, remainder) in found.iter_mut().zip(&plan.remainders) {
                *found = dot(row, &remainder.weights);
            }
            for (found, remainder) in found.iter().zip(&plan.remainders) {
                row[remainder.feature] = *found;
            }
        }
    }

    fn replace_sparse(&mut self, plan: &Plan, rows: usize) {
        let features = plan.params.features;
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        let mut offsets = vec![0];
        let mut found = vec![None; features];
        for i in 0..rows {
            for remainder in &plan.remainders {
                let weights = &remainder.weights;
                let entries = self.entries(i);
                let sum: f64 = entries.map(|(k, x, _)| x * weights[k]).sum();
                found[remainder.feature] = Some(remainder.constant + sum);
            }
            let (own, numbers) = self.row(i);
            let kept = (own.iter().zip(numbers)).filter(|(k, _)| found[**k as usize].is_none());
            let mut merged: Vec<(i32, f64)> = kept.map(|(k, x)| (*k, *x)).collect();
            for remainder in &plan.remainders {
                let value = found[remainder.feature].take().unwrap_or(0.0);
                merged.push((remainder.feature as i32, value));
            }
            merged.sort_unstable_by_key(|(k, _)| *k);
            indices.extend(merged.iter().map(|(k, _)| *k));
            values.extend(merged.iter().map(|(_, x)| *x));
            offsets.push(values.len());
        }
        indices.resize(values.len() + AHEAD, 0);
        (self.indices, self.values, self.offsets) = (indices, values, offsets);
    }
}
