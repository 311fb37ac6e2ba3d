//! The softmax of several outputs, and the losses of any number of outputs.

use once_cell::sync::Lazy;

use super::{
    feasibility::DualNumbers,
    labels::Labels,
    loss::{Loss, expected_codes},
};
use crate::base::{checks::ensure, error::SolverError};

/// A loss of the predictions `z_c`, one for each output.
///
/// Softmax: `log sum_c exp(z_c) - z_y` with labels 0 to C - 1. Its derivatives are `q_c - [c = y]` with `q_c = exp(z_c) / sum exp(z)`;
/// its conjugate at `q' - e_y` is `sum_c q'_c log q'_c`. Its dual numbers are `eps, r_0 .. r_(C-1), k`, each 0 to 1. They give
/// the dual variables `a = e_y - q' = k (e_y - (1 - eps) q - eps r)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowLoss {
    /// A loss of one output.
    Margin(Loss),
    /// The softmax of this number of outputs, at least 2.
    Softmax(usize),
}

impl RowLoss {
    /// The code of [`RowLoss::Softmax`]; the others are those of [`Loss::from_code`].
    pub const SOFTMAX: i64 = 5;

    /// The loss with this code. `gamma` is read for the smoothed hinge only.
    ///
    /// # Errors
    /// `InvalidParam` for an unknown code, a bad `gamma`, or a number of outputs that does not suit the loss.
    pub fn from_code(code: i64, gamma: f64, outputs: usize) -> Result<Self, SolverError> {
        static CODES: Lazy<String> =
            Lazy::new(|| expected_codes(Some((RowLoss::SOFTMAX, "softmax"))));
        if code == Self::SOFTMAX {
            return Self::Softmax(outputs).check();
        }
        let loss = Loss::with_code(code, gamma, &CODES)?;
        ensure(
            "outputs",
            outputs as f64,
            outputs == 1,
            "must be 1 unless the loss is softmax",
        )?;
        Ok(Self::Margin(loss))
    }

    /// The loss itself, if its parameters are legal.
    ///
    /// # Errors
    /// `InvalidParam`.
    pub fn check(self) -> Result<Self, SolverError> {
        match self {
            Self::Margin(loss) => loss.check().map(Self::Margin),
            Self::Softmax(outputs) => {
                let expected = "must be at least 2 with the softmax loss";
                ensure("outputs", outputs as f64, outputs >= 2, expected)?;
                Ok(self)
            }
        }
    }

    /// C, the number of outputs: a feature has one coefficient for each.
    pub fn outputs(self) -> usize {
        match self {
            Self::Margin(_) => 1,
            Self::Softmax(outputs) => outputs,
        }
    }

    /// The labels that the loss takes.
    pub fn labels(self) -> Labels {
        match self {
            Self::Margin(loss) => loss.labels(),
            Self::Softmax(outputs) => Labels::Classes(outputs),
        }
    }

    /// The dual numbers that the loss takes.
    pub(crate) fn dual_numbers(self) -> DualNumbers {
        match self {
            Self::Margin(loss) => loss.feasibility().numbers(),
            Self::Softmax(outputs) => DualNumbers {
                count: 2 + outputs,
                fractions: true,
            },
        }
    }

    /// Returns the loss at `z` and overwrites `derivatives` with its derivatives by each `z_c`.
    #[inline(always)]
    pub(crate) fn differentiate(self, z: &[f64], y: f64, derivatives: &mut [f64]) -> f64 {
        match self {
            Self::Margin(loss) => {
                let (value, derivative, _) = loss.all(z[0], y);
                derivatives[0] = derivative;
                value
            }
            Self::Softmax(_) => {
                let value = softmax(z, y as usize, derivatives);
                derivatives[y as usize] -= 1.0;
                value
            }
        }
    }

    /// The loss at `z`. `scratch` has one number for each output; its contents are overwritten.
    #[inline(always)]
    pub(crate) fn value(self, z: &[f64], y: f64, scratch: &mut [f64]) -> f64 {
        match self {
            Self::Margin(loss) => loss.value(z[0], y),
            Self::Softmax(_) => softmax(z, y as usize, scratch),
        }
    }
}

/// Returns `log sum exp(z) - z_y` and overwrites `probabilities` with the probability of each class. No exponent is positive, and a small
/// loss keeps its digits.
pub(crate) fn softmax(z: &[f64], y: usize, probabilities: &mut [f64]) -> f64 {
    let mut top = 0;
    for (c, &number) in z.iter().enumerate() {
        if number > z[top] {
            top = c;
        }
    }
    let mut others = 0.0;
    for (c, (q, &number)) in probabilities.iter_mut().zip(z).enumerate() {
        *q = (number - z[top]).exp();
        if c != top {
            others += *q;
        }
    }
    let total = 1.0 + others;
    for q in probabilities {
        *q /= total;
    }
    (z[top] - z[y]) + others.ln_1p()
}
