//! Pointers of a C caller as references and slices.

use std::slice;

use crate::boundary::fault::{Fault, argument};

#[cfg(target_endian = "big")]
compile_error!("shared vectors are passed on as little endian bytes");

/// A length that fits the offsets and indices, which have 32 bits.
///
/// # Errors
/// `Argument` if it is negative or too large.
pub fn length(name: &str, length: i64) -> Result<usize, Fault> {
    match i32::try_from(length) {
        Ok(small) if small >= 0 => Ok(small as usize),
        _ => Err(argument!(
            "{name} is {length}: it must be 0 to {}",
            i32::MAX
        )),
    }
}

/// # Errors
/// `Argument` if the pointer is NULL or not aligned.
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

/// What a pointer points to.
///
/// # Safety
/// `pointer` is NULL or valid for reading for `'a`.
///
/// # Errors
/// `Argument` if it is NULL or not aligned.
pub unsafe fn reference<'a, T>(name: &str, pointer: *const T) -> Result<&'a T, Fault> {
    usable(name, pointer)?;
    // SAFETY: checked for NULL and alignment; the caller vouches for the rest.
    Ok(unsafe { &*pointer })
}

/// What a pointer points to, for writing.
///
/// # Safety
/// `pointer` is NULL or valid for `'a`, and nobody else uses what it points to.
///
/// # Errors
/// As [`reference`].
pub unsafe fn reference_mut<'a, T>(name: &str, pointer: *mut T) -> Result<&'a mut T, Fault> {
    usable(name, pointer)?;
    // SAFETY: checked for NULL and alignment; the caller vouches for the rest.
    Ok(unsafe { &mut *pointer })
}

/// An array. The pointer to an empty one can be NULL.
///
/// # Safety
/// `pointer` is NULL or valid for reading `length` elements for `'a`.
///
/// # Errors
/// `Argument` if it is NULL or not aligned.
pub unsafe fn array<'a, T>(name: &str, pointer: *const T, length: usize) -> Result<&'a [T], Fault> {
    if length == 0 {
        return Ok(&[]);
    }
    usable(name, pointer)?;
    // SAFETY: checked for NULL and alignment; the caller vouches for the rest.
    Ok(unsafe { slice::from_raw_parts(pointer, length) })
}

/// An array, or nothing for NULL.
///
/// # Safety
/// As [`array`].
///
/// # Errors
/// `Argument` if it is not aligned.
pub unsafe fn optional<'a, T>(
    name: &str,
    pointer: *const T,
    length: usize,
) -> Result<Option<&'a [T]>, Fault> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller vouches for it.
    unsafe { array(name, pointer, length) }.map(Some)
}

/// An array, for writing. The pointer to an empty one can be NULL.
///
/// # Safety
/// `pointer` is NULL or valid for `length` elements for `'a`, and nobody else uses them.
///
/// # Errors
/// As [`array`].
pub unsafe fn array_mut<'a, T>(
    name: &str,
    pointer: *mut T,
    length: usize,
) -> Result<&'a mut [T], Fault> {
    if length == 0 {
        return Ok(&mut []);
    }
    usable(name, pointer)?;
    // SAFETY: checked for NULL and alignment; the caller vouches for the rest.
    Ok(unsafe { slice::from_raw_parts_mut(pointer, length) })
}

/// The bytes of numbers, little endian.
pub fn bytes(numbers: &[f64]) -> &[u8] {
    // SAFETY: the same memory; bytes have no invalid value and no alignment.
    unsafe { slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

/// The bytes of numbers, for writing, little endian.
pub fn bytes_mut(numbers: &mut [f64]) -> &mut [u8] {
    // SAFETY: the same memory, borrowed as long; any eight bytes are a number.
    unsafe { slice::from_raw_parts_mut(numbers.as_mut_ptr().cast(), size_of_val(numbers)) }
}
