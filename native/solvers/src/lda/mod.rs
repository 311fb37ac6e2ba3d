//! Latent Dirichlet allocation: stochastic variational inference on the documents of one worker, the local solver of model averaging (MA-LDA).
//!
//! ```text
//! beta_k ~ Dirichlet(eta), theta_d ~ Dirichlet(alpha), z ~ theta_d, w ~ beta_z;   q(beta_k) = Dirichlet(lambda_k), q(theta_d) = Dirichlet(gamma_d)
//! per batch of B documents: E-step of each, then lambda <- (1 - rho) lambda + rho (eta + (D / B) sum_d statistics_d)
//! ```
//!
//! | symbol | meaning |
//! |---|---|
//! | K, V | topics, words of the vocabulary |
//! | D, W | documents of all workers that are not empty, workers |
//! | c_dw, N_d | count of a word in a document, and their sum |
//! | gamma, theta | topics of a document |
//! | lambda, beta | words of a topic |
//! | phi_dwk | share of topic k in a word of a document; `statistics_wk = sum_d c_dw phi_dwk` |
//!
//! Sources: Hoffman, Blei, Bach, "Online learning for latent Dirichlet allocation", NIPS 2010; Guo et al., "Model averaging in distributed machine
//! learning", VLDB Journal 30, 2021 (the averages: see [`shared`]).
//!
//! Arithmetic per document is in `f32`, without subnormal numbers: numbers below a floor become 0. Tests of identities use `f64`. Results are functions
//! of the inputs and of the [`Kernel`]: AVX2 and AVX-512 give the same bits, plain Rust others.

pub mod bound;
pub mod concentration;
mod documents;
mod estep;
mod found;
mod inference;
mod lambda;
mod lanes;
mod params;
mod round;
mod sample;
pub mod shared;
pub mod special;
mod table;
mod team;

pub use documents::{DocumentBlocks, Documents, WordCounts};
pub use inference::{Inferred, LdaInference};
pub use lambda::Lambda;
pub use lanes::{Kernel, Number, Real};
pub use params::{EStepParams, LdaSchedule};
pub use round::{LdaOutcome, LdaParams, ValidLdaParams};
