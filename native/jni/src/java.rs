//! The functions of `dwell.jni.NativeBridge`: decode, call, write. What they do is documented there.

use std::time::Duration;

use dwell_solvers::{EvaluationParams, SearchParams, SgdParams, Values, lda::shared::BoundParams};
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
    boundary::arrays::{Arrays, Matrix},
    boundary::fault::{Fault, Throw, reserve},
    boundary::partition::Partition,
    boundary::pins::{ArrayRef, EnvCritical, Pins},
    boundary::slices::Lender,
    cd::dual::{Dual, Rows},
    cd::orientation::Orientation,
    cd::primal::{Moments, Primal},
    cd::request::{CONTROL_LENGTH, MOST_SETTINGS, Request},
    cd::rounds::{self, HEADER_BYTES, HEADER_SLOTS, Header},
    cd::states::{Committed, REGISTRY, Registry},
    lda::calls::{self as lda, LDA_CONTROL_LENGTH, Lda, LdaCall, TopicsRound},
    sgd::calls::{self as sgd, LabelledRows, SGD_CONTROL_LENGTH, Sgd, SgdCall},
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
        static fn dual_round(control: jlong[], settings: jdouble[], offsets: jint[], features: jint[], values32: jfloat[],
            values64: jdouble[], labels: jdouble[], weights: jdouble[], norms: jdouble[], projections: jdouble[],
            scale: jdouble[], shared: jbyte[], result: jbyte[], cancellation: dwell.jni.Cancellation) -> jint,
        error_policy = Throw
    },
    native_method! {
        static fn dual_product(control: jlong[], settings: jdouble[], offsets: jint[], features: jint[], values32: jfloat[],
            values64: jdouble[], labels: jdouble[], weights: jdouble[], norms: jdouble[], projections: jdouble[],
            scale: jdouble[], result: jbyte[], cancellation: dwell.jni.Cancellation) -> jint,
        error_policy = Throw
    },
    native_method! {
        static fn sgd_descend(control: jlong[], settings: jdouble[], offsets: jint[], features: jint[], values32: jfloat[],
            values64: jdouble[], labels: jdouble[], weights: jdouble[], scale: jdouble[], shared: jbyte[], result: jbyte[],
            cancellation: dwell.jni.Cancellation) -> void,
        fn = sgd_call::<SgdParams>,
        error_policy = Throw
    },
    native_method! {
        static fn sgd_search(control: jlong[], settings: jdouble[], offsets: jint[], features: jint[], values32: jfloat[],
            values64: jdouble[], labels: jdouble[], weights: jdouble[], scale: jdouble[], shared: jbyte[], result: jbyte[],
            cancellation: dwell.jni.Cancellation) -> void,
        fn = sgd_call::<SearchParams>,
        error_policy = Throw
    },
    native_method! {
        static fn sgd_evaluate(control: jlong[], settings: jdouble[], offsets: jint[], features: jint[], values32: jfloat[],
            values64: jdouble[], labels: jdouble[], weights: jdouble[], scale: jdouble[], shared: jbyte[], result: jbyte[],
            cancellation: dwell.jni.Cancellation) -> void,
        fn = sgd_call::<EvaluationParams>,
        error_policy = Throw
    },
    native_method! {
        static fn lda_round(control: jlong[], settings: jdouble[], alpha: jdouble[], offsets: jint[], words: jint[],
            values32: jfloat[], values64: jdouble[], shared: jbyte[], result: jbyte[],
            cancellation: dwell.jni.Cancellation) -> void,
        fn = lda_call::<TopicsRound>,
        error_policy = Throw
    },
    native_method! {
        static fn lda_bound(control: jlong[], settings: jdouble[], alpha: jdouble[], offsets: jint[], words: jint[],
            values32: jfloat[], values64: jdouble[], shared: jbyte[], result: jbyte[],
            cancellation: dwell.jni.Cancellation) -> void,
        fn = lda_call::<BoundParams>,
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
struct JavaLender<'e, 'l, P: Partition> {
    env: &'e mut Env<'l>,
    offsets: ArrayRef<'e, i32>,
    indices: ArrayRef<'e, i32>,
    values32: Option<ArrayRef<'e, f32>>,
    values64: Option<ArrayRef<'e, f64>>,
    fields: P::Fields<ArrayRef<'e, f64>>,
    shared: Option<ArrayRef<'e, u8>>,
    result: ArrayRef<'e, u8>,
    cancellation: &'e JObject<'l>,
}

impl<P: Partition> Lender<P> for JavaLender<'_, '_, P> {
    fn lend<R>(
        &mut self,
        work: impl FnOnce(&Arrays<'_, P>, &mut [u8]) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let critical = EnvCritical::new(self.env);
        let pins = Pins::new(&critical);
        // SAFETY: no Java thread writes these arrays during a call: `NativeBridge` asks that of its callers, partitions are
        // immutable once they are built, and a result belongs to one task. The result is no other of the arrays: only the shared
        // vector is a byte[] too, and `lender` has seen that it is another object.
        let (arrays, result) = unsafe {
            let arrays = Arrays {
                matrix: Matrix {
                    offsets: pins.read(self.offsets)?,
                    indices: pins.read(self.indices)?,
                    values: match (self.values32, self.values64) {
                        (Some(values), _) => Values::F32(pins.read(values)?),
                        (None, Some(values)) => Values::F64(pins.read(values)?),
                        (None, None) => Values::Ones,
                    },
                },
                fields: P::try_map(self.fields, |_, field| pins.read(field))?,
                shared: self
                    .shared
                    .map_or(Ok(&[][..]), |shared| pins.read(shared))?,
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

/// The arguments of a call on a partition.
struct Arguments<'a, 'l, P: Partition> {
    control: &'a JLongArray<'l>,
    settings: &'a JDoubleArray<'l>,
    offsets: &'a JIntArray<'l>,
    indices: &'a JIntArray<'l>,
    values32: &'a JFloatArray<'l>,
    values64: &'a JDoubleArray<'l>,
    fields: P::Fields<&'a JDoubleArray<'l>>,
    shared: Option<&'a JByteArray<'l>>,
    result: &'a JByteArray<'l>,
    cancellation: &'a JObject<'l>,
}

/// A computation on the state of a request: a round or a product.
type Call<'e, 'l, O> = fn(
    &Registry,
    &mut JavaLender<'e, 'l, O>,
    &Request<<O as Orientation>::Params>,
    usize,
) -> Result<Option<Header>, Fault>;

fn call<'e, 'l, O: Orientation>(
    env: &'e mut Env<'l>,
    arguments: Arguments<'e, 'l, O>,
    compute: Call<'e, 'l, O>,
) -> Result<jint, Fault> {
    let mut control = [0; CONTROL_LENGTH];
    let control = numbers(env, "control", arguments.control, &mut control)?;
    let mut settings = [0.0; MOST_SETTINGS];
    let settings = numbers(env, "settings", arguments.settings, &mut settings)?;
    let request = Request::decode::<O>(control, settings)?;
    let offsets = ArrayRef::new(env, "offsets", arguments.offsets)?.length();
    let mut lender = lender(env, &arguments, request.length, request.length)?;
    let coordinates = offsets.saturating_sub(1);
    let Some(header) = compute(&REGISTRY, &mut lender, &request, coordinates)? else {
        return Ok(STATE_LOST);
    };
    write_header(lender.env, arguments.result, &header)?;
    Ok(OK)
}

/// Checks the lengths of shared vector (`shared` times 8 bytes) and result (`vector` times 8 bytes after the header), and what else can be checked before
/// anything is pinned.
fn lender<'e, 'l, P: Partition>(
    env: &'e mut Env<'l>,
    arguments: &Arguments<'e, 'l, P>,
    shared: usize,
    vector: usize,
) -> Result<JavaLender<'e, 'l, P>, Fault> {
    let values32 = optional(env, "values32", arguments.values32)?;
    let values64 = optional(env, "values64", arguments.values64)?;
    if values32.is_some() && values64.is_some() {
        return Err(argument!(
            "values32 and values64 are both given: one of them must be null"
        ));
    }
    let shared = match arguments.shared {
        None => None,
        Some(given) => {
            let array = ArrayRef::new(env, "shared", given)?.unsigned();
            expect_length("shared", array.length(), 8 * shared)?;
            if env.is_same_object(given, arguments.result)? {
                return Err(argument!(
                    "result is the array of shared: it must be another one"
                ));
            }
            Some(array)
        }
    };
    let result = ArrayRef::new(env, "result", arguments.result)?.unsigned();
    expect_length("result", result.length(), HEADER_BYTES + 8 * vector)?;
    if arguments.cancellation.is_null() {
        return Err(argument!(
            "cancellation is null: pass Cancellation.NEVER for a call that is never cancelled"
        ));
    }
    Ok(JavaLender {
        offsets: ArrayRef::new(env, "offsets", arguments.offsets)?,
        indices: ArrayRef::new(env, P::INDICES, arguments.indices)?,
        values32,
        values64,
        fields: P::try_map(arguments.fields, |name, field| {
            ArrayRef::new(env, name, field)
        })?,
        shared,
        result,
        cancellation: arguments.cancellation,
        env,
    })
}

fn write_header(env: &Env<'_>, result: &JByteArray<'_>, header: &Header) -> Result<(), Fault> {
    let mut bytes = [0; 8 * HEADER_SLOTS];
    for (slot, number) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(header) {
        *slot = number.to_le_bytes();
    }
    result.set_region(env, 0, &bytes.map(u8::cast_signed))?;
    Ok(())
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
        indices: &rows,
        values32: &values32,
        values64: &values64,
        fields: Moments {
            mean: &mean,
            variance: &variance,
            deviation: &deviation,
            weights: given(&weights),
        },
        shared: Some(&shared),
        result: &result,
        cancellation: &cancellation,
    };
    call::<Primal>(env, arguments, rounds::round)
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
        indices: &rows,
        values32: &values32,
        values64: &values64,
        fields: Moments {
            mean: &mean,
            variance: &variance,
            deviation: &deviation,
            weights: given(&weights),
        },
        shared: None,
        result: &result,
        cancellation: &cancellation,
    };
    call::<Primal>(env, arguments, rounds::product)
}

#[expect(
    clippy::too_many_arguments,
    reason = "the signature of the Java method"
)]
fn dual_round<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    control: JLongArray<'l>,
    settings: JDoubleArray<'l>,
    offsets: JIntArray<'l>,
    features: JIntArray<'l>,
    values32: JFloatArray<'l>,
    values64: JDoubleArray<'l>,
    labels: JDoubleArray<'l>,
    weights: JDoubleArray<'l>,
    norms: JDoubleArray<'l>,
    projections: JDoubleArray<'l>,
    scale: JDoubleArray<'l>,
    shared: JByteArray<'l>,
    result: JByteArray<'l>,
    cancellation: JObject<'l>,
) -> Result<jint, Fault> {
    let arguments = Arguments {
        control: &control,
        settings: &settings,
        offsets: &offsets,
        indices: &features,
        values32: &values32,
        values64: &values64,
        fields: Rows {
            labels: &labels,
            weights: given(&weights),
            norms: &norms,
            projections: given(&projections),
            scale: given(&scale),
        },
        shared: Some(&shared),
        result: &result,
        cancellation: &cancellation,
    };
    call::<Dual>(env, arguments, rounds::round)
}

#[expect(
    clippy::too_many_arguments,
    reason = "the signature of the Java method"
)]
fn dual_product<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    control: JLongArray<'l>,
    settings: JDoubleArray<'l>,
    offsets: JIntArray<'l>,
    features: JIntArray<'l>,
    values32: JFloatArray<'l>,
    values64: JDoubleArray<'l>,
    labels: JDoubleArray<'l>,
    weights: JDoubleArray<'l>,
    norms: JDoubleArray<'l>,
    projections: JDoubleArray<'l>,
    scale: JDoubleArray<'l>,
    result: JByteArray<'l>,
    cancellation: JObject<'l>,
) -> Result<jint, Fault> {
    let arguments = Arguments {
        control: &control,
        settings: &settings,
        offsets: &offsets,
        indices: &features,
        values32: &values32,
        values64: &values64,
        fields: Rows {
            labels: &labels,
            weights: given(&weights),
            norms: &norms,
            projections: given(&projections),
            scale: given(&scale),
        },
        shared: None,
        result: &result,
        cancellation: &cancellation,
    };
    call::<Dual>(env, arguments, rounds::product)
}

#[expect(
    clippy::too_many_arguments,
    reason = "the signature of the Java method"
)]
fn sgd_call<'l, P: SgdCall>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    control: JLongArray<'l>,
    settings: JDoubleArray<'l>,
    offsets: JIntArray<'l>,
    features: JIntArray<'l>,
    values32: JFloatArray<'l>,
    values64: JDoubleArray<'l>,
    labels: JDoubleArray<'l>,
    weights: JDoubleArray<'l>,
    scale: JDoubleArray<'l>,
    shared: JByteArray<'l>,
    result: JByteArray<'l>,
    cancellation: JObject<'l>,
) -> Result<(), Fault> {
    let arguments = Arguments::<Sgd> {
        control: &control,
        settings: &settings,
        offsets: &offsets,
        indices: &features,
        values32: &values32,
        values64: &values64,
        fields: LabelledRows {
            labels: &labels,
            weights: given(&weights),
            scale: given(&scale),
        },
        shared: Some(&shared),
        result: &result,
        cancellation: &cancellation,
    };
    let mut numbers_of_control = [0; SGD_CONTROL_LENGTH];
    let control = numbers(env, "control", &control, &mut numbers_of_control)?;
    let settings = copied(env, "settings", &settings)?;
    let request = P::decode(control, &settings)?;
    let vector = if P::HAS_VECTOR { request.length } else { 0 };
    let mut lender = lender(env, &arguments, request.length, vector)?;
    let header = sgd::compute(&REGISTRY, &mut lender, &request)?;
    write_header(lender.env, &result, &header)
}

#[expect(
    clippy::too_many_arguments,
    reason = "the signature of the Java method"
)]
fn lda_call<'l, P: LdaCall>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    control: JLongArray<'l>,
    settings: JDoubleArray<'l>,
    alpha: JDoubleArray<'l>,
    offsets: JIntArray<'l>,
    words: JIntArray<'l>,
    values32: JFloatArray<'l>,
    values64: JDoubleArray<'l>,
    shared: JByteArray<'l>,
    result: JByteArray<'l>,
    cancellation: JObject<'l>,
) -> Result<(), Fault> {
    let arguments = Arguments::<Lda> {
        control: &control,
        settings: &settings,
        offsets: &offsets,
        indices: &words,
        values32: &values32,
        values64: &values64,
        fields: (),
        shared: Some(&shared),
        result: &result,
        cancellation: &cancellation,
    };
    let mut numbers_of_control = [0; LDA_CONTROL_LENGTH];
    let control = numbers(env, "control", &control, &mut numbers_of_control)?;
    let settings = copied(env, "settings", &settings)?;
    let alpha = copied(env, "alpha", &alpha)?;
    let request = P::decode(control, &settings, &alpha)?;
    let mut lender = lender(env, &arguments, request.length, P::length(&request))?;
    let header = lda::compute(&REGISTRY, &mut lender, &request)?;
    write_header(lender.env, &result, &header)
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
    // A state has no more coordinates than a Java array has elements.
    Ok(REGISTRY
        .coordinates((fit, partition))
        .map_or(-1, |coordinates| coordinates as jint))
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

/// An array that may be null, of the optional ones of an orientation.
fn given<'a, 'l>(array: &'a JDoubleArray<'l>) -> Option<&'a JDoubleArray<'l>> {
    (!array.is_null()).then_some(array)
}

/// Copies an array to the start of `room`.
fn numbers<'a, T: TypeArray>(
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
fn finite(env: &Env<'_>, name: &str, array: &JDoubleArray<'_>) -> Result<Vec<f64>, Fault> {
    let copy = copied(env, name, array)?;
    match copy.iter().position(|x| !x.is_finite()) {
        None => Ok(copy),
        Some(i) => Err(argument!("{name}[{i}] is {}: it must be finite", copy[i])),
    }
}

/// A copy of an array.
fn copied(env: &Env<'_>, name: &str, array: &JDoubleArray<'_>) -> Result<Vec<f64>, Fault> {
    let length = ArrayRef::new(env, name, array)?.length();
    let mut copy = reserve(length, name)?;
    copy.resize(length, 0.0);
    array.get_region(env, 0, &mut copy)?;
    Ok(copy)
}
