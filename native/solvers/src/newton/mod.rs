//! Newton's method for few features: the quadratic model and its factor, for the leader. Workers sum a [`pass`](crate::pass) over the rows.
//!
//! ```text
//! F(w, b) = (1/S) sum_i s_i loss(x_i^T w + b; y_i) + penalty(w)
//! ```
//!
//! For the squared loss the Hessian is the Gram matrix of the rows, and one pass is all that a fit needs.

mod factor;
mod quadratic;

pub use factor::{Factor, remainders};
pub use quadratic::{Quadratic, QuadraticStep, joined};
