//! Evaluation of a model on the rows of a partition: losses and gradient, or conjugates and dual point.

use super::{
    data::SgdData,
    model::Model,
    params::SgdProblem,
    resumable::{Resumable, Work},
    shape::Layout,
    steps::{Scan, Span, Sums},
    totals::{SgdScalars, Totals},
    vector::write,
};
use crate::base::{checks::finite, error::SolverError, progress::Progress};

/// Unchecked parameters of an evaluation.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `problem` | the objective; only its loss counts | see [`SgdProblem`] |
/// | `factor` | factor of the vector | finite |
/// | `dual` | the dual numbers of the loss, for a dual point; none for the gradient | see [`Feasibility`](crate::Feasibility) and [`RowLoss`](crate::RowLoss) |
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the table names every field")]
pub struct EvaluationParams {
    pub problem: SgdProblem,
    pub factor: f64,
    pub dual: Option<Vec<f64>>,
}

impl EvaluationParams {
    /// Checks the ranges of the table above.
    ///
    /// # Errors
    /// `InvalidParam` names the first parameter out of range, `Shape` for a wrong number of dual numbers.
    pub fn check(self) -> Result<ValidEvaluationParams, SolverError> {
        self.problem.check()?;
        finite("factor", self.factor)?;
        if let Some(numbers) = &self.dual {
            self.problem.loss.dual_numbers().check(numbers)?;
        }
        Ok(ValidEvaluationParams(self))
    }
}

/// Checked [`EvaluationParams`].
#[derive(Debug, Clone)]
pub struct ValidEvaluationParams(EvaluationParams);

/// The result of an evaluation, apart from the vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EvaluationOutcome {
    /// With dual numbers `loss_sum` is the sum of the conjugates, `s_i loss*(-a_i)`.
    pub scalars: SgdScalars,
    /// Losses with [`Feasibility::Factors`](crate::Feasibility::Factors): the sum of `s_i |loss'(z_i)|` over the rows whose derivative is
    /// negative (all with label 1), and over those where it is positive (label -1). 0 for other losses.
    pub sides: [f64; 2],
}

/// An evaluation in progress. It works in slices, as [`SgdRound`](super::SgdRound) does.
///
/// The vector is `factor sum_i s_i l'_ic x_ij`, with an entry `factor sum_i s_i l'_ic` for each intercept. With dual numbers the dual
/// variable `a_ic` replaces the derivative `l'_ic`. If the evaluation diverged, the vector is 0.
#[derive(Debug)]
pub struct SgdEvaluation(Resumable<Evaluation>);

impl SgdEvaluation {
    /// An evaluation on data with `features` features.
    ///
    /// # Errors
    /// `Shape` if the model has more numbers than an `i32` counts.
    pub fn new(params: ValidEvaluationParams, features: usize) -> Result<Self, SolverError> {
        let ValidEvaluationParams(params) = params;
        let loss = params.problem.loss;
        Resumable::new(params, loss, features).map(Self)
    }

    /// Works for about `budget` units, as [`SgdRound::advance`](super::SgdRound::advance) does, with the same arguments.
    ///
    /// # Errors
    /// Those of [`SgdRound::advance`](super::SgdRound::advance).
    pub fn advance(
        &mut self,
        data: &SgdData<'_>,
        shared: &[u8],
        budget: usize,
    ) -> Result<Progress, SolverError> {
        self.0.advance(data, shared, budget)
    }

    /// Writes the vector from number `start` on, as many as `out` has room for, little endian.
    ///
    /// # Errors
    /// `Unfinished` before the evaluation is done, `Shape` for wrong lengths.
    pub fn write(&self, start: usize, out: &mut [u8]) -> Result<(), SolverError> {
        let Evaluation {
            model, diverged, ..
        } = self.0.finished()?;
        if *diverged {
            write(model.length(), start, out, std::iter::repeat(0.0), 1.0)
        } else {
            write(model.length(), start, out, model.numbers(start), 1.0)
        }
    }

    /// The numbers of the evaluation.
    ///
    /// # Errors
    /// `Unfinished` before it is done.
    pub fn finish(&self) -> Result<EvaluationOutcome, SolverError> {
        let evaluation = self.0.finished()?;
        Ok(EvaluationOutcome {
            scalars: SgdScalars::new(&evaluation.model, &evaluation.totals, evaluation.diverged),
            sides: evaluation.sides,
        })
    }
}

/// The pass over the rows, and the vector that it sums.
#[derive(Debug)]
struct Evaluation {
    model: Model,
    rows: usize,
    totals: Totals,
    sides: [f64; 2],
    diverged: bool,
    phase: Phase,
}

/// The phases of an evaluation, in order. `Rows` holds the first row that is not visited yet.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    Rows(usize),
    Settle,
    Done,
}

impl Work for Evaluation {
    type Params = EvaluationParams;

    fn new(params: &EvaluationParams, data: &SgdData<'_>) -> Result<Self, SolverError> {
        let layout = Layout {
            outputs: params.problem.loss.outputs(),
            paired: true,
            threshold: false,
            scaled: false,
        };
        Ok(Self {
            model: Model::new(layout, data.rows.rows())?,
            rows: data.rows.len(),
            totals: Totals::default(),
            sides: [0.0; 2],
            diverged: false,
            phase: Phase::Rows(0),
        })
    }

    /// Accepts all data: the cells hold no scale, even if the data have one.
    fn fits(&self, _: &SgdData<'_>) -> Result<(), SolverError> {
        Ok(())
    }

    fn model(&mut self) -> &mut Model {
        &mut self.model
    }

    fn advance(&mut self, params: &EvaluationParams, data: &SgdData<'_>, budget: usize) -> usize {
        match self.phase {
            Phase::Rows(next) if next == self.rows => {
                self.phase = Phase::Settle;
                0
            }
            Phase::Rows(next) => {
                let sums = Sums {
                    span: Span {
                        data,
                        rows: next..self.rows,
                        budget,
                    },
                    loss: params.problem.loss,
                    dual: params.dual.as_deref(),
                };
                let Scan {
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
                spent
            }
            Phase::Settle => {
                let count = self.model.settle_sums(params.factor, budget);
                if self.model.is_settled() {
                    self.diverged = !self.model.is_finite();
                    self.phase = Phase::Done;
                }
                count
            }
            Phase::Done => 0,
        }
    }

    fn is_done(&self) -> bool {
        self.phase == Phase::Done
    }
}
