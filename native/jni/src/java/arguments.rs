//! Java arrays as arguments: lengths, nulls and copies.

use jni::{
    Env,
    objects::{JDoubleArray, JObject, JPrimitiveArray, TypeArray},
};

use crate::boundary::{
    fault::{Fault, argument},
    memory::zeros,
    pins::ArrayRef,
};

/// Checks the length of an array.
///
/// # Errors
/// `Argument` unless it is `expected`.
pub fn expect_length(name: &str, length: usize, expected: usize) -> Result<(), Fault> {
    if length == expected {
        Ok(())
    } else {
        Err(argument!("{name} has length {length}, expected {expected}"))
    }
}

/// An array that can be null.
pub fn optional<'a, 'l, A: AsRef<JObject<'l>>>(array: &'a A) -> Option<&'a A> {
    (!array.as_ref().is_null()).then_some(array)
}

/// An array that cannot be null: [`ArrayRef::new`] checks it.
pub fn required<A>(array: &A) -> &A {
    array
}

/// Copies an array to the start of `room`.
///
/// # Errors
/// `Argument` if it is null or has no room.
pub fn numbers<'a, T: TypeArray>(
    env: &Env<'_>,
    name: &str,
    array: &JPrimitiveArray<'_, T>,
    room: &'a mut [T],
) -> Result<&'a [T], Fault> {
    let length = ArrayRef::new(env, name, array)?.length();
    let most = room.len();
    let Some(numbers) = room.get_mut(..length) else {
        return Err(argument!(
            "{name} has length {length}, expected at most {most}"
        ));
    };
    array.get_region(env, 0, numbers)?;
    Ok(numbers)
}

/// A copy of an array, all elements finite.
///
/// # Errors
/// `Argument` if it is null or an element is not finite, `OutOfMemory`.
pub fn finite(env: &Env<'_>, name: &str, array: &JDoubleArray<'_>) -> Result<Vec<f64>, Fault> {
    let copy = copied(env, name, array)?;
    match copy.iter().position(|x| !x.is_finite()) {
        None => Ok(copy),
        Some(i) => Err(argument!("{name}[{i}] is {}: it must be finite", copy[i])),
    }
}

/// A copy of an array.
///
/// # Errors
/// `Argument` if it is null, `OutOfMemory`.
pub fn copied(env: &Env<'_>, name: &str, array: &JDoubleArray<'_>) -> Result<Vec<f64>, Fault> {
    let length = ArrayRef::new(env, name, array)?.length();
    let mut copy = zeros(length, name)?;
    array.get_region(env, 0, &mut copy)?;
    Ok(copy)
}
