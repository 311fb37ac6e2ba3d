//! Copies of some rows of a block, which a pass works on.

use std::ops::Range;

use super::params::PassParams;
use crate::{
    base::{
        error::SolverError,
        matrix::{Stored, Values},
    },
    problem::labels::Labels,
};

/// Rows that a pass packs and works on at a time.
pub(super) const CHUNK: usize = 256;

/// How many entries ahead a sparse row asks for what it needs: with features in any order, each is a cache line of its own.
pub(super) const AHEAD: usize = 40;

/// Copies of some rows, and their numbers.
#[derive(Default)]
pub(super) struct Chunk {
    pub(super) rows: usize,
    pub(super) is_sparse: bool,
    /// Dense: the rows with centre subtracted, n entries each. Sparse: the values.
    pub(super) values: Vec<f64>,
    pub(super) offsets: Vec<usize>,
    pub(super) indices: Vec<i32>,
    pub(super) labels: Vec<f64>,
    pub(super) weights: Vec<f64>,
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
    /// Copies the rows in `range`.
    pub(super) fn pack_rows(
        &mut self,
        params: &PassParams,
        rows: Stored<'_>,
        range: &Range<usize>,
    ) {
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
        let p = params.features;
        self.values.resize(range.len() * params.entries(), 0.0);
        pack(
            params,
            &values[range.start * p..range.end * p],
            &mut self.values,
        );
    }

    /// Copies the rows whose entries start at `offsets`, counted from `base`.
    fn pack_sparse(&mut self, base: usize, offsets: &[i32], indices: &[i32], values: Values<'_>) {
        let start = |offset: i32| (offset as usize).wrapping_sub(base);
        let first = start(offsets[0]);
        let entries = first..start(offsets[offsets.len() - 1]);
        self.offsets.clear();
        let starts = offsets.iter().map(|&o| start(o).wrapping_sub(first));
        self.offsets.extend(starts);
        self.indices.clear();
        self.indices.extend_from_slice(&indices[entries.clone()]);
        self.indices.resize(entries.len() + AHEAD, 0);
        self.values.clear();
        match values {
            Values::Ones => self.values.resize(entries.len(), 1.0),
            Values::F32(values) => {
                let values = values[entries].iter().map(|&x| f64::from(x));
                self.values.extend(values);
            }
            Values::F64(values) => self.values.extend_from_slice(&values[entries]),
        }
    }

    /// Copies labels as the loss takes them.
    pub(super) fn pack_labels(&mut self, kind: Labels, labels: &[f64]) -> Result<(), SolverError> {
        self.labels.clear();
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

    pub(super) fn row(&self, i: usize) -> (&[i32], &[f64]) {
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
