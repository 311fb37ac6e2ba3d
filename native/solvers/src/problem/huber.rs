//! Huber's loss with a scale that is fitted together with the model.
//!
//! ```text
//! l(r, sigma) = (sigma + r^2 / sigma) / 2                             if |r| <= epsilon sigma
//!               (sigma + 2 epsilon |r| - epsilon^2 sigma) / 2         otherwise
//!             = max over |a| <= epsilon of  a r + sigma (1 - a^2) / 2
//! ```
//!
//! for an error `r = y - z` and a scale `sigma > 0`: convex in both. The maximum is at `a = r / sigma`, clipped, which is the derivative by r;
//! the derivative by the scale is `(1 - a^2) / 2`. Inside, the second derivative is `1 / sigma` times the square of (1, -a) in (r, sigma). Outside it
//! is 0, and a parabola in r with the second derivative `a / r` is nowhere below the loss: Huber's iteratively reweighted least squares.
//!
//! Source: Owen, "A robust hybrid of lasso and ridge regression", Contemporary Mathematics 443, 2007, section 4, as Spark defines it.

use crate::base::{checks::ensure, error::SolverError};

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Huber {
    /// More than 1.
    pub epsilon: f64,
}

/// A row's loss and derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scaled {
    pub(crate) value: f64,
    /// a.
    pub(crate) ratio: f64,
    /// The second derivative by r.
    pub(crate) curve: f64,
}

impl Huber {
    /// The code of the loss in calls of other languages.
    pub const CODE: i64 = 6;

    /// The loss itself, if its parameter is legal.
    ///
    /// # Errors
    /// `InvalidParam`.
    pub fn check(self) -> Result<Self, SolverError> {
        let legal = self.epsilon > 1.0 && self.epsilon.is_finite();
        ensure(
            "epsilon",
            self.epsilon,
            legal,
            "must be finite and more than 1",
        )?;
        Ok(self)
    }

    /// The loss of an error, and its derivatives.
    #[inline(always)]
    pub(crate) fn all(self, r: f64, sigma: f64) -> Scaled {
        let ratio = (r / sigma).clamp(-self.epsilon, self.epsilon);
        Scaled {
            value: ratio * r + 0.5 * (sigma * (1.0 - ratio * ratio)),
            ratio,
            curve: if r.abs() <= self.epsilon * sigma {
                1.0 / sigma
            } else {
                0.0
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_derivatives() {
        let huber = Huber { epsilon: 1.5 };
        // Inside: (2 + 1 / 2) / 2. Outside: (2 + 2 * 1.5 * 4 - 2.25 * 2) / 2.
        assert_eq!(huber.all(1.0, 2.0).value, 1.25);
        assert_eq!(huber.all(-4.0, 2.0).value, 4.75);
        let h = 1e-6;
        for (r, sigma) in [(0.3, 0.7), (-1.0, 0.7), (1.2, 0.7), (-5.0, 2.0), (0.0, 1.0)] {
            let at = huber.all(r, sigma);
            let slope = (huber.all(r + h, sigma).value - huber.all(r - h, sigma).value) / (2.0 * h);
            let by_scale =
                (huber.all(r, sigma + h).value - huber.all(r, sigma - h).value) / (2.0 * h);
            let curve = (huber.all(r + h, sigma).ratio - huber.all(r - h, sigma).ratio) / (2.0 * h);
            assert!((slope - at.ratio).abs() <= 1e-8, "{r} {sigma}");
            assert!((by_scale - 0.5 * (1.0 - at.ratio * at.ratio)).abs() <= 1e-8);
            assert!((curve - at.curve).abs() <= 1e-8);
        }
    }

    #[test]
    fn parameters() {
        for epsilon in [1.0, 0.5, f64::NAN, f64::INFINITY] {
            assert!(Huber { epsilon }.check().is_err());
        }
    }
}
