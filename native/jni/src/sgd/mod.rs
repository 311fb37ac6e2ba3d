//! Model averaging.

pub mod calls;
