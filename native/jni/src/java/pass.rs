//! The functions of a pass over rows, block by block.

use std::time::Instant;

use dwell_solvers::{
    network::{Layers, NetworkPass},
    pass::{PassLoss, PassParams, RowPass},
};
use jni::{
    Env,
    objects::{JByteArray, JClass, JDoubleArray, JFloatArray, JIntArray, JLongArray},
    sys::jlong,
};
use once_cell::sync::Lazy;

use crate::{
    boundary::{
        fault::{Fault, argument},
        fingerprint::{Fingerprint, KNOWN},
        header::{self, Header, NONZEROS, SOLVER_NANOS},
        numbers::ControlSlots,
        pins::ArrayRef,
    },
    java::{
        arguments::{copied, decoded, numbers, set_bytes},
        block::RowBlock,
        calls::write_header,
        handles::Handles,
    },
    pass::{
        kinds::Pass,
        layout::{
            CONTROL_FEATURES, CONTROL_FLAGS, CONTROL_LOSS, CONTROL_OUTPUTS, CONTROL_PARAMETER,
            CONTROL_SLOTS, CONTROL_VERSION, GRADIENT, HESSIAN, HINGE_SUM, INTERCEPT,
            LAYOUT_VERSION, LOSS_SUM, LOSSES, MAJORISE, MAX_STEPS, MOMENTS, PROXIMAL, REACH, ROWS,
            SLOPE_SQUARES, SLOPES,
        },
    },
    rows::network_layout::MAX_LAYERS,
};

/// The passes that are in progress in this process.
pub static PASSES: Lazy<Handles<Pass>> = Lazy::new(|| Handles::new("pass"));

/// See `NativeBridge.passBegin`.
#[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
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
    Ok(PASSES.begin(Pass::Rows(pass)))
}

/// See `NativeBridge.networkBegin`.
pub fn network_begin<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    layers: JIntArray<'l>,
    weights: JByteArray<'l>,
) -> Result<jlong, Fault> {
    let mut room = [0; MAX_LAYERS];
    let sizes = numbers(env, "layers", &layers, &mut room)?;
    let sizes: Vec<usize> = (sizes.iter())
        .map(|&size| usize::try_from(size).unwrap_or(0))
        .collect();
    let layers = Layers::new(&sizes)?;
    let weights = decoded(env, "weights", &weights)?;
    Ok(PASSES.begin(Pass::Network(NetworkPass::new(layers, weights)?)))
}

/// See `NativeBridge.passFork`.
pub fn fork(_: &mut Env<'_>, _: JClass<'_>, pass: jlong) -> Result<jlong, Fault> {
    Ok(PASSES.begin(PASSES.with(pass, |pass| Ok(pass.fork()?))?))
}

/// See `NativeBridge.passBlock`.
#[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
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
    let (structure, values) = ((&offsets, &features), (&values32, &values64));
    let block = RowBlock::new(env, structure, values, &labels, &weights)?;
    PASSES.with(pass, |pass| {
        let (rows, features) = (block.labels.length(), pass.features());
        block.check_lengths(features)?;
        let fingerprint = block.lend(env, |_, matrix, _, _| {
            Ok(Fingerprint::of_matrix(features, matrix))
        })?;
        let start = Instant::now();
        KNOWN.check(fingerprint, || {
            block.lend(env, |_, matrix, _, _| {
                matrix.checked_view(rows, features)?;
                Ok(())
            })
        })?;
        let mut next = 0;
        while next < rows {
            next = block.lend(env, |_, matrix, labels, weights| {
                let view = matrix.known_view(rows, features)?;
                Ok(pass.take(view, labels, weights, next)?)
            })?;
            // Nothing is pinned while the pass works on its copy.
            pass.work()?;
        }
        Ok(start.elapsed().as_nanos() as jlong)
    })
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
        let vector = pass.vector()?;
        let outcome = pass.outcome();
        let mut header: Header = header::EMPTY;
        header[LOSS_SUM] = outcome.loss;
        header[REACH] = outcome.reach;
        header::fill(&mut header[SLOPES..SLOPES + 2], &outcome.slopes);
        let squares = SLOPE_SQUARES..SLOPE_SQUARES + 2;
        header::fill(&mut header[squares], &outcome.slope_squares);
        header[HINGE_SUM] = outcome.hinge;
        header[ROWS] = outcome.rows as f64;
        header[NONZEROS] = outcome.entries as f64;
        header[SOLVER_NANOS] = nanos as f64 + start.elapsed().as_nanos() as f64;
        header::fill(&mut header[LOSSES..LOSSES + MAX_STEPS], &outcome.losses);
        Ok((header, vector))
    })?;
    drop(PASSES.take(pass));
    let needed = header::BYTES + 8 * vector.len();
    if length < needed || vector.is_empty() && length > needed {
        return Err(argument!(
            "result has length {length}, expected {needed}, or more after a vector"
        ));
    }
    write_header(env, &result, &header)?;
    set_bytes(env, &result, header::BYTES, 8 * vector.len(), |at, out| {
        let (chunks, _) = out.as_chunks_mut::<8>();
        for (bytes, x) in chunks.iter_mut().zip(&vector[at / 8..]) {
            *bytes = x.to_le_bytes();
        }
        Ok(())
    })
}

/// See `NativeBridge.passJoin`.
pub fn join(_: &mut Env<'_>, _: JClass<'_>, into: jlong, from: jlong) -> Result<(), Fault> {
    PASSES.with(into, |pass| match PASSES.take(from) {
        Some(other) => Ok(pass.join(other)?),
        None => Err(argument!(
            "pass {from} cannot be joined: there is no such pass, or a call works on it"
        )),
    })
}

/// See `NativeBridge.passFree`.
pub fn free(_: &mut Env<'_>, _: JClass<'_>, pass: jlong) -> Result<(), Fault> {
    drop(PASSES.take(pass));
    Ok(())
}
