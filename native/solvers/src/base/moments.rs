//! Weighted moments of the columns, which the caller computes.

use crate::base::error::{SolverError, same_length};

/// Mean, population variance about the mean, and deviation of each column over **all** rows, implicit zeros included:
/// `mean_i = sum_j s_j c_ij / S`, `variance_i = sum_j s_j (c_ij - mean_i)^2 / S`, `deviation_i = sqrt(variance_i)`.
///
/// Three arrays, one entry for each column, in the units of the column (squared for the variance).
#[derive(Debug, Clone, Copy)]
pub struct ColumnMoments<'a> {
    pub(crate) mean: &'a [f64],
    pub(crate) variance: &'a [f64],
    pub(crate) deviation: &'a [f64],
}

impl<'a> ColumnMoments<'a> {
    /// Checks that lengths agree, that all numbers are finite, and that variances and deviations are not negative: O(columns).
    ///
    /// # Errors
    /// `Shape` for unequal lengths; `NonFinite` or `Shape` names the column at fault.
    pub fn new(
        mean: &'a [f64],
        variance: &'a [f64],
        deviation: &'a [f64],
    ) -> Result<Self, SolverError> {
        let moments = Self::validated_before(mean, variance, deviation)?;
        for (name, array) in [
            ("mean", mean),
            ("variance", variance),
            ("deviation", deviation),
        ] {
            if let Some(i) = array.iter().position(|x| !x.is_finite()) {
                return Err(SolverError::NonFinite(format!(
                    "{name} of column {i} is {}: moments must be finite",
                    array[i]
                )));
            }
        }
        for (name, array) in [("variance", variance), ("deviation", deviation)] {
            if let Some(i) = array.iter().position(|&x| x < 0.0) {
                return Err(SolverError::Shape(format!(
                    "{name} of column {i} is {}: it cannot be negative",
                    array[i]
                )));
            }
        }
        Ok(moments)
    }

    /// For arrays that [`ColumnMoments::new`] has accepted: compares lengths, O(1).
    ///
    /// # Errors
    /// `Shape` for unequal lengths.
    pub fn validated_before(
        mean: &'a [f64],
        variance: &'a [f64],
        deviation: &'a [f64],
    ) -> Result<Self, SolverError> {
        same_length("variance", variance.len(), mean.len(), "mean")?;
        same_length("deviation", deviation.len(), mean.len(), "mean")?;
        Ok(Self {
            mean,
            variance,
            deviation,
        })
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.mean.len()
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.mean.is_empty()
    }
}
