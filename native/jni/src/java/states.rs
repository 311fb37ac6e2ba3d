//! The functions on values kept between calls: worker states, and memory of calls without one.

use std::time::Duration;

use jni::{
    Env,
    objects::{JClass, JDoubleArray, JLongArray},
    sys::{jboolean, jint, jlong},
};

use crate::{
    boundary::{
        fault::{Fault, argument},
        memory::zeros,
        pins::ArrayRef,
    },
    cd::{
        layout::{
            META_CURSOR, META_IMPORTED, META_PENDING_CURSOR, META_PENDING_ROUND, META_SLOTS,
            META_STAMP, META_VERSION,
        },
        states::{Committed, STATES},
    },
    java::{
        arguments::{expect_length, finite},
        pass::PASSES,
        search::SEARCHES,
    },
    lda::scratch::SCRATCH,
    pass::kinds::Pass,
};

/// See `NativeBridge.exportState`.
#[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
pub fn export_state<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    fit: jlong,
    partition: jint,
    meta: JLongArray<'l>,
    alpha: JDoubleArray<'l>,
    previous: JDoubleArray<'l>,
    delta: JDoubleArray<'l>,
) -> Result<jboolean, Fault> {
    let lengths = [
        ("alpha", ArrayRef::new(env, "alpha", &alpha)?.length()),
        (
            "previous",
            ArrayRef::new(env, "previous", &previous)?.length(),
        ),
        ("delta", ArrayRef::new(env, "delta", &delta)?.length()),
    ];
    let meta_length = ArrayRef::new(env, "meta", &meta)?.length();
    expect_length("meta", meta_length, META_SLOTS)?;
    let Some(snapshot) = STATES.export((fit, partition)) else {
        return Ok(false);
    };
    let committed = &snapshot.committed;
    for (name, length) in lengths {
        expect_length(name, length, committed.alpha.len())?;
    }
    let mut numbers = [0; META_SLOTS];
    numbers[META_VERSION] = committed.version;
    numbers[META_STAMP] = committed.stamp;
    numbers[META_CURSOR] = committed.cursor as i64;
    (numbers[META_PENDING_ROUND], numbers[META_PENDING_CURSOR]) = match &snapshot.pending {
        None => (-1, 0),
        Some(step) => (step.round, step.cursor as i64),
    };
    meta.set_region(env, 0, &numbers)?;
    alpha.set_region(env, 0, &committed.alpha)?;
    previous.set_region(env, 0, &committed.previous)?;
    match &snapshot.pending {
        Some(step) => delta.set_region(env, 0, &step.delta)?,
        None => delta.set_region(env, 0, &zeros(committed.alpha.len(), "a worker state")?)?,
    }
    Ok(true)
}

/// See `NativeBridge.importState`.
pub fn import_state<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    fit: jlong,
    partition: jint,
    meta: JLongArray<'l>,
    alpha: JDoubleArray<'l>,
    previous: JDoubleArray<'l>,
) -> Result<(), Fault> {
    if partition < 0 {
        return Err(argument!("partition is {partition}: it must be at least 0"));
    }
    let meta_length = ArrayRef::new(env, "meta", &meta)?.length();
    if meta_length < META_IMPORTED {
        return Err(argument!(
            "meta has length {meta_length}, expected at least {META_IMPORTED}: version, stamp, cursor"
        ));
    }
    let mut numbers = [0; META_IMPORTED];
    meta.get_region(env, 0, &mut numbers)?;
    for (slot, name) in [
        (META_VERSION, "version"),
        (META_STAMP, "stamp"),
        (META_CURSOR, "cursor"),
    ] {
        let number = numbers[slot];
        if number < 0 {
            return Err(argument!(
                "{name} in meta is {number}: it must be at least 0"
            ));
        }
    }
    let alpha = finite(env, "alpha", &alpha)?;
    let previous = finite(env, "previous", &previous)?;
    expect_length("previous", previous.len(), alpha.len())?;
    let committed = Committed {
        version: numbers[META_VERSION],
        stamp: numbers[META_STAMP],
        cursor: numbers[META_CURSOR] as u64,
        alpha,
        previous,
    };
    STATES.import((fit, partition), committed);
    Ok(())
}

/// See `NativeBridge.stateSize`.
pub fn state_size(
    _: &mut Env<'_>,
    _: JClass<'_>,
    fit: jlong,
    partition: jint,
) -> Result<jint, Fault> {
    // A state has no more coordinates than a Java array has elements.
    Ok(STATES
        .coordinates((fit, partition))
        .map_or(-1, |coordinates| coordinates as jint))
}

/// See `NativeBridge.freeFit`.
pub fn free_fit(_: &mut Env<'_>, _: JClass<'_>, fit: jlong) -> Result<jlong, Fault> {
    Ok((STATES.free(fit) + SCRATCH.free(fit)) as jlong)
}

/// See `NativeBridge.expire`.
pub fn expire(_: &mut Env<'_>, _: JClass<'_>, max_age_millis: jlong) -> Result<jlong, Fault> {
    let age = u64::try_from(max_age_millis)
        .map_err(|_| argument!("maxAgeMillis is {max_age_millis}: it must be at least 0"))?;
    let age = Duration::from_millis(age);
    Ok((STATES.expire(age) + SCRATCH.expire(age)) as jlong)
}

/// See `NativeBridge.stateBytes`.
pub fn state_bytes(_: &mut Env<'_>, _: JClass<'_>) -> Result<jlong, Fault> {
    Ok((STATES.bytes() + SCRATCH.bytes() + PASSES.sum(Pass::bytes)) as jlong)
}

/// See `NativeBridge.stateEntries`.
pub fn state_entries(_: &mut Env<'_>, _: JClass<'_>) -> Result<jlong, Fault> {
    Ok((STATES.entries() + SCRATCH.entries() + PASSES.entries() + SEARCHES.entries()) as jlong)
}
