//! Learning alpha: the sums of the workers, and the leader's step.
//!
//! Source: Huang, "Maximum likelihood estimation of Dirichlet distribution parameters", 2005: Newton's method with a Hessian that is a diagonal and a
//! constant; as in Spark's `OnlineLDAOptimizer`.

use super::{
    params::check_alpha,
    special::{digamma, trigamma},
};
use crate::base::error::{SolverError, same_length};

/// Adds `E[log theta_k] = psi(gamma_k) - psi(sum gamma)` of one document to `sums`: K numbers.
pub fn add_log_theta(gamma: &[f64], sums: &mut [f64]) {
    let whole = digamma(gamma.iter().sum());
    for (sum, &gamma) in sums.iter_mut().zip(gamma) {
        *sum += digamma(gamma) - whole;
    }
}

/// alpha after a step of size `rho`, from the sums of [`add_log_theta`] over `documents` documents. If an entry would leave 1e-6 to 1e6, alpha stays.
///
/// ```text
/// g_k = N (psi(sum alpha) - psi(alpha_k)) + sums_k,   c = N psi'(sum alpha),   q_k = -N psi'(alpha_k)
/// b = sum_k (g_k / q_k) / (1/c + sum_k 1/q_k),   alpha_k - rho (g_k - b) / q_k
/// ```
///
/// # Errors
/// `InvalidParam` for an alpha out of range, `Shape` for unequal lengths.
pub fn newton_step(
    alpha: &[f64],
    log_theta_sums: &[f64],
    documents: f64,
    rho: f64,
) -> Result<Vec<f64>, SolverError> {
    check_alpha(alpha)?;
    same_length("log_theta_sums", log_theta_sums.len(), alpha.len(), "topic")?;
    if documents <= 0.0 {
        return Ok(alpha.to_vec());
    }
    let whole: f64 = alpha.iter().sum();
    let psi = digamma(whole);
    let c = documents * trigamma(whole);
    let gradient: Vec<f64> = alpha
        .iter()
        .zip(log_theta_sums)
        .map(|(&a, sum)| documents * (psi - digamma(a)) + sum)
        .collect();
    let q: Vec<f64> = alpha.iter().map(|&a| -documents * trigamma(a)).collect();
    let above: f64 = gradient.iter().zip(&q).map(|(g, q)| g / q).sum();
    let below: f64 = 1.0 / c + q.iter().map(|q| 1.0 / q).sum::<f64>();
    let b = above / below;
    let next: Vec<f64> = alpha
        .iter()
        .zip(gradient.iter().zip(&q))
        .map(|(a, (g, q))| a - rho * (g - b) / q)
        .collect();
    Ok(match check_alpha(&next) {
        Ok(()) => next,
        Err(_) => alpha.to_vec(),
    })
}
