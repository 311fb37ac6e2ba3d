//! The functions of L-BFGS, on vectors that are cut into blocks: sums are taken block by block, so that bits depend neither on the threads
//! nor on how blocks are dealt. Java owns all arrays, and they are pinned for some blocks at a time.

use std::ops::Range;

use dwell_solvers::{
    SolverError,
    rows::quasi_newton::{self as solver, Evaluated, Evaluation, Penalties, Scaling},
};
use jni::{
    Env,
    objects::{JByteArray, JClass, JDoubleArray, JFloatArray, JIntArray, JObject, JObjectArray},
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

/// Entries that a pin lasts for: at most about 2 ms.
const TOGETHER: usize = 1 << 16;

/// Corrections, at most: each is two arrays.
const MAX_CORRECTIONS: usize = 10;

/// The blocks of a vector, by their ends.
struct Blocks(Vec<usize>);

impl Blocks {
    /// The blocks of vectors of `length` entries.
    fn new(env: &Env<'_>, ends: &JIntArray<'_>, length: usize) -> Result<Self, Fault> {
        let count = ArrayRef::new(env, "ends", ends)?.length();
        let mut given = vec![0; count];
        ends.get_region(env, 0, &mut given)?;
        let ends: Vec<_> = (given.iter().map(|&end| usize::try_from(end).unwrap_or(0))).collect();
        let starts = [0].iter().chain(&ends);
        if starts
            .zip(&ends)
            .any(|(&start, &end)| end <= start || end - start > TOGETHER)
        {
            return Err(argument!(
                "ends are {given:?}: they must increase, by at most {TOGETHER}"
            ));
        }
        expect_length("the vector", length, ends.last().copied().unwrap_or(0))?;
        Ok(Self(ends))
    }

    fn count(&self) -> usize {
        self.0.len()
    }

    /// Runs of blocks, in order, each for one pin.
    fn runs(&self) -> Vec<Run<'_>> {
        let mut runs = Vec::new();
        let (mut start, mut first) = (0, 0);
        while first < self.0.len() {
            let rest = &self.0[first..];
            let ends = &rest[..rest.partition_point(|&end| end - start <= TOGETHER)];
            runs.push(Run { first, start, ends });
            first += ends.len();
            start = self.0[first - 1];
        }
        runs
    }
}

/// Blocks that follow one another.
struct Run<'a> {
    /// The number of the first block.
    first: usize,
    /// Its first entry.
    start: usize,
    ends: &'a [usize],
}

impl Run<'_> {
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = [self.start].into_iter().chain(self.ends.iter().copied());
        starts.zip(self.ends).map(|(start, &end)| start..end)
    }

    /// The blocks of a vector with `size` numbers for an entry.
    fn cut<'v, T>(&self, vector: &'v mut [T], size: usize) -> impl Iterator<Item = &'v mut [T]> {
        let mut rest = &mut vector[size * self.start..];
        self.ranges().map(move |range| {
            rest.split_off_mut(..size * range.len())
                .expect("a block lies within the vector")
        })
    }
}

/// What `work` makes of each block, by the threads of `pool`.
fn each<W: Send, R: Send>(
    pool: Option<&Lent>,
    blocks: impl Iterator<Item = W>,
    work: impl Fn(W) -> Result<R, SolverError> + Sync + Send,
) -> Result<Vec<R>, SolverError> {
    match pool {
        Some(pool) => {
            let blocks: Vec<W> = blocks.collect();
            pool.install(|| blocks.into_par_iter().map(work).collect())
        }
        None => blocks.map(work).collect(),
    }
}

/// The threads that share the work.
fn threads_of(threads: jint) -> Option<Lent> {
    pool::of(usize::try_from(threads).unwrap_or(0))
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

/// An array of as many numbers.
fn vector<'a>(
    env: &Env<'_>,
    name: &str,
    array: &'a JDoubleArray<'_>,
    length: usize,
) -> Result<ArrayRef<'a, f64>, Fault> {
    let array = ArrayRef::new(env, name, array)?;
    expect_length(name, array.length(), length)?;
    Ok(array)
}

/// The same, unless it is null.
fn given<'a>(
    env: &Env<'_>,
    name: &str,
    array: &'a JDoubleArray<'_>,
    length: usize,
) -> Result<Option<ArrayRef<'a, f64>>, Fault> {
    optional(array)
        .map(|array| vector(env, name, array, length))
        .transpose()
}

/// See `NativeBridge.quasiNewtonTrial`.
#[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
pub fn trial<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    ends: JIntArray<'l>,
    deviation: JDoubleArray<'l>,
    mean: JDoubleArray<'l>,
    point: JDoubleArray<'l>,
    direction: JDoubleArray<'l>,
    subgradient: JDoubleArray<'l>,
    step: jdouble,
    threads: jint,
    next: JDoubleArray<'l>,
    model: JByteArray<'l>,
    centres: JDoubleArray<'l>,
) -> Result<(), Fault> {
    let read: [&JObject<'_>; 5] = [&deviation, &mean, &point, &direction, &subgradient];
    distinct(env, &[next.as_ref(), model.as_ref()], &read)?;
    let deviation = ArrayRef::new(env, "deviation", &deviation)?;
    let length = deviation.length();
    let blocks = Blocks::new(env, &ends, length)?;
    let mean = given(env, "mean", &mean, length)?;
    let point = vector(env, "point", &point, length)?;
    let direction = vector(env, "direction", &direction, length)?;
    let subgradient = given(env, "subgradient", &subgradient, length)?;
    let next = vector(env, "next", &next, length)?;
    let model = ArrayRef::new(env, "model", &model)?.unsigned();
    expect_length("model", model.length(), 8 * length)?;
    vector(env, "centres", &centres, blocks.count())?;
    let pool = threads_of(threads);
    for run in blocks.runs() {
        let found = {
            let critical = EnvCritical::new(env);
            let pins = Pins::new(&critical);
            // SAFETY: `NativeBridge` requires that no Java thread uses the arrays during a call, and `distinct` has checked that no array
            // that is written is another array of the call.
            unsafe {
                let (deviation, point, direction) = (
                    pins.read(deviation)?,
                    pins.read(point)?,
                    pins.read(direction)?,
                );
                let mean = mean.map(|mean| pins.read(mean)).transpose()?;
                let subgradient = subgradient.map(|array| pins.read(array)).transpose()?;
                let written = (run.cut(pins.write(next)?, 1)).zip(run.cut(pins.write(model)?, 8));
                each(
                    pool.as_ref(),
                    run.ranges().zip(written),
                    |(at, (next, model))| {
                        let scaling = Scaling {
                            deviation: &deviation[at.clone()],
                            mean: mean.map(|mean| &mean[at.clone()]),
                        };
                        solver::trial(
                            &point[at.clone()],
                            &direction[at.clone()],
                            subgradient.map(|array| &array[at]),
                            step,
                            scaling,
                            next,
                            model,
                        )
                    },
                )?
            }
        };
        centres.set_region(env, run.first as jint, &found)?;
    }
    Ok(())
}

/// See `NativeBridge.quasiNewtonGradient`.
#[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
pub fn gradient<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    ends: JIntArray<'l>,
    deviation: JDoubleArray<'l>,
    mean: JDoubleArray<'l>,
    factors: JDoubleArray<'l>,
    l1: jdouble,
    l2: jdouble,
    sums: JDoubleArray<'l>,
    total: jdouble,
    intercepts: JDoubleArray<'l>,
    at: JDoubleArray<'l>,
    direction: JDoubleArray<'l>,
    threads: jint,
    gradient: JDoubleArray<'l>,
    subgradient: JDoubleArray<'l>,
    result: JDoubleArray<'l>,
) -> Result<(), Fault> {
    let read: [&JObject<'_>; 6] = [&deviation, &mean, &factors, &sums, &at, &direction];
    distinct(env, &[gradient.as_ref(), subgradient.as_ref()], &read)?;
    let deviation = ArrayRef::new(env, "deviation", &deviation)?;
    let length = deviation.length();
    let blocks = Blocks::new(env, &ends, length)?;
    let mean = given(env, "mean", &mean, length)?;
    let factors = vector(env, "factors", &factors, length)?;
    let sums = vector(env, "sums", &sums, length)?;
    let intercepts = copied(env, "intercepts", &intercepts)?;
    expect_length("intercepts", intercepts.len(), blocks.count())?;
    let at = vector(env, "at", &at, length)?;
    let direction = vector(env, "direction", &direction, length)?;
    let gradient = vector(env, "gradient", &gradient, length)?;
    let subgradient = given(env, "subgradient", &subgradient, length)?;
    vector(env, "result", &result, 5 * blocks.count())?;
    let pool = threads_of(threads);
    for run in blocks.runs() {
        let found = {
            let critical = EnvCritical::new(env);
            let pins = Pins::new(&critical);
            // SAFETY: as in `trial`.
            unsafe {
                let (deviation, factors) = (pins.read(deviation)?, pins.read(factors)?);
                let mean = mean.map(|mean| pins.read(mean)).transpose()?;
                let (sums, at, direction) =
                    (pins.read(sums)?, pins.read(at)?, pins.read(direction)?);
                let gradient = run.cut(pins.write(gradient)?, 1);
                let mut subgradient = subgradient
                    .map(|array| Ok::<_, Fault>(run.cut(pins.write(array)?, 1)))
                    .transpose()?;
                let written =
                    gradient.map(|block| (block, subgradient.as_mut().and_then(Iterator::next)));
                let blocks = run.ranges().zip(&intercepts[run.first..]).zip(written);
                each(
                    pool.as_ref(),
                    blocks,
                    |((range, &intercept), (gradient, subgradient))| {
                        let evaluated = Evaluated {
                            sums: &sums[range.clone()],
                            total,
                            intercept,
                            at: &at[range.clone()],
                            direction: &direction[range.clone()],
                        };
                        let scaling = Scaling {
                            deviation: &deviation[range.clone()],
                            mean: mean.map(|mean| &mean[range.clone()]),
                        };
                        let penalties = Penalties {
                            factors: &factors[range],
                            l1,
                            l2,
                        };
                        solver::gradient(evaluated, scaling, penalties, gradient, subgradient)
                    },
                )?
            }
        };
        let numbers: Vec<f64> = found
            .into_iter()
            .flat_map(
                |Evaluation {
                     l2,
                     l1,
                     slope,
                     squares,
                     subsquares,
                 }| [l2, l1, slope, squares, subsquares],
            )
            .collect();
        result.set_region(env, 5 * run.first as jint, &numbers)?;
    }
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
#[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
pub fn products<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    ends: JIntArray<'l>,
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
    let blocks = Blocks::new(env, &ends, length)?;
    let point = vector(env, "point", &point, length)?;
    let next = vector(env, "next", &next, length)?;
    let gradient = vector(env, "gradient", &gradient, length)?;
    let next_gradient = vector(env, "nextGradient", &next_gradient, length)?;
    let search = vector(env, "search", &search, length)?;
    let arrays = corrections(env, &history, length)?;
    if arrays.is_empty() {
        return Err(argument!(
            "history is empty: the newest correction needs arrays"
        ));
    }
    let references = arrays
        .iter()
        .map(|array| ArrayRef::new(env, "an array of history", array))
        .collect::<Result<Vec<_>, _>>()?;
    let (count, changes) = (references.len(), references.len() / 2);
    vector(env, "sums", &sums, 3 * count * blocks.count())?;
    let pool = threads_of(threads);
    for run in blocks.runs() {
        let found = {
            let critical = EnvCritical::new(env);
            let pins = Pins::new(&critical);
            // SAFETY: `NativeBridge` requires that no Java thread uses the arrays during a call. Arrays of floats are none of doubles, and
            // `corrections` has checked that no two of them are the same.
            unsafe {
                let (point, next) = (pins.read(point)?, pins.read(next)?);
                let (gradient, next_gradient) = (pins.read(gradient)?, pins.read(next_gradient)?);
                let search = pins.read(search)?;
                let mut older: [&[f32]; 2 * MAX_CORRECTIONS] = [&[]; 2 * MAX_CORRECTIONS];
                for (i, (vector, &reference)) in older.iter_mut().zip(&references).enumerate() {
                    if i != 0 && i != changes {
                        *vector = pins.read(reference)?;
                    }
                }
                let step = run.cut(pins.write(references[0])?, 1);
                let change = run.cut(pins.write(references[changes])?, 1);
                each(
                    pool.as_ref(),
                    run.ranges().zip(step.zip(change)),
                    |(at, (step, change))| {
                        solver::difference(&next[at.clone()], &point[at.clone()], step)?;
                        solver::difference(
                            &next_gradient[at.clone()],
                            &gradient[at.clone()],
                            change,
                        )?;
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
                        solver::products(step, change, &search[at], all, &mut sums[..3 * count])?;
                        Ok(sums)
                    },
                )?
            }
        };
        for (i, found) in found.iter().enumerate() {
            let place = 3 * count * (run.first + i);
            sums.set_region(env, place as jint, &found[..3 * count])?;
        }
    }
    Ok(())
}

/// See `NativeBridge.quasiNewtonDirection`.
#[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
pub fn direction<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    ends: JIntArray<'l>,
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
    let search = ArrayRef::new(env, "search", &search)?;
    let length = search.length();
    let blocks = Blocks::new(env, &ends, length)?;
    let arrays = corrections(env, &history, length)?;
    let factors = copied(env, "factors", &factors)?;
    let references = arrays
        .iter()
        .map(|array| ArrayRef::new(env, "an array of history", array))
        .collect::<Result<Vec<_>, _>>()?;
    let direction = vector(env, "direction", &direction, length)?;
    vector(env, "result", &result, 2 * blocks.count())?;
    let pool = threads_of(threads);
    for run in blocks.runs() {
        let found = {
            let critical = EnvCritical::new(env);
            let pins = Pins::new(&critical);
            // SAFETY: as in `products`; `distinct` has checked that the array that is written is not `search`.
            unsafe {
                let mut all: [&[f32]; 2 * MAX_CORRECTIONS] = [&[]; 2 * MAX_CORRECTIONS];
                let all = &mut all[..references.len()];
                for (vector, &reference) in all.iter_mut().zip(&references) {
                    *vector = pins.read(reference)?;
                }
                let search = pins.read(search)?;
                let direction = run.cut(pins.write(direction)?, 1);
                each(
                    pool.as_ref(),
                    run.ranges().zip(direction),
                    |(at, direction)| {
                        let mut vectors: [&[f32]; 2 * MAX_CORRECTIONS] = [&[]; 2 * MAX_CORRECTIONS];
                        let vectors = &mut vectors[..all.len()];
                        for (part, vector) in vectors.iter_mut().zip(&*all) {
                            *part = &vector[at.clone()];
                        }
                        solver::direction(
                            &search[at],
                            factor,
                            vectors,
                            &factors,
                            descends,
                            direction,
                        )
                    },
                )?
            }
        };
        result.set_region(env, 2 * run.first as jint, found.as_flattened())?;
    }
    Ok(())
}
