//! The first step size: which of some candidates leads furthest on a few rows.

use std::ops::Range;

use super::{
    data::SgdData,
    model::{Model, Norms, length},
    params::{Schedule, SgdProblem},
    round::SgdScalars,
    shape::Layout,
    steps::{Losses, Span, Steps, Totals, Visit},
};
use crate::base::{
    checks::{at_least_one, at_least_zero},
    error::{SolverError, reserve, same_length},
    order::{BucketOrder, bucket_size},
    progress::Progress,
};

/// Candidates of a search, at most.
pub const MAX_STEP_SIZES: usize = 24;

/// Unchecked parameters of a search.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `problem` | the objective | see [`SgdProblem`] |
/// | `schedule` | how step sizes shrink; its `eta0` is not read | see [`Schedule`] |
/// | `candidates` | values of `eta0` to try | 1 to 24, each finite, > 0 and less than `1 / l2` |
/// | `seed`, `partition`, `cursor`, `steps` | where the rows start: as in [`SgdParams`](super::SgdParams) | |
/// | `budget` | rows to make steps on, and as many to take the loss of; less where there are fewer than twice as many | >= 1 |
#[derive(Debug, Clone, PartialEq)]
pub struct SearchParams {
    pub problem: SgdProblem,
    pub schedule: Schedule,
    pub candidates: Vec<f64>,
    pub seed: u64,
    pub partition: u32,
    pub budget: u64,
    pub cursor: u64,
    pub steps: u64,
}

impl SearchParams {
    /// Checks the ranges of the table above.
    ///
    /// # Errors
    /// `InvalidParam` names the first parameter out of range, `Shape` for a wrong number of candidates.
    pub fn check(self) -> Result<ValidSearchParams, SolverError> {
        self.problem.check()?;
        at_least_one("budget", self.budget)?;
        at_least_zero("rate", self.schedule.rate)?;
        if !(1..=MAX_STEP_SIZES).contains(&self.candidates.len()) {
            return Err(SolverError::Shape(format!(
                "there are {} candidates for the step size: it must be 1 to {MAX_STEP_SIZES}",
                self.candidates.len()
            )));
        }
        for &eta0 in &self.candidates {
            self.problem
                .check_step("a candidate for the step size", eta0)?;
        }
        Ok(ValidSearchParams(self))
    }
}

/// Checked [`SearchParams`].
#[derive(Debug, Clone)]
pub struct ValidSearchParams(SearchParams);

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchOutcome {
    /// `loss_sum` is 0 and nothing diverged; `weight_sum` is of the rows that losses were taken of; rows and entries are of all candidates.
    pub scalars: SgdScalars,
    /// For each candidate the mean loss of the rows after those that it made steps on, and the penalty, at the model it reached; infinite
    /// where numbers were not finite any more.
    pub objectives: Vec<f64>,
}

/// A search in progress: it can be cut into slices as a [`SgdRound`](super::SgdRound).
#[derive(Debug)]
pub struct SgdSearch {
    params: SearchParams,
    features: usize,
    /// From the first slice on.
    work: Option<Work>,
    totals: Totals,
    objectives: Vec<f64>,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    Check(usize),
    Load,
    /// Part and row of the training rows.
    Train(Place),
    Settle,
    /// Part and row of the other rows.
    Test(Place),
    Done,
}

/// A place in a list of ranges of rows.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    range: usize,
    done: usize,
}

const BEGIN: Place = Place { range: 0, done: 0 };

impl Place {
    /// What is left of the range it is in.
    fn rows(self, ranges: &[Range<usize>]) -> Option<Range<usize>> {
        let range = ranges.get(self.range)?;
        Some(range.start + self.done..range.end)
    }

    /// The place of row `next` of the same range, or of the range after it.
    fn at(self, next: usize, ranges: &[Range<usize>]) -> Self {
        let range = &ranges[self.range];
        if next == range.end {
            Self {
                range: self.range + 1,
                done: 0,
            }
        } else {
            Self {
                range: self.range,
                done: next - range.start,
            }
        }
    }
}

/// What depends on the data.
#[derive(Debug)]
struct Work {
    model: Model,
    norms: Norms,
    rows: usize,
    train: Vec<Range<usize>>,
    test: Vec<Range<usize>>,
    /// Of the rows of `test`.
    weight_sum: f64,
    /// Of the candidate being tried.
    visited: Totals,
}

impl SgdSearch {
    /// A search on data with `features` features.
    ///
    /// # Errors
    /// `Shape` if a model of so many features has more numbers than an `i32` counts.
    pub fn new(params: ValidSearchParams, features: usize) -> Result<Self, SolverError> {
        let ValidSearchParams(params) = params;
        length(params.problem.loss.outputs(), features)?;
        Ok(Self {
            params,
            features,
            work: None,
            totals: Totals::default(),
            objectives: Vec::with_capacity(MAX_STEP_SIZES),
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
                    work.norms = model.norms();
                    self.phase = Phase::Train(BEGIN);
                }
                Ok(count)
            }
            Phase::Train(_) if model.is_worn() => Ok(model.renormalise(left)),
            Phase::Train(place) => Ok(self.train(work, data, place, left)),
            Phase::Settle => {
                let count = model.settle(None, data.scale, left);
                if model.is_settled() {
                    if model.is_finite() {
                        work.count_visited(&mut self.totals);
                        self.phase = Phase::Test(BEGIN);
                    } else {
                        self.judge(work, f64::INFINITY);
                    }
                }
                Ok(count)
            }
            Phase::Test(place) => Ok(self.test(work, data, place, left)),
            Phase::Done => Ok(0),
        }
    }

    fn train(&mut self, work: &mut Work, data: &SgdData<'_>, place: Place, budget: usize) -> usize {
        let Some(rows) = place.rows(&work.train) else {
            self.phase = Phase::Settle;
            return 0;
        };
        let steps = Steps {
            span: Span { data, rows, budget },
            problem: &self.params.problem,
            schedule: Schedule {
                eta0: self.params.candidates[self.objectives.len()],
                ..self.params.schedule
            },
            t: self.params.steps + work.visited.rows,
        };
        let Visit {
            next,
            spent,
            diverged,
        } = steps.run(&mut work.model, &mut work.visited);
        self.phase = Phase::Train(place.at(next, &work.train));
        if diverged {
            self.judge(work, f64::INFINITY);
        }
        spent
    }

    fn test(&mut self, work: &mut Work, data: &SgdData<'_>, place: Place, budget: usize) -> usize {
        let SgdProblem { loss, l1, l2, .. } = self.params.problem;
        let Some(rows) = place.rows(&work.test) else {
            let mean = if work.rows == 0 {
                0.0
            } else {
                work.visited.loss_sum / work.weight_sum
            };
            let norms = work.model.settled_norms();
            self.judge(work, mean + (l1 * norms.l1 + 0.5 * (l2 * norms.square)));
            return 0;
        };
        let losses = Losses {
            span: Span { data, rows, budget },
            loss,
        };
        let Visit {
            next,
            spent,
            diverged,
        } = losses.run(&mut work.model, &mut work.visited);
        self.phase = Phase::Test(place.at(next, &work.test));
        if diverged {
            self.judge(work, f64::INFINITY);
        }
        spent
    }

    /// Ends a candidate.
    fn judge(&mut self, work: &mut Work, objective: f64) {
        self.objectives.push(if objective.is_finite() {
            objective
        } else {
            f64::INFINITY
        });
        work.count_visited(&mut self.totals);
        work.model.unload();
        self.phase = if self.objectives.len() == self.params.candidates.len() {
            Phase::Done
        } else {
            Phase::Load
        };
    }

    /// The numbers of the search.
    ///
    /// # Errors
    /// `Unfinished` before it is done.
    pub fn finish(self) -> Result<SearchOutcome, SolverError> {
        let (Some(work), Phase::Done) = (self.work, self.phase) else {
            return Err(SolverError::Unfinished);
        };
        Ok(SearchOutcome {
            scalars: SgdScalars {
                loss_sum: 0.0,
                weight_sum: work.weight_sum,
                l1_norm: work.norms.l1,
                square_norm: work.norms.square,
                diverged: false,
                rows: self.totals.rows,
                nonzeros: self.totals.nonzeros,
            },
            objectives: self.objectives,
        })
    }
}

impl Work {
    fn new(params: &SearchParams, data: &SgdData<'_>) -> Result<Self, SolverError> {
        let rows = data.rows.len();
        let layout = Layout {
            outputs: params.problem.loss.outputs(),
            paired: false,
            threshold: params.problem.l1 > 0.0,
            scaled: data.scale.is_some(),
        };
        let order = BucketOrder::new(rows, bucket_size(rows), params.seed, params.partition)?;
        let half = (rows / 2).max(1).min(rows);
        let count = usize::try_from(params.budget).map_or(half, |budget| budget.min(half));
        let mut buckets = Buckets {
            order,
            cursor: params.cursor,
            left: 0..0,
        };
        let train = buckets.take(count)?;
        let test = buckets.take(count)?;
        let weights = test.iter().cloned().flatten().map(|i| data.weight(i));
        let weight_sum = weights.fold(0.0, |sum, s| sum + s);
        Ok(Self {
            model: Model::new(layout, data.rows.rows(), 0)?,
            norms: Norms::default(),
            rows,
            train,
            test,
            weight_sum,
            visited: Totals::default(),
        })
    }

    fn fits(&self, data: &SgdData<'_>) -> Result<(), SolverError> {
        same_length("labels", data.labels.len(), self.rows, "row")?;
        self.model.fits(data)
    }

    /// Counts what was visited, and begins to count anew.
    fn count_visited(&mut self, totals: &mut Totals) {
        totals.rows += self.visited.rows;
        totals.nonzeros += self.visited.nonzeros;
        self.visited = Totals::default();
    }
}

/// The rows of a partition in the order in which they are visited.
struct Buckets {
    order: BucketOrder,
    cursor: u64,
    left: Range<usize>,
}

impl Buckets {
    /// The next `count` rows.
    fn take(&mut self, count: usize) -> Result<Vec<Range<usize>>, SolverError> {
        let mut ranges = reserve(2 + count, "the rows of a search")?;
        let mut missing = count;
        while missing > 0 {
            if self.left.is_empty() {
                self.left = self.order.at(self.cursor);
                self.cursor += 1;
            }
            let end = self.left.end.min(self.left.start + missing);
            ranges.push(self.left.start..end);
            missing -= end - self.left.start;
            self.left.start = end;
        }
        Ok(ranges)
    }
}
