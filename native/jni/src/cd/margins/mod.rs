//! The calls on margins, which have no worker state: Java owns all arrays.
//!
//! | module | |
//! |---|---|
//! | [`layout`] | slots of `control`, `settings` and sums |
//! | [`request`] | a decoded call |

pub mod layout;
pub mod request;
