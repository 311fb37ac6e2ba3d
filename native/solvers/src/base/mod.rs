//! What every room uses: checks, matrices, errors, inner loops, moments and the order of visits.

pub(crate) mod checks;
pub(crate) mod columns;
pub(crate) mod error;
pub(crate) mod kernel;
pub(crate) mod moments;
pub mod order;
pub(crate) mod progress;
