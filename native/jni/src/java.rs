//! The functions of `dwell.jni.NativeBridge`: decode, call, write. What they do is documented there.

use std::time::Duration;

use dwell_solvers::Values;
use jni::{
    Env, NativeMethod, jni_sig, jni_str, native_method,
    objects::{
        JByteArray, JClass, JDoubleArray, JFloatArray, JIntArray, JLongArray, JObject,
        JPrimitiveArray, JString, TypeArray,
    },
    sys::{jboolean, jint, jlong},
};

use crate::{
    ABI_VERSION, BUILD_ID, argument,
    boundary::{Fault, Throw, reserve},
    pins::{ArrayRef, EnvCritical, Pins},
    primal::{
        self, Arrays, CONTROL_LENGTH, HEADER_BYTES, HEADER_SLOTS, Header, Lender, Request,
        SETTINGS_LENGTH,
    },
    registry::{Committed, REGISTRY, Registry},
};

const OK: jint = 0;
const STATE_LOST: jint = 1;

/// Bound to the class in `JNI_OnLoad`, so that Java and Rust that disagree fail when the library is loaded.
pub const METHODS: &[NativeMethod] = &[
    native_method! { static fn abi_version() -> jint, error_policy = Throw },
    native_method! { static fn build_id() -> JString, error_policy = Throw },
    native_method! {
        static fn primal_round(control: jlong[], settings: jdouble[], offsets: jint[], rows: jint[], values32: jfloat[],
            values64: jdouble[], mean: jdouble[], variance: jdouble[], deviation: jdouble[], weights: jdouble[],
            shared: jbyte[], result: jbyte[], cancellation: dwell.jni.Cancellation) -> jint,
        error_policy = Throw
    },
    native_method! {
        static fn primal_product(control: jlong[], settings: jdouble[], offsets: jint[], rows: jint[], values32: jfloat[],
            values64: jdouble[], mean: jdouble[], variance: jdouble[], deviation: jdouble[], weights: jdouble[],
            result: jbyte[], cancellation: dwell.jni.Cancellation) -> jint,
        error_policy = Throw
    },
    native_method! {
        static fn export_state(fit: jlong, partition: jint, meta: jlong[], alpha: jdouble[], previous: jdouble[],
            delta: jdouble[]) -> jboolean,
        error_policy = Throw
    },
    native_method! {
        static fn import_state(fit: jlong, partition: jint, meta: jlong[], alpha: jdouble[], previous: jdouble[]) -> void,
        error_policy = Throw
    },
    native_method! { static fn state_size(fit: jlong, partition: jint) -> jint, error_policy = Throw },
    native_method! { static fn free_fit(fit: jlong) -> jlong, error_policy = Throw },
    native_method! { static fn expire(max_age_millis: jlong) -> jlong, error_policy = Throw },
    native_method! { static fn state_bytes() -> jlong, error_policy = Throw },
    native_method! { static fn state_entries() -> jlong, error_policy = Throw },
];

fn abi_version(_: &mut Env<'_>, _: JClass<'_>) -> Result<jint, Fault> {
    Ok(ABI_VERSION)
}

fn build_id<'l>(env: &mut Env<'l>, _: JClass<'l>) -> Result<JString<'l>, Fault> {
    Ok(env.new_string(BUILD_ID)?)
}

/// The arrays of one call, pinned anew for each slice.
struct JavaLender<'e, 'l> {
    env: &'e mut Env<'l>,
    offsets: ArrayRef<'e, i32>,
    indices: ArrayRef<'e, i32>,
    values32: Option<ArrayRef<'e, f32>>,
    values64: Option<ArrayRef<'e, f64>>,
    mean: ArrayRef<'e, f64>,
    variance: ArrayRef<'e, f64>,
    deviation: ArrayRef<'e, f64>,
    weights: Option<ArrayRef<'e, f64>>,
    residual: Option<ArrayRef<'e, u8>>,
    result: ArrayRef<'e, u8>,
    cancellation: &'e JObject<'l>,
}

impl Lender for JavaLender<'_, '_> {
    fn lend<R>(
        &mut self,
        work: impl FnOnce(&Arrays<'_>, &mut [u8]) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let critical = EnvCritical::new(self.env);
        let pins = Pins::new(&critical);
        // SAFETY: no Java thread writes these arrays during a call: `NativeBridge` asks that of its callers, partitions are
        // immutable once they are built, and a result belongs to one task. The result is no other of the arrays: only the residual
        // is a byte[] too, and their lengths, which were checked, differ by the header.
        let (arrays, result) = unsafe {
            let arrays = Arrays {
                offsets: pins.read(self.offsets)?,
                indices: pins.read(self.indices)?,
                values: match (self.values32, self.values64) {
                    (Some(values), _) => Values::F32(pins.read(values)?),
                    (None, Some(values)) => Values::F64(pins.read(values)?),
                    (None, None) => Values::Ones,
                },
                mean: pins.read(self.mean)?,
                variance: pins.read(self.variance)?,
                deviation: pins.read(self.deviation)?,
                weights: self.weights.map(|weights| pins.read(weights)).transpose()?,
                residual: self
                    .residual
                    .map_or(Ok(&[][..]), |residual| pins.read(residual))?,
            };
            (arrays, pins.write(self.result)?)
        };
        work(&arrays, &mut result[HEADER_BYTES..])
    }

    fn poll(&mut self) -> Result<(), Fault> {
        let requested = self.env.call_method(
            self.cancellation,
            jni_str!("requested"),
            jni_sig!(() -> jboolean),
            &[],
        )?;
        if requested.z()? {
            Err(Fault::Cancelled)
        } else {
            Ok(())
        }
    }
}

/// The arguments that rounds and products have in common.
struct Arguments<'a, 'l> {
    control: &'a JLongArray<'l>,
    settings: &'a JDoubleArray<'l>,
    offsets: &'a JIntArray<'l>,
    rows: &'a JIntArray<'l>,
    values32: &'a JFloatArray<'l>,
    values64: &'a JDoubleArray<'l>,
    mean: &'a JDoubleArray<'l>,
    variance: &'a JDoubleArray<'l>,
    deviation: &'a JDoubleArray<'l>,
    weights: &'a JDoubleArray<'l>,
    shared: Option<&'a JByteArray<'l>>,
    result: &'a JByteArray<'l>,
    cancellation: &'a JObject<'l>,
}

/// A computation on the state of a request: a round or a product.
type Call<'e, 'l> =
    fn(&Registry, &mut JavaLender<'e, 'l>, &Request, usize) -> Result<Option<Header>, Fault>;

fn call<'e, 'l>(
    env: &'e mut Env<'l>,
    arguments: Arguments<'e, 'l>,
    compute: Call<'e, 'l>,
) -> Result<jint, Fault> {
    let request = Request::decode(
        &numbers::<CONTROL_LENGTH, _>(env, "control", arguments.control)?,
        &numbers::<SETTINGS_LENGTH, _>(env, "settings", arguments.settings)?,
    )?;
    let values32 = optional(env, "values32", arguments.values32)?;
    let values64 = optional(env, "values64", arguments.values64)?;
    if values32.is_some() && values64.is_some() {
        return Err(argument!(
            "values32 and values64 are both given: one of them must be null"
        ));
    }
    let residual = match arguments.shared {
        None => None,
        Some(shared) => {
            let shared = ArrayRef::new(env, "shared", shared)?.unsigned();
            expect_length("shared", shared.length(), 8 * request.rows)?;
            Some(shared)
        }
    };
    let result = ArrayRef::new(env, "result", arguments.result)?.unsigned();
    expect_length("result", result.length(), HEADER_BYTES + 8 * request.rows)?;
    if arguments.cancellation.is_null() {
        return Err(argument!(
            "cancellation is null: pass Cancellation.NEVER for a call that is never cancelled"
        ));
    }
    let mean = ArrayRef::new(env, "mean", arguments.mean)?;
    let mut lender = JavaLender {
        offsets: ArrayRef::new(env, "offsets", arguments.offsets)?,
        indices: ArrayRef::new(env, "rows", arguments.rows)?,
        values32,
        values64,
        mean,
        variance: ArrayRef::new(env, "variance", arguments.variance)?,
        deviation: ArrayRef::new(env, "deviation", arguments.deviation)?,
        weights: optional(env, "weights", arguments.weights)?,
        residual,
        result,
        cancellation: arguments.cancellation,
        env,
    };
    let Some(header) = compute(&REGISTRY, &mut lender, &request, mean.length())? else {
        return Ok(STATE_LOST);
    };
    let mut bytes = [0; 8 * HEADER_SLOTS];
    for (slot, number) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(header) {
        *slot = number.to_le_bytes();
    }
    arguments
        .result
        .set_region(lender.env, 0, &bytes.map(u8::cast_signed))?;
    Ok(OK)
}

#[expect(
    clippy::too_many_arguments,
    reason = "the signature of the Java method"
)]
fn primal_round<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    control: JLongArray<'l>,
    settings: JDoubleArray<'l>,
    offsets: JIntArray<'l>,
    rows: JIntArray<'l>,
    values32: JFloatArray<'l>,
    values64: JDoubleArray<'l>,
    mean: JDoubleArray<'l>,
    variance: JDoubleArray<'l>,
    deviation: JDoubleArray<'l>,
    weights: JDoubleArray<'l>,
    shared: JByteArray<'l>,
    result: JByteArray<'l>,
    cancellation: JObject<'l>,
) -> Result<jint, Fault> {
    let arguments = Arguments {
        control: &control,
        settings: &settings,
        offsets: &offsets,
        rows: &rows,
        values32: &values32,
        values64: &values64,
        mean: &mean,
        variance: &variance,
        deviation: &deviation,
        weights: &weights,
        shared: Some(&shared),
        result: &result,
        cancellation: &cancellation,
    };
    call(env, arguments, primal::round)
}

#[expect(
    clippy::too_many_arguments,
    reason = "the signature of the Java method"
)]
fn primal_product<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    control: JLongArray<'l>,
    settings: JDoubleArray<'l>,
    offsets: JIntArray<'l>,
    rows: JIntArray<'l>,
    values32: JFloatArray<'l>,
    values64: JDoubleArray<'l>,
    mean: JDoubleArray<'l>,
    variance: JDoubleArray<'l>,
    deviation: JDoubleArray<'l>,
    weights: JDoubleArray<'l>,
    result: JByteArray<'l>,
    cancellation: JObject<'l>,
) -> Result<jint, Fault> {
    let arguments = Arguments {
        control: &control,
        settings: &settings,
        offsets: &offsets,
        rows: &rows,
        values32: &values32,
        values64: &values64,
        mean: &mean,
        variance: &variance,
        deviation: &deviation,
        weights: &weights,
        shared: None,
        result: &result,
        cancellation: &cancellation,
    };
    call(env, arguments, primal::product)
}

#[expect(
    clippy::too_many_arguments,
    reason = "the signature of the Java method"
)]
fn export_state<'l>(
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
    expect_length("meta", meta_length, 5)?;
    let Some(snapshot) = REGISTRY.export((fit, partition)) else {
        return Ok(false);
    };
    let committed = &snapshot.committed;
    for (name, length) in lengths {
        expect_length(name, length, committed.alpha.len())?;
    }
    let (pending_round, pending_cursor) = match &snapshot.pending {
        None => (-1, 0),
        Some(step) => (step.round, step.cursor as i64),
    };
    let numbers = [
        committed.version,
        committed.stamp,
        committed.cursor as i64,
        pending_round,
        pending_cursor,
    ];
    meta.set_region(env, 0, &numbers)?;
    alpha.set_region(env, 0, &committed.alpha)?;
    previous.set_region(env, 0, &committed.previous)?;
    match &snapshot.pending {
        Some(step) => delta.set_region(env, 0, &step.delta)?,
        None => {
            let mut zeros = reserve(committed.alpha.len(), "a worker state")?;
            zeros.resize(committed.alpha.len(), 0.0);
            delta.set_region(env, 0, &zeros)?;
        }
    }
    Ok(true)
}

fn import_state<'l>(
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
    if meta_length < 3 {
        return Err(argument!(
            "meta has length {meta_length}, expected at least 3: version, stamp, cursor"
        ));
    }
    let mut numbers = [0; 3];
    meta.get_region(env, 0, &mut numbers)?;
    for (name, number) in ["version", "stamp", "cursor"].into_iter().zip(numbers) {
        if number < 0 {
            return Err(argument!(
                "{name} in meta is {number}: it must be at least 0"
            ));
        }
    }
    let [version, stamp, cursor] = numbers;
    let alpha = finite(env, "alpha", &alpha)?;
    let previous = finite(env, "previous", &previous)?;
    expect_length("previous", previous.len(), alpha.len())?;
    let committed = Committed {
        version,
        stamp,
        cursor: cursor as u64,
        alpha,
        previous,
    };
    REGISTRY.import((fit, partition), committed);
    Ok(())
}

fn state_size(_: &mut Env<'_>, _: JClass<'_>, fit: jlong, partition: jint) -> Result<jint, Fault> {
    // A state has as many columns as a Java array has elements.
    Ok(REGISTRY
        .columns((fit, partition))
        .map_or(-1, |columns| columns as jint))
}

fn free_fit(_: &mut Env<'_>, _: JClass<'_>, fit: jlong) -> Result<jlong, Fault> {
    Ok(REGISTRY.free(fit) as jlong)
}

fn expire(_: &mut Env<'_>, _: JClass<'_>, max_age_millis: jlong) -> Result<jlong, Fault> {
    let age = u64::try_from(max_age_millis)
        .map_err(|_| argument!("maxAgeMillis is {max_age_millis}: it must be at least 0"))?;
    Ok(REGISTRY.expire(Duration::from_millis(age)) as jlong)
}

fn state_bytes(_: &mut Env<'_>, _: JClass<'_>) -> Result<jlong, Fault> {
    Ok(REGISTRY.bytes() as jlong)
}

fn state_entries(_: &mut Env<'_>, _: JClass<'_>) -> Result<jlong, Fault> {
    Ok(REGISTRY.entries() as jlong)
}

fn expect_length(name: &str, length: usize, expected: usize) -> Result<(), Fault> {
    if length == expected {
        Ok(())
    } else {
        Err(argument!("{name} has length {length}, expected {expected}"))
    }
}

/// An array that may be null.
fn optional<'a, T: TypeArray>(
    env: &Env<'_>,
    name: &str,
    array: &'a JPrimitiveArray<'_, T>,
) -> Result<Option<ArrayRef<'a, T>>, Fault> {
    if array.is_null() {
        Ok(None)
    } else {
        ArrayRef::new(env, name, array).map(Some)
    }
}

/// A copy of an array of exactly `N` elements.
fn numbers<const N: usize, T: TypeArray + Default>(
    env: &Env<'_>,
    name: &str,
    array: &JPrimitiveArray<'_, T>,
) -> Result<[T; N], Fault> {
    expect_length(name, ArrayRef::new(env, name, array)?.length(), N)?;
    let mut numbers = [T::default(); N];
    array.get_region(env, 0, &mut numbers)?;
    Ok(numbers)
}

/// A copy of an array, all elements finite.
fn finite(env: &Env<'_>, name: &str, array: &JDoubleArray<'_>) -> Result<Vec<f64>, Fault> {
    let length = ArrayRef::new(env, name, array)?.length();
    let mut copy = reserve(length, "a worker state")?;
    copy.resize(length, 0.0);
    array.get_region(env, 0, &mut copy)?;
    match copy.iter().position(|x| !x.is_finite()) {
        None => Ok(copy),
        Some(i) => Err(argument!("{name}[{i}] is {}: it must be finite", copy[i])),
    }
}
