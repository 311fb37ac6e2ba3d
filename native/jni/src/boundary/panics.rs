//! The text of a panic, for the exception or message that reports it.

use std::{any::Any, cell::RefCell, panic, sync::Once};

thread_local! {
    /// Place and text of the last panic of this thread.
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From now on a panic leaves its place and text for the exception that reports it, and prints no trace to the standard error of the
/// executor. The hook affects only this library, which has its own copy of the standard library.
pub fn install_panic_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        panic::set_hook(Box::new(|info| {
            let text = info.to_string();
            // While a thread's locals are destroyed there is no reader left.
            let _ = LAST_PANIC.try_with(|last| last.replace(Some(text)));
        }));
    });
}

/// The text of a panic that was caught.
pub fn panic_text(payload: Box<dyn Any + Send>) -> String {
    let hooked = LAST_PANIC.with(RefCell::take);
    let text = match (
        hooked,
        payload.downcast_ref::<&'static str>(),
        payload.downcast_ref::<String>(),
    ) {
        (Some(text), _, _) => text,
        // Rayon carried this panic here from a thread of its pool.
        (None, Some(text), _) => format!("panicked: {text}"),
        (None, None, Some(text)) => format!("panicked: {text}"),
        (None, None, None) => "panicked with a payload that is no text".into(),
    };
    // Dropping a payload may panic again.
    std::mem::forget(payload);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

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
