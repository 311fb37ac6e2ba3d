//! Faults and panics as Java exceptions.

use std::any::Any;

use jni::{
    Env, JValue,
    errors::{Error, ErrorPolicy},
    jni_sig, jni_str,
    objects::JThrowable,
    strings::{JNIStr, JNIString},
};

use crate::boundary::{
    fault::{Fault, code},
    panics::panic_text,
};

/// Turns faults and panics into Java exceptions. An exception that is already pending wins.
pub struct Throw;

impl<T: Default> ErrorPolicy<T, Fault> for Throw {
    type Captures<'l: 'n, 'n> = ();

    fn on_error<'l: 'n, 'n>(env: &mut Env<'l>, (): &mut (), fault: Fault) -> Result<T, Error> {
        match fault {
            Fault::Argument(text) => {
                throw_plain(env, jni_str!("java/lang/IllegalArgumentException"), &text)
            }
            Fault::Cancelled => throw_plain(
                env,
                jni_str!("java/util/concurrent/CancellationException"),
                "The native call was cancelled",
            ),
            Fault::OutOfMemory(text) => throw_native(env, code::OUT_OF_MEMORY, &text),
            Fault::Solver(text) => throw_native(env, code::SOLVER, &text),
            Fault::Jni(error) => throw_native(env, code::JNI, &error.to_string()),
            Fault::Link(error) => throw_plain(
                env,
                jni_str!("java/lang/UnsatisfiedLinkError"),
                &error.to_string(),
            ),
        }
        Ok(T::default())
    }

    fn on_panic<'l: 'n, 'n>(
        env: &mut Env<'l>,
        (): &mut (),
        payload: Box<dyn Any + Send + 'static>,
    ) -> Result<T, Error> {
        let text = panic_text(payload);
        throw_native(
            env,
            code::PANIC,
            &format!("native code {text}; were the arrays changed during the call?"),
        );
        Ok(T::default())
    }
}

// `find_class` finds the classes. For a class given by its name, the context class loader of the thread would look first. It may have
// another copy of these classes, bound to another copy of this library.

/// Ignores the result of `throw_new`: it is an error when the call succeeds; when it fails, another exception is pending.
fn throw_plain(env: &mut Env<'_>, class: &JNIStr, text: &str) {
    if !env.exception_check()
        && let Ok(class) = env.find_class(class)
    {
        let _ = env.throw_new(class, JNIString::from(text));
    }
}

fn throw_native(env: &mut Env<'_>, code: i32, text: &str) {
    if !env.exception_check() {
        let _ = try_throw_native(env, code, text);
    }
}

fn try_throw_native(env: &mut Env<'_>, code: i32, text: &str) -> Result<(), Error> {
    let class = env.find_class(jni_str!("dwell/jni/NativeException"))?;
    let text = env.new_string(text)?;
    let exception = env.new_object(
        class,
        jni_sig!((code: jint, message: java.lang.String)),
        &[JValue::Int(code), JValue::Object(&text)],
    )?;
    let exception = env.cast_local::<JThrowable>(exception)?;
    env.throw(exception)
}
