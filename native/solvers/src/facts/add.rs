//! Adds rows to the sums of features.

use std::ops::Range;

use super::{
    dense,
    rows::{Rows, width},
    sums::{COUNT, DIFFERENCES, FIRST, FeatureSums, POSITIVE, SQUARES, WEIGHT, WIDTH},
};
use crate::base::{
    error::{SolverError, same_length},
    matrix::{MatrixView, Stored, Values},
};

impl FeatureSums<'_> {
    /// Adds the rows of a range. `labels` and `weights` have a number for each row of the matrix; without weights every one is 1.
    ///
    /// # Errors
    /// `Shape` if lengths disagree, or for features that `sums` has no room for.
    pub fn add(
        &mut self,
        matrix: MatrixView<'_>,
        labels: &[f64],
        weights: Option<&[f64]>,
        range: Range<usize>,
    ) -> Result<(), SolverError> {
        let (rows, features) = matrix.shape();
        same_length("a row", features, self.features(), "feature")?;
        same_length("labels", labels.len(), rows, "row")?;
        if let Some(weights) = weights {
            same_length("weights", weights.len(), rows, "row")?;
        }
        let of_rows = Rows { labels, weights };
        match matrix.stored()? {
            Stored::Sparse(offsets, indices, values) => {
                let offsets = &offsets[range.start..=range.end];
                let rows = of_rows.part(range);
                match values {
                    Values::Ones if weights.is_none() && !self.ones.is_empty() => {
                        self.add_ones(offsets, indices, rows);
                        Ok(())
                    }
                    Values::Ones => self.add_sparse(offsets, indices, |_| 1.0, |_| 0.0, rows),
                    Values::F32(values) => {
                        let value = |at: usize| f64::from(values[at]);
                        self.add_sparse(offsets, indices, value, |x| f64::from(x != 1.0), rows)
                    }
                    Values::F64(values) => {
                        self.add_sparse(offsets, indices, |at| values[at], width, rows)
                    }
                }
            }
            Stored::Dense32(values) => {
                let part = &values[range.start * features..range.end * features];
                dense::add(self, part, of_rows.part(range))
            }
            Stored::Dense64(values) => {
                let part = &values[range.start * features..range.end * features];
                dense::add(self, part, of_rows.part(range))
            }
        }
    }

    /// Rows of weight 1 whose nonzeros are 1: counts are all there is to know.
    fn add_ones(&mut self, offsets: &[i32], indices: &[i32], rows: Rows<'_>) {
        for (row, ends) in offsets.windows(2).enumerate() {
            let class = usize::from(rows.is_positive(row));
            for &feature in &indices[ends[0] as usize..ends[1] as usize] {
                self.ones[feature as usize][class] += 1;
            }
        }
    }

    fn add_sparse(
        &mut self,
        offsets: &[i32],
        indices: &[i32],
        value: impl Fn(usize) -> f64,
        width: impl Fn(f64) -> f64,
        rows: Rows<'_>,
    ) -> Result<(), SolverError> {
        for (row, ends) in offsets.windows(2).enumerate() {
            let (weight, positive) = (rows.weight(row), rows.positive_weight(row));
            let entries = ends[0] as usize..ends[1] as usize;
            for (&feature, at) in indices[entries.clone()].iter().zip(entries) {
                let x = value(at);
                if x == 0.0 {
                    continue;
                }
                let sums = self.of(feature as usize, x)?;
                let difference = x - sums[FIRST];
                sums[COUNT] += 1.0;
                sums[WEIGHT] += weight;
                sums[DIFFERENCES] += weight * difference;
                sums[SQUARES] += weight * difference * difference;
                sums[POSITIVE] += positive * x;
                sums[WIDTH] = sums[WIDTH].max(width(x));
            }
        }
        Ok(())
    }
}
