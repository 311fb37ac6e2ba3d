//! Local SGD on one partition: from the shared model to the one that the next rows lead to.

use std::ops::Range;

use super::{
    data::SgdData,
    model::{MOST_FACTORS, Model, doubles},
    params::{Schedule, SgdProblem},
    shape::Layout,
    steps::{Span, Steps, Totals, Visit},
};
use crate::base::{
    checks::{at_least_one, fraction},
    error::{SolverError, same_length},
    order::{BucketOrder, bucket_size},
    progress::Progress,
};

/// Unchecked parameters of a round of local SGD.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `problem` | the objective | see [`SgdProblem`] |
/// | `schedule` | step sizes | see [`Schedule`] |
/// | `seed`, `partition` | of the order of the rows | |
/// | `budget` | rows to visit: whole buckets until there are as many | >= 1 |
/// | `cursor` | buckets visited since the start of the fit | |
/// | `steps` | rows visited since the start of the fit | |
/// | `running` | whether the result is the mean of the iterates after every step, in the place of the last one | |
/// | `share` | what the result is multiplied by: the part of this worker in the average | 0 to 1 |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SgdParams {
    pub problem: SgdProblem,
    pub schedule: Schedule,
    pub seed: u64,
    pub partition: u32,
    pub budget: u64,
    pub cursor: u64,
    pub steps: u64,
    pub running: bool,
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

/// Numbers that a call reports. Sums are in the order of the visits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SgdScalars {
    /// `sum s_i loss` over the rows visited, each seen before its step; infinite if numbers were not finite any more.
    pub loss_sum: f64,
    /// `sum s_i` over the same rows.
    pub weight_sum: f64,
    /// `sum u_j |w_jc|` of the shared model.
    pub l1_norm: f64,
    /// `sum u_j^2 w_jc^2` of the shared model.
    pub square_norm: f64,
    /// Whether numbers were not finite any more. The vector is that of a call that visited nothing then.
    pub diverged: bool,
    /// Rows visited.
    pub rows: u64,
    /// Their entries.
    pub nonzeros: u64,
}

impl SgdScalars {
    pub(super) fn new(model: &Model, totals: &Totals, diverged: bool) -> Self {
        let norms = model.norms();
        Self {
            loss_sum: if diverged {
                f64::INFINITY
            } else {
                totals.loss_sum
            },
            weight_sum: totals.weight_sum,
            l1_norm: norms.l1,
            square_norm: norms.square,
            diverged,
            rows: totals.rows,
            nonzeros: totals.nonzeros,
        }
    }
}

/// Numbers of [`SgdOutcome::decay`], at most.
pub const MAX_DECAYS: usize = MOST_FACTORS + 1;

/// The result of a round, apart from the vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SgdOutcome {
    pub scalars: SgdScalars,
    /// Buckets visited since the start of the fit.
    pub cursor: u64,
    /// Rows visited since the start of the fit.
    pub steps: u64,
    /// `sum u_j |w_jc|` of the vector before it is multiplied by the share.
    pub reached_l1_norm: f64,
    /// `sum u_j^2 w_jc^2` of it.
    pub reached_square_norm: f64,
    /// A coefficient that no step has touched is the shared one times each of the first [`SgdOutcome::decays`] of these in turn, rounded every
    /// time; the share is the last.
    pub decay: [f64; MAX_DECAYS],
    /// 0 if nothing can be said: with an L1 penalty, for a mean, and after more renormalisations than `decay` has room for.
    pub decays: usize,
}

/// A round in progress. It owns everything it needs but the data, which are lent for each slice of work and may be elsewhere
/// in memory the next time.
///
/// Phases: check the labels; load the shared model; steps; coefficients from what is kept lazily. The result is a pure function of parameters, data
/// and shared model: slices do not change a bit of it.
#[derive(Debug)]
pub struct SgdRound {
    params: SgdParams,
    features: usize,
    /// From the first slice on.
    work: Option<Work>,
    cursor: u64,
    /// What is left of the bucket being visited.
    bucket: Range<usize>,
    totals: Totals,
    diverged: bool,
    phase: Phase,
}

/// What depends on the data.
#[derive(Debug)]
struct Work {
    model: Model,
    order: BucketOrder,
    rows: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    Check(usize),
    Load,
    Descent,
    Settle,
    Done,
}

impl SgdRound {
    /// A round on data with `features` features.
    ///
    /// # Errors
    /// `Shape` if a model of so many features has more numbers than an `i32` counts.
    pub fn new(params: ValidSgdParams, features: usize) -> Result<Self, SolverError> {
        let ValidSgdParams(params) = params;
        super::model::length(params.problem.loss.outputs(), features)?;
        Ok(Self {
            params,
            features,
            work: None,
            cursor: params.cursor,
            bucket: 0..0,
            totals: Totals::default(),
            diverged: false,
            phase: Phase::Check(0),
        })
    }

    /// Works on for about `budget` units: one for each entry, each row, each label and each number of the model that is touched.
    /// One row is never cut.
    ///
    /// `shared`: one little endian `f64` for each number of the model, the same in every call.
    ///
    /// # Errors
    /// `Shape` if the data do not fit the round or a label does not suit the loss, `NonFinite` for a bad shared model, `OutOfMemory`.
    /// After an error the round cannot be continued with other data; drop it.
    pub fn advance(
        &mut self,
        data: &SgdData<'_>,
        shared: &[u8],
        budget: usize,
    ) -> Result<Progress, SolverError> {
        same_length("a row", data.rows.rows(), self.features, "feature")?;
        let mut work = match self.work.take() {
            Some(work) => work,
            None => Work::new(&self.params, data)?,
        };
        work.fits(data)?;
        let mut left = budget.max(1);
        while left > 0 && self.phase != Phase::Done {
            let spent = self.advance_phase(&mut work, data, shared, left)?;
            left = left.saturating_sub(spent);
        }
        self.work = Some(work);
        Ok(match self.phase {
            Phase::Done => Progress::Done,
            _ => Progress::More,
        })
    }

    fn advance_phase(
        &mut self,
        work: &mut Work,
        data: &SgdData<'_>,
        shared: &[u8],
        left: usize,
    ) -> Result<usize, SolverError> {
        let model = &mut work.model;
        match self.phase {
            Phase::Check(next) => {
                let end = next.saturating_add(left).min(work.rows);
                self.params
                    .problem
                    .loss
                    .check_labels(data.labels, next..end)?;
                self.phase = if end == work.rows {
                    Phase::Load
                } else {
                    Phase::Check(end)
                };
                Ok(end - next)
            }
            Phase::Load => {
                let count = model.left_to_load().min(left);
                model.load(shared, data.scale, count)?;
                if model.left_to_load() == 0 {
                    self.phase = Phase::Descent;
                }
                Ok(count)
            }
            Phase::Descent if model.is_worn() => Ok(model.renormalise(left)),
            Phase::Descent => Ok(self.descend(work, data, left)),
            Phase::Settle => {
                let mean = (self.params.running && self.totals.rows > 0)
                    .then_some(self.totals.rows as f64);
                let count = model.settle(mean, data.scale, left);
                if model.is_settled() {
                    self.diverged |= !model.is_finite();
                    self.phase = Phase::Done;
                }
                Ok(count)
            }
            Phase::Done => Ok(0),
        }
    }

    /// Visits at most the rest of one bucket.
    fn descend(&mut self, work: &mut Work, data: &SgdData<'_>, budget: usize) -> usize {
        if self.bucket.is_empty() {
            if self.totals.rows >= self.params.budget || work.rows == 0 {
                self.phase = Phase::Settle;
                return 0;
            }
            self.bucket = work.order.at(self.cursor);
            self.cursor += 1;
        }
        let steps = Steps {
            span: Span {
                data,
                rows: self.bucket.clone(),
                budget,
            },
            problem: &self.params.problem,
            schedule: self.params.schedule,
            t: self.params.steps + self.totals.rows,
        };
        let Visit {
            next,
            spent,
            diverged,
        } = steps.run(&mut work.model, &mut self.totals);
        self.bucket.start = next;
        if diverged {
            self.diverged = true;
            self.phase = Phase::Done;
        }
        spent
    }

    /// Writes `share` times the model reached, or the mean, from number `start` on, as many as `out` has room for, little endian. `shared` is
    /// that of [`SgdRound::advance`]; `share` times it is written where numbers were not finite any more.
    ///
    /// # Errors
    /// `Unfinished` before the round is done, `Shape` for wrong lengths.
    pub fn write_update(
        &self,
        shared: &[u8],
        start: usize,
        out: &mut [u8],
    ) -> Result<(), SolverError> {
        let model = self.finished()?;
        let shared = doubles(shared, model.length())?;
        if self.diverged {
            let shared = shared.iter().skip(start).copied().map(f64::from_le_bytes);
            write(model.length(), start, out, shared, self.params.share)
        } else {
            let numbers = model.numbers(start);
            write(model.length(), start, out, numbers, self.params.share)
        }
    }

    /// The numbers of the round.
    ///
    /// # Errors
    /// `Unfinished` before the round is done.
    pub fn finish(&self) -> Result<SgdOutcome, SolverError> {
        let model = self.finished()?;
        let reached = if self.diverged {
            model.norms()
        } else {
            model.settled_norms()
        };
        let kept = if self.diverged {
            Some([].as_slice())
        } else {
            model.decay()
        };
        let mut decay = [0.0; MAX_DECAYS];
        let mut decays = 0;
        if let Some(factors) = kept {
            decays = factors.len() + 1;
            decay[..factors.len()].copy_from_slice(factors);
            decay[factors.len()] = self.params.share;
        }
        Ok(SgdOutcome {
            reached_l1_norm: reached.l1,
            reached_square_norm: reached.square,
            scalars: SgdScalars::new(model, &self.totals, self.diverged),
            cursor: self.cursor,
            steps: self.params.steps + self.totals.rows,
            decay,
            decays,
        })
    }

    fn finished(&self) -> Result<&Model, SolverError> {
        match (&self.work, self.phase) {
            (Some(work), Phase::Done) => Ok(&work.model),
            _ => Err(SolverError::Unfinished),
        }
    }
}

impl Work {
    fn new(params: &SgdParams, data: &SgdData<'_>) -> Result<Self, SolverError> {
        let rows = data.rows.len();
        let bucket = bucket_size(rows);
        let layout = Layout {
            outputs: params.problem.loss.outputs(),
            paired: params.running,
            threshold: params.problem.l1 > 0.0,
            scaled: data.scale.is_some(),
        };
        // Whole buckets.
        let steps = params.budget.saturating_add(bucket as u64);
        Ok(Self {
            model: Model::new(layout, data.rows.rows(), steps)?,
            order: BucketOrder::new(rows, bucket, params.seed, params.partition)?,
            rows,
        })
    }

    fn fits(&self, data: &SgdData<'_>) -> Result<(), SolverError> {
        same_length("labels", data.labels.len(), self.rows, "row")?;
        self.model.fits(data)
    }
}

/// Writes `factor` times numbers of a vector of `length`, from `start` on.
pub(super) fn write(
    length: usize,
    start: usize,
    out: &mut [u8],
    numbers: impl Iterator<Item = f64>,
    factor: f64,
) -> Result<(), SolverError> {
    let bytes = out.len();
    let (out, rest) = out.as_chunks_mut::<8>();
    if !rest.is_empty() || start.saturating_add(out.len()) > length {
        return Err(SolverError::Shape(format!(
            "{bytes} bytes from number {start} of a model on: expected 8 for each of at most {length} numbers"
        )));
    }
    for (slot, number) in out.iter_mut().zip(numbers) {
        *slot = (factor * number).to_le_bytes();
    }
    Ok(())
}
