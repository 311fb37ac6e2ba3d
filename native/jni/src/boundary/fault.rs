//! What can go wrong at the boundary, and how it reaches the caller.

use std::{any::Any, cell::RefCell, panic, sync::Once};

use dwell_solvers::SolverError;
use jni::{
    Env, JValue,
    errors::{Error, ErrorPolicy},
    jni_sig, jni_str,
    objects::JThrowable,
    strings::{JNIStr, JNIString},
};

/// Why a call has no result. Losing a state is a result, not a fault.
#[derive(Debug)]
pub enum Fault {
    /// The caller's fault; the text names the argument and the fix.
    Argument(String),
    /// The caller does not want the result any more.
    Cancelled,
    /// The allocator refused; nothing was changed.
    OutOfMemory(String),
    /// The solver cannot go on, for another reason.
    Solver(String),
    /// A JNI operation failed. An exception may be pending; it is kept then.
    Jni(Error),
    /// Library and classes do not fit one another.
    Link(Error),
}

/// Codes of `dwell.jni.NativeException`. The C functions return the same numbers, negative.
pub mod code {
    pub const SOLVER: i32 = 1;
    pub const OUT_OF_MEMORY: i32 = 2;
    pub const PANIC: i32 = 3;
    pub const JNI: i32 = 4;
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Jni(error)
    }
}

impl From<SolverError> for Fault {
    fn from(error: SolverError) -> Self {
        let text = error.to_string();
        match error {
            SolverError::InvalidParam { .. }
            | SolverError::Shape(_)
            | SolverError::NonFinite(_) => Self::Argument(text),
            SolverError::OutOfMemory { .. } => Self::OutOfMemory(text),
            _ => Self::Solver(text),
        }
    }
}

/// An argument fault, with the arguments of `format!`.
#[macro_export]
macro_rules! argument {
    ($($part:tt)*) => { $crate::boundary::fault::Fault::Argument(format!($($part)*)) };
}

/// An empty vector with room for exactly `length` elements.
///
/// # Errors
/// `OutOfMemory`.
pub fn reserve<T>(length: usize, what: &str) -> Result<Vec<T>, Fault> {
    let mut vector = Vec::new();
    match vector.try_reserve_exact(length) {
        Ok(()) => Ok(vector),
        Err(_) => Err(Fault::OutOfMemory(format!(
            "cannot allocate {} bytes for {what}",
            length.saturating_mul(size_of::<T>())
        ))),
    }
}

thread_local! {
    /// Place and text of the last panic of this thread.
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps place and text of a panic for its exception, in place of a trace on the standard error of the executor.
/// The hook is this library's own, as its copy of the standard library is.
pub fn install_panic_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        panic::set_hook(Box::new(|info| {
            let text = info.to_string();
            // During the destruction of a thread's locals there is nobody left to read it.
            let _ = LAST_PANIC.try_with(|last| last.replace(Some(text)));
        }));
    });
}

/// What a caught panic said.
pub fn panic_text(payload: Box<dyn Any + Send>) -> String {
    let hooked = LAST_PANIC.with(RefCell::take);
    let text = match (
        hooked,
        payload.downcast_ref::<&'static str>(),
        payload.downcast_ref::<String>(),
    ) {
        (Some(text), _, _) => text,
        // A panic that rayon carried here from a thread of its pool.
        (None, Some(text), _) => format!("panicked: {text}"),
        (None, None, Some(text)) => format!("panicked: {text}"),
        (None, None, None) => "panicked with a payload that is no text".into(),
    };
    // Dropping a payload may panic again.
    std::mem::forget(payload);
    text
}

/// Turns faults and panics into Java exceptions. One that is pending already wins.
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

// Classes are found with `find_class`. A string in the place of a class would be looked up by the context class loader of the
// thread first, which may have another copy of our classes, bound to another copy of this library.

/// `throw_new` answers with an error when it has succeeded, and when it has not another exception is pending.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solver_errors_keep_their_text_and_find_their_kind() {
        let shape: Fault = SolverError::Shape("mean has length 3".into()).into();
        assert!(matches!(shape, Fault::Argument(text) if text == "mean has length 3"));
        let parameter: Fault = SolverError::InvalidParam {
            name: "l1",
            value: -1.0,
            expected: "must be finite and at least 0",
        }
        .into();
        assert!(matches!(parameter, Fault::Argument(text) if text.starts_with("l1 = -1")));
        let number: Fault = SolverError::NonFinite("residual of row 3".into()).into();
        assert!(matches!(number, Fault::Argument(_)));
        let memory: Fault = SolverError::OutOfMemory {
            what: "a product",
            bytes: 8,
        }
        .into();
        assert!(matches!(memory, Fault::OutOfMemory(text) if text.contains("8 bytes")));
        let other: Fault = SolverError::Unfinished.into();
        assert!(matches!(other, Fault::Solver(_)));
    }

    #[test]
    fn impossible_lengths_are_a_fault() {
        let fault = reserve::<f64>(usize::MAX, "a test").unwrap_err();
        assert!(matches!(fault, Fault::OutOfMemory(text) if text.contains("a test")));
    }

    #[test]
    fn payloads_become_text() {
        assert_eq!(panic_text(Box::new("index")), "panicked: index");
        assert_eq!(
            panic_text(Box::new(String::from("index"))),
            "panicked: index"
        );
        assert!(panic_text(Box::new(3)).contains("no text"));
    }
}
