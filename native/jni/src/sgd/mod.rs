//! The calls of model averaging, which have no worker state.
//!
//! | module | |
//! |---|---|
//! | [`layout`] | slots of `control`, `settings` and results |
//! | [`rows`] | the arrays |
//! | [`request`] | a decoded call |
//! | [`calls`] | the three calls: descent, evaluation, search |

pub mod calls;
pub mod layout;
pub mod request;
pub mod rows;
