//! The arrays of one partition, which the caller lends for one slice of work.

use crate::base::{
    checks::{finite_rows, positive_weights, usable_scale},
    error::{SolverError, same_length},
    matrix::Columns,
    moments::ColumnMoments,
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
        positive_weights(weights)?;
        Ok(data)
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
    pub(crate) labels: &'a [f64],
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
        for (name, array) in [
            ("label", Some(labels)),
            ("norm", Some(norms)),
            ("projection", projections),
        ] {
            finite_rows(name, array.unwrap_or_default())?;
        }
        if let Some(row) = norms.iter().position(|&x| x < 0.0) {
            return Err(SolverError::Shape(format!(
                "norm of row {row} is {}: it cannot be negative",
                norms[row]
            )));
        }
        positive_weights(weights)?;
        Ok(samples)
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
            weights,
            norms,
            projections,
        })
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
        usable_scale(scale)?;
        Ok(data)
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
