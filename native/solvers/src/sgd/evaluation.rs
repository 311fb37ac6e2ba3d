//! Losses, gradient and dual point of the rows of a partition at a model.

use super::{
    data::SgdData,
    loss::{SgdLoss, softmax},
    model::{Model, length},
    params::SgdProblem,
    round::{SgdScalars, write},
    shape::Layout,
    steps::{Span, Sums, Totals, Visit},
};
use crate::{
    base::{
        checks::finite,
        error::{SolverError, same_length},
        progress::Progress,
    },
    problem::loss::Loss,
};

/// Unchecked parameters of an evaluation.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `problem` | the objective, of which the loss matters | see [`SgdProblem`] |
/// | `factor` | what the vector is multiplied by | finite |
/// | `dual` | numbers that turn the derivatives into a dual point; none for the gradient | see below |
///
/// Dual numbers, for a dual point `a_ic` in the place of minus the derivatives:
///
/// | loss | numbers | a |
/// |---|---|---|
/// | squared | `delta`, finite | `(y - z) - delta` |
/// | other margin losses | `f_neg, f_pos`, 0 to 1 | `y f_y p` with `p = -y loss'(z)` |
/// | softmax | `eps, r_0 .. r_(C-1)`, 0 to 1 | `e_y - q'` with `q' = (1 - eps) q + eps r` |
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluationParams {
    pub problem: SgdProblem,
    pub factor: f64,
    pub dual: Option<Vec<f64>>,
}

impl EvaluationParams {
    /// Checks the ranges of the tables above.
    ///
    /// # Errors
    /// `InvalidParam` names the first parameter out of range, `Shape` for a wrong number of dual numbers.
    pub fn check(self) -> Result<ValidEvaluationParams, SolverError> {
        self.problem.check()?;
        finite("factor", self.factor)?;
        if let Some(numbers) = &self.dual {
            check_dual(self.problem.loss, numbers)?;
        }
        Ok(ValidEvaluationParams(self))
    }
}

fn check_dual(loss: SgdLoss, numbers: &[f64]) -> Result<(), SolverError> {
    let expected = match loss {
        SgdLoss::Margin(Loss::Squared) => 1,
        SgdLoss::Margin(_) => 2,
        SgdLoss::Softmax(outputs) => 1 + outputs,
    };
    if numbers.len() != expected {
        return Err(SolverError::Shape(format!(
            "there are {} dual numbers, expected {expected} with this loss",
            numbers.len()
        )));
    }
    let any = loss == SgdLoss::Margin(Loss::Squared);
    let is_legal = |x: f64| {
        if any {
            x.is_finite()
        } else {
            (0.0..=1.0).contains(&x)
        }
    };
    match numbers.iter().find(|&&x| !is_legal(x)) {
        None => Ok(()),
        Some(&value) => Err(SolverError::InvalidParam {
            name: "a dual number",
            value,
            expected: "must be finite, and 0 to 1 unless the loss is squared",
        }),
    }
}

/// Checked [`EvaluationParams`].
#[derive(Debug, Clone)]
pub struct ValidEvaluationParams(EvaluationParams);

/// The result of an evaluation, apart from the vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EvaluationOutcome {
    /// With dual numbers the sum of the conjugates `s_i loss*(-a_i)` in the place of that of the losses.
    pub scalars: SgdScalars,
    /// Margin losses but squared: the sum of `s_i p_i` over rows with label 1, and over those with label -1. 0 for other losses.
    pub sides: [f64; 2],
}

/// An evaluation in progress: it can be cut into slices as a [`SgdRound`](super::SgdRound).
///
/// The vector is `factor sum_i s_i l'_ic x_ij` with an entry `factor sum_i s_i l'_ic` for each intercept; with dual numbers `a_ic` stands in the
/// place of the derivative `l'_ic`. All of it is 0 where numbers were not finite any more.
#[derive(Debug)]
pub struct SgdEvaluation {
    params: EvaluationParams,
    model: Model,
    rows: Option<usize>,
    features: usize,
    totals: Totals,
    sides: [f64; 2],
    diverged: bool,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    Check(usize),
    Load,
    Rows(usize),
    Settle,
    Done,
}

impl SgdEvaluation {
    /// An evaluation on data with `features` features.
    ///
    /// # Errors
    /// `Shape` if a model of so many features has more numbers than an `i32` counts, `OutOfMemory`.
    pub fn new(params: ValidEvaluationParams, features: usize) -> Result<Self, SolverError> {
        let ValidEvaluationParams(params) = params;
        let outputs = params.problem.loss.outputs();
        length(outputs, features)?;
        let layout = Layout {
            outputs,
            paired: true,
            threshold: false,
            scaled: false,
        };
        Ok(Self {
            params,
            model: Model::new(layout, features, 0)?,
            rows: None,
            features,
            totals: Totals::default(),
            sides: [0.0; 2],
            diverged: false,
            phase: Phase::Check(0),
        })
    }

    /// Works on for about `budget` units: as [`SgdRound::advance`](super::SgdRound::advance).
    ///
    /// # Errors
    /// As there.
    pub fn advance(
        &mut self,
        data: &SgdData<'_>,
        shared: &[u8],
        budget: usize,
    ) -> Result<Progress, SolverError> {
        same_length("a row", data.rows.rows(), self.features, "feature")?;
        let rows = *self.rows.get_or_insert(data.rows.len());
        same_length("labels", data.labels.len(), rows, "row")?;
        let mut left = budget.max(1);
        while left > 0 && self.phase != Phase::Done {
            let spent = self.advance_phase(rows, data, shared, left)?;
            left = left.saturating_sub(spent);
        }
        Ok(match self.phase {
            Phase::Done => Progress::Done,
            _ => Progress::More,
        })
    }

    fn advance_phase(
        &mut self,
        rows: usize,
        data: &SgdData<'_>,
        shared: &[u8],
        left: usize,
    ) -> Result<usize, SolverError> {
        match self.phase {
            Phase::Check(next) => {
                let end = next.saturating_add(left).min(rows);
                self.params
                    .problem
                    .loss
                    .check_labels(data.labels, next..end)?;
                self.phase = if end == rows {
                    Phase::Load
                } else {
                    Phase::Check(end)
                };
                Ok(end - next)
            }
            Phase::Load => {
                let count = self.model.left_to_load().min(left);
                self.model.load(shared, data.scale, count)?;
                if self.model.left_to_load() == 0 {
                    self.phase = Phase::Rows(0);
                }
                Ok(count)
            }
            Phase::Rows(next) if next == rows => {
                self.phase = Phase::Settle;
                Ok(0)
            }
            Phase::Rows(next) => {
                let sums = Sums {
                    span: Span {
                        data,
                        rows: next..rows,
                        budget: left,
                    },
                    rule: RowRule {
                        loss: self.params.problem.loss,
                        dual: self.params.dual.as_deref(),
                    },
                };
                let Visit {
                    next,
                    spent,
                    diverged,
                } = sums.run(&mut self.model, &mut self.totals, &mut self.sides);
                self.diverged = diverged;
                self.phase = if diverged {
                    Phase::Done
                } else {
                    Phase::Rows(next)
                };
                Ok(spent)
            }
            Phase::Settle => {
                let count = self.model.settle_sums(self.params.factor, left);
                if self.model.is_settled() {
                    self.diverged = !self.model.is_finite();
                    self.phase = Phase::Done;
                }
                Ok(count)
            }
            Phase::Done => Ok(0),
        }
    }

    /// Writes the vector from number `start` on, as many as `out` has room for, little endian.
    ///
    /// # Errors
    /// `Unfinished` before the evaluation is done, `Shape` for wrong lengths.
    pub fn write(&self, start: usize, out: &mut [u8]) -> Result<(), SolverError> {
        self.finished()?;
        let length = self.model.length();
        if self.diverged {
            write(length, start, out, std::iter::repeat(0.0), 1.0)
        } else {
            write(length, start, out, self.model.numbers(start), 1.0)
        }
    }

    /// The numbers of the evaluation.
    ///
    /// # Errors
    /// `Unfinished` before it is done.
    pub fn finish(&self) -> Result<EvaluationOutcome, SolverError> {
        self.finished()?;
        Ok(EvaluationOutcome {
            scalars: SgdScalars::new(&self.model, &self.totals, self.diverged),
            sides: self.sides,
        })
    }

    fn finished(&self) -> Result<(), SolverError> {
        match self.phase {
            Phase::Done => Ok(()),
            _ => Err(SolverError::Unfinished),
        }
    }
}

/// What a row adds to the vector and to the sums.
#[derive(Clone, Copy)]
pub(super) struct RowRule<'a> {
    loss: SgdLoss,
    dual: Option<&'a [f64]>,
}

impl RowRule<'_> {
    /// Puts what the entries of a row with `weight` are to be multiplied by in the place of `coefficients`, and adds to `sides`. Returns the
    /// loss, or the conjugate.
    #[inline(always)]
    pub fn coefficients(
        self,
        z: &[f64],
        y: f64,
        weight: f64,
        coefficients: &mut [f64],
        sides: &mut [f64; 2],
    ) -> f64 {
        match self.loss {
            SgdLoss::Margin(loss) => {
                let (value, coefficient) = self.margin(loss, z[0], y, weight, sides);
                coefficients[0] = weight * coefficient;
                value
            }
            SgdLoss::Softmax(_) => {
                let class = y as usize;
                let value = match self.dual {
                    None => {
                        let value = softmax(z, class, coefficients);
                        coefficients[class] -= 1.0;
                        value
                    }
                    Some(numbers) => dual_softmax(numbers, z, class, coefficients),
                };
                for coefficient in coefficients {
                    *coefficient *= weight;
                }
                value
            }
        }
    }

    #[inline(always)]
    fn margin(self, loss: Loss, z: f64, y: f64, weight: f64, sides: &mut [f64; 2]) -> (f64, f64) {
        let (value, derivative) = loss.value_and_derivative(z, y);
        if loss == Loss::Squared {
            return match self.dual {
                None => (value, derivative),
                Some(numbers) => {
                    let a = (y - z) - numbers[0];
                    (loss.conjugate(a, y), a)
                }
            };
        }
        let p = -y * derivative;
        sides[usize::from(y < 0.0)] += weight * p;
        match self.dual {
            None => (value, derivative),
            Some(numbers) => {
                let a = y * (numbers[usize::from(y > 0.0)] * p);
                (loss.conjugate(a, y), a)
            }
        }
    }
}

/// Puts `e_y - q'` in the place of `point`; returns `sum q' log q'`.
fn dual_softmax(numbers: &[f64], z: &[f64], class: usize, point: &mut [f64]) -> f64 {
    let (eps, prior) = (numbers[0], &numbers[1..]);
    softmax(z, class, point);
    let mut conjugate = 0.0;
    for (c, (a, r)) in point.iter_mut().zip(prior).enumerate() {
        let q = (1.0 - eps) * *a + eps * r;
        conjugate += if q == 0.0 { 0.0 } else { q * q.ln() };
        *a = f64::from(u8::from(c == class)) - q;
    }
    conjugate
}
