//! The vector that workers share: `C (n + 1)` numbers, little endian.

use crate::base::error::SolverError;

/// Numbers in the vector of a model. Refuses more than an `i32` counts.
pub(super) fn length(outputs: usize, features: usize) -> Result<usize, SolverError> {
    features
        .checked_add(1)
        .and_then(|cells| cells.checked_mul(outputs))
        .filter(|&numbers| numbers <= i32::MAX as usize)
        .ok_or_else(|| {
            SolverError::Shape(format!(
                "{features} features and {outputs} outputs: a model has at most {} numbers",
                i32::MAX
            ))
        })
}

/// Writes `factor` times the numbers of a vector of `length`, from `start` on, as many as `out` has room for.
pub(super) fn write(
    length: usize,
    start: usize,
    out: &mut [u8],
    numbers: impl Iterator<Item = f64>,
    factor: f64,
) -> Result<(), SolverError> {
    let bytes = out.len();
    let (out, rest) = out.as_chunks_mut::<8>();
    if !rest.is_empty() || start.saturating_add(out.len()) > length {
        return Err(SolverError::Shape(format!(
            "{bytes} bytes from number {start} of a model on: expected 8 for each of at most {length} numbers"
        )));
    }
    for (slot, number) in out.iter_mut().zip(numbers) {
        *slot = (factor * number).to_le_bytes();
    }
    Ok(())
}
