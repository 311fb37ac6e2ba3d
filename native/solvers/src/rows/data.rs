//! The rows of one partition, which the caller lends for one slice of work.

use crate::base::{
    checks::{finite_rows, positive_weights, usable_scale},
    error::{SolverError, same_length},
    matrix::Columns,
};

/// Rows with their labels and weights, and the scale of the features. Lengths fit one another.
///
/// | array | shape | meaning |
/// |---|---|---|
/// | rows | m rows of n features | the matrix: a "column" of it is a row of the data, its "rows" are features |
/// | labels | m | y: of the kind that the loss takes |
/// | weights | m, or none for all 1 | s |
/// | scale | n, or none for all 1 | at least 0: the penalty is on `w / sqrt(scale)`; with 0 no step changes the coefficients of the feature |
#[derive(Debug, Clone, Copy)]
pub struct SgdData<'a> {
    pub(super) rows: Columns<'a>,
    pub(super) labels: &'a [f64],
    pub(super) weights: Option<&'a [f64]>,
    pub(super) scale: Option<&'a [f64]>,
}

impl<'a> SgdData<'a> {
    /// Checks that lengths agree, that labels are finite, weights positive and finite, and the scale finite and not negative: O(rows +
    /// features). The calls check that labels suit the loss.
    ///
    /// # Errors
    /// `Shape` for unequal lengths; `NonFinite` names the row or feature at fault.
    pub fn new(
        rows: Columns<'a>,
        labels: &'a [f64],
        weights: Option<&'a [f64]>,
        scale: Option<&'a [f64]>,
    ) -> Result<Self, SolverError> {
        let data = Self::validated_before(rows, labels, weights, scale)?;
        finite_rows("label", labels)?;
        positive_weights(weights)?;
        usable_scale(scale)?;
        Ok(data)
    }

    /// For arrays that [`SgdData::new`] has accepted: compares lengths, O(1).
    ///
    /// # Errors
    /// `Shape` for unequal lengths.
    pub fn validated_before(
        rows: Columns<'a>,
        labels: &'a [f64],
        weights: Option<&'a [f64]>,
        scale: Option<&'a [f64]>,
    ) -> Result<Self, SolverError> {
        same_length("labels", labels.len(), rows.len(), "row")?;
        if let Some(weights) = weights {
            same_length("weights", weights.len(), rows.len(), "row")?;
        }
        if let Some(scale) = scale {
            same_length("scale", scale.len(), rows.rows(), "feature")?;
        }
        Ok(Self {
            rows,
            labels,
            weights,
            scale,
        })
    }

    /// The matrix: its columns are the rows of the data.
    pub fn rows(&self) -> &Columns<'a> {
        &self.rows
    }

    /// s of row `i`.
    #[inline(always)]
    pub(super) fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }
}
