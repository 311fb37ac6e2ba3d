//! The functions of Newton's method: a pass over rows, block by block, and the quadratic model of the leader.

use std::time::{Duration, Instant};

use dwell_solvers::{
    SolverError, Values,
    newton::{PassLoss, PassParams, PassRows, Quadratic, RowPass, joined, remainders},
};
use jni::{
    Env,
    objects::{
        JBooleanArray, JByteArray, JClass, JDoubleArray, JFloatArray, JIntArray, JLongArray,
    },
    sys::{jdouble, jint, jlong},
};

use crate::{
    boundary::{
        fault::{Fault, argument},
        header::{self, Header, NONZEROS, SOLVER_NANOS},
        memory::{reserve, zeros},
        numbers::ControlSlots,
        pins::{ArrayRef, EnvCritical, Pins},
        pool,
    },
    java::{
        arguments::{copied, numbers, optional},
        calls::write_header,
    },
    newton::{
        layout::{
            CONTROL_FEATURES, CONTROL_FLAGS, CONTROL_LOSS, CONTROL_OUTPUTS, CONTROL_PARAMETER,
            CONTROL_SLOTS, CONTROL_VERSION, GRADIENT, HESSIAN, HINGE_SUM, INTERCEPT,
            LAYOUT_VERSION, LOSS_SUM, LOSSES, MAJORISE, MAX_STEPS, MOMENTS, PROXIMAL, REACH, ROWS,
            SLOPE_SQUARES, SLOPES,
        },
        passes::PASSES,
    },
};

/// Numbers that go into a Java array at a time.
const COPIED: usize = 1 << 14;

/// See `NativeBridge.passBegin`.
#[expect(
    clippy::too_many_arguments,
    reason = "the signature of the Java method"
)]
pub fn begin<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    control: JLongArray<'l>,
    centre: JDoubleArray<'l>,
    model: JByteArray<'l>,
    direction: JDoubleArray<'l>,
    steps: JDoubleArray<'l>,
    reach: JDoubleArray<'l>,
    dual: JDoubleArray<'l>,
    remainders: JDoubleArray<'l>,
    earlier: JDoubleArray<'l>,
) -> Result<jlong, Fault> {
    let mut room = [0; CONTROL_SLOTS];
    let control = numbers(env, "control", &control, &mut room)?;
    let slots = ControlSlots::new(control, CONTROL_SLOTS, CONTROL_VERSION, LAYOUT_VERSION)?;
    let flags = slots.flags(
        CONTROL_FLAGS,
        INTERCEPT | GRADIENT | MOMENTS | MAJORISE | PROXIMAL | HESSIAN,
    )?;
    let outputs = slots.int(CONTROL_OUTPUTS, "outputs", 1)? as usize;
    let steps = copied(env, "steps", &steps)?;
    if steps.len() > MAX_STEPS {
        return Err(argument!(
            "steps has length {}, expected at most {MAX_STEPS}",
            steps.len()
        ));
    }
    let pass = RowPass::new(PassParams {
        loss: PassLoss::from_code(
            slots.any(CONTROL_LOSS),
            f64::from_bits(slots.any(CONTROL_PARAMETER).cast_unsigned()),
            outputs,
        )?,
        intercept: flags & INTERCEPT != 0,
        features: slots.int(CONTROL_FEATURES, "features", 0)? as usize,
        centre: copied(env, "centre", &centre)?,
        model: decoded(env, "model", &model)?,
        direction: copied(env, "direction", &direction)?,
        steps,
        reach: copied(env, "reach", &reach)?,
        gradient: flags & GRADIENT != 0,
        hessian: flags & HESSIAN != 0,
        moments: flags & MOMENTS != 0,
        majorise: flags & MAJORISE != 0,
        dual: copied(env, "dual", &dual)?,
        proximal: flags & PROXIMAL != 0,
        remainders: copied(env, "remainders", &remainders)?,
        earlier: copied(env, "earlier", &earlier)?,
    })?;
    Ok(PASSES.begin(pass))
}

/// The doubles of a Java array of bytes, little endian.
fn decoded(env: &Env<'_>, name: &str, array: &JByteArray<'_>) -> Result<Vec<f64>, Fault> {
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

/// See `NativeBridge.passFork`.
pub fn fork(_: &mut Env<'_>, _: JClass<'_>, pass: jlong) -> Result<jlong, Fault> {
    let fork = PASSES.with(pass, |pass| Ok(pass.fork()))?;
    Ok(PASSES.begin(fork))
}

/// See `NativeBridge.passBlock`.
#[expect(
    clippy::too_many_arguments,
    reason = "the signature of the Java method"
)]
pub fn block<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    pass: jlong,
    offsets: JIntArray<'l>,
    features: JIntArray<'l>,
    values32: JFloatArray<'l>,
    values64: JDoubleArray<'l>,
    labels: JDoubleArray<'l>,
    weights: JDoubleArray<'l>,
) -> Result<jlong, Fault> {
    if optional(&values32).is_some() && optional(&values64).is_some() {
        return Err(argument!(
            "values32 and values64 are both given: one of them must be null"
        ));
    }
    let block = Block {
        offsets: optional(&offsets)
            .map(|array| ArrayRef::new(env, "offsets", array))
            .transpose()?,
        features: optional(&features)
            .map(|array| ArrayRef::new(env, "features", array))
            .transpose()?,
        values32: optional(&values32)
            .map(|array| ArrayRef::new(env, "values32", array))
            .transpose()?,
        values64: optional(&values64)
            .map(|array| ArrayRef::new(env, "values64", array))
            .transpose()?,
        labels: ArrayRef::new(env, "labels", &labels)?,
        weights: optional(&weights)
            .map(|array| ArrayRef::new(env, "weights", array))
            .transpose()?,
    };
    PASSES.with(pass, |pass| {
        let mut next = 0;
        let mut spent = Duration::ZERO;
        while next < block.labels.length() {
            let start = Instant::now();
            next = block.lend(env, pass, next)?;
            // Nothing is pinned while the pass works on its copy.
            pass.work()?;
            spent += start.elapsed();
        }
        Ok(spent.as_nanos() as jlong)
    })
}

/// The arrays of a block.
struct Block<'a> {
    offsets: Option<ArrayRef<'a, i32>>,
    features: Option<ArrayRef<'a, i32>>,
    values32: Option<ArrayRef<'a, f32>>,
    values64: Option<ArrayRef<'a, f64>>,
    labels: ArrayRef<'a, f64>,
    weights: Option<ArrayRef<'a, f64>>,
}

impl Block<'_> {
    /// Lets the pass copy the next rows.
    fn lend(&self, env: &mut Env<'_>, pass: &mut RowPass, next: usize) -> Result<usize, Fault> {
        let critical = EnvCritical::new(env);
        let pins = Pins::new(&critical);
        // SAFETY: no Java thread writes the arrays of a block: blocks are immutable once they are built, and `NativeBridge` requires it of
        // its callers. The pass only reads them, and keeps copies.
        unsafe {
            let values = match (self.values32, self.values64) {
                (Some(values), _) => Values::F32(pins.read(values)?),
                (None, Some(values)) => Values::F64(pins.read(values)?),
                (None, None) => Values::Ones,
            };
            let rows = match (self.offsets, self.features) {
                (Some(offsets), Some(features)) => {
                    PassRows::Sparse(pins.read(offsets)?, pins.read(features)?, values)
                }
                _ => PassRows::Dense(values),
            };
            let weights = self.weights.map(|weights| pins.read(weights)).transpose()?;
            Ok(pass.take(rows, pins.read(self.labels)?, weights, next)?)
        }
    }
}

/// See `NativeBridge.passEnd`.
pub fn end<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    pass: jlong,
    nanos: jlong,
    result: JByteArray<'l>,
) -> Result<(), Fault> {
    let length = ArrayRef::new(env, "result", &result)?.length();
    let (header, vector) = PASSES.with(pass, |pass| {
        let start = Instant::now();
        let mut vector = Vec::new();
        if pass.has_vector() {
            vector = zeros(pass.length(), "the sums of a pass")?;
            pass.write(&mut vector)?;
        }
        let outcome = pass.outcome();
        let mut header: Header = header::EMPTY;
        header[LOSS_SUM] = outcome.loss;
        header[REACH] = outcome.reach;
        header::fill(&mut header[SLOPES..SLOPES + 2], &outcome.slopes);
        header::fill(
            &mut header[SLOPE_SQUARES..SLOPE_SQUARES + 2],
            &outcome.slope_squares,
        );
        header[HINGE_SUM] = outcome.hinge;
        header[ROWS] = outcome.rows as f64;
        header[NONZEROS] = outcome.entries as f64;
        header[SOLVER_NANOS] = nanos as f64 + start.elapsed().as_nanos() as f64;
        header::fill(&mut header[LOSSES..LOSSES + MAX_STEPS], &outcome.losses);
        Ok((header, vector))
    })?;
    PASSES.free(pass);
    let needed = header::BYTES + 8 * vector.len();
    if length < needed || vector.is_empty() && length > needed {
        return Err(argument!(
            "result has length {length}, expected {needed}, or more after a vector"
        ));
    }
    write_header(env, &result, &header)?;
    let mut bytes = vec![0; 8 * COPIED.min(vector.len())];
    for (k, part) in vector.chunks(COPIED).enumerate() {
        let bytes = &mut bytes[..8 * part.len()];
        for (bytes, x) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(part) {
            *bytes = x.to_le_bytes().map(u8::cast_signed);
        }
        result.set_region(env, (header::BYTES + 8 * COPIED * k) as i32, bytes)?;
    }
    Ok(())
}

/// See `NativeBridge.passJoin`.
pub fn join(_: &mut Env<'_>, _: JClass<'_>, into: jlong, from: jlong) -> Result<(), Fault> {
    PASSES.join(into, from)
}

/// See `NativeBridge.passFree`.
pub fn free(_: &mut Env<'_>, _: JClass<'_>, pass: jlong) -> Result<(), Fault> {
    PASSES.free(pass);
    Ok(())
}

/// See `NativeBridge.newtonModel`.
#[expect(
    clippy::too_many_arguments,
    reason = "the signature of the Java method"
)]
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
#[expect(
    clippy::too_many_arguments,
    reason = "the signature of the Java method"
)]
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
    let array = env.new_double_array(found.len())?;
    array.set_region(env, 0, &found)?;
    Ok(array)
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
