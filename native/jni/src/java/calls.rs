//! The calls on a partition.

use jni::{
    Env,
    objects::{
        JByteArray, JClass, JDoubleArray, JFloatArray, JIntArray, JLongArray, JObject, JObjectArray,
    },
    sys::jint,
};

use crate::{
    boundary::{
        constants::bridge::{OK, STATE_LOST},
        fault::Fault,
        header::{self, Header},
    },
    cd::{
        self,
        dual::{Dual, DualFields},
        layout::{DUAL_CANDIDATES, MAX_CANDIDATES, MAX_POINTS},
        orientation::Orientation,
        primal::{Primal, PrimalFields},
        request::Request,
        rounds,
        states::{STATES, States},
    },
    java::{
        arguments::{copied, numbers},
        blocks::{BlockArguments, Doubles, JavaBlocks},
    },
    rows::{
        arrays::{Sgd, SgdFields},
        calls::SgdCall,
        network_layout::{CONTROL_LAYERS, MAX_LAYERS},
    },
};

/// The most settings that an orientation takes, points and candidates included.
const MAX_SETTINGS: usize = DUAL_CANDIDATES + MAX_CANDIDATES + 2 * MAX_POINTS;

/// [`rounds::round`] or [`rounds::product`].
type Compute<'e, 'l, O> =
    fn(&States, &mut JavaBlocks<'e, 'l, O>, &Request<O>) -> Result<Option<Header>, Fault>;

/// Decodes a call of coordinate descent, computes it on the states of this process and writes the header of its result.
fn cd_call<'e, 'l, O: Orientation>(
    env: &'e mut Env<'l>,
    control: &JLongArray<'l>,
    settings: &JDoubleArray<'l>,
    arguments: BlockArguments<'e, 'l, O>,
    compute: Compute<'e, 'l, O>,
) -> Result<jint, Fault> {
    let mut room = [0; cd::layout::CONTROL_SLOTS];
    let control = numbers(env, "control", control, &mut room)?;
    let mut room = [0.0; MAX_SETTINGS];
    let settings = numbers(env, "settings", settings, &mut room)?;
    let request = Request::<O>::decode(control, settings)?;
    let length = request.control.length;
    let mut blocks = JavaBlocks::new(env, &arguments, length, length)?;
    let Some(header) = compute(&STATES, &mut blocks, &request)? else {
        return Ok(STATE_LOST);
    };
    write_header(blocks.env, arguments.result, &header)?;
    Ok(OK)
}

/// Arrays that every block has.
fn required<A>(arrays: A) -> A {
    arrays
}

/// Arrays that a block may be without.
fn optional<A>(arrays: A) -> Option<A> {
    Some(arrays)
}

/// Defines the function of a Java method of coordinate descent. The four methods differ in the names and number of their arrays and in
/// whether they have a shared vector, so their signatures differ and no generic function can stand for all of them.
macro_rules! cd_method {
    (
        $name:ident = $compute:path, $orientation:ty, $indices:ident,
        $fields:ident { $($of_block:ident: $presence:ident),* ; $($common:ident),* } $(, $shared:ident)?
    ) => {
        #[doc = concat!("A `", stringify!($compute), "` of `", stringify!($orientation), "`.")]
        #[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
        pub fn $name<'l>(
            env: &mut Env<'l>,
            _: JClass<'l>,
            control: JLongArray<'l>,
            settings: JDoubleArray<'l>,
            offsets: JObjectArray<'l, JIntArray<'l>>,
            $indices: JObjectArray<'l, JIntArray<'l>>,
            values32: JObjectArray<'l, JFloatArray<'l>>,
            values64: JObjectArray<'l, JDoubleArray<'l>>,
            $($of_block: JObjectArray<'l, JDoubleArray<'l>>,)*
            $($common: JDoubleArray<'l>,)*
            $($shared: JByteArray<'l>,)?
            result: JByteArray<'l>,
            cancellation: JObject<'l>,
        ) -> Result<jint, Fault> {
            let arguments = BlockArguments::<$orientation> {
                offsets: &offsets,
                indices: &$indices,
                values32: &values32,
                values64: &values64,
                fields: $fields {
                    $($of_block: $presence(Doubles::OfBlocks(&$of_block)),)*
                    $($common: Some(Doubles::Common(&$common)),)*
                },
                shared: None$(.or(Some(&$shared)))?,
                result: &result,
                cancellation: &cancellation,
            };
            cd_call(env, &control, &settings, arguments, $compute)
        }
    };
}

cd_method!(
    primal_round = rounds::round,
    Primal,
    rows,
    PrimalFields { mean: required, variance: required, deviation: required; weights },
    shared
);
cd_method!(
    primal_product = rounds::product,
    Primal,
    rows,
    PrimalFields { mean: required, variance: required, deviation: required; weights }
);
cd_method!(
    dual_round = rounds::round,
    Dual,
    features,
    DualFields { labels: required, weights: optional; scale, mean },
    shared
);
cd_method!(
    dual_product = rounds::product,
    Dual,
    features,
    DualFields { labels: required, weights: optional; scale, mean }
);

/// A call of model averaging.
#[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
pub fn sgd_call<'l, P: SgdCall>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    control: JLongArray<'l>,
    settings: JDoubleArray<'l>,
    offsets: JObjectArray<'l, JIntArray<'l>>,
    features: JObjectArray<'l, JIntArray<'l>>,
    values32: JObjectArray<'l, JFloatArray<'l>>,
    values64: JObjectArray<'l, JDoubleArray<'l>>,
    labels: JObjectArray<'l, JDoubleArray<'l>>,
    weights: JObjectArray<'l, JDoubleArray<'l>>,
    scale: JDoubleArray<'l>,
    shared: JByteArray<'l>,
    result: JByteArray<'l>,
    cancellation: JObject<'l>,
) -> Result<(), Fault> {
    let arguments = BlockArguments::<Sgd> {
        offsets: &offsets,
        indices: &features,
        values32: &values32,
        values64: &values64,
        fields: SgdFields {
            labels: Doubles::OfBlocks(&labels),
            weights: Some(Doubles::OfBlocks(&weights)),
            scale: Some(Doubles::Common(&scale)),
        },
        shared: Some(&shared),
        result: &result,
        cancellation: &cancellation,
    };
    let mut room = [0; CONTROL_LAYERS + MAX_LAYERS];
    let control = numbers(env, "control", &control, &mut room)?;
    let settings = copied(env, "settings", &settings)?;
    let request = P::decode(control, &settings)?;
    let written = if P::HAS_VECTOR { request.length } else { 0 };
    let mut blocks = JavaBlocks::new(env, &arguments, request.length, written)?;
    let header = P::compute(&request, &mut blocks)?;
    write_header(blocks.env, &result, &header)
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
