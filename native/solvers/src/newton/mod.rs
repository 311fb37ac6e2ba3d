//! Newton's method for few features: the sums of a pass over the rows, for the workers, and the quadratic model, for the leader.
//!
//! ```text
//! F(w, b) = (1/S) sum_i s_i loss(x_i^T w + b; y_i) + penalty(w)
//! ```
//!
//! A pass sums value, gradient and Hessian of the losses at a model, with several outputs for the softmax, and with the scale of the errors for Huber's loss. For the squared loss the Hessian is the Gram matrix of the rows, and one
//! pass is all that a fit needs.

mod factor;
mod loss;
mod pass;
mod proximal;
mod quadratic;

pub use factor::{Factor, remainders};
pub use loss::PassLoss;
pub use pass::{PassOutcome, PassParams, PassRows, RowPass};
pub use quadratic::{Quadratic, QuadraticStep, joined};
