//! Versions in which the library and the classes or programs that use it must agree.

/// Version of the functions of `NativeBridge` and of the C ABI.
pub use crate::boundary::constants::bridge::ABI_VERSION;

/// Identifies the sources that this library was built from; the build passes it.
pub const BUILD_ID: &str = match option_env!("DWELL_BUILD_ID") {
    Some(id) => id,
    None => "dev",
};
