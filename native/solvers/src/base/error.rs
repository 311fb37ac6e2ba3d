//! Errors, as values: no input makes the public constructors of this crate panic.

/// Errors of the solvers. Messages name the argument, the place and what is expected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolverError {
    /// A parameter is outside its range.
    #[error("{name} = {value}: {expected}")]
    InvalidParam {
        /// Name of the parameter.
        name: &'static str,
        /// Its value, or the count if the parameter is a count.
        value: f64,
        /// The range, as the end of a sentence: "must be ...".
        expected: &'static str,
    },
    /// Lengths, offsets or indices do not describe a matrix, or disagree.
    #[error("{0}")]
    Shape(String),
    /// A number that must be finite is NaN or infinite.
    #[error("{0}")]
    NonFinite(String),
    /// The allocator refused; nothing was changed.
    #[error("cannot allocate {bytes} bytes for {what}")]
    OutOfMemory {
        /// The purpose of the memory.
        what: &'static str,
        /// The size that was asked for.
        bytes: usize,
    },
    /// The caller asked for a result before the work has run.
    #[error("the work has not run: there is no result")]
    Unfinished,
}

/// An empty vector with room for exactly `length` elements.
pub(crate) fn reserve<T>(length: usize, what: &'static str) -> Result<Vec<T>, SolverError> {
    let mut vector = Vec::new();
    vector
        .try_reserve_exact(length)
        .map_err(|_| SolverError::OutOfMemory {
            what,
            bytes: length.saturating_mul(size_of::<T>()),
        })?;
    Ok(vector)
}

/// An empty vector with room for `length` elements: `room` itself, if it is large enough.
pub(crate) fn reserve_in<T>(
    mut room: Vec<T>,
    length: usize,
    what: &'static str,
) -> Result<Vec<T>, SolverError> {
    room.clear();
    if room.capacity() < length {
        drop(room);
        room = reserve(length, what)?;
    }
    Ok(room)
}

/// A shape error unless `actual == expected`.
pub(crate) fn same_length(
    what: &str,
    actual: usize,
    expected: usize,
    unit: &str,
) -> Result<(), SolverError> {
    if actual == expected {
        Ok(())
    } else {
        Err(SolverError::Shape(format!(
            "{what} has length {actual}, expected {expected}: one for each {unit}"
        )))
    }
}
