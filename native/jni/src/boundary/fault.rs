//! Why a call has no result.

use dwell_solvers::SolverError;
use jni::errors::Error;

/// The reason why a call has no result. A lost state is a result, not a fault.
#[derive(Debug)]
pub enum Fault {
    /// An argument is wrong; the text names it and the fix.
    Argument(String),
    /// The caller no longer wants the result.
    Cancelled,
    /// The allocator refused; nothing was changed.
    OutOfMemory(String),
    /// The solver cannot continue, for another reason.
    Solver(String),
    /// A JNI operation failed. An exception that is pending stays pending.
    Jni(Error),
    /// Library and classes do not match.
    Link(Error),
}

/// Codes of `dwell.jni.NativeException`. The C functions return the same numbers, negative.
pub use crate::boundary::constants::exception as code;

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
            // The enum is not exhaustive. Every other error is a fault of the library itself.
            _ => Self::Solver(text),
        }
    }
}

/// An argument fault, with the arguments of `format!`.
macro_rules! argument {
    ($($part:tt)*) => { $crate::boundary::fault::Fault::Argument(format!($($part)*)) };
}
pub(crate) use argument;

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
}
