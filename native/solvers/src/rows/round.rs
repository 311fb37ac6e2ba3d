//! A round of local SGD on one partition: from the shared model to the worker's share of the next.

use std::ops::Range;

use super::{
    data::SgdData,
    model::{MAX_RENORMALISATIONS, Model},
    params::{Schedule, SgdProblem},
    resumable::{Resumable, Work},
    shape::Layout,
    steps::{Scan, Span, Steps},
    totals::{SgdScalars, Totals},
    vector::{doubles, write},
};
use crate::base::{
    checks::{at_least_one, fraction},
    error::SolverError,
    order::{BucketOrder, bucket_size},
    progress::Progress,
};

/// Unchecked parameters of a round of local SGD.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `problem` | the objective | see [`SgdProblem`] |
/// | `schedule` | step sizes | see [`Schedule`] |
/// | `seed`, `partition` | determine the order of the rows | |
/// | `budget` | rows to visit: whole buckets until they hold as many | >= 1 |
/// | `cursor` | buckets visited since the start of the fit | |
/// | `steps` | rows visited since the start of the fit | |
/// | `share` | factor of the result: the weight of this worker in the average | 0 to 1 |
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the table names every field")]
pub struct SgdParams {
    pub problem: SgdProblem,
    pub schedule: Schedule,
    pub seed: u64,
    pub partition: u32,
    pub budget: u64,
    pub cursor: u64,
    pub steps: u64,
    pub share: f64,
}

impl SgdParams {
    /// Checks the ranges of the table above.
    ///
    /// # Errors
    /// `InvalidParam` names the first parameter out of range.
    pub fn check(self) -> Result<ValidSgdParams, SolverError> {
        self.problem.check()?;
        self.schedule.check(&self.problem)?;
        at_least_one("budget", self.budget)?;
        fraction("share", self.share)?;
        Ok(ValidSgdParams(self))
    }
}

/// Checked [`SgdParams`].
#[derive(Debug, Clone, Copy)]
pub struct ValidSgdParams(SgdParams);

/// Most numbers of [`SgdOutcome::factors`].
pub const MAX_FACTORS: usize = MAX_RENORMALISATIONS + 1;

/// The result of a round, apart from the vector.
#[derive(Debug, Clone, PartialEq)]
pub struct SgdOutcome {
    /// Sums over the rows.
    pub scalars: SgdScalars,
    /// Buckets visited since the start of the fit.
    pub cursor: u64,
    /// Rows visited since the start of the fit.
    pub steps: u64,
    /// `sum u_j |w_jc|` of the model reached, without the share.
    pub reached_l1_norm: f64,
    /// `sum u_j^2 w_jc^2` of the model reached, without the share.
    pub reached_square_norm: f64,
    /// An untouched coefficient equals the shared one times each of these in turn, rounded after every product. The share is the last
    /// factor. Empty with an L1 penalty, or if there were more than [`MAX_FACTORS`].
    pub factors: Vec<f64>,
}

/// A round in progress. It owns everything except the data. The caller lends them for each slice of work, and they may move in memory
/// between slices.
///
/// Phases: check the labels; load the shared model; steps; settle the model. The result is a pure function of parameters, data and shared
/// model. Slices do not change a bit of it.
#[derive(Debug)]
pub struct SgdRound(Resumable<Descent>);

impl SgdRound {
    /// A round on data with `features` features.
    ///
    /// # Errors
    /// `Shape` if the model has more numbers than an `i32` counts.
    pub fn new(params: ValidSgdParams, features: usize) -> Result<Self, SolverError> {
        let ValidSgdParams(params) = params;
        Resumable::new(params, params.problem.loss, features).map(Self)
    }

    /// Works for about `budget` units: one for each entry, row, label and number of the model that it touches. It never stops inside a row.
    ///
    /// `shared`: one little endian `f64` for each number of the model, the same in every call.
    ///
    /// # Errors
    /// `Shape` if the data do not fit the round or a label does not suit the loss, `NonFinite` for a bad shared model, `OutOfMemory`.
    /// Drop the round after an error: it cannot continue.
    pub fn advance(
        &mut self,
        data: &SgdData<'_>,
        shared: &[u8],
        budget: usize,
    ) -> Result<Progress, SolverError> {
        self.0.advance(data, shared, budget)
    }

    /// Writes `share` times the model reached, from number `start` on, as many as `out` has room for, little endian. `shared` is
    /// the vector of [`SgdRound::advance`]: if the round diverged, the result is `share` times it.
    ///
    /// # Errors
    /// `Unfinished` before the round is done, `Shape` for wrong lengths.
    pub fn write_update(
        &self,
        shared: &[u8],
        start: usize,
        out: &mut [u8],
    ) -> Result<(), SolverError> {
        let Descent {
            model, diverged, ..
        } = self.0.finished()?;
        let (length, share) = (model.length(), self.0.params.share);
        let shared = doubles(shared, length)?;
        if *diverged {
            let shared = shared.iter().skip(start).copied().map(f64::from_le_bytes);
            write(length, start, out, shared, share)
        } else {
            write(length, start, out, model.numbers(start), share)
        }
    }

    /// The numbers of the round.
    ///
    /// # Errors
    /// `Unfinished` before the round is done.
    pub fn finish(&self) -> Result<SgdOutcome, SolverError> {
        let (descent, params) = (self.0.finished()?, &self.0.params);
        let model = &descent.model;
        let reached = if descent.diverged {
            model.norms()
        } else {
            model.settled_norms()
        };
        let known = if descent.diverged {
            Some([].as_slice())
        } else {
            model.factors()
        };
        let factors = known.map_or_else(Vec::new, |factors| [factors, &[params.share]].concat());
        Ok(SgdOutcome {
            reached_l1_norm: reached.l1,
            reached_square_norm: reached.square,
            scalars: SgdScalars::new(model, &descent.totals, descent.diverged),
            cursor: descent.cursor,
            steps: params.steps + descent.totals.rows,
            factors,
        })
    }
}

/// The steps of a round, and the coefficients that they reach.
#[derive(Debug)]
struct Descent {
    model: Model,
    order: BucketOrder,
    cursor: u64,
    /// The rest of the current bucket.
    bucket: Range<usize>,
    totals: Totals,
    diverged: bool,
    phase: Phase,
}

/// The phases of a round after loading, in order.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    Steps,
    Settle,
    Done,
}

impl Work for Descent {
    type Params = SgdParams;

    fn new(params: &SgdParams, data: &SgdData<'_>) -> Result<Self, SolverError> {
        let rows = data.rows.len();
        let bucket = bucket_size(rows);
        let layout = Layout {
            outputs: params.problem.loss.outputs(),
            threshold: params.problem.l1 > 0.0,
            scaled: data.scale.is_some(),
        };
        Ok(Self {
            model: Model::new(layout, data.rows.rows())?,
            order: BucketOrder::new(rows, bucket, params.seed, params.partition)?,
            cursor: params.cursor,
            bucket: 0..0,
            totals: Totals::default(),
            diverged: false,
            phase: Phase::Steps,
        })
    }

    fn model(&mut self) -> &mut Model {
        &mut self.model
    }

    fn advance(&mut self, params: &SgdParams, data: &SgdData<'_>, budget: usize) -> usize {
        match self.phase {
            Phase::Steps if self.model.is_renormalising() => self.model.renormalise(budget),
            Phase::Steps => self.descend(params, data, budget),
            Phase::Settle => {
                let count = self.model.settle(data.scale, budget);
                if self.model.is_settled() {
                    self.diverged |= !self.model.is_finite();
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

impl Descent {
    /// Visits at most the rest of one bucket.
    fn descend(&mut self, params: &SgdParams, data: &SgdData<'_>, budget: usize) -> usize {
        if self.bucket.is_empty() {
            if self.totals.rows >= params.budget || self.order.buckets() == 0 {
                self.phase = Phase::Settle;
                return 0;
            }
            self.bucket = self.order.at(self.cursor);
            self.cursor += 1;
        }
        let steps = Steps {
            span: Span {
                data,
                rows: self.bucket.clone(),
                budget,
            },
            problem: &params.problem,
            schedule: params.schedule,
            t: params.steps + self.totals.rows,
        };
        let Scan {
            next,
            spent,
            diverged,
        } = steps.run(&mut self.model, &mut self.totals);
        self.bucket.start = next;
        if diverged {
            self.diverged = true;
            self.phase = Phase::Done;
        }
        spent
    }
}
