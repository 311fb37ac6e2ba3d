//! The calls of LDA, on blocks of documents in Java arrays.

use std::time::Instant;

use jni::{
    Env,
    objects::{
        JByteArray, JClass, JDoubleArray, JFloatArray, JIntArray, JLongArray, JObject, JObjectArray,
    },
};

use crate::{
    boundary::{
        blocks::Viewed,
        fault::Fault,
        header::{self, Header, SOLVER_NANOS},
        pool,
    },
    java::{
        arguments::{bytes, copied, numbers, set_bytes},
        blocks::{BlockArguments, JavaBlocks},
        calls::write_header,
    },
    lda::{
        calls::LdaCall,
        documents::{Lda, check_documents},
        layout::CONTROL_SLOTS,
        request::LdaRequest,
        scratch::SCRATCH,
    },
};

/// See `NativeBridge.ldaRound` and `NativeBridge.ldaBound`.
#[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
pub fn lda_call<'l, P: LdaCall>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    control: JLongArray<'l>,
    settings: JDoubleArray<'l>,
    alpha: JDoubleArray<'l>,
    offsets: JObjectArray<'l, JIntArray<'l>>,
    words: JObjectArray<'l, JIntArray<'l>>,
    values32: JObjectArray<'l, JFloatArray<'l>>,
    values64: JObjectArray<'l, JDoubleArray<'l>>,
    shared: JByteArray<'l>,
    result: JByteArray<'l>,
    cancellation: JObject<'l>,
) -> Result<(), Fault> {
    let mut room = [0; CONTROL_SLOTS];
    let control = numbers(env, "control", &control, &mut room)?;
    let settings = copied(env, "settings", &settings)?;
    let alpha = copied(env, "alpha", &alpha)?;
    let request = P::decode(control, &settings, &alpha)?;
    let arguments = BlockArguments::<Lda> {
        offsets: &offsets,
        indices: &words,
        values32: &values32,
        values64: &values64,
        fields: (),
        shared: Some(&shared),
        result: &result,
        cancellation: &cancellation,
    };
    let length = P::length(&request);
    let mut blocks = JavaBlocks::new(env, &arguments, request.length, length)?;
    let shared = bytes(blocks.env, "shared", &shared)?;
    let mut work = P::begin(&request, SCRATCH.take(request.key))?;
    let done = compute::<P>(&mut blocks, &request, &mut work, &shared, &result);
    SCRATCH.leave(request.key, P::into_scratch(work));
    write_header(env, &result, &done?)
}

/// Computes the call, and writes its result but for the header.
fn compute<P: LdaCall>(
    blocks: &mut JavaBlocks<'_, '_, Lda>,
    request: &LdaRequest<P>,
    work: &mut P::Work,
    shared: &[u8],
    result: &JByteArray<'_>,
) -> Result<Header, Fault> {
    check_documents(blocks, request.vocabulary)?;
    let start = Instant::now();
    let pool = pool::of(request.threads);
    let mut viewed = Viewed::new(blocks, request);
    let mut header = P::run(work, &mut viewed, shared, pool.as_deref())?;
    let length = 8 * P::length(request);
    set_bytes(blocks.env, result, header::BYTES, length, |at, out| {
        P::write(work, shared, at, out)
    })?;
    header[SOLVER_NANOS] = start.elapsed().as_nanos() as f64;
    Ok(header)
}
