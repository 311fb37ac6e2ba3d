//! Java arrays as arguments: lengths, nulls and copies.

use jni::{
    Env,
    objects::{JByteArray, JDoubleArray, JFloatArray, JObject, JPrimitiveArray, TypeArray},
};

use crate::boundary::{
    fault::{Fault, argument},
    memory::{reserve, zeros},
    pins::ArrayRef,
};

/// Numbers that go from or into a Java array at a time.
pub const COPIED: usize = 1 << 14;

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

/// A new Java array of these numbers.
///
/// # Errors
/// `Jni` if the JVM refuses.
pub fn doubles<'l>(env: &mut Env<'l>, numbers: &[f64]) -> Result<JDoubleArray<'l>, Fault> {
    let array = env.new_double_array(numbers.len())?;
    array.set_region(env, 0, numbers)?;
    Ok(array)
}

/// The doubles of a Java array of bytes, little endian.
///
/// # Errors
/// `Argument` if it is null or its length is no multiple of 8, `OutOfMemory`.
pub fn decoded(env: &Env<'_>, name: &str, array: &JByteArray<'_>) -> Result<Vec<f64>, Fault> {
    let length = ArrayRef::new(env, name, array)?.length();
    if length % 8 != 0 {
        return Err(argument!("{name} has {length} bytes, expected 8 a number"));
    }
    let mut doubles = zeros(length / 8, name)?;
    let mut bytes = vec![0; length.min(8 * COPIED)];
    for (k, part) in doubles.chunks_mut(COPIED).enumerate() {
        let bytes = &mut bytes[..8 * part.len()];
        array.get_region(env, (8 * COPIED * k) as i32, bytes)?;
        for (double, bytes) in part.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *double = f64::from_le_bytes(bytes.map(i8::cast_unsigned));
        }
    }
    Ok(doubles)
}

/// A copy of an array of bytes.
///
/// # Errors
/// `Argument` if it is null, `OutOfMemory`.
pub fn bytes(env: &Env<'_>, name: &str, array: &JByteArray<'_>) -> Result<Vec<u8>, Fault> {
    let length = ArrayRef::new(env, name, array)?.length();
    let mut copy = reserve(length, name)?;
    let mut part = vec![0; length.min(8 * COPIED)];
    while copy.len() < length {
        let part = &mut part[..(8 * COPIED).min(length - copy.len())];
        array.get_region(env, copy.len() as i32, part)?;
        copy.extend(part.iter().map(|byte| byte.cast_unsigned()));
    }
    Ok(copy)
}

/// Sets the bytes of an array from `first` on. `write` gets how many are set, and the next ones to write: a multiple of 8, if `length` is one.
///
/// # Errors
/// Those of `write`, `Jni` if there are fewer.
pub fn set_bytes(
    env: &Env<'_>,
    array: &JByteArray<'_>,
    first: usize,
    length: usize,
    mut write: impl FnMut(usize, &mut [u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut bytes = vec![0; length.min(8 * COPIED)];
    let mut signed = vec![0; bytes.len()];
    for at in (0..length).step_by(8 * COPIED) {
        let count = (8 * COPIED).min(length - at);
        write(at, &mut bytes[..count])?;
        for (signed, byte) in signed.iter_mut().zip(&bytes[..count]) {
            *signed = byte.cast_signed();
        }
        array.set_region(env, (first + at) as i32, &signed[..count])?;
    }
    Ok(())
}
