//! The functions of the leader of L-BFGS. Java owns all arrays, and they are pinned for a range of entries at a time.

use std::ops::Range;

use dwell_solvers::rows::quasi_newton::{
    self as solver, Evaluated, Evaluation, Penalties, Scaling,
};
use jni::{
    Env,
    objects::{JByteArray, JClass, JDoubleArray, JFloatArray, JObject, JObjectArray},
    sys::{jdouble, jint},
};

use rayon::prelude::*;

use crate::{
    boundary::{
        fault::{Fault, argument},
        pins::{ArrayRef, EnvCritical, Pins},
        pool::{self, Lent},
    },
    java::arguments::{copied, expect_length, optional},
};

/// Entries of a vector that a pin lasts for: at most about 2 ms.
const TOGETHER: usize = 1 << 16;

/// Entries that a thread takes at a time. Sums are added part by part, so that bits do not depend on the threads.
const PART: usize = 1 << 13;

/// Corrections, at most: each is two arrays.
const MAX_CORRECTIONS: usize = 10;

/// The ranges of `length` entries, in order.
fn ranges(length: usize) -> impl Iterator<Item = Range<usize>> {
    (0..length)
        .step_by(TOGETHER)
        .map(move |first| first..length.min(first + TOGETHER))
}

/// Calls `work` with each part of a range of two vectors, and the number of its first entry, by the threads of `pool`.
fn by_parts<T: Send, U: Send, R: Send>(
    pool: Option<&Lent>,
    first: &mut [T],
    second: &mut [U],
    work: impl Fn(usize, &mut [T], &mut [U]) -> R + Sync,
) -> Vec<R> {
    match pool {
        Some(pool) => pool.install(|| {
            (first.par_chunks_mut(PART))
                .zip(second.par_chunks_mut(PART))
                .enumerate()
                .map(|(i, (first, second))| work(i * PART, first, second))
                .collect()
        }),
        None => (first.chunks_mut(PART))
            .zip(second.chunks_mut(PART))
            .enumerate()
            .map(|(i, (first, second))| work(i * PART, first, second))
            .collect(),
    }
}

/// Refuses an array that is written and given twice.
fn distinct(env: &Env<'_>, written: &[&JObject<'_>], read: &[&JObject<'_>]) -> Result<(), Fault> {
    for (i, array) in written.iter().enumerate() {
        for other in written[i + 1..].iter().chain(read) {
            if !array.is_null() && env.is_same_object(array, other)? {
                return Err(argument!(
                    "an array that is written is given twice: it must be another one"
                ));
            }
        }
    }
    Ok(())
}

/// The vectors of a model with `outputs` times `n + 1` entries: the features of each output, then its intercept.
#[derive(Clone, Copy)]
struct Layout<'a> {
    outputs: usize,
    features: usize,
    deviation: ArrayRef<'a, f64>,
    mean: Option<ArrayRef<'a, f64>>,
}

impl<'a> Layout<'a> {
    fn new(
        env: &Env<'_>,
        outputs: jint,
        deviation: &'a JDoubleArray<'_>,
        mean: &'a JDoubleArray<'_>,
    ) -> Result<Self, Fault> {
        let deviation = ArrayRef::new(env, "deviation", deviation)?;
        let mean = given(env, "mean", mean)?;
        let features = deviation.length();
        if let Some(mean) = mean {
            expect_length("mean", mean.length(), features)?;
        }
        let outputs = usize::try_from(outputs)
            .ok()
            .filter(|&outputs| outputs > 0)
            .ok_or_else(|| argument!("outputs is {outputs}, expected at least 1"))?;
        Ok(Self {
            outputs,
            features,
            deviation,
            mean,
        })
    }

    fn length(&self) -> usize {
        self.outputs * (self.features + 1)
    }

    fn vector<'b>(
        &self,
        env: &Env<'_>,
        name: &str,
        array: &'b JDoubleArray<'_>,
    ) -> Result<ArrayRef<'b, f64>, Fault> {
        let array = ArrayRef::new(env, name, array)?;
        expect_length(name, array.length(), self.length())?;
        Ok(array)
    }

    /// Where the intercept of an output stands.
    fn intercept(&self, output: usize) -> usize {
        output * (self.features + 1) + self.features
    }
}

/// An array, unless it is null.
fn given<'a>(
    env: &Env<'_>,
    name: &str,
    array: &'a JDoubleArray<'_>,
) -> Result<Option<ArrayRef<'a, f64>>, Fault> {
    optional(array)
        .map(|array| ArrayRef::new(env, name, array))
        .transpose()
}

/// See `NativeBridge.quasiNewtonTrial`.
#[expect(
    clippy::too_many_arguments,
    reason = "the signature of the Java method"
)]
pub fn trial<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    outputs: jint,
    deviation: JDoubleArray<'l>,
    mean: JDoubleArray<'l>,
    point: JDoubleArray<'l>,
    direction: JDoubleArray<'l>,
    subgradient: JDoubleArray<'l>,
    step: jdouble,
    next: JDoubleArray<'l>,
    model: JByteArray<'l>,
) -> Result<(), Fault> {
    let read: [&JObject<'_>; 5] = [&deviation, &mean, &point, &direction, &subgradient];
    distinct(env, &[next.as_ref(), model.as_ref()], &read)?;
    let layout = Layout::new(env, outputs, &deviation, &mean)?;
    let point = layout.vector(env, "point", &point)?;
    let direction = layout.vector(env, "direction", &direction)?;
    let subgradient = optional(&subgradient)
        .map(|array| layout.vector(env, "subgradient", array))
        .transpose()?;
    let next = layout.vector(env, "next", &next)?;
    let model = ArrayRef::new(env, "model", &model)?.unsigned();
    expect_length("model", model.length(), 8 * layout.length())?;
    for output in 0..layout.outputs {
        let place = layout.intercept(output);
        let mut centre = 0.0;
        let parts = ranges(layout.features).map(Some).chain([None]);
        for part in parts {
            let critical = EnvCritical::new(env);
            let pins = Pins::new(&critical);
            // SAFETY: `NativeBridge` requires that no Java thread uses the arrays during a call, and `distinct` has checked that no array
            // that is written is another array of the call.
            unsafe {
                let (deviation, mean) = (
                    pins.read(layout.deviation)?,
                    layout.mean.map(|mean| pins.read(mean)).transpose()?,
                );
                let (at, scaling) = match part {
                    Some(range) => (
                        place - layout.features + range.start..place - layout.features + range.end,
                        Scaling {
                            deviation: Some(&deviation[range.clone()]),
                            mean: mean.map(|mean| &mean[range]),
                        },
                    ),
                    None => (place..place + 1, Scaling::default()),
                };
                let subgradient = subgradient.map(|array| pins.read(array)).transpose()?;
                let model = pins.write(model)?;
                let bytes = 8 * at.start..8 * at.end;
                centre += solver::trial(
                    &pins.read(point)?[at.clone()],
                    &pins.read(direction)?[at.clone()],
                    subgradient.map(|array| &array[at.clone()]),
                    step,
                    scaling,
                    &mut pins.write(next)?[at],
                    &mut model[bytes.clone()],
                )?;
                if scaling.deviation.is_none() {
                    let [intercept] = model[bytes].as_chunks_mut::<8>().0 else {
                        return Err(argument!("model has no place for an intercept"));
                    };
                    *intercept = (f64::from_le_bytes(*intercept) - centre).to_le_bytes();
                }
            }
        }
    }
    Ok(())
}

/// See `NativeBridge.quasiNewtonGradient`.
#[expect(
    clippy::too_many_arguments,
    reason = "the signature of the Java method"
)]
pub fn gradient<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    outputs: jint,
    deviation: JDoubleArray<'l>,
    mean: JDoubleArray<'l>,
    factors: JDoubleArray<'l>,
    l1: jdouble,
    l2: jdouble,
    sums: JDoubleArray<'l>,
    total: jdouble,
    at: JDoubleArray<'l>,
    direction: JDoubleArray<'l>,
    gradient: JDoubleArray<'l>,
    subgradient: JDoubleArray<'l>,
    result: JDoubleArray<'l>,
) -> Result<(), Fault> {
    let read: [&JObject<'_>; 6] = [&deviation, &mean, &factors, &sums, &at, &direction];
    let written: [&JObject<'_>; 3] = [&gradient, &subgradient, &result];
    distinct(env, &written, &read)?;
    let layout = Layout::new(env, outputs, &deviation, &mean)?;
    let factors = ArrayRef::new(env, "factors", &factors)?;
    expect_length("factors", factors.length(), layout.features)?;
    let sums_copy = layout.vector(env, "sums", &sums)?;
    let at = layout.vector(env, "at", &at)?;
    let direction = layout.vector(env, "direction", &direction)?;
    let gradient = layout.vector(env, "gradient", &gradient)?;
    let subgradient = optional(&subgradient)
        .map(|array| layout.vector(env, "subgradient", array))
        .transpose()?;
    let mut found = Evaluation::default();
    for output in 0..layout.outputs {
        let place = layout.intercept(output);
        let mut intercept = [0.0];
        if layout.mean.is_some() {
            sums.get_region(env, place as jint, &mut intercept)?;
        }
        let intercept = intercept[0] / total;
        for part in ranges(layout.features).map(Some).chain([None]) {
            let critical = EnvCritical::new(env);
            let pins = Pins::new(&critical);
            // SAFETY: as in `trial`.
            unsafe {
                let (deviation, factors) = (pins.read(layout.deviation)?, pins.read(factors)?);
                let mean = layout.mean.map(|mean| pins.read(mean)).transpose()?;
                let (range, scaling, penalties) = match part {
                    Some(range) => (
                        place - layout.features + range.start..place - layout.features + range.end,
                        Scaling {
                            deviation: Some(&deviation[range.clone()]),
                            mean: mean.map(|mean| &mean[range.clone()]),
                        },
                        Some(Penalties {
                            factors: &factors[range],
                            l1,
                            l2,
                        }),
                    ),
                    None => (place..place + 1, Scaling::default(), None),
                };
                // Without means there is no intercept, and the derivative of its entry does not count.
                let nothing = [0.0];
                let sums = if penalties.is_none() && mean.is_none() {
                    &nothing
                } else {
                    &pins.read(sums_copy)?[range.clone()]
                };
                let subgradient = subgradient.map(|array| pins.write(array)).transpose()?;
                found.add(&solver::gradient(
                    Evaluated {
                        sums,
                        total,
                        intercept,
                        at: &pins.read(at)?[range.clone()],
                        direction: &pins.read(direction)?[range.clone()],
                    },
                    scaling,
                    penalties,
                    &mut pins.write(gradient)?[range.clone()],
                    subgradient.map(|array| &mut array[range]),
                )?);
            }
        }
    }
    let Evaluation {
        l2,
        l1,
        slope,
        squares,
        subsquares,
    } = found;
    result.set_region(env, 0, &[l2, l1, slope, squares, subsquares])?;
    Ok(())
}

/// The arrays of the corrections: the steps, newest first, then the changes of the gradient.
fn corrections<'l>(
    env: &mut Env<'l>,
    history: &JObjectArray<'l, JFloatArray<'l>>,
    length: usize,
) -> Result<Vec<JFloatArray<'l>>, Fault> {
    if history.is_null() {
        return Err(argument!("history is null: an array is needed"));
    }
    let count = history.len(env)?;
    if count > 2 * MAX_CORRECTIONS || count % 2 != 0 {
        return Err(argument!(
            "history has length {count}, expected two for each of at most {MAX_CORRECTIONS} corrections"
        ));
    }
    let mut arrays = Vec::with_capacity(count);
    for i in 0..count {
        let array = history.get_element(env, i)?;
        let reference = ArrayRef::new(env, "an array of history", &array)?;
        expect_length("an array of history", reference.length(), length)?;
        arrays.push(array);
    }
    for (i, array) in arrays.iter().enumerate() {
        for other in &arrays[i + 1..] {
            if env.is_same_object(array, other)? {
                return Err(argument!("history has the same array twice"));
            }
        }
    }
    Ok(arrays)
}

/// See `NativeBridge.quasiNewtonProducts`.
#[expect(
    clippy::too_many_arguments,
    reason = "the signature of the Java method"
)]
pub fn products<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    point: JDoubleArray<'l>,
    next: JDoubleArray<'l>,
    gradient: JDoubleArray<'l>,
    next_gradient: JDoubleArray<'l>,
    search: JDoubleArray<'l>,
    history: JObjectArray<'l, JFloatArray<'l>>,
    threads: jint,
    sums: JDoubleArray<'l>,
) -> Result<(), Fault> {
    let length = ArrayRef::new(env, "point", &point)?.length();
    let mut vectors = [ArrayRef::new(env, "point", &point)?; 5];
    let names = ["next", "gradient", "nextGradient", "search"];
    let given = [&next, &gradient, &next_gradient, &search];
    for ((vector, name), array) in vectors[1..].iter_mut().zip(names).zip(given) {
        *vector = ArrayRef::new(env, name, array)?;
        expect_length(name, vector.length(), length)?;
    }
    let arrays = corrections(env, &history, length)?;
    if arrays.is_empty() {
        return Err(argument!(
            "history is empty: the newest correction needs arrays"
        ));
    }
    let mut totals = vec![0.0; 3 * arrays.len()];
    let references = arrays
        .iter()
        .map(|array| ArrayRef::new(env, "an array of history", array))
        .collect::<Result<Vec<_>, _>>()?;
    let (count, changes) = (references.len(), references.len() / 2);
    let pool = pool::of(usize::try_from(threads).unwrap_or(0));
    for range in ranges(length) {
        let critical = EnvCritical::new(env);
        let pins = Pins::new(&critical);
        // SAFETY: `NativeBridge` requires that no Java thread uses the arrays during a call. Arrays of floats are none of doubles, and
        // `corrections` has checked that no two of them are the same.
        let found = unsafe {
            let part = |array| -> Result<&[f64], Fault> { Ok(&pins.read(array)?[range.clone()]) };
            let [point, next, gradient, next_gradient, search] = [
                part(vectors[0])?,
                part(vectors[1])?,
                part(vectors[2])?,
                part(vectors[3])?,
                part(vectors[4])?,
            ];
            let mut older: [&[f32]; 2 * MAX_CORRECTIONS] = [&[]; 2 * MAX_CORRECTIONS];
            for (i, (vector, &reference)) in older.iter_mut().zip(&references).enumerate() {
                if i != 0 && i != changes {
                    *vector = &pins.read(reference)?[range.clone()];
                }
            }
            let step = &mut pins.write(references[0])?[range.clone()];
            let change = &mut pins.write(references[changes])?[range.clone()];
            by_parts(pool.as_ref(), step, change, |first, step, change| {
                let at = first..first + step.len();
                solver::difference(&next[at.clone()], &point[at.clone()], step)?;
                solver::difference(&next_gradient[at.clone()], &gradient[at.clone()], change)?;
                let (step, change) = (&*step, &*change);
                let mut all = [step; 2 * MAX_CORRECTIONS];
                let all = &mut all[..count];
                for (i, (vector, older)) in all.iter_mut().zip(&older).enumerate() {
                    *vector = match i {
                        0 => step,
                        i if i == changes => change,
                        _ => &older[at.clone()],
                    };
                }
                let mut sums = [0.0; 6 * MAX_CORRECTIONS];
                solver::products(step, change, &search[at], all, &mut sums[..3 * all.len()])?;
                Ok::<_, Fault>(sums)
            })
        };
        for sums in found {
            for (total, sum) in totals.iter_mut().zip(sums?) {
                *total += sum;
            }
        }
    }
    expect_length(
        "sums",
        ArrayRef::new(env, "sums", &sums)?.length(),
        totals.len(),
    )?;
    sums.set_region(env, 0, &totals)?;
    Ok(())
}

/// See `NativeBridge.quasiNewtonDirection`.
#[expect(
    clippy::too_many_arguments,
    reason = "the signature of the Java method"
)]
pub fn direction<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    search: JDoubleArray<'l>,
    factor: jdouble,
    history: JObjectArray<'l, JFloatArray<'l>>,
    factors: JDoubleArray<'l>,
    descends: bool,
    threads: jint,
    direction: JDoubleArray<'l>,
    result: JDoubleArray<'l>,
) -> Result<(), Fault> {
    distinct(env, &[direction.as_ref()], &[search.as_ref()])?;
    let length = ArrayRef::new(env, "search", &search)?.length();
    let arrays = corrections(env, &history, length)?;
    let factors = copied(env, "factors", &factors)?;
    let references = arrays
        .iter()
        .map(|array| ArrayRef::new(env, "an array of history", array))
        .collect::<Result<Vec<_>, _>>()?;
    let search = ArrayRef::new(env, "search", &search)?;
    let direction = ArrayRef::new(env, "direction", &direction)?;
    expect_length("direction", direction.length(), length)?;
    let pool = pool::of(usize::try_from(threads).unwrap_or(0));
    let mut totals = [0.0; 2];
    for range in ranges(length) {
        let critical = EnvCritical::new(env);
        let pins = Pins::new(&critical);
        // SAFETY: as in `products`; `distinct` has checked that the array that is written is not `search`.
        let found = unsafe {
            let mut all: [&[f32]; 2 * MAX_CORRECTIONS] = [&[]; 2 * MAX_CORRECTIONS];
            let all = &mut all[..references.len()];
            for (vector, &reference) in all.iter_mut().zip(&references) {
                *vector = &pins.read(reference)?[range.clone()];
            }
            let search = &pins.read(search)?[range.clone()];
            let direction = &mut pins.write(direction)?[range];
            let mut nothing = vec![(); direction.len()];
            by_parts(
                pool.as_ref(),
                direction,
                &mut nothing,
                |first, direction, _| {
                    let at = first..first + direction.len();
                    let mut vectors: [&[f32]; 2 * MAX_CORRECTIONS] = [&[]; 2 * MAX_CORRECTIONS];
                    let vectors = &mut vectors[..all.len()];
                    for (part, vector) in vectors.iter_mut().zip(&*all) {
                        *part = &vector[at.clone()];
                    }
                    let search = &search[at];
                    solver::direction(search, factor, vectors, &factors, descends, direction)
                },
            )
        };
        for sums in found {
            for (total, sum) in totals.iter_mut().zip(sums?) {
                *total += sum;
            }
        }
    }
    result.set_region(env, 0, &totals)?;
    Ok(())
}
