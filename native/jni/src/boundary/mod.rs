//! What the calls of all families share: how arguments come in, how results and faults go out.
//!
//! | module | |
//! |---|---|
//! | [`fault`] | why a call has no result |
//! | [`panics`] | the text of a panic |
//! | [`throw`] | faults and panics as Java exceptions |
//! | [`memory`] | allocations that can fail |
//! | [`version`] | what must agree between library and classes |
//! | [`numbers`] | `control` and `settings`, read by slot |
//! | [`header`] | the header of a result |
//! | [`partition`] | the names of the arrays of each kind of call, and how its solver takes them |
//! | [`arrays`] | the arrays of a partition, validated |
//! | [`fingerprint`] | how arrays that were validated are known again |
//! | [`pins`] | Java arrays, pinned for one slice of work |
//! | [`slices`] | the loop over slices of work |
//! | [`table`] | what stays in this process between calls |
//! | [`pool`] | threads |

pub mod arrays;
pub mod fault;
pub mod fingerprint;
pub mod header;
pub mod memory;
pub mod numbers;
pub mod panics;
pub mod partition;
pub mod pins;
pub mod pool;
pub mod slices;
pub mod table;
pub mod throw;
pub mod version;
