//! The calls of algorithms along rows, which have no worker state.
//!
//! | module | |
//! |---|---|
//! | [`layout`] | slots of `control`, `settings` and results |
//! | [`arrays`] | the arrays |
//! | [`request`] | a decoded call |
//! | [`calls`] | the calls of linear models: descent, search |
//! | [`network_layout`] | slots of the `control` and `settings` of a network |
//! | [`network`] | the descent of a network |

pub mod arrays;
pub mod calls;
pub mod layout;
mod network;
pub mod network_layout;
pub mod request;
