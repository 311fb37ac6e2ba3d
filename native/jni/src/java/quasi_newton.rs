//! The functions of a search by L-BFGS.

use std::collections::VecDeque;

use dwell_solvers::rows::quasi_newton::{self as solver, Evaluated, Penalties, Scaling};
use jni::{
    Env,
    objects::{JByteArray, JClass, JDoubleArray, JIntArray},
    sys::{jboolean, jdouble, jint, jlong},
};

use crate::{
    boundary::{
        fault::{Fault, argument},
        pins::ArrayRef,
    },
    java::{
        arguments::{COPIED, copied, doubles, expect_length, optional},
        search::{SEARCHES, Search, SearchVectors, TOGETHER},
    },
};

/// See `NativeBridge.quasiNewtonBegin`.
#[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
pub fn begin<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    ends: JIntArray<'l>,
    deviation: JDoubleArray<'l>,
    mean: JDoubleArray<'l>,
    factors: JDoubleArray<'l>,
    l1: jdouble,
    l2: jdouble,
    start: JDoubleArray<'l>,
    memory: jint,
    threads: jint,
) -> Result<jlong, Fault> {
    let ends = ends_of(env, &ends)?;
    let length = ends.last().copied().unwrap_or(0);
    if memory < 1 {
        return Err(argument!("memory is {memory}: it must be at least 1"));
    }
    let mut zeros = || {
        let array = env.new_double_array(length)?;
        env.new_global_ref(array)
    };
    let vectors = SearchVectors {
        point: zeros()?,
        gradient: zeros()?,
        subgradient: (l1 > 0.0).then(&mut zeros).transpose()?,
        next: zeros()?,
        next_gradient: zeros()?,
        next_subgradient: (l1 > 0.0).then(&mut zeros).transpose()?,
        direction: zeros()?,
        deviation: zeros()?,
        mean: optional(&mean).map(|_| zeros()).transpose()?,
        factors: zeros()?,
        steps: VecDeque::new(),
        changes: VecDeque::new(),
    };
    copy(env, "deviation", &deviation, &vectors.deviation)?;
    copy(env, "factors", &factors, &vectors.factors)?;
    copy(env, "start", &start, &vectors.point)?;
    if let Some(means) = &vectors.mean {
        copy(env, "mean", &mean, means)?;
    }
    Ok(SEARCHES.begin(Search {
        ends,
        l1,
        l2,
        memory: memory as usize,
        threads: usize::try_from(threads).unwrap_or(0),
        vectors,
    }))
}

/// The ends of blocks.
fn ends_of(env: &Env<'_>, ends: &JIntArray<'_>) -> Result<Vec<usize>, Fault> {
    let mut given = vec![0; ArrayRef::new(env, "ends", ends)?.length()];
    ends.get_region(env, 0, &mut given)?;
    let ends: Vec<_> = (given.iter().map(|&end| usize::try_from(end).unwrap_or(0))).collect();
    let mut blocks = [0].iter().chain(&ends).zip(&ends);
    if blocks.any(|(&start, &end)| end <= start || end - start > TOGETHER) {
        return Err(argument!(
            "ends are {given:?}: they must increase, by at most {TOGETHER}"
        ));
    }
    Ok(ends)
}

/// Copies an array to another one, which must be as long.
fn copy(
    env: &Env<'_>,
    name: &str,
    from: &JDoubleArray<'_>,
    to: &JDoubleArray<'_>,
) -> Result<(), Fault> {
    let length = to.len(env)?;
    expect_length(name, ArrayRef::new(env, name, from)?.length(), length)?;
    let mut numbers = vec![0.0; length.min(COPIED)];
    for at in (0..length).step_by(COPIED) {
        let numbers = &mut numbers[..COPIED.min(length - at)];
        from.get_region(env, at as jint, numbers)?;
        to.set_region(env, at as jint, numbers)?;
    }
    Ok(())
}

/// See `NativeBridge.quasiNewtonTrial`.
pub fn trial<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    search: jlong,
    step: jdouble,
    model: JByteArray<'l>,
) -> Result<JDoubleArray<'l>, Fault> {
    SEARCHES.with(search, |search| {
        let model = ArrayRef::new(env, "model", &model)?.unsigned();
        expect_length("model", model.length(), 8 * search.length())?;
        let centres = search.each(env, None, Some(model), |block| {
            let v = block.vectors;
            let scaling = Scaling {
                deviation: v.deviation,
                mean: v.mean.as_deref(),
            };
            let subgradient = v.subgradient.as_deref();
            solver::trial(
                v.point,
                v.direction,
                subgradient,
                step,
                scaling,
                v.next,
                block.model,
            )
        })?;
        doubles(env, &centres)
    })
}

/// See `NativeBridge.quasiNewtonGradient`.
pub fn gradient<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    search: jlong,
    sums: JDoubleArray<'l>,
    total: jdouble,
    intercepts: JDoubleArray<'l>,
) -> Result<JDoubleArray<'l>, Fault> {
    SEARCHES.with(search, |search| {
        let sums = ArrayRef::new(env, "sums", &sums)?;
        expect_length("sums", sums.length(), search.length())?;
        let intercepts = copied(env, "intercepts", &intercepts)?;
        expect_length("intercepts", intercepts.len(), search.ends.len())?;
        let (l1, l2) = (search.l1, search.l2);
        let found = search.each(env, Some(sums), None, |block| {
            let v = block.vectors;
            let scaling = Scaling {
                deviation: v.deviation,
                mean: v.mean.as_deref(),
            };
            let evaluated = Evaluated {
                sums: block.sums,
                total,
                intercept: intercepts[block.number],
                at: v.next,
                direction: v.direction,
            };
            let factors = &*v.factors;
            let penalties = Penalties { factors, l1, l2 };
            let (gradient, subgradient) = (v.next_gradient, v.next_subgradient);
            let found = solver::gradient(evaluated, scaling, penalties, gradient, subgradient)?;
            Ok([
                found.l2,
                found.l1,
                found.slope,
                found.squares,
                found.subsquares,
            ])
        })?;
        doubles(env, found.as_flattened())
    })
}

/// See `NativeBridge.quasiNewtonAccept`.
pub fn accept<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    search: jlong,
    moved: jboolean,
) -> Result<JDoubleArray<'l>, Fault> {
    SEARCHES.with(search, |search| {
        let products = if moved {
            correct(env, search)?
        } else {
            Vec::new()
        };
        search.vectors.accept();
        doubles(env, &products)
    })
}

/// Makes the last move the newest correction. Returns the sums of products for each block.
fn correct(env: &mut Env<'_>, search: &mut Search) -> Result<Vec<f64>, Fault> {
    let (length, memory) = (search.length(), search.memory);
    for vectors in [&mut search.vectors.steps, &mut search.vectors.changes] {
        if vectors.len() == memory {
            vectors.rotate_right(1);
        } else {
            let array = env.new_float_array(length)?;
            vectors.push_front(env.new_global_ref(array)?);
        }
    }
    let products = search.each(env, None, None, |mut block| {
        let v = &mut block.vectors;
        solver::difference(v.next, v.point, v.steps[0])?;
        solver::difference(v.next_gradient, v.gradient, v.changes[0])?;
        let v = &block.vectors;
        let search = v.next_subgradient.as_deref().unwrap_or(v.next_gradient);
        let corrections = block.corrections();
        let mut sums = vec![0.0; 3 * corrections.len()];
        solver::products(v.steps[0], v.changes[0], search, &corrections, &mut sums)?;
        Ok(sums)
    })?;
    Ok(products.concat())
}

/// See `NativeBridge.quasiNewtonTurn`.
pub fn turn<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    search: jlong,
    factor: jdouble,
    factors: JDoubleArray<'l>,
) -> Result<JDoubleArray<'l>, Fault> {
    SEARCHES.with(search, |search| {
        let factors = copied(env, "factors", &factors)?;
        search.vectors.steps.truncate(factors.len() / 2);
        search.vectors.changes.truncate(factors.len() / 2);
        let found = search.each(env, None, None, |mut block| {
            let direction = std::mem::take(&mut block.vectors.direction);
            let corrections = block.corrections();
            let v = &block.vectors;
            let descends = v.subgradient.is_some();
            let search = v.subgradient.as_deref().unwrap_or(v.gradient);
            solver::direction(search, factor, &corrections, &factors, descends, direction)
        })?;
        doubles(env, found.as_flattened())
    })
}

/// See `NativeBridge.quasiNewtonFree`.
pub fn free(_: &mut Env<'_>, _: JClass<'_>, search: jlong) -> Result<(), Fault> {
    drop(SEARCHES.take(search));
    Ok(())
}
