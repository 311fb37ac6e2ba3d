//! Passes over rows: sums for Newton's method, L-BFGS and certificates.
//!
//! | module | |
//! |---|---|
//! | [`layout`] | slots of `control` and results |
//! | [`passes`] | the passes in progress |

pub mod layout;
pub mod passes;
