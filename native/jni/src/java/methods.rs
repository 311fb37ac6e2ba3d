//! The table of all functions of `NativeBridge`, and how it is bound to the class.

use std::{ffi::c_void, ptr};

use dwell_solvers::{SearchParams, SgdParams, lda::shared::BoundParams, network::DescentParams};
use jni::{
    Env, EnvUnowned, NativeMethod, jni_str, native_method,
    objects::{JClass, JString},
    sys::{JNI_ERR, JNI_OK, JNI_VERSION_1_8, JavaVM, jint},
};

use crate::{
    boundary::{
        fault::Fault,
        panics::install_panic_hook,
        throw::Throw,
        version::{ABI_VERSION, BUILD_ID},
    },
    java::{calls, facts, lda, margins, newton, pass, quasi_newton, states},
    lda::calls::TopicsRound,
};

/// `JNI_OnLoad` binds these to the class, so if Java and Rust disagree, loading the library fails.
pub const METHODS: &[NativeMethod] = &[
    native_method! { static fn abi_version() -> jint, error_policy = Throw },
    native_method! { static fn build_id() -> JString, error_policy = Throw },
    native_method! {
        static fn primal_round(control: jlong[], settings: jdouble[], offsets: jint[][], rows: jint[][], values32: jfloat[][],
            values64: jdouble[][], mean: jdouble[][], variance: jdouble[][], deviation: jdouble[][], weights: jdouble[],
            shared: jbyte[], result: jbyte[], cancellation: dwell.jni.Cancellation) -> jint,
        fn = calls::primal_round,
        error_policy = Throw
    },
    native_method! {
        static fn primal_product(control: jlong[], settings: jdouble[], offsets: jint[][], rows: jint[][], values32: jfloat[][],
            values64: jdouble[][], mean: jdouble[][], variance: jdouble[][], deviation: jdouble[][], weights: jdouble[],
            result: jbyte[], cancellation: dwell.jni.Cancellation) -> jint,
        fn = calls::primal_product,
        error_policy = Throw
    },
    native_method! {
        static fn dual_round(control: jlong[], settings: jdouble[], offsets: jint[][], features: jint[][], values32: jfloat[][],
            values64: jdouble[][], labels: jdouble[][], weights: jdouble[][], scale: jdouble[], mean: jdouble[],
            shared: jbyte[], result: jbyte[], cancellation: dwell.jni.Cancellation) -> jint,
        fn = calls::dual_round,
        error_policy = Throw
    },
    native_method! {
        static fn dual_product(control: jlong[], settings: jdouble[], offsets: jint[][], features: jint[][], values32: jfloat[][],
            values64: jdouble[][], labels: jdouble[][], weights: jdouble[][], scale: jdouble[], mean: jdouble[],
            result: jbyte[], cancellation: dwell.jni.Cancellation) -> jint,
        fn = calls::dual_product,
        error_policy = Throw
    },
    native_method! {
        static fn margins(control: jlong[], settings: jdouble[], margins: jdouble[], direction: jdouble[], update: jdouble[],
            losses: jdouble[], residuals: jdouble[], labels: jdouble[], weights: jdouble[], sums: jdouble[]) -> void,
        fn = margins::margins,
        error_policy = Throw
    },
    native_method! {
        static fn sgd_descend(control: jlong[], settings: jdouble[], offsets: jint[][], features: jint[][], values32: jfloat[][],
            values64: jdouble[][], labels: jdouble[][], weights: jdouble[][], scale: jdouble[], shared: jbyte[], result: jbyte[],
            cancellation: dwell.jni.Cancellation) -> void,
        fn = calls::sgd_call::<SgdParams>,
        error_policy = Throw
    },
    native_method! {
        static fn sgd_search(control: jlong[], settings: jdouble[], offsets: jint[][], features: jint[][], values32: jfloat[][],
            values64: jdouble[][], labels: jdouble[][], weights: jdouble[][], scale: jdouble[], shared: jbyte[], result: jbyte[],
            cancellation: dwell.jni.Cancellation) -> void,
        fn = calls::sgd_call::<SearchParams>,
        error_policy = Throw
    },
    native_method! {
        static fn network_descend(control: jlong[], settings: jdouble[], offsets: jint[][], features: jint[][], values32: jfloat[][],
            values64: jdouble[][], labels: jdouble[][], weights: jdouble[][], scale: jdouble[], shared: jbyte[], result: jbyte[],
            cancellation: dwell.jni.Cancellation) -> void,
        fn = calls::sgd_call::<DescentParams>,
        error_policy = Throw
    },
    native_method! {
        static fn pass_begin(control: jlong[], centre: jdouble[], model: jbyte[], direction: jdouble[], steps: jdouble[],
            reach: jdouble[], dual: jdouble[], remainders: jdouble[], earlier: jdouble[]) -> jlong,
        fn = pass::begin,
        error_policy = Throw
    },
    native_method! {
        static fn network_begin(layers: jint[], weights: jbyte[]) -> jlong,
        fn = pass::network_begin,
        error_policy = Throw
    },
    native_method! {
        static fn pass_block(pass: jlong, offsets: jint[], features: jint[], values32: jfloat[], values64: jdouble[],
            labels: jdouble[], weights: jdouble[]) -> jlong,
        fn = pass::block,
        error_policy = Throw
    },
    native_method! {
        static fn pass_end(pass: jlong, nanos: jlong, result: jbyte[]) -> void,
        fn = pass::end,
        error_policy = Throw
    },
    native_method! {
        static fn feature_sums(offsets: jint[], features: jint[], values32: jfloat[], values64: jdouble[], labels: jdouble[],
            weights: jdouble[], used: jint, ones: jlong[], positions: jint[], sums: jdouble[]) -> jint,
        fn = facts::feature_sums,
        error_policy = Throw
    },
    native_method! {
        static fn newton_model(sums: jdouble[], triangles: jint, outputs: jint, gradient: jdouble[], at: jdouble[], l1: jdouble[],
            l2: jdouble[], fixed: jboolean[], lower: jdouble[], upper: jdouble[], objective: jdouble, threads: jint,
            step: jdouble[], reach: jdouble[], dropped: jboolean[], bound: jdouble[]) -> void,
        fn = newton::model,
        error_policy = Throw
    },
    native_method! {
        static fn newton_remainders(sums: jdouble[], triangles: jint, outputs: jint, fixed: jboolean[], dropped: jboolean[],
            threads: jint) -> jdouble[],
        fn = newton::remainders_of,
        error_policy = Throw
    },
    native_method! {
        static fn quasi_newton_begin(ends: jint[], deviation: jdouble[], mean: jdouble[], factors: jdouble[], l1: jdouble, l2: jdouble,
            start: jdouble[], memory: jint, threads: jint) -> jlong,
        fn = quasi_newton::begin,
        error_policy = Throw
    },
    native_method! {
        static fn quasi_newton_trial(search: jlong, step: jdouble, model: jbyte[]) -> jdouble[],
        fn = quasi_newton::trial,
        error_policy = Throw
    },
    native_method! {
        static fn quasi_newton_gradient(search: jlong, sums: jdouble[], total: jdouble, intercepts: jdouble[]) -> jdouble[],
        fn = quasi_newton::gradient,
        error_policy = Throw
    },
    native_method! {
        static fn quasi_newton_accept(search: jlong, moved: jboolean) -> jdouble[],
        fn = quasi_newton::accept,
        error_policy = Throw
    },
    native_method! {
        static fn quasi_newton_turn(search: jlong, factor: jdouble, factors: jdouble[]) -> jdouble[],
        fn = quasi_newton::turn,
        error_policy = Throw
    },
    native_method! { static fn quasi_newton_free(search: jlong) -> void, fn = quasi_newton::free, error_policy = Throw },
    native_method! { static fn pass_fork(pass: jlong) -> jlong, fn = pass::fork, error_policy = Throw },
    native_method! { static fn pass_join(into: jlong, from: jlong) -> void, fn = pass::join, error_policy = Throw },
    native_method! { static fn pass_free(pass: jlong) -> void, fn = pass::free, error_policy = Throw },
    native_method! {
        static fn lda_round(control: jlong[], settings: jdouble[], alpha: jdouble[], offsets: jint[][], words: jint[][],
            values32: jfloat[][], values64: jdouble[][], shared: jbyte[], result: jbyte[],
            cancellation: dwell.jni.Cancellation) -> void,
        fn = lda::lda_call::<TopicsRound>,
        error_policy = Throw
    },
    native_method! {
        static fn lda_bound(control: jlong[], settings: jdouble[], alpha: jdouble[], offsets: jint[][], words: jint[][],
            values32: jfloat[][], values64: jdouble[][], shared: jbyte[], result: jbyte[],
            cancellation: dwell.jni.Cancellation) -> void,
        fn = lda::lda_call::<BoundParams>,
        error_policy = Throw
    },
    native_method! {
        static fn export_state(fit: jlong, partition: jint, meta: jlong[], alpha: jdouble[], previous: jdouble[],
            delta: jdouble[]) -> jboolean,
        fn = states::export_state,
        error_policy = Throw
    },
    native_method! {
        static fn import_state(fit: jlong, partition: jint, meta: jlong[], alpha: jdouble[], previous: jdouble[]) -> void,
        fn = states::import_state,
        error_policy = Throw
    },
    native_method! { static fn state_size(fit: jlong, partition: jint) -> jint, fn = states::state_size, error_policy = Throw },
    native_method! { static fn free_fit(fit: jlong) -> jlong, fn = states::free_fit, error_policy = Throw },
    native_method! { static fn expire(max_age_millis: jlong) -> jlong, fn = states::expire, error_policy = Throw },
    native_method! { static fn state_bytes() -> jlong, fn = states::state_bytes, error_policy = Throw },
    native_method! { static fn state_entries() -> jlong, fn = states::state_entries, error_policy = Throw },
];

fn abi_version(_: &mut Env<'_>, _: JClass<'_>) -> Result<jint, Fault> {
    Ok(ABI_VERSION)
}

fn build_id<'l>(env: &mut Env<'l>, _: JClass<'l>) -> Result<JString<'l>, Fault> {
    Ok(env.new_string(BUILD_ID)?)
}

/// Binds the methods of `NativeBridge`. The JVM calls this when it loads the library, on the thread that loads it. After a failure an
/// exception is pending that names the mismatch, and the JVM refuses the library.
///
/// # Safety
/// `vm` is a JVM that the calling thread is attached to.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn JNI_OnLoad(vm: *mut JavaVM, _reserved: *mut c_void) -> jint {
    install_panic_hook();
    let mut env = ptr::null_mut();
    // SAFETY: the JVM passes a valid table.
    let status = unsafe { ((**vm).v1_2.GetEnv)(vm, &mut env, JNI_VERSION_1_8) };
    if status != JNI_OK || env.is_null() {
        return JNI_ERR;
    }
    // SAFETY: the environment of the current thread, for the duration of this call.
    let mut env = unsafe { EnvUnowned::from_raw(env.cast()) };
    let bound = env
        .with_env(|env| bind(env).map(|()| true))
        .resolve::<Throw>();
    if bound { JNI_VERSION_1_8 } else { JNI_ERR }
}

fn bind(env: &mut Env<'_>) -> Result<(), Fault> {
    // The class loader of the class that loads the library finds it; the thread may have another.
    let class = env
        .find_class(jni_str!("dwell/jni/NativeBridge"))
        .map_err(Fault::Link)?;
    // SAFETY: all methods of the table are static in `NativeBridge` and take the class.
    unsafe { env.register_native_methods(class, METHODS) }.map_err(Fault::Link)
}
