//! Feed-forward networks with sigmoids in the hidden layers and the softmax with cross entropy on top, as Spark's
//! `MultilayerPerceptronClassifier` has them: losses and gradients, summed over the rows of a partition, and local SGD by mini-batches of them.
//!
//! The layers have `n_0` to `n_L` units: features, hidden ones and classes. With `a_0 = x`, `z_l = W_l a_(l-1) + b_l`,
//! `a_l = 1 / (1 + exp(-z_l))` and `q = softmax(z_L)`, the loss of a row of class y is `-log q_y`. Its gradient comes from top to bottom
//! (Rumelhart, Hinton, Williams, "Learning representations by back-propagating errors", Nature 323, 1986):
//!
//! ```text
//! d_L = q - e_y,   d_(l-1) = (W_l^T d_l) * a_(l-1) * (1 - a_(l-1)),   dW_l = d_l a_(l-1)^T,   db_l = d_l
//! ```
//!
//! The weights of a network are one vector in Spark's order: for each l from 1 on `W_l`, of `n_l` rows and `n_(l-1)` columns, column by
//! column, and then `b_l`.

mod batch;
mod descent;
mod layers;
mod params;
mod pass;
mod steps;
mod visits;

pub use descent::{DescentOutcome, NetworkDescent};
pub use layers::Layers;
pub use params::DescentParams;
pub use pass::NetworkPass;
