//! A pass over the rows of a partition, block by block: the sums of losses, gradients, Hessians, dual points and moments at a model that
//! Newton's method, L-BFGS and certificates take.
//!
//! Features are centred, `x~ = x - centre`, so that the Hessian keeps its digits where means are large. With an intercept every row has one
//! more entry, 1, after its features: `n` entries where there are `p` features. The prediction is `z = x~^T w + b`, one for each of the C
//! outputs of the loss. A model has n numbers for each output, one output after the other.
//!
//! With dual numbers a pass sums the dual point of [`Feasibility`](crate::Feasibility): conjugates replace losses, and dual variables their
//! derivatives.
//!
//! With a loss that has a scale sigma, a row's last entry is a, its clipped error over the scale, and the last number of a model is sigma:
//! see [`Huber`](crate::Huber).
//!
//! A pass may replace features by their remainders, combinations of features that nearly explain one another: what sums over the features
//! cannot tell from rounding, sums over remainders can.
//!
//! A proximal pass takes the hinge with a corner that earlier models shift for each row: see `proximal`.

pub(crate) mod chunk;
mod gradient;
mod hessian;
mod loss;
mod margins;
mod params;
mod plan;
mod proximal;
mod remainders;
mod row_pass;
mod softmax;
mod sums;
#[cfg(test)]
mod tests;
mod work;

pub use loss::PassLoss;
pub use params::PassParams;
pub use row_pass::RowPass;
pub use sums::PassOutcome;
