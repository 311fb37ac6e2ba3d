//! The calls on a partition.

use jni::{
    Env,
    objects::{JByteArray, JClass, JDoubleArray, JFloatArray, JIntArray, JLongArray, JObject},
    sys::jint,
};

use crate::{
    boundary::{
        fault::Fault,
        header::{self, Header},
        pins::ArrayRef,
    },
    cd::{
        self,
        dual::{Dual, Rows},
        layout::{DUAL_CANDIDATES, MAX_CANDIDATES, MAX_POINTS},
        orientation::Orientation,
        primal::{Moments, Primal},
        request::Request,
        rounds,
        states::{STATES, States},
    },
    checks::CHECKS,
    java::{
        arguments::{copied, numbers, optional, required},
        lender::{Arguments, JavaLender},
    },
    lda::{self, calls::LdaCall, documents::Lda},
    rows::{
        self,
        arrays::{LabelledRows, Sgd},
        calls::SgdCall,
    },
};

/// The call was done.
pub const OK: jint = 0;
/// This process does not have the state that the call needs, or the fit was freed.
pub const STATE_LOST: jint = 1;

/// The most settings that an orientation takes, points and candidates included.
const MAX_SETTINGS: usize = DUAL_CANDIDATES + MAX_CANDIDATES + 2 * MAX_POINTS;

/// [`rounds::round`] or [`rounds::product`].
type Compute<'e, 'l, O> =
    fn(&States, &mut JavaLender<'e, 'l, O>, &Request<O>, usize) -> Result<Option<Header>, Fault>;

/// Decodes a call of coordinate descent, computes it on the states of this process and writes the header of its result.
fn cd_call<'e, 'l, O: Orientation>(
    env: &'e mut Env<'l>,
    arguments: Arguments<'e, 'l, O>,
    compute: Compute<'e, 'l, O>,
) -> Result<jint, Fault> {
    let mut control = [0; cd::layout::CONTROL_SLOTS];
    let control = numbers(env, "control", arguments.control, &mut control)?;
    let mut settings = [0.0; MAX_SETTINGS];
    let settings = numbers(env, "settings", arguments.settings, &mut settings)?;
    let request = Request::<O>::decode(control, settings)?;
    let offsets = ArrayRef::new(env, "offsets", arguments.offsets)?.length();
    let length = request.control.length;
    let mut lender = JavaLender::new(env, &arguments, length, length)?;
    let coordinates = offsets.saturating_sub(1);
    let Some(header) = compute(&STATES, &mut lender, &request, coordinates)? else {
        return Ok(STATE_LOST);
    };
    write_header(lender.env, arguments.result, &header)?;
    Ok(OK)
}

/// Defines the function of a Java method of coordinate descent. The four methods differ in the names and number of their arrays and in
/// whether they have a shared vector, so their signatures differ and no generic function can stand for all of them.
macro_rules! cd_method {
    (
        $name:ident = $compute:path, $orientation:ty, $indices:ident,
        $fields:ident { $($array:ident: $presence:ident),* } $(, $shared:ident)?
    ) => {
        #[doc = concat!("A `", stringify!($compute), "` of `", stringify!($orientation), "`.")]
        #[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
        pub fn $name<'l>(
            env: &mut Env<'l>,
            _: JClass<'l>,
            control: JLongArray<'l>,
            settings: JDoubleArray<'l>,
            offsets: JIntArray<'l>,
            $indices: JIntArray<'l>,
            values32: JFloatArray<'l>,
            values64: JDoubleArray<'l>,
            $($array: JDoubleArray<'l>,)*
            $($shared: JByteArray<'l>,)?
            result: JByteArray<'l>,
            cancellation: JObject<'l>,
        ) -> Result<jint, Fault> {
            let arguments = Arguments::<$orientation> {
                control: &control,
                settings: &settings,
                offsets: &offsets,
                indices: &$indices,
                values32: &values32,
                values64: &values64,
                fields: $fields { $($array: $presence(&$array)),* },
                shared: None$(.or(Some(&$shared)))?,
                result: &result,
                cancellation: &cancellation,
            };
            cd_call(env, arguments, $compute)
        }
    };
}

cd_method!(
    primal_round = rounds::round,
    Primal,
    rows,
    Moments {
        mean: required,
        variance: required,
        deviation: required,
        weights: optional
    },
    shared
);
cd_method!(
    primal_product = rounds::product,
    Primal,
    rows,
    Moments {
        mean: required,
        variance: required,
        deviation: required,
        weights: optional
    }
);
cd_method!(
    dual_round = rounds::round,
    Dual,
    features,
    Rows {
        labels: required,
        weights: optional,
        norms: required,
        projections: optional,
        scale: optional
    },
    shared
);
cd_method!(
    dual_product = rounds::product,
    Dual,
    features,
    Rows {
        labels: required,
        weights: optional,
        norms: required,
        projections: optional,
        scale: optional
    }
);

/// A call of model averaging.
#[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
pub fn sgd_call<'l, P: SgdCall>(
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
            weights: optional(&weights),
            scale: optional(&scale),
        },
        shared: Some(&shared),
        result: &result,
        cancellation: &cancellation,
    };
    let mut room = [0; rows::layout::CONTROL_SLOTS];
    let control = numbers(env, "control", &control, &mut room)?;
    let settings = copied(env, "settings", &settings)?;
    let request = P::decode(control, &settings)?;
    let vector = if P::HAS_VECTOR { request.length } else { 0 };
    let mut lender = JavaLender::new(env, &arguments, request.length, vector)?;
    let header = rows::calls::compute(&CHECKS, &mut lender, &request)?;
    write_header(lender.env, &result, &header)
}

/// A call of LDA.
#[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
pub fn lda_call<'l, P: LdaCall>(
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
    let mut room = [0; lda::layout::CONTROL_SLOTS];
    let control = numbers(env, "control", &control, &mut room)?;
    let settings = copied(env, "settings", &settings)?;
    let alpha = copied(env, "alpha", &alpha)?;
    let request = P::decode(control, &settings, &alpha)?;
    let mut lender = JavaLender::new(env, &arguments, request.length, P::length(&request))?;
    let header = lda::calls::compute(&CHECKS, &mut lender, &request)?;
    write_header(lender.env, &result, &header)
}

/// Writes a header to the start of a result.
///
/// # Errors
/// `Jni` if the JVM refuses.
pub fn write_header(env: &Env<'_>, result: &JByteArray<'_>, header: &Header) -> Result<(), Fault> {
    let bytes = header::bytes(header).map(u8::cast_signed);
    result.set_region(env, 0, &bytes)?;
    Ok(())
}
