//! The arrays of one partition, lent for one slice of work.

use crate::{
    columns::Columns,
    error::{SolverError, same_length},
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
    /// `Shape` if lengths do not fit; `InvalidParam` and `NonFinite` for a weight that is not positive and finite.
    pub fn new(
        columns: Columns<'a>,
        moments: ColumnMoments<'a>,
        weights: Option<&'a [f64]>,
    ) -> Result<Self, SolverError> {
        let data = Self::validated_before(columns, moments, weights)?;
        let bad = weights
            .unwrap_or_default()
            .iter()
            .position(|s| !(s.is_finite() && *s > 0.0));
        match bad {
            None => Ok(data),
            Some(row) => Err(SolverError::NonFinite(format!(
                "weight of row {row} is {}: weights must be positive and finite, rows without weight are left out",
                weights.unwrap_or_default()[row]
            ))),
        }
    }

    /// For arrays that [`PrimalData::new`] has accepted before: compares lengths, O(1).
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
