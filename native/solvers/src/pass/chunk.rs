//! Copies of some rows of a block, which a pass works on.

use std::ops::Range;

use super::params::PassParams;
use crate::{
    base::{
        columns::Values,
        error::{SolverError, same_length},
    },
    problem::labels::Labels,
};

/// Rows that a pass packs and works on at a time.
pub(super) const CHUNK: usize = 256;

/// How many entries ahead a sparse row asks for what it needs: with features in any order, each is a cache line of its own.
pub(super) const AHEAD: usize = 40;

/// Rows of a block: row-major dense, or compressed sparse rows.
#[derive(Debug, Clone, Copy)]
pub enum PassRows<'a> {
    /// As many values for each row as there are features.
    Dense(Values<'a>),
    /// Entries of row i are `offsets[i]` until `offsets[i + 1]`, with ascending features.
    Sparse(&'a [i32], &'a [i32], Values<'a>),
}

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
    pub(super) fn pack_dense(
        &mut self,
        params: &PassParams,
        values: Values<'_>,
        count: usize,
        range: &Range<usize>,
    ) -> Result<(), SolverError> {
        let p = params.features;
        self.is_sparse = false;
        self.values.resize(range.len() * params.entries(), 0.0);
        let entries = range.start * p..range.end * p;
        match values {
            Values::Ones => Err(SolverError::Shape(
                "values are missing: dense rows need them".into(),
            )),
            Values::F32(values) => {
                same_length("values32", values.len(), count * p, "entry")?;
                pack(params, &values[entries], &mut self.values);
                Ok(())
            }
            Values::F64(values) => {
                same_length("values64", values.len(), count * p, "entry")?;
                pack(params, &values[entries], &mut self.values);
                Ok(())
            }
        }
    }

    pub(super) fn pack_sparse(
        &mut self,
        features: usize,
        offsets: &[i32],
        indices: &[i32],
        values: Values<'_>,
        range: &Range<usize>,
    ) -> Result<(), SolverError> {
        self.is_sparse = true;
        let wrong =
            || SolverError::Shape("offsets are not ascending, or beyond the entries".into());
        let first = usize::try_from(offsets[range.start]).map_err(|_| wrong())?;
        let end = usize::try_from(offsets[range.end]).map_err(|_| wrong())?;
        self.offsets.clear();
        let mut last = 0;
        for &offset in &offsets[range.start..=range.end] {
            let at = (offset as usize).wrapping_sub(first);
            if at < last || at > end.wrapping_sub(first) {
                return Err(wrong());
            }
            self.offsets.push(at);
            last = at;
        }
        let entries = first..end;
        self.indices.clear();
        self.indices
            .extend_from_slice(indices.get(entries.clone()).ok_or_else(wrong)?);
        let is_outside = |&i: &i32| i < 0 || i as usize >= features;
        if self.indices.iter().any(is_outside) {
            return Err(SolverError::Shape(format!(
                "a feature of a sparse row is out of range: there are {features}"
            )));
        }
        self.indices.resize(entries.len() + AHEAD, 0);
        self.values.clear();
        match values {
            Values::Ones => self.values.resize(entries.len(), 1.0),
            Values::F32(values) => {
                let values = values.get(entries).ok_or_else(wrong)?;
                self.values.extend(values.iter().map(|&x| f64::from(x)));
            }
            Values::F64(values) => {
                let values = values.get(entries).ok_or_else(wrong)?;
                self.values.extend_from_slice(values);
            }
        }
        Ok(())
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
