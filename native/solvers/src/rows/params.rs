//! Parameters of the objective and of the step sizes, and their ranges.

use crate::{
    base::{
        checks::{at_least_zero, ensure, positive},
        error::SolverError,
    },
    problem::softmax::RowLoss,
};

/// Unchecked objective: `(1/S) sum_i s_i loss(x_i^T w + b; y_i) + l1 sum_j u_j |w_j| + l2/2 sum_j u_j^2 w_j^2` with `u_j^2 = 1 / scale_j`.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `loss` | the loss | see [`RowLoss`] |
/// | `l1` | weight of the absolute values | finite, >= 0 |
/// | `l2` | weight of the squares | finite, >= 0 |
/// | `intercept` | whether there is an intercept: whether steps change b | |
/// | `weight_factor` | `m / S`: makes the mean weight of a row 1 | finite, > 0 |
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the table names every field")]
pub struct SgdProblem {
    pub loss: RowLoss,
    pub l1: f64,
    pub l2: f64,
    pub intercept: bool,
    pub weight_factor: f64,
}

impl SgdProblem {
    /// Checks the ranges of the table above.
    pub(super) fn check(self) -> Result<Self, SolverError> {
        self.loss.check()?;
        at_least_zero("l1", self.l1)?;
        at_least_zero("l2", self.l2)?;
        positive("weight_factor", self.weight_factor)?;
        Ok(self)
    }

    /// Refuses a first step size at which the penalty would flip the signs of coefficients.
    pub(super) fn check_step(&self, name: &'static str, eta0: f64) -> Result<(), SolverError> {
        positive(name, eta0)?;
        ensure(name, eta0, eta0 * self.l2 < 1.0, "must be less than 1 / l2")
    }
}

/// The step size as a function of t, the number of rows visited before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleKind {
    /// `eta0 / sqrt(1 + rate t)`
    InverseSquareRoot,
    /// `eta0 / (1 + rate eta0 t)`
    Inverse,
}

impl ScheduleKind {
    /// The kind with this code: 0 or 1, in the order above.
    ///
    /// # Errors
    /// `InvalidParam` for another code.
    pub fn from_code(code: i64) -> Result<Self, SolverError> {
        match code {
            0 => Ok(Self::InverseSquareRoot),
            1 => Ok(Self::Inverse),
            _ => Err(SolverError::InvalidParam {
                name: "schedule",
                value: code as f64,
                expected: "must be 0 (inverse square root) or 1 (inverse)",
            }),
        }
    }
}

/// Unchecked step sizes.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `kind` | see [`ScheduleKind`] | |
/// | `eta0` | step size at t = 0 | finite, > 0, less than `1 / l2` |
/// | `rate` | rate at which step sizes shrink, see [`ScheduleKind`] | finite, >= 0 |
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the table names every field")]
pub struct Schedule {
    pub kind: ScheduleKind,
    pub eta0: f64,
    pub rate: f64,
}

impl Schedule {
    /// Refuses step sizes that do not suit `problem`.
    pub(super) fn check(self, problem: &SgdProblem) -> Result<Self, SolverError> {
        problem.check_step("eta0", self.eta0)?;
        at_least_zero("rate", self.rate)?;
        Ok(self)
    }

    /// The step size after `t` rows.
    #[inline(always)]
    pub fn at(&self, t: u64) -> f64 {
        match self.kind {
            ScheduleKind::InverseSquareRoot => self.eta0 / (1.0 + self.rate * t as f64).sqrt(),
            ScheduleKind::Inverse => self.eta0 / (1.0 + (self.rate * self.eta0) * t as f64),
        }
    }
}
