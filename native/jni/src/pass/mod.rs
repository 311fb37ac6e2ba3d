//! Passes over rows: sums for Newton's method, L-BFGS and certificates.
//!
//! | module | |
//! |---|---|
//! | [`layout`] | slots of `control` and results |
//! | [`kinds`] | what a pass is of: a linear model, or a network |

pub mod kinds;
pub mod layout;
