//! Pointers of a C caller as references and slices.

use std::slice;

use crate::boundary::fault::{Fault, argument};

#[cfg(target_endian = "big")]
compile_error!("shared vectors are passed on as little endian bytes");

// The functions below refuse with an `Argument` fault that names the argument.

/// A length that fits the offsets and indices, which have 32 bits.
pub fn length(name: &str, length: i64) -> Result<usize, Fault> {
    match i32::try_from(length) {
        Ok(small) if small >= 0 => Ok(small as usize),
        _ => Err(argument!(
            "{name} is {length}: it must be 0 to {}",
            i32::MAX
        )),
    }
}

fn usable<T>(name: &str, pointer: *const T) -> Result<(), Fault> {
    if pointer.is_null() {
        Err(argument!("{name} is NULL: a valid pointer is needed"))
    } else if pointer.is_aligned() {
        Ok(())
    } else {
        Err(argument!(
            "{name} is not aligned to its elements of {} bytes",
            align_of::<T>()
        ))
    }
}

/// An array. The pointer to an empty one can be NULL.
///
/// # Safety
/// `pointer` is NULL or valid for reading `length` elements for `'a`.
pub unsafe fn array<'a, T>(name: &str, pointer: *const T, length: usize) -> Result<&'a [T], Fault> {
    if length == 0 {
        return Ok(&[]);
    }
    usable(name, pointer)?;
    // SAFETY: checked for NULL and alignment; the caller vouches that the elements are valid for `'a`.
    Ok(unsafe { slice::from_raw_parts(pointer, length) })
}

/// An array, for writing. The pointer to an empty one can be NULL.
///
/// # Safety
/// `pointer` is NULL or valid for `length` elements for `'a`, and no other code uses them.
pub unsafe fn array_mut<'a, T>(
    name: &str,
    pointer: *mut T,
    length: usize,
) -> Result<&'a mut [T], Fault> {
    if length == 0 {
        return Ok(&mut []);
    }
    usable(name, pointer)?;
    // SAFETY: checked for NULL and alignment; the caller vouches that the elements are valid for `'a` and unused by other code.
    Ok(unsafe { slice::from_raw_parts_mut(pointer, length) })
}

/// An array, or nothing for NULL.
///
/// # Safety
/// As [`array`].
pub unsafe fn optional<'a, T>(
    name: &str,
    pointer: *const T,
    length: usize,
) -> Result<Option<&'a [T]>, Fault> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller vouches for what is required above.
    unsafe { array(name, pointer, length) }.map(Some)
}

/// The struct that a pointer points to.
///
/// # Safety
/// As [`array`] of one element.
pub unsafe fn reference<'a, T>(name: &str, pointer: *const T) -> Result<&'a T, Fault> {
    // SAFETY: the caller vouches for what is required above.
    Ok(&unsafe { array(name, pointer, 1) }?[0])
}

/// The number that a pointer points to, for writing.
///
/// # Safety
/// As [`array_mut`] of one element.
pub unsafe fn reference_mut<'a, T>(name: &str, pointer: *mut T) -> Result<&'a mut T, Fault> {
    // SAFETY: the caller vouches for what is required above.
    Ok(&mut unsafe { array_mut(name, pointer, 1) }?[0])
}

/// The bytes of numbers.
pub fn bytes(numbers: &[f64]) -> &[u8] {
    // SAFETY: the same memory; bytes have no invalid value and no alignment.
    unsafe { slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

/// The bytes of numbers, for writing.
pub fn bytes_mut(numbers: &mut [f64]) -> &mut [u8] {
    // SAFETY: the same memory, borrowed as long; any eight bytes are a number.
    unsafe { slice::from_raw_parts_mut(numbers.as_mut_ptr().cast(), size_of_val(numbers)) }
}
