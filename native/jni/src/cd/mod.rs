//! Rounds of coordinate descent.

pub mod dual;
pub mod orientation;
pub mod primal;
pub mod request;
pub mod rounds;
pub mod states;
