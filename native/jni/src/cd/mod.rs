//! The calls of coordinate descent: rounds and products on worker states, primal and dual.
//!
//! | module | |
//! |---|---|
//! | [`layout`] | slots of `control`, `settings` and results |
//! | [`states`] | worker states between rounds |
//! | [`numbers`] | the numbers of a call, checked and named |
//! | [`orientation`] | the differences between primal and dual calls |
//! | [`primal`], [`dual`] | the two orientations |
//! | [`request`] | a decoded call |
//! | [`rounds`] | rounds and products: computed block by block, then kept |
//! | [`margins`] | margins, losses and their sums over rows: calls without a worker state |

pub mod dual;
pub mod layout;
pub mod margins;
pub mod numbers;
pub mod orientation;
pub mod primal;
pub mod request;
pub mod rounds;
pub mod states;
