//! The calls of model averaging of topics (LDA), which have no worker state.
//!
//! | module | |
//! |---|---|
//! | [`layout`] | slots of `control`, `settings` and results |
//! | [`documents`] | the arrays |
//! | [`request`] | a decoded call |
//! | [`scratch`] | memory from call to call |
//! | [`calls`] | the two calls: round, bound |

pub mod calls;
pub mod documents;
pub mod layout;
pub mod request;
pub mod scratch;
