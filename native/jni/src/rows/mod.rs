//! The calls of algorithms along rows, which have no worker state.
//!
//! | module | |
//! |---|---|
//! | [`layout`] | slots of `control`, `settings` and results |
//! | [`arrays`] | the arrays |
//! | [`request`] | a decoded call |
//! | [`calls`] | the two calls: descent, search |

pub mod arrays;
pub mod calls;
pub mod layout;
pub mod request;
