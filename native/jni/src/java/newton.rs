//! The functions of the quadratic model of Newton's method, for the leader.

use dwell_solvers::{
    SolverError,
    newton::{Quadratic, joined, remainders},
};
use jni::{
    Env,
    objects::{JBooleanArray, JClass, JDoubleArray},
    sys::{jdouble, jint},
};

use crate::{
    boundary::{
        fault::{Fault, argument},
        memory::{reserve, zeros},
        pins::ArrayRef,
        pool,
    },
    java::arguments::{copied, doubles, optional},
};

/// See `NativeBridge.newtonModel`.
#[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
pub fn model<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    sums: JDoubleArray<'l>,
    triangles: jint,
    outputs: jint,
    gradient: JDoubleArray<'l>,
    at: JDoubleArray<'l>,
    l1: JDoubleArray<'l>,
    l2: JDoubleArray<'l>,
    fixed: JBooleanArray<'l>,
    lower: JDoubleArray<'l>,
    upper: JDoubleArray<'l>,
    objective: jdouble,
    threads: jint,
    step: JDoubleArray<'l>,
    reach: JDoubleArray<'l>,
    dropped: JBooleanArray<'l>,
    bound: JDoubleArray<'l>,
) -> Result<(), Fault> {
    let gradient = copied(env, "gradient", &gradient)?;
    let variables = gradient.len();
    let outputs = usize::try_from(outputs)
        .ok()
        .filter(|&outputs| outputs > 0 && variables % outputs == 0)
        .ok_or_else(|| {
            argument!("outputs is {outputs}, but there are {variables} variables for all outputs")
        })?;
    let n = variables / outputs;
    let pairs = outputs * (outputs + 1) / 2;
    let mut hessian = zeros(pairs * (n * (n + 1) / 2), "a quadratic model")?;
    sums.get_region(env, triangles, &mut hessian)?;
    if outputs > 1 {
        hessian = joined(&hessian, outputs, n)?;
    }
    let at = copied(env, "at", &at)?;
    let l1 = copied(env, "l1", &l1)?;
    let l2 = copied(env, "l2", &l2)?;
    let mut flags = reserve(n, "a quadratic model")?;
    flags.resize(variables, false);
    fixed.get_region(env, 0, &mut flags)?;
    let lower = copied(env, "lower", &lower)?;
    let upper = copied(env, "upper", &upper)?;
    let model = Quadratic {
        hessian: &hessian,
        gradient: &gradient,
        at: &at,
        l1: &l1,
        l2: &l2,
        fixed: &flags,
        lower: &lower,
        upper: &upper,
        objective,
    };
    let wants_reach = optional(&reach).is_some();
    let (minimum, norms) = on_threads(threads, || {
        let minimum = model.minimise()?;
        let norms = wants_reach
            .then(|| minimum.factor.unit_norms())
            .transpose()?;
        Ok((minimum, norms))
    })?;
    step.set_region(env, 0, &minimum.step)?;
    for (flag, j) in flags.iter_mut().zip(0..) {
        *flag = minimum.factor.is_dropped(j);
    }
    dropped.set_region(env, 0, &flags)?;
    let balanced = if minimum.balanced { 1.0 } else { 0.0 };
    let numbers = [minimum.decrease, minimum.slope, minimum.offset, balanced];
    bound.set_region(env, 0, &numbers)?;
    if let Some(norms) = norms {
        reach.set_region(env, 0, &norms)?;
    }
    Ok(())
}

/// See `NativeBridge.newtonRemainders`.
#[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
pub fn remainders_of<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    sums: JDoubleArray<'l>,
    triangles: jint,
    outputs: jint,
    fixed: JBooleanArray<'l>,
    dropped: JBooleanArray<'l>,
    threads: jint,
) -> Result<JDoubleArray<'l>, Fault> {
    let n = ArrayRef::new(env, "fixed", &fixed)?.length();
    let mut flags = [const { Vec::new() }; 2];
    for (flags, array) in flags.iter_mut().zip([&fixed, &dropped]) {
        *flags = reserve(n, "the remainders of variables")?;
        flags.resize(n, false);
        array.get_region(env, 0, flags)?;
    }
    let length = n * (n + 1) / 2;
    let mut own = reserve(0, "the remainders of variables")?;
    for output in 0..usize::try_from(outputs).unwrap_or(0) {
        // The pair of an output with itself.
        let pair = output * (output + 3) / 2;
        let mut triangle = zeros(length, "the remainders of variables")?;
        sums.get_region(env, triangles + (pair * length) as jint, &mut triangle)?;
        own.push(triangle);
    }
    let views: Vec<&[f64]> = own.iter().map(Vec::as_slice).collect();
    let found = on_threads(threads, || remainders(&views, &flags[0], &flags[1]))?;
    doubles(env, &found)
}

/// Works on so many threads.
fn on_threads<T: Send>(
    threads: jint,
    work: impl FnOnce() -> Result<T, SolverError> + Send,
) -> Result<T, SolverError> {
    match pool::of(usize::try_from(threads).unwrap_or(0)) {
        Some(pool) => pool.install(work),
        None => work(),
    }
}
