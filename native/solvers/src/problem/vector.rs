//! Models as workers share them: numbers of 8 bytes, little endian.

use crate::base::error::{SolverError, same_length};

/// Numbers of a linear model, `C (n + 1)`. Refuses more than an `i32` counts.
pub(crate) fn length(outputs: usize, features: usize) -> Result<usize, SolverError> {
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

/// Refuses a shared model that is not of this length, or whose numbers are not finite.
pub(crate) fn check_shared(shared: &[f64], length: usize) -> Result<(), SolverError> {
    same_length("the shared model", shared.len(), length, "number")?;
    match shared.iter().position(|w| !w.is_finite()) {
        None => Ok(()),
        Some(entry) => Err(SolverError::NonFinite(format!(
            "number {entry} of the shared model is {}: it must be finite",
            shared[entry]
        ))),
    }
}

/// Writes a worker's part of the average, `share` times the model that it has reached, from number `start` of `length` on, as many numbers as `out`
/// has room for. `reached`: the model's numbers from there on. Without them the round has diverged, and `shared`, the same numbers of the
/// shared model, little endian, takes their place.
///
/// # Errors
/// `Shape` for wrong lengths.
pub(crate) fn write_share(
    length: usize,
    start: usize,
    reached: Option<impl Iterator<Item = f64>>,
    shared: &[u8],
    out: &mut [u8],
    share: f64,
) -> Result<(), SolverError> {
    match reached {
        Some(numbers) => write(length, start, out, numbers, share),
        None => {
            same_length("the shared model's part", shared.len(), out.len(), "byte")?;
            let shared = shared.as_chunks::<8>().0;
            let shared = shared.iter().copied().map(f64::from_le_bytes);
            write(length, start, out, shared, share)
        }
    }
}

/// Writes `factor` times the numbers of a vector of `length`, from `start` on, as many as `out` has room for.
fn write(
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
