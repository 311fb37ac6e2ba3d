//! What all calls share.

pub mod arrays;
pub mod fault;
pub mod partition;
pub mod pins;
pub mod pool;
pub mod slices;
