//! Passes of Newton's method.
//!
//! | module | |
//! |---|---|
//! | [`layout`] | slots of `control` and results |
//! | [`passes`] | the passes in progress |

pub mod layout;
pub mod passes;
