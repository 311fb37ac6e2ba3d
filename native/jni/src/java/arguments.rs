//! Java arrays as arguments: lengths, nulls and copies.

use jni::{
    Env,
    objects::{JDoubleArray, JFloatArray, JObject, JPrimitiveArray, TypeArray},
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

/// An array that can be null, to pin.
///
/// # Errors
/// `Jni` if the JVM refuses.
pub fn lent<'a, T: TypeArray>(
    env: &Env<'_>,
    name: &str,
    array: &'a JPrimitiveArray<'_, T>,
) -> Result<Option<ArrayRef<'a, T>>, Fault> {
    optional(array)
        .map(|array| ArrayRef::new(env, name, array))
        .transpose()
}

/// The arrays of the values of a matrix: one of them at most.
pub type ValueArrays<'a> = (Option<ArrayRef<'a, f32>>, Option<ArrayRef<'a, f64>>);

/// The arrays of the values of a matrix, to pin.
///
/// # Errors
/// `Argument` if both are given.
pub fn values<'a>(
    env: &Env<'_>,
    values32: &'a JFloatArray<'_>,
    values64: &'a JDoubleArray<'_>,
) -> Result<ValueArrays<'a>, Fault> {
    let values = (
        lent(env, "values32", values32)?,
        lent(env, "values64", values64)?,
    );
    if let (Some(_), Some(_)) = values {
        return Err(argument!(
            "values32 and values64 are both given: one of them must be null"
        ));
    }
    Ok(values)
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
