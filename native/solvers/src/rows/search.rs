//! The search for the first step size: the objective that each candidate reaches on a few rows.

use std::ops::Range;

use super::{
    model::Model,
    params::{Schedule, SgdProblem},
    round::checked_model,
    steps::{Losses, Scan, Span, Steps, visit},
    totals::{SgdScalars, Totals},
};
use crate::{
    base::{
        blocks::Blocks,
        checks::{at_least_one, at_least_zero},
        error::{SolverError, reserve},
        order::{BucketOrder, bucket_size},
    },
    problem::data::SgdData,
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

/// Tries the candidates one after the other from the model `shared`: steps on some rows, then the objective on others.
///
/// # Errors
/// Those of [`SgdRound::run`](super::SgdRound::run).
pub fn search_step_size<B>(
    params: &ValidSearchParams,
    shared: &[f64],
    blocks: &mut B,
) -> Result<SearchOutcome, B::Error>
where
    B: for<'a> Blocks<Block<'a> = SgdData<'a>>,
{
    let ValidSearchParams(params) = params;
    let (mut model, _) = checked_model(&params.problem, blocks)?;
    let rows = blocks.len();
    let half = (rows / 2).max(1).min(rows);
    let count = usize::try_from(params.budget).map_or(half, |budget| budget.min(half));
    let mut buckets = Buckets {
        order: BucketOrder::new(rows, bucket_size(rows), params.seed, params.partition)?,
        cursor: params.cursor,
        left: 0..0,
    };
    let mut search = Search {
        params,
        blocks,
        train: buckets.take(count)?,
        test: buckets.take(count)?,
        weight_sum: 0.0,
        totals: Totals::default(),
    };
    search.weigh(&mut model)?;
    let mut objectives = Vec::with_capacity(MAX_STEP_SIZES);
    for &eta0 in &params.candidates {
        model.load(shared)?;
        let objective = search.objective(&mut model, eta0)?;
        objectives.push(objective.filter(|o| o.is_finite()).unwrap_or(f64::INFINITY));
    }
    let norms = model.norms();
    Ok(SearchOutcome {
        scalars: SgdScalars {
            loss_sum: 0.0,
            weight_sum: search.weight_sum,
            l1_norm: norms.l1,
            square_norm: norms.square,
            diverged: false,
            rows: search.totals.rows,
            nonzeros: search.totals.nonzeros,
        },
        objectives,
    })
}

/// The rows of a search, and what it counts.
struct Search<'a, B> {
    params: &'a SearchParams,
    blocks: &'a mut B,
    train: Vec<Range<usize>>,
    test: Vec<Range<usize>>,
    /// Sum of the weights of the rows of `test`.
    weight_sum: f64,
    /// Totals of all candidates.
    totals: Totals,
}

impl<B> Search<'_, B>
where
    B: for<'a> Blocks<Block<'a> = SgdData<'a>>,
{
    /// Sums the weights of the rows of `test`.
    fn weigh(&mut self, model: &mut Model) -> Result<(), B::Error> {
        let weight_sum = &mut self.weight_sum;
        visit(self.blocks, self.test.iter().cloned(), model, |span, _| {
            let (data, next, spent) = (span.data, span.rows.end, span.rows.len());
            *weight_sum = span.rows.fold(*weight_sum, |sum, i| sum + data.weight(i));
            Scan {
                next,
                spent,
                diverged: false,
            }
        })?;
        Ok(())
    }

    /// The objective that a candidate reaches from a model that is loaded; none if it diverges.
    fn objective(&mut self, model: &mut Model, eta0: f64) -> Result<Option<f64>, B::Error> {
        let SearchParams {
            problem,
            schedule,
            steps: t,
            ..
        } = self.params;
        let schedule = Schedule { eta0, ..*schedule };
        let (blocks, totals) = (&mut *self.blocks, &mut self.totals);
        let stable = scan(
            blocks,
            &self.train,
            model,
            totals,
            |span, model, visited| {
                let steps = Steps {
                    span,
                    problem,
                    schedule,
                    t: t + visited.rows,
                    pace: 1,
                };
                steps.run(model, visited)
            },
        )?;
        if stable.is_none() {
            return Ok(None);
        }
        model.settle();
        if !model.is_finite() {
            return Ok(None);
        }
        let visited = scan(blocks, &self.test, model, totals, |span, model, visited| {
            let loss = problem.loss;
            Losses { span, loss }.run(model, visited)
        })?;
        Ok(visited.map(|visited| {
            let mean = if self.test.is_empty() {
                0.0
            } else {
                visited.loss_sum / self.weight_sum
            };
            let norms = model.settled_norms();
            mean + (problem.l1 * norms.l1 + 0.5 * (problem.l2 * norms.square))
        }))
    }
}

/// Scans some rows, and adds them to `totals`. Returns what it has visited; none if it diverges.
fn scan<B>(
    blocks: &mut B,
    ranges: &[Range<usize>],
    model: &mut Model,
    totals: &mut Totals,
    mut scan: impl FnMut(Span<'_, '_>, &mut Model, &mut Totals) -> Scan,
) -> Result<Option<Totals>, B::Error>
where
    B: for<'a> Blocks<Block<'a> = SgdData<'a>>,
{
    let mut visited = Totals::default();
    let stable = visit(blocks, ranges.iter().cloned(), model, |span, model| {
        scan(span, model, &mut visited)
    })?;
    totals.rows += visited.rows;
    totals.nonzeros += visited.nonzeros;
    Ok(stable.then_some(visited))
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
