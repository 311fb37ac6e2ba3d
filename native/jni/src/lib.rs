//! The boundary of Dwell's local solvers: JNI for `dwell.jni.NativeBridge`, and a C ABI. No mathematics happens here.
//!
//! | module | |
//! |---|---|
//! | [`boundary`] | parts that the calls of all families share: faults, arrays, blocks, pins, threads |
//! | [`cd`] | coordinate descent: rounds and products on worker states; margins and their losses |
//! | [`rows`] | algorithms along rows: local SGD, sums of gradients |
//! | [`pass`] | passes over rows, for Newton's method, L-BFGS and certificates |
//! | [`lda`] | model averaging of topics |
//! | [`java`] | the functions of `NativeBridge` |
//! | `capi` | the functions of `dwell.h`, for programs without a JVM: the benchmarks in Python and the C tests. Of the feature `capi` |
//!
//! A module uses only modules above it. The families `cd`, `rows`, `pass` and `lda` do not use one another, nor do `java` and `capi`.
//!
//! The library exports only `JNI_OnLoad`, which binds the methods of `NativeBridge`, and with the feature `capi` the `dwell_*` functions.
//! All code runs on the calling thread, except for parts of a solver, which run on a pool and never touch JNI.

#![deny(
    missing_docs,
    unsafe_op_in_unsafe_fn,
    clippy::undocumented_unsafe_blocks
)]
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod boundary;
#[cfg(feature = "capi")]
#[expect(rustdoc::broken_intra_doc_links, reason = "the comments of a C header")]
pub mod capi;
pub mod cd;
pub mod java;
pub mod lda;
pub mod pass;
pub mod rows;
