//! The search for the first step size: the objective that each candidate reaches on a few rows.

use std::ops::Range;

use super::{
    data::SgdData,
    model::{Model, Norms},
    params::{Schedule, SgdProblem},
    resumable::{Resumable, Work},
    shape::Layout,
    steps::{Losses, Scan, Span, Steps},
    totals::{SgdScalars, Totals},
};
use crate::base::{
    checks::{at_least_one, at_least_zero},
    error::{SolverError, reserve},
    order::{BucketOrder, bucket_size},
    progress::Progress,
};

/// Most candidates of a search.
pub const MAX_STEP_SIZES: usize = 24;

/// Unchecked parameters of a search.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `problem` | the objective | see [`SgdProblem`] |
/// | `schedule` | how step sizes shrink; its `eta0` is not read | see [`Schedule`] |
/// | `candidates` | values of `eta0` to try | 1 to 24, each finite, > 0 and less than `1 / l2` |
/// | `seed`, `partition`, `cursor`, `steps` | determine the order of the rows, as in [`SgdParams`](super::SgdParams) | |
/// | `budget` | rows for the steps, and as many others for the loss; each at most half of the rows | >= 1 |
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the table names every field")]
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
    /// `loss_sum` is 0, `diverged` is false; `weight_sum` sums the weights of the rows for the loss; rows and entries are counted over all candidates.
    pub scalars: SgdScalars,
    /// For each candidate the objective at the model that it reached: the mean loss over the rows that follow the rows of the steps, plus the
    /// penalty. Infinite if the candidate diverged.
    pub objectives: Vec<f64>,
}

/// A search in progress. It works in slices, as [`SgdRound`](super::SgdRound) does.
#[derive(Debug)]
pub struct SgdSearch(Resumable<Search>);

impl SgdSearch {
    /// A search on data with `features` features.
    ///
    /// # Errors
    /// `Shape` if the model has more numbers than an `i32` counts.
    pub fn new(params: ValidSearchParams, features: usize) -> Result<Self, SolverError> {
        let ValidSearchParams(params) = params;
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

    /// The numbers of the search.
    ///
    /// # Errors
    /// `Unfinished` before it is done.
    pub fn finish(&self) -> Result<SearchOutcome, SolverError> {
        let search = self.0.finished()?;
        Ok(SearchOutcome {
            scalars: SgdScalars {
                loss_sum: 0.0,
                weight_sum: search.weight_sum,
                l1_norm: search.norms.l1,
                square_norm: search.norms.square,
                diverged: false,
                rows: search.totals.rows,
                nonzeros: search.totals.nonzeros,
            },
            objectives: search.objectives.clone(),
        })
    }
}

/// Tries the candidates one after the other: steps on some rows, then the objective on others.
#[derive(Debug)]
struct Search {
    model: Model,
    /// Norms of the shared model.
    norms: Norms,
    rows: usize,
    train: Vec<Range<usize>>,
    test: Vec<Range<usize>>,
    /// Sum of the weights of the rows of `test`.
    weight_sum: f64,
    /// Totals of the current candidate, and of the candidates before it.
    visited: Totals,
    totals: Totals,
    /// Objectives of the candidates before.
    objectives: Vec<f64>,
    phase: Phase,
}

/// The phases of a candidate, in order.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// Steps on the rows of `train`.
    Train(Position),
    Settle,
    /// Losses of the rows of `test`.
    Test(Position),
    Done,
}

/// A position in a list of ranges of rows.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Position {
    range: usize,
    done: usize,
}

const BEGIN: Position = Position { range: 0, done: 0 };

impl Position {
    /// The rest of its range.
    fn rows(self, ranges: &[Range<usize>]) -> Option<Range<usize>> {
        let range = ranges.get(self.range)?;
        Some(range.start + self.done..range.end)
    }

    /// The position of row `next` of the same range, or of the range after it.
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

impl Work for Search {
    type Params = SearchParams;

    fn new(params: &SearchParams, data: &SgdData<'_>) -> Result<Self, SolverError> {
        let rows = data.rows.len();
        let layout = Layout {
            outputs: params.problem.loss.outputs(),
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
            model: Model::new(layout, data.rows.rows())?,
            norms: Norms::default(),
            rows,
            train,
            test,
            weight_sum,
            visited: Totals::default(),
            totals: Totals::default(),
            objectives: Vec::with_capacity(MAX_STEP_SIZES),
            phase: Phase::Train(BEGIN),
        })
    }

    fn model(&mut self) -> &mut Model {
        &mut self.model
    }

    fn advance(&mut self, params: &SearchParams, data: &SgdData<'_>, budget: usize) -> usize {
        match self.phase {
            Phase::Train(_) if self.model.is_renormalising() => self.model.renormalise(budget),
            Phase::Train(position) => self.train(params, data, position, budget),
            Phase::Settle => {
                let count = self.model.settle(data.scale, budget);
                if self.model.is_settled() {
                    if self.model.is_finite() {
                        self.count_visited();
                        self.phase = Phase::Test(BEGIN);
                    } else {
                        self.judge(params, f64::INFINITY);
                    }
                }
                count
            }
            Phase::Test(position) => self.test(params, data, position, budget),
            Phase::Done => 0,
        }
    }

    fn is_done(&self) -> bool {
        self.phase == Phase::Done
    }
}

impl Search {
    fn train(
        &mut self,
        params: &SearchParams,
        data: &SgdData<'_>,
        position: Position,
        budget: usize,
    ) -> usize {
        let Some(rows) = position.rows(&self.train) else {
            self.phase = Phase::Settle;
            return 0;
        };
        let steps = Steps {
            span: Span { data, rows, budget },
            problem: &params.problem,
            schedule: Schedule {
                eta0: params.candidates[self.objectives.len()],
                ..params.schedule
            },
            t: params.steps + self.visited.rows,
        };
        let scan = steps.run(&mut self.model, &mut self.visited);
        self.phase = Phase::Train(position.at(scan.next, &self.train));
        self.spent(params, scan)
    }

    fn test(
        &mut self,
        params: &SearchParams,
        data: &SgdData<'_>,
        position: Position,
        budget: usize,
    ) -> usize {
        let SgdProblem { loss, l1, l2, .. } = params.problem;
        let Some(rows) = position.rows(&self.test) else {
            let mean = if self.rows == 0 {
                0.0
            } else {
                self.visited.loss_sum / self.weight_sum
            };
            let norms = self.model.settled_norms();
            self.judge(params, mean + (l1 * norms.l1 + 0.5 * (l2 * norms.square)));
            return 0;
        };
        let losses = Losses {
            span: Span { data, rows, budget },
            loss,
        };
        let scan = losses.run(&mut self.model, &mut self.visited);
        self.phase = Phase::Test(position.at(scan.next, &self.test));
        self.spent(params, scan)
    }

    /// The units of a scan. A scan that diverged ends the candidate.
    fn spent(&mut self, params: &SearchParams, scan: Scan) -> usize {
        if scan.diverged {
            self.judge(params, f64::INFINITY);
        }
        scan.spent
    }

    /// Records the objective of the current candidate, and turns to the next.
    fn judge(&mut self, params: &SearchParams, objective: f64) {
        self.objectives.push(if objective.is_finite() {
            objective
        } else {
            f64::INFINITY
        });
        self.count_visited();
        self.norms = self.model.norms();
        self.model.unload();
        self.phase = if self.objectives.len() == params.candidates.len() {
            Phase::Done
        } else {
            Phase::Train(BEGIN)
        };
    }

    /// Adds the totals of the current candidate to the totals of all, and begins again at 0.
    fn count_visited(&mut self) {
        self.totals.rows += self.visited.rows;
        self.totals.nonzeros += self.visited.nonzeros;
        self.visited = Totals::default();
    }
}

/// The rows of a partition in the order of the visits.
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
