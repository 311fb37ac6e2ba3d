//! Checks of the numbers that belong to rows and features.

use crate::base::error::SolverError;

/// Refuses NaN and infinity; `name` is what a row's number is called.
pub(crate) fn finite_rows(name: &str, numbers: &[f64]) -> Result<(), SolverError> {
    match numbers.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(row) => Err(SolverError::NonFinite(format!(
            "{name} of row {row} is {}: it must be finite",
            numbers[row]
        ))),
    }
}

/// Refuses weights that are not positive and finite.
pub(crate) fn positive_weights(weights: Option<&[f64]>) -> Result<(), SolverError> {
    let weights = weights.unwrap_or_default();
    match weights.iter().position(|s| !(s.is_finite() && *s > 0.0)) {
        None => Ok(()),
        Some(row) => Err(SolverError::NonFinite(format!(
            "weight of row {row} is {}: weights must be positive and finite, rows without weight are left out",
            weights[row]
        ))),
    }
}

/// Refuses a scale that is not finite or is negative.
pub(crate) fn usable_scale(scale: Option<&[f64]>) -> Result<(), SolverError> {
    let scale = scale.unwrap_or_default();
    match scale.iter().position(|x| !(x.is_finite() && *x >= 0.0)) {
        None => Ok(()),
        Some(feature) => Err(SolverError::NonFinite(format!(
            "scale of feature {feature} is {}: it must be finite and at least 0",
            scale[feature]
        ))),
    }
}
