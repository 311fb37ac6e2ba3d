//! Range checks of parameters, and of the numbers that belong to rows and features.

use crate::base::error::SolverError;

/// Refuses the parameter `name` unless `legal`; `expected` names the legal values, as the end of a sentence.
pub(crate) fn ensure(
    name: &'static str,
    value: f64,
    legal: bool,
    expected: &'static str,
) -> Result<(), SolverError> {
    if legal {
        Ok(())
    } else {
        Err(SolverError::InvalidParam {
            name,
            value,
            expected,
        })
    }
}

/// Refuses NaN and infinity.
pub(crate) fn finite(name: &'static str, value: f64) -> Result<(), SolverError> {
    ensure(name, value, value.is_finite(), "must be finite")
}

/// Refuses a number that is negative, NaN or infinite.
pub(crate) fn at_least_zero(name: &'static str, value: f64) -> Result<(), SolverError> {
    let legal = value.is_finite() && value >= 0.0;
    ensure(name, value, legal, "must be finite and at least 0")
}

/// Refuses a number that is not positive and finite.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<(), SolverError> {
    let legal = value.is_finite() && value > 0.0;
    ensure(name, value, legal, "must be finite and positive")
}

/// Refuses a number outside 0 to 1.
pub(crate) fn fraction(name: &'static str, value: f64) -> Result<(), SolverError> {
    ensure(name, value, (0.0..=1.0).contains(&value), "must be 0 to 1")
}

/// Refuses a count of 0.
pub(crate) fn at_least_one(name: &'static str, count: u64) -> Result<(), SolverError> {
    ensure(name, count as f64, count > 0, "must be at least 1")
}

/// Most threads of a round: more copies of a vector than cores gain nothing.
const MAX_THREADS: usize = 256;

/// Refuses a number of threads outside 1 to 256.
pub(crate) fn threads(count: usize) -> Result<(), SolverError> {
    let legal = (1..=MAX_THREADS).contains(&count);
    ensure("threads", count as f64, legal, "must be 1 to 256")
}

/// Refuses NaN and infinity in an array with one number for each row; `name` is what messages call one number.
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

/// Refuses a scale with a number that is negative, NaN or infinite.
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
