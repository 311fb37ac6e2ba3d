//! A round of local SGD on one partition, by mini-batches: from the shared weights to the worker's share of the next.

use rayon::ThreadPool;

use super::{params::DescentParams, steps::Steps, visits::Visits};
use crate::{
    base::{blocks::Blocks, error::SolverError},
    problem::{
        data::SgdData,
        vector::{check_shared, write_share},
    },
};

/// The result of a round, apart from the weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DescentOutcome {
    /// Sum of the weighted losses of the rows visited, each before the step of its batch; infinite if the round diverged.
    pub loss_sum: f64,
    /// Sum of the weights of these rows.
    pub weight_sum: f64,
    /// Rows visited.
    pub rows: u64,
    /// Entries of these rows.
    pub nonzeros: u64,
    /// Buckets visited since the start of the fit.
    pub cursor: u64,
    /// Whether a number became infinite or NaN.
    pub diverged: bool,
}

/// A round. It owns everything except the data, which their owner lends.
///
/// A step takes the mean gradient of a batch. A batch at the end of a round, which may be shorter, makes a step that is as much shorter, so that
/// every row weighs the same. The result is a pure function of parameters, rows and shared weights: how the rows are cut into blocks does not
/// change a bit of it, and neither do the threads of the pool.
#[derive(Debug)]
pub struct NetworkDescent {
    weights: Vec<f64>,
    share: f64,
    outcome: DescentOutcome,
}

impl NetworkDescent {
    /// Runs a round from the weights `shared`. Labels are numbers of classes.
    ///
    /// # Errors
    /// `InvalidParam` for parameters out of range; `Shape` if blocks or weights do not fit the layers, or a label is of no class; `NonFinite`
    /// for bad shared weights, `OutOfMemory`, errors of the owner of the blocks.
    pub fn run<B>(
        params: &DescentParams,
        shared: &[f64],
        blocks: &mut B,
        pool: Option<&ThreadPool>,
    ) -> Result<Self, B::Error>
    where
        B: for<'a> Blocks<Block<'a> = SgdData<'a>>,
    {
        params.check()?;
        check_shared(shared, params.layers.weights())?;
        let rows = blocks.len();
        let mut visits = Visits::new(rows, params)?;
        let mut steps = Steps::new(params, shared, rows)?;
        let mut stable = true;
        while stable && steps.gather(blocks, &mut visits, pool)? {
            stable = steps.step();
        }
        let sums = steps.sums();
        let weights = steps.into_weights();
        let diverged = !(stable && weights.iter().all(|w| w.is_finite()));
        Ok(Self {
            weights,
            share: params.share,
            outcome: DescentOutcome {
                loss_sum: if diverged { f64::INFINITY } else { sums.loss },
                weight_sum: sums.weight,
                rows: sums.rows,
                nonzeros: sums.nonzeros,
                cursor: visits.cursor(),
                diverged,
            },
        })
    }

    /// Writes `share` times the weights reached, from number `start` on, as many as `out` has room for, little endian. `shared`: the same
    /// numbers of the shared weights; if the round diverged, the result is `share` times them.
    ///
    /// # Errors
    /// `Shape` for wrong lengths.
    pub fn write_update(
        &self,
        start: usize,
        shared: &[u8],
        out: &mut [u8],
    ) -> Result<(), SolverError> {
        let reached = || {
            self.weights[start.min(self.weights.len())..]
                .iter()
                .copied()
        };
        let reached = (!self.outcome.diverged).then(reached);
        write_share(self.weights.len(), start, reached, shared, out, self.share)
    }

    /// The numbers of the round.
    pub fn outcome(&self) -> DescentOutcome {
        self.outcome
    }
}
