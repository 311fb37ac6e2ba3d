//! Model averaging of topics.

pub mod calls;
