//! Latent Dirichlet allocation: the local solver of model averaging (MA-LDA).

mod lanes;
mod real;
pub mod special;

pub use lanes::Kernel;
pub use real::Real;
