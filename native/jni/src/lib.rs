//! The boundary of Dwell's local solvers: JNI for `dwell.jni.NativeBridge`, and a C ABI. No mathematics happens here.
//!
//! | module | |
//! |---|---|
//! | [`java`] | the functions of `NativeBridge` |
//! | [`capi`] | the functions of `dwell.h` |
//! | [`cd`] | rounds of coordinate descent, and their worker states |
//! | [`sgd`] | the calls of model averaging, which have no worker state |
//! | [`lda`] | the calls of model averaging of topics, likewise |
//! | [`boundary`] | faults, arrays, pins, slices and threads |
//!
//! Exported are `JNI_OnLoad` and the `dwell_*` functions of [`capi`], nothing else: the methods of `NativeBridge` are bound when the
//! library is loaded. All code runs on the thread that called, except for parts of a solver, which run on the pool and never touch JNI.

#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

pub mod boundary;
pub mod capi;
pub mod cd;
pub mod java;
pub mod lda;
pub mod sgd;

use std::{ffi::c_void, ptr};

use jni::{
    Env, EnvUnowned, jni_str,
    sys::{JNI_ERR, JNI_OK, JNI_VERSION_1_8, JavaVM, jint},
};

use crate::boundary::fault::{Fault, Throw};

/// Version of the functions of `NativeBridge` and of the C ABI.
pub const ABI_VERSION: i32 = 2;

/// Identifies the sources that this library was built from: given by the build.
pub const BUILD_ID: &str = match option_env!("DWELL_BUILD_ID") {
    Some(id) => id,
    None => "dev",
};

/// Called by the JVM when it loads the library, on the thread that loads it: binds the methods of `NativeBridge`. Where that fails an
/// exception is pending, which says what does not fit, and the JVM refuses the library.
///
/// # Safety
/// `vm` is a JVM that the calling thread is attached to.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn JNI_OnLoad(vm: *mut JavaVM, _reserved: *mut c_void) -> jint {
    boundary::fault::install_panic_hook();
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
    // By the class loader of the class that loads the library, which is not always that of the thread.
    let class = env
        .find_class(jni_str!("dwell/jni/NativeBridge"))
        .map_err(Fault::Link)?;
    // SAFETY: all methods of the table are static in `NativeBridge` and take the class.
    unsafe { env.register_native_methods(class, java::METHODS) }.map_err(Fault::Link)
}
