//! The arrays of a block of a partition, which their owner lends.

use std::ops::Range;

use crate::{
    base::{
        checks::{finite_rows, positive_weights, usable_scale},
        error::{SolverError, same_length},
        matrix::Columns,
        moments::ColumnMoments,
    },
    problem::labels::Labels,
};

/// Columns, their moments and the row weights of one partition. Lengths fit one another.
#[derive(Debug, Clone, Copy)]
pub struct PrimalData<'a> {
    pub(crate) columns: Columns<'a>,
    pub(crate) moments: ColumnMoments<'a>,
    pub(crate) weights: Option<&'a [f64]>,
}

impl<'a> PrimalData<'a> {
    /// `weights`: one for each row, all positive and finite; `None` for all 1. O(rows).
    ///
    /// # Errors
    /// `Shape` if lengths do not fit; `NonFinite` for a weight that is not positive and finite.
    pub fn new(
        columns: Columns<'a>,
        moments: ColumnMoments<'a>,
        weights: Option<&'a [f64]>,
    ) -> Result<Self, SolverError> {
        let data = Self::validated_before(columns, moments, weights)?;
        Self::check_weights(weights)?;
        Ok(data)
    }

    /// Checks that weights are positive and finite: O(rows).
    ///
    /// # Errors
    /// `NonFinite` or `Shape` names the row at fault.
    pub fn check_weights(weights: Option<&[f64]>) -> Result<(), SolverError> {
        positive_weights(weights)
    }

    /// For arrays that [`PrimalData::new`] has accepted: compares lengths, O(1).
    ///
    /// # Errors
    /// `Shape` if lengths do not fit.
    pub fn validated_before(
        columns: Columns<'a>,
        moments: ColumnMoments<'a>,
        weights: Option<&'a [f64]>,
    ) -> Result<Self, SolverError> {
        same_length("mean", moments.len(), columns.len(), "column")?;
        if let Some(weights) = weights {
            same_length("weights", weights.len(), columns.rows(), "row")?;
        }
        Ok(Self {
            columns,
            moments,
            weights,
        })
    }

    /// The columns.
    pub fn columns(&self) -> &Columns<'a> {
        &self.columns
    }
}

/// Labels, weights and norms of the rows of one partition.
///
/// | array | shape | meaning |
/// |---|---|---|
/// | labels | rows | y: of the kind that the loss takes |
/// | weights | rows, or none for all 1 | s |
/// | norms | rows | `N_i = sum_j scale_j x_ij^2` |
/// | projections | rows, or none without intercept | `e_i = sum_j scale_j mean_j x_ij` |
#[derive(Debug, Clone, Copy)]
pub struct Samples<'a> {
    labels: &'a [f64],
    /// Whether labels are classes.
    classes: bool,
    pub(crate) weights: Option<&'a [f64]>,
    pub(crate) norms: &'a [f64],
    pub(crate) projections: Option<&'a [f64]>,
}

impl<'a> Samples<'a> {
    /// Checks that lengths agree, that all numbers are finite, that weights are positive and that norms are not negative: O(rows). The
    /// round checks that labels suit the loss.
    ///
    /// # Errors
    /// `Shape` for unequal lengths; `NonFinite` or `Shape` names the row at fault.
    pub fn new(
        labels: &'a [f64],
        weights: Option<&'a [f64]>,
        norms: &'a [f64],
        projections: Option<&'a [f64]>,
    ) -> Result<Self, SolverError> {
        let samples = Self::validated_before(labels, weights, norms, projections)?;
        Self::check(labels, weights)?;
        Self::check_norms(norms)?;
        finite_rows("projection", projections.unwrap_or_default())?;
        Ok(samples)
    }

    /// Checks that norms are finite and not negative: O(rows).
    pub(super) fn check_norms(norms: &[f64]) -> Result<(), SolverError> {
        finite_rows("norm", norms)?;
        if let Some(row) = norms.iter().position(|&x| x < 0.0) {
            return Err(SolverError::Shape(format!(
                "norm of row {row} is {}: it cannot be negative",
                norms[row]
            )));
        }
        Ok(())
    }

    /// Checks that labels are finite, and that weights are positive and finite: O(rows).
    ///
    /// # Errors
    /// `NonFinite` or `Shape` names the row at fault.
    pub fn check(labels: &[f64], weights: Option<&[f64]>) -> Result<(), SolverError> {
        finite_rows("label", labels)?;
        positive_weights(weights)
    }

    /// For arrays that [`Samples::new`] has accepted: compares lengths, O(1).
    ///
    /// # Errors
    /// `Shape` for unequal lengths.
    pub fn validated_before(
        labels: &'a [f64],
        weights: Option<&'a [f64]>,
        norms: &'a [f64],
        projections: Option<&'a [f64]>,
    ) -> Result<Self, SolverError> {
        for (name, array) in [
            ("weights", weights),
            ("norms", Some(norms)),
            ("projections", projections),
        ] {
            if let Some(array) = array {
                same_length(name, array.len(), labels.len(), "label")?;
            }
        }
        Ok(Self {
            labels,
            classes: false,
            weights,
            norms,
            projections,
        })
    }

    /// The same rows, whose labels are classes 0 and 1 that stand for -1 and 1.
    pub fn of_classes(self) -> Self {
        Self {
            classes: true,
            ..self
        }
    }

    /// Label y of row `i`.
    #[inline(always)]
    pub(crate) fn label(&self, i: usize) -> f64 {
        let label = self.labels[i];
        if self.classes {
            2.0 * label - 1.0
        } else {
            label
        }
    }

    /// Refuses a row of `range` whose label `expected` does not contain.
    pub(crate) fn check_labels(
        &self,
        expected: Labels,
        range: Range<usize>,
    ) -> Result<(), SolverError> {
        let expected = if self.classes {
            Labels::Classes(2)
        } else {
            expected
        };
        expected.check(self.labels, range)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }
}

/// Rows as coordinates: the matrix by rows, the numbers of each row, and the scale of the features. Lengths fit one another.
///
/// The `columns` of the matrix are rows of the data; its rows are features. `scale`: one number >= 0 for each feature, which divides the
/// penalty of its coefficient, `l2_j = l2 / scale_j`; 0 keeps a coefficient at 0; `None` for all 1.
#[derive(Debug, Clone, Copy)]
pub struct DualData<'a> {
    pub(crate) columns: Columns<'a>,
    pub(crate) samples: Samples<'a>,
    pub(crate) scale: Option<&'a [f64]>,
}

impl<'a> DualData<'a> {
    /// Checks that lengths agree, and that the scale is finite and not negative: O(features).
    ///
    /// # Errors
    /// `Shape` if lengths do not fit; `NonFinite` names a feature with a bad scale.
    pub fn new(
        columns: Columns<'a>,
        samples: Samples<'a>,
        scale: Option<&'a [f64]>,
    ) -> Result<Self, SolverError> {
        let data = Self::validated_before(columns, samples, scale)?;
        Self::check_features(scale, None)?;
        Ok(data)
    }

    /// Checks that scale and mean are finite, and the scale not negative: O(features).
    ///
    /// # Errors
    /// `NonFinite` names a feature with a bad scale or mean.
    pub fn check_features(scale: Option<&[f64]>, mean: Option<&[f64]>) -> Result<(), SolverError> {
        usable_scale(scale)?;
        let mean = mean.unwrap_or_default();
        match mean.iter().position(|mean| !mean.is_finite()) {
            None => Ok(()),
            Some(j) => Err(SolverError::NonFinite(format!(
                "mean of feature {j} is {}: it must be finite",
                mean[j]
            ))),
        }
    }

    /// For arrays that [`DualData::new`] has accepted: compares lengths, O(1).
    ///
    /// # Errors
    /// `Shape` if lengths do not fit.
    pub fn validated_before(
        columns: Columns<'a>,
        samples: Samples<'a>,
        scale: Option<&'a [f64]>,
    ) -> Result<Self, SolverError> {
        same_length("labels", samples.len(), columns.len(), "row")?;
        if let Some(scale) = scale {
            same_length("scale", scale.len(), columns.rows(), "feature")?;
        }
        Ok(Self {
            columns,
            samples,
            scale,
        })
    }

    /// The matrix: its columns are the rows of the data.
    pub fn columns(&self) -> &Columns<'a> {
        &self.columns
    }
}
