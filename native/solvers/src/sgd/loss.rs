//! Losses of SGD: those of one output, and the softmax of several.

use std::ops::Range;

use crate::{base::error::SolverError, problem::loss::Loss};

/// A loss of the predictions `z_c`, one for each output.
///
/// Softmax: `log sum_c exp(z_c) - z_y` with labels 0 to C - 1; its derivatives are `q_c - [c = y]` with `q_c = exp(z_c) / sum exp(z)`,
/// and its conjugate at `q' - e_y` is `sum_c q'_c log q'_c`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SgdLoss {
    /// One output.
    Margin(Loss),
    /// So many outputs: at least 2.
    Softmax(usize),
}

impl SgdLoss {
    /// The code of [`SgdLoss::Softmax`]; smaller ones are those of [`Loss`].
    pub const SOFTMAX: i64 = 5;

    /// The loss with this code. `gamma` is read for the smoothed hinge only.
    ///
    /// # Errors
    /// `InvalidParam` for an unknown code, a bad `gamma`, or a number of outputs that does not suit the loss.
    pub fn from_code(code: i64, gamma: f64, outputs: usize) -> Result<Self, SolverError> {
        if code == Self::SOFTMAX {
            return Self::Softmax(outputs).check();
        }
        if !(0..Self::SOFTMAX).contains(&code) {
            return Err(SolverError::InvalidParam {
                name: "loss",
                value: code as f64,
                expected: "must be 0 (squared), 1 (logistic), 2 (hinge), 3 (smoothed hinge), 4 (squared hinge) or 5 (softmax)",
            });
        }
        let loss = Loss::from_code(code, gamma)?;
        if outputs == 1 {
            Ok(Self::Margin(loss))
        } else {
            Err(SolverError::InvalidParam {
                name: "outputs",
                value: outputs as f64,
                expected: "must be 1 unless the loss is softmax",
            })
        }
    }

    /// The loss itself, if its parameters are legal.
    ///
    /// # Errors
    /// `InvalidParam`.
    pub fn check(self) -> Result<Self, SolverError> {
        match self {
            Self::Margin(loss) => loss.check().map(Self::Margin),
            Self::Softmax(outputs) if outputs < 2 => Err(SolverError::InvalidParam {
                name: "outputs",
                value: outputs as f64,
                expected: "must be at least 2 with the softmax loss",
            }),
            Self::Softmax(_) => Ok(self),
        }
    }

    /// Numbers that a feature has in the model.
    pub fn outputs(self) -> usize {
        match self {
            Self::Margin(_) => 1,
            Self::Softmax(outputs) => outputs,
        }
    }

    /// Refuses labels of `rows` that do not suit the loss.
    pub(super) fn check_labels(
        self,
        labels: &[f64],
        rows: Range<usize>,
    ) -> Result<(), SolverError> {
        let outputs = match self {
            Self::Margin(loss) => return loss.check_labels(labels, rows),
            Self::Softmax(outputs) => outputs,
        };
        let is_class = |y: f64| y >= 0.0 && y < outputs as f64 && y.fract() == 0.0;
        match labels[rows.clone()].iter().position(|&y| !is_class(y)) {
            None => Ok(()),
            Some(k) => Err(SolverError::Shape(format!(
                "label of row {} is {}: classes are 0 to {}",
                rows.start + k,
                labels[rows.start + k],
                outputs - 1
            ))),
        }
    }

    /// The loss at `z`, and its derivatives in the place of `derivatives`.
    #[inline(always)]
    pub(super) fn differentiate(self, z: &[f64], y: f64, derivatives: &mut [f64]) -> f64 {
        match self {
            Self::Margin(loss) => {
                let (value, derivative) = loss.value_and_derivative(z[0], y);
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

    /// The loss at `z`; `room` is used for as many numbers.
    #[inline(always)]
    pub(super) fn value(self, z: &[f64], y: f64, room: &mut [f64]) -> f64 {
        match self {
            Self::Margin(loss) => loss.value(z[0], y),
            Self::Softmax(_) => softmax(z, y as usize, room),
        }
    }
}

/// `log sum exp(z) - z_y`, and the probabilities of the classes. No exponent is positive, and a small loss keeps its digits.
pub(super) fn softmax(z: &[f64], y: usize, probabilities: &mut [f64]) -> f64 {
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
