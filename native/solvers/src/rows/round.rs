//! A round of local SGD on one partition: from the shared model to the worker's share of the next.

use std::iter;

use rayon::ThreadPool;

use super::{
    model::{MAX_RENORMALISATIONS, Model},
    params::{Schedule, SgdProblem},
    steps::{Descent, visit},
    team::Team,
    totals::{SgdScalars, Totals},
};
use crate::{
    base::{
        blocks::{Blocks, COORDINATE},
        checks::{at_least_one, fraction, threads},
        error::{SolverError, same_length},
        order::{BucketOrder, bucket_size},
    },
    problem::{data::SgdData, vector::write_share},
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
/// | `threads` | copies of the model, on which steps run in parallel; the result depends on their number | 1 to 256 |
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
    pub threads: usize,
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
        threads(self.threads)?;
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
    /// factor. Empty with an L1 penalty, with several threads, or if there were more than [`MAX_FACTORS`].
    pub factors: Vec<f64>,
}

/// A round. It owns everything except the data, which their owner lends.
///
/// The result is a pure function of parameters, rows and shared model: how the rows are cut into blocks does not change a bit of it, and neither do the
/// threads of the pool.
#[derive(Debug)]
pub struct SgdRound {
    params: SgdParams,
    model: Model,
    cursor: u64,
    totals: Totals,
    diverged: bool,
}

impl SgdRound {
    /// Runs a round from the model `shared`.
    ///
    /// # Errors
    /// `Shape` if blocks or model do not fit one another, or a label does not suit the loss; `NonFinite` for a bad shared model, `OutOfMemory`,
    /// errors of the owner of the blocks.
    pub fn run<B>(
        params: ValidSgdParams,
        shared: &[f64],
        blocks: &mut B,
        pool: Option<&ThreadPool>,
    ) -> Result<Self, B::Error>
    where
        B: for<'a> Blocks<Block<'a> = SgdData<'a>>,
    {
        let ValidSgdParams(params) = params;
        let (mut model, entries) = checked_model(&params.problem, blocks)?;
        model.load(shared)?;
        let rows = blocks.len();
        let mut order = BucketOrder::new(rows, bucket_size(rows), params.seed, params.partition)?;
        let count = order.buckets();
        let (mut cursor, mut taken) = (params.cursor, 0);
        let buckets = iter::from_fn(|| {
            if taken >= params.budget || count == 0 {
                return None;
            }
            let bucket = order.at(cursor);
            cursor += 1;
            taken += bucket.len() as u64;
            Some(bucket)
        });
        let descent = Descent {
            problem: &params.problem,
            schedule: params.schedule,
            steps: params.steps,
        };
        let mut totals = Totals::default();
        let stable = if params.threads == 1 {
            let stable = visit(blocks, buckets, &mut model, |span, model| {
                descent.on(span, 1, &totals).run(model, &mut totals)
            })?;
            if stable {
                model.settle();
            }
            stable
        } else {
            let count = count.max(1);
            let work = params.problem.loss.outputs() * (COORDINATE * rows + entries);
            let mut team = Team::new(model, params.threads.min(count), work / count, pool)?;
            let stable = team.visit(blocks, buckets, descent)?;
            (model, totals) = team.finish(stable);
            stable
        };
        Ok(Self {
            params,
            diverged: !stable || !model.is_finite(),
            model,
            cursor,
            totals,
        })
    }

    /// Writes `share` times the model reached, from number `start` on, as many as `out` has room for, little endian. `shared`: the same
    /// numbers of the shared model; if the round diverged, the result is `share` times them.
    ///
    /// # Errors
    /// `Shape` for wrong lengths.
    pub fn write_update(
        &self,
        start: usize,
        shared: &[u8],
        out: &mut [u8],
    ) -> Result<(), SolverError> {
        let reached = (!self.diverged).then(|| self.model.numbers(start));
        let (length, share) = (self.model.length(), self.params.share);
        write_share(length, start, reached, shared, out, share)
    }

    /// The numbers of the round.
    pub fn finish(&self) -> SgdOutcome {
        let model = &self.model;
        let (reached, known) = if self.diverged {
            (model.norms(), Some([].as_slice()))
        } else {
            let factors = model.factors().filter(|_| self.params.threads == 1);
            (model.settled_norms(), factors)
        };
        let share = self.params.share;
        let factors = known.map_or_else(Vec::new, |factors| [factors, &[share]].concat());
        SgdOutcome {
            reached_l1_norm: reached.l1,
            reached_square_norm: reached.square,
            scalars: SgdScalars::new(model, &self.totals, self.diverged),
            cursor: self.cursor,
            steps: self.params.steps + self.totals.rows,
            factors,
        }
    }
}

/// Refuses blocks that do not fit one another, or labels that do not suit the loss; returns a model for them, which is not loaded yet, and the number of
/// their entries.
pub(super) fn checked_model<B>(
    problem: &SgdProblem,
    blocks: &mut B,
) -> Result<(Model, usize), B::Error>
where
    B: for<'a> Blocks<Block<'a> = SgdData<'a>>,
{
    let SgdProblem { loss, l1, .. } = *problem;
    let features = blocks.lend(|loan| Ok(loan.block(0)?.rows().rows()))?;
    let mut entries = 0;
    for block in 0..blocks.count() {
        let rows = blocks.coordinates(block).len();
        entries += blocks.lend(|loan| {
            let data = loan.block(block)?;
            same_length("a block", data.rows().len(), rows, "row")?;
            same_length("a row", data.rows().rows(), features, "feature")?;
            data.check_labels(loss)?;
            Ok(data.rows().nonzeros())
        })?;
    }
    let model = Model::of_blocks(blocks, loss.outputs(), l1 > 0.0)?;
    Ok((model, entries))
}
