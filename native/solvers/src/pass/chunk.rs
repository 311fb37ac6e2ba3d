//! Copies of some rows of a block, which a pass works on.

use std::ops::Range;

use ndarray::ArrayView1;

use super::params::PassParams;
use crate::{
    base::{
        error::{SolverError, same_length},
        matrix::{MatrixView, Stored, Values, slice},
    },
    problem::labels::Labels,
};

/// Rows that a pass packs and works on at a time.
pub(crate) const CHUNK: usize = 256;

/// How many entries ahead a sparse row asks for what it needs: with features in any order, each is a cache line of its own.
pub(super) const AHEAD: usize = 40;

/// Copies of some rows, and their numbers.
#[derive(Default)]
pub(crate) struct Chunk {
    pub(crate) rows: usize,
    pub(crate) is_sparse: bool,
    /// Dense: the rows with centre subtracted, n entries each. Sparse: the values.
    pub(crate) values: Vec<f64>,
    pub(super) offsets: Vec<usize>,
    pub(super) indices: Vec<i32>,
    pub(crate) labels: Vec<f64>,
    pub(crate) weights: Vec<f64>,
    /// For each output the rows; so are `along` and `slopes`, and `curves` for each pair of outputs.
    pub(super) predictions: Vec<f64>,
    pub(super) along: Vec<f64>,
    pub(super) slopes: Vec<f64>,
    pub(super) curves: Vec<f64>,
    /// The last entry of each row, with a scale.
    pub(super) ratios: Vec<f64>,
    /// The rows that have a curvature, where many have none, and their curves.
    pub(super) packed: Vec<f64>,
    pub(super) packed_curves: Vec<f64>,
    /// Dense rows times their curves.
    pub(super) weighted: Vec<f64>,
}

impl Chunk {
    /// Copies the rows of a block from number `from` on, `most` at most, with their labels and weights, and returns which ones.
    ///
    /// # Errors
    /// `Shape` if lengths disagree, a view is a part of a larger one, or a label is of no class.
    pub(crate) fn take(
        &mut self,
        params: &PassParams,
        rows: MatrixView<'_>,
        (labels, weights): (ArrayView1<'_, f64>, Option<ArrayView1<'_, f64>>),
        from: usize,
        most: usize,
    ) -> Result<Range<usize>, SolverError> {
        let (count, length) = rows.shape();
        same_length("a row", length, params.features, "feature")?;
        same_length("labels", labels.len(), count, "row")?;
        let labels = slice("labels", labels)?;
        if let Some(weights) = weights {
            same_length("weights", weights.len(), count, "row")?;
        }
        let weights = weights.map(|w| slice("weights", w)).transpose()?;
        let range = from.min(count)..from.saturating_add(most).min(count);
        self.rows = 0;
        self.add(params, rows.stored()?, (labels, weights), &range)?;
        Ok(range)
    }

    /// Copies the rows in `range` behind the rows so far, which have the same form, with their labels and weights.
    ///
    /// # Errors
    /// `Shape` if a label is of no class.
    pub(crate) fn add(
        &mut self,
        params: &PassParams,
        rows: Stored<'_>,
        (labels, weights): (&[f64], Option<&[f64]>),
        range: &Range<usize>,
    ) -> Result<(), SolverError> {
        self.pack_rows(params, rows, range);
        self.labels.truncate(self.rows);
        self.pack_labels(params.loss.labels(), &labels[range.clone()])?;
        self.weights.truncate(self.rows);
        match weights {
            Some(weights) => self.weights.extend_from_slice(&weights[range.clone()]),
            None => self.weights.resize(self.rows + range.len(), 1.0),
        }
        self.rows += range.len();
        Ok(())
    }

    /// The numbers that the copies hold, about.
    pub(crate) fn numbers(&self) -> usize {
        self.values.capacity()
            + self.curves.capacity()
            + self.packed.capacity()
            + self.weighted.capacity()
            + self.indices.capacity() / 2
    }

    /// Stored entries of the rows, of which each dense one has `features`.
    pub(crate) fn entries_visited(&self, features: usize) -> u64 {
        let entries = if self.is_sparse {
            self.values.len()
        } else {
            self.rows * features
        };
        entries as u64
    }

    /// Copies the rows in `range`.
    fn pack_rows(&mut self, params: &PassParams, rows: Stored<'_>, range: &Range<usize>) {
        self.is_sparse = matches!(rows, Stored::Sparse(..));
        match rows {
            Stored::Dense32(values) => self.pack_dense(params, values, range),
            Stored::Dense64(values) => self.pack_dense(params, values, range),
            Stored::Sparse(offsets, indices, values) => {
                let base = offsets.first().map_or(0, |&base| base as usize);
                self.pack_sparse(base, &offsets[range.start..=range.end], indices, values);
            }
        }
    }

    fn pack_dense<T: Copy + Into<f64>>(
        &mut self,
        params: &PassParams,
        values: &[T],
        range: &Range<usize>,
    ) {
        let (p, n) = (params.features, params.entries());
        self.values.resize((self.rows + range.len()) * n, 0.0);
        pack(
            params,
            &values[range.start * p..range.end * p],
            &mut self.values[self.rows * n..],
        );
    }

    /// Copies the rows whose entries start at `offsets`, counted from `base`.
    fn pack_sparse(&mut self, base: usize, offsets: &[i32], indices: &[i32], values: Values<'_>) {
        let start = |offset: i32| (offset as usize).wrapping_sub(base);
        let first = start(offsets[0]);
        let entries = first..start(offsets[offsets.len() - 1]);
        let at = if self.rows == 0 {
            0
        } else {
            self.offsets[self.rows]
        };
        let end = at + entries.len();
        self.offsets.truncate(self.rows);
        let starts = (offsets.iter()).map(|&o| start(o).wrapping_sub(first).wrapping_add(at));
        self.offsets.extend(starts);
        self.indices.truncate(at);
        self.indices.extend_from_slice(&indices[entries.clone()]);
        self.indices.resize(end + AHEAD, 0);
        self.values.truncate(at);
        match values {
            Values::Ones => self.values.resize(end, 1.0),
            Values::F32(values) => {
                let values = values[entries].iter().map(|&x| f64::from(x));
                self.values.extend(values);
            }
            Values::F64(values) => self.values.extend_from_slice(&values[entries]),
        }
    }

    /// Copies labels as the loss takes them.
    fn pack_labels(&mut self, kind: Labels, labels: &[f64]) -> Result<(), SolverError> {
        match kind {
            Labels::Signed => {
                let signed = labels.iter().map(|&y| if y > 0.5 { 1.0 } else { -1.0 });
                self.labels.extend(signed);
            }
            Labels::Real => self.labels.extend_from_slice(labels),
            Labels::Classes(classes) => {
                if let Some(label) = labels.iter().find(|&&y| !(y >= 0.0 && y < classes as f64)) {
                    return Err(SolverError::Shape(format!(
                        "a label is {label}: there are {classes} classes"
                    )));
                }
                self.labels.extend_from_slice(labels);
            }
        }
        Ok(())
    }

    /// Feature and value of each entry of a sparse row, and the feature of the entry [`AHEAD`] entries later.
    #[inline(always)]
    pub(super) fn entries(&self, i: usize) -> impl Iterator<Item = (usize, f64, usize)> {
        let (from, to) = (self.offsets[i], self.offsets[i + 1]);
        (self.indices[from..to].iter())
            .zip(&self.values[from..to])
            .zip(&self.indices[from + AHEAD..to + AHEAD])
            .map(|((&k, &x), &next)| (k as usize, x, next as usize))
    }

    pub(crate) fn row(&self, i: usize) -> (&[i32], &[f64]) {
        let entries = self.offsets[i]..self.offsets[i + 1];
        (&self.indices[entries.clone()], &self.values[entries])
    }
}

/// Copies rows, less their centre, and gives each its last entries; the one of the scale is 0 until the errors are known.
fn pack<T: Copy + Into<f64>>(params: &PassParams, values: &[T], packed: &mut [f64]) {
    let p = params.features;
    let n = params.entries();
    if n == 0 {
        return;
    }
    for (i, to) in packed.chunks_exact_mut(n).enumerate() {
        let row = &values[i * p..][..p];
        if params.centre.is_empty() {
            for (to, &x) in to.iter_mut().zip(row) {
                *to = x.into();
            }
        } else {
            for ((to, &x), c) in to.iter_mut().zip(row).zip(&params.centre) {
                *to = x.into() - c;
            }
        }
        to[p..].fill(0.0);
        if params.intercept {
            to[p] = 1.0;
        }
    }
}
