//! Parts that the calls of all families share: how arguments come in, and how results and faults go out.
//!
//! | module | |
//! |---|---|
//! | [`fault`] | why a call has no result |
//! | [`panics`] | the text of a panic |
//! | [`throw`] | faults and panics as Java exceptions |
//! | [`memory`] | allocations that can fail |
//! | [`constants`] | the constants of the classes of `dwell.jni` |
//! | [`version`] | versions in which library and classes must agree |
//! | [`numbers`] | `control` and `settings`, read by slot |
//! | [`header`] | the header of a result |
//! | [`partition`] | the names of the arrays of each kind of call, and how its solver takes them |
//! | [`arrays`] | the arrays of a matrix, and their validation |
//! | [`blocks`] | the arrays of a call in blocks, and their checks |
//! | [`fingerprint`] | how validated arrays are recognised |
//! | [`pins`] | Java arrays, pinned for one loan |
//! | [`table`] | values that this process keeps between calls |
//! | [`pool`] | threads |

pub mod arrays;
pub mod blocks;
pub mod fault;
pub mod fingerprint;
pub mod header;
pub mod memory;
pub mod numbers;
pub mod panics;
pub mod partition;
pub mod pins;
pub mod pool;
pub mod table;
pub mod throw;
pub mod version;

/// The constants of the classes of `dwell.jni`, which say what each means: see `build.rs`.
pub mod constants {
    include!(concat!(env!("OUT_DIR"), "/constants.rs"));
}
