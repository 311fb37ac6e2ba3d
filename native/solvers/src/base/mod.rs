//! What every room uses: range checks, matrices, errors, inner loops, moments, the order of visits, blocks.

pub(crate) mod blocks;
pub(crate) mod checks;
mod dense;
pub(crate) mod elementary;
pub(crate) mod entries;
pub(crate) mod error;
pub(crate) mod gram;
pub(crate) mod instructions;
pub(crate) mod kernel;
pub(crate) mod matrix;
pub(crate) mod moments;
pub mod order;
mod sparse;
pub(crate) mod views;
