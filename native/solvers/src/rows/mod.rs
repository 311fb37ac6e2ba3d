//! Stochastic gradient descent on the rows of one partition, the local solver of model averaging (MA-SGD).
//!
//! ```text
//! F(w, b) = (1/S) sum_i s_i loss(x_i^T w + b; y_i) + l1 sum_jc u_j |w_jc| + l2/2 sum_jc u_j^2 w_jc^2,   u_j^2 = 1 / scale_j
//! ```
//!
//! with C outputs: one for a margin loss, one for each class for the softmax. A step on row i, after t rows since the start of the fit:
//!
//! ```text
//! eta = schedule(t),   z_c = x_i^T w_c + b_c,   g_c = s_i weight_factor dloss/dz_c
//! w_jc <- S((1 - eta l2) w_jc - eta g_c scale_j x_ij, eta l1 sqrt(scale_j))  for all j,   b_c <- b_c - eta g_c
//! ```
//!
//! where `S(v, h)` moves v towards 0 by h. Every step changes all coefficients; the change is made lazily, and exactly: see `clock`.
//!
//! Sources: Bottou, "Stochastic gradient descent tricks", 2012, section 5.1 (coefficients as a scale times a vector); Duchi, Singer, "Efficient
//! online and batch learning using forward backward splitting", JMLR 10, 2009, section 5.2 (lazy thresholds); Guo et al., "Model averaging in
//! distributed machine learning", VLDB Journal 30, 2021 (the averages).
//!
//! # Model
//! `C (n + 1)` numbers: coefficient of feature j and output c at `j C + c`, intercepts from `n C` on.
//!
//! # Order of floating point operations
//! Every result is a fixed order of correctly rounded operations, except for exponentials and logarithms. `S(x, h)` is `soft_threshold`
//! of `penalty`; `root = sqrt(scale)`; absent weights and scales count as 1.
//!
//! ```text
//! state    x per coefficient; a = 1, B = 0; mark per feature with l1 > 0
//! norms    in order of the shared vector: l1 += |w| / root, square += (w w) / scale; features with a scale of 0 left out
//! step     eta = eta0 | eta0 / sqrt(1 + rate t) | eta0 / (1 + (rate eta0) t)
//!          C = 1: z = a dot + b with the dot product of `kernel`
//!          C > 1: sums from 0 over the entries in order, sum_c += value x_jc; z_c = a sum_c + b_c
//!          softmax: top = first greatest z; e_c = exp(z_c - z_top); others = sum over c != top; q_c = e_c / (1 + others)
//!                   loss = (z_top - z_y) + log1p(others); derivative_c = q_c, less 1 for c = y
//!          g_c = derivative_c (s weight_factor);  loss_sum += s loss;  weight_sum += s
//!          stops before the step if z, g or loss_sum is not finite
//!          next = a (1 - eta l2);  step_c = (eta g_c) / next
//!          entries in order: change = step_c (value scale); x -= change
//!                   not at all if C = 1 and g = 0
//!          b_c -= eta g_c;  a = next;  B += (eta l1) / a
//! sync     before x of a row is read, with l1:
//!          x = S(x, root (B - mark)), mark = B
//! renew    after a step with a < 1e-5, or the 2^20th with l1 since the last time: sync; x = a x; a = 1, B = 0
//! end      sync; w = a x; update share w
//! ```

mod clock;
mod model;
mod params;
pub mod quasi_newton;
mod round;
mod search;
mod shape;
mod steps;
mod team;
mod totals;

pub use params::{Schedule, ScheduleKind, SgdProblem};
pub use round::{MAX_FACTORS, SgdOutcome, SgdParams, SgdRound, ValidSgdParams};
pub use search::{
    MAX_STEP_SIZES, SearchOutcome, SearchParams, ValidSearchParams, search_step_size,
};
pub use totals::SgdScalars;
