//! Allocations that can fail, and memory given back to the system.

use crate::boundary::fault::Fault;

/// An empty vector with room for exactly `length` elements.
///
/// # Errors
/// `OutOfMemory`, which names `what` the room is for.
pub fn reserve<T>(length: usize, what: &str) -> Result<Vec<T>, Fault> {
    let mut vector = Vec::new();
    match vector.try_reserve_exact(length) {
        Ok(()) => Ok(vector),
        Err(_) => Err(Fault::OutOfMemory(format!(
            "cannot allocate {} bytes for {what}",
            length.saturating_mul(size_of::<T>())
        ))),
    }
}

/// `length` zeros.
///
/// # Errors
/// As [`reserve`].
pub fn zeros(length: usize, what: &str) -> Result<Vec<f64>, Fault> {
    let mut vector = reserve(length, what)?;
    vector.resize(length, 0.0);
    Ok(vector)
}

/// A copy of `elements`.
///
/// # Errors
/// As [`reserve`].
pub fn copied<T: Copy>(elements: &[T], what: &str) -> Result<Vec<T>, Fault> {
    let mut copy = reserve(elements.len(), what)?;
    copy.extend_from_slice(elements);
    Ok(copy)
}

/// Returns freed memory to the system. The allocator of glibc would keep it for this process.
#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
pub fn trim() {
    unsafe extern "C" {
        fn malloc_trim(pad: usize) -> i32;
    }
    // SAFETY: a function of glibc with this signature, callable from any thread at any time.
    unsafe {
        malloc_trim(0);
    }
}

/// Does nothing: only the allocator of glibc must be asked.
#[cfg(not(all(target_os = "linux", target_env = "gnu", not(miri))))]
pub fn trim() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_lengths_are_a_fault() {
        let fault = reserve::<f64>(usize::MAX, "a test").unwrap_err();
        assert!(matches!(fault, Fault::OutOfMemory(text) if text.contains("a test")));
    }

    #[test]
    fn copies_and_zeros() {
        assert_eq!(copied(&[1.0, 2.0], "a test").unwrap(), [1.0, 2.0]);
        assert_eq!(zeros(2, "a test").unwrap(), [0.0; 2]);
    }
}
