//! One round of one partition: certificate, descent, update.

use std::ops::Range;

use super::{
    dual::{DualSubproblemParams, ValidDualSubproblemParams},
    local::{Local, finite_copy},
    pass::{Certified, Change, Value, total},
    primal::{SubproblemParams, ValidSubproblemParams},
    subproblem::{DataOf, Separable, Subproblem},
    sums::{MAX_CANDIDATES, MAX_POINTS},
    team::Team,
};
use crate::base::{
    blocks::{Blocks, COORDINATE},
    checks::{at_least_one, finite, threads},
    error::{SolverError, reserve, same_length},
    order::{BucketOrder, bucket_size},
};

/// Unchecked parameters of a round on columns.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `subproblem` | the local problem | see [`SubproblemParams`] |
/// | `seed`, `partition` | determine the order of the coordinates | |
/// | `budget` | coordinates to visit: whole buckets until they hold as many | >= 1 |
/// | `certificate` | compute the parts of the duality certificate at the start of the round | |
/// | `points` | `[g1, g2]`: where to sample the objective, see [`RoundScalars::samples`] | finite, at most 24 |
/// | `threads` | copies of the vector, on which steps run in parallel; the result depends on their number | 1 to 256 |
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the table names every field")]
pub struct PrimalParams {
    pub subproblem: SubproblemParams,
    pub seed: u64,
    pub partition: u32,
    pub budget: u64,
    pub certificate: bool,
    pub points: Vec<[f64; 2]>,
    pub threads: usize,
}

impl PrimalParams {
    /// Checks the ranges of the table above.
    ///
    /// # Errors
    /// `InvalidParam` names the first parameter out of range, `Shape` for too many points.
    pub fn check(&self) -> Result<ValidPrimalParams, SolverError> {
        ValidParams {
            subproblem: self.subproblem.check()?,
            seed: self.seed,
            partition: self.partition,
            budget: self.budget,
            certificate: self.certificate,
            candidates: Vec::new(),
            points: self.points.clone(),
            threads: self.threads,
        }
        .check()
    }
}

/// Unchecked parameters of a round on rows.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `subproblem` | the local problem | see [`DualSubproblemParams`] |
/// | `seed`, `partition` | determine the order of the coordinates | |
/// | `budget` | coordinates to visit: whole buckets until they hold as many | >= 1 |
/// | `certificate` | intercepts for which to compute the loss at the start of the round; empty for no certificate | finite, at most 16 |
/// | `points` | `[g1, g2]`: where to sample the objective, see [`RoundScalars::samples`] | finite, at most 24 |
/// | `threads` | copies of the vector, on which steps run in parallel; the result depends on their number | 1 to 256 |
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the table names every field")]
pub struct DualParams {
    pub subproblem: DualSubproblemParams,
    pub seed: u64,
    pub partition: u32,
    pub budget: u64,
    pub certificate: Vec<f64>,
    pub points: Vec<[f64; 2]>,
    pub threads: usize,
}

impl DualParams {
    /// Checks the ranges of the table above.
    ///
    /// # Errors
    /// `InvalidParam` names the first parameter out of range, `Shape` for too many candidates or points.
    pub fn check(&self) -> Result<ValidDualParams, SolverError> {
        ValidParams {
            subproblem: self.subproblem.check()?,
            seed: self.seed,
            partition: self.partition,
            budget: self.budget,
            certificate: !self.certificate.is_empty(),
            candidates: self.certificate.clone(),
            points: self.points.clone(),
            threads: self.threads,
        }
        .check()
    }
}

/// Checked parameters of a round.
#[derive(Debug, Clone)]
pub struct ValidParams<P> {
    subproblem: P,
    seed: u64,
    partition: u32,
    budget: u64,
    certificate: bool,
    candidates: Vec<f64>,
    points: Vec<[f64; 2]>,
    threads: usize,
}

/// Checked [`PrimalParams`].
pub type ValidPrimalParams = ValidParams<ValidSubproblemParams>;

/// Checked [`DualParams`].
pub type ValidDualParams = ValidParams<ValidDualSubproblemParams>;

impl<P> ValidParams<P> {
    /// Checks the ranges that all rounds have in common.
    fn check(self) -> Result<Self, SolverError> {
        at_least_one("budget", self.budget)?;
        threads(self.threads)?;
        finite_few("points", self.points.as_flattened(), 2 * MAX_POINTS)?;
        finite_few("candidates", &self.candidates, MAX_CANDIDATES)?;
        Ok(self)
    }
}

fn finite_few(name: &'static str, numbers: &[f64], most: usize) -> Result<(), SolverError> {
    if numbers.len() > most {
        return Err(SolverError::Shape(format!(
            "{name}: {} numbers, at most {most} are possible",
            numbers.len()
        )));
    }
    numbers.iter().try_for_each(|&number| finite(name, number))
}

/// Numbers that a round reports about the separable part `h(a) = sum_i h_i(a_i)` of the objective: the penalty of columns, or the
/// conjugate losses `(s_i/S) loss*(-a_i)` of rows. Sums are over the coordinates of the partition, in the order of its chunks of 4096.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundScalars {
    /// `h(a)` at the start of the round, in units of the objective.
    pub value_before: f64,
    /// `h(a')` after the steps of the round.
    pub value_after: f64,
    /// Columns: `sum_i g_i*(x_i)` at the start of the round; NaN without certificate.
    pub conjugate: f64,
    /// Columns: `max_i |x_i| / l1_i`; NaN without certificate.
    pub ratio: f64,
    /// Columns: `max_i |x_i| / (root mean square of column i)`; NaN without certificate.
    pub correlation: f64,
    /// Coordinates visited.
    pub coordinates: u64,
    /// Entries of the coordinates visited.
    pub nonzeros: u64,
    /// Columns: `sum_i mean_i (a'_i - a_i)`; 0 if not centred. Rows: `sum_i t_i (a'_i - a_i)`.
    pub kappa: f64,
    /// With `e = g1 (a' - a) + g2 previous`, the quadratic terms of `h` change by
    /// `slope[0] g1 + slope[1] g2 + (curve[0] g1^2 + 2 curve[1] g1 g2 + curve[2] g2^2) / 2` between `a` and `a + e`.
    pub slope: [f64; 2],
    /// See `slope`.
    pub curve: [f64; 3],
    /// How much the other terms of `h` change between `a` and `a + e`, for each point; infinite where `h(a + e)` is.
    pub samples: Vec<f64>,
    /// Rows: `sum_i (s_i/S) loss(x_i^T w + b; y_i)` at the start of the round, for each intercept b of the certificate.
    pub losses: Vec<f64>,
}

/// The result of a round, apart from the update vector.
#[derive(Debug)]
pub struct RoundOutcome {
    /// `a'_i - a_i` for each coordinate.
    pub delta: Vec<f64>,
    /// Buckets visited since the start of the fit.
    pub cursor: u64,
    /// The numbers that the round reports.
    pub scalars: RoundScalars,
}

/// The leader's answer to a round, which comes with the next round: the step sizes that its line search chose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Factor of the step of the last round, which is not committed yet.
    pub pending: f64,
    /// Factor of the last step that was committed.
    pub previous: f64,
}

impl Verdict {
    /// Commits a step: `previous <- pending delta + previous previous`, then `alpha += previous`.
    ///
    /// # Errors
    /// `Shape`, without a change, unless all three have one number for each coordinate.
    pub fn commit(
        &self,
        alpha: &mut [f64],
        previous: &mut [f64],
        delta: &[f64],
    ) -> Result<(), SolverError> {
        same_length("previous", previous.len(), alpha.len(), "coordinate")?;
        same_length("delta", delta.len(), alpha.len(), "coordinate")?;
        for ((a, p), d) in alpha.iter_mut().zip(previous).zip(delta) {
            *p = self.pending * d + self.previous * *p;
            *a += *p;
        }
        Ok(())
    }
}

/// A round. It owns everything except the data, which their owner lends.
///
/// The steps of a round: value and certificate at the start; descent; value at the end. The result is a pure function of parameters, data,
/// alpha and cursor. The threads of the pool do not change a bit of it.
#[derive(Debug)]
pub struct Round<P: Subproblem> {
    params: ValidParams<P>,
    local: Local<P>,
    /// Variables at the start.
    start: Vec<f64>,
    previous: Vec<f64>,
    order: BucketOrder,
    cursor: u64,
    scalars: RoundScalars,
}

/// Columns as coordinates; the shared vector is the residual.
pub type PrimalRound = Round<ValidSubproblemParams>;

/// Rows as coordinates; the shared vector holds the coefficients.
pub type DualRound = Round<ValidDualSubproblemParams>;

/// A block, and the buckets of it that an epoch visits.
type OfBlock = (usize, Vec<Range<usize>>);

impl<P: Subproblem> Round<P> {
    /// Runs a round from the committed `alpha` (one variable for each coordinate) and from `cursor`. `previous`: the last committed change of
    /// alpha; `shared`: the shared vector, one number for each row (primal) or feature (dual). `pool`: threads for the sums and the copies;
    /// without a pool the calling thread does all.
    ///
    /// # Errors
    /// `NonFinite` for a variable or a shared number that is not finite, `Shape` if the data do not fit or a label does not suit the loss,
    /// `OutOfMemory`, errors of the owner of the blocks.
    pub fn run<B>(
        params: ValidParams<P>,
        shared: Vec<f64>,
        alpha: &[f64],
        previous: &[f64],
        cursor: u64,
        blocks: &mut B,
        pool: Option<&rayon::ThreadPool>,
    ) -> Result<Self, B::Error>
    where
        B: for<'a> Blocks<Block<'a> = DataOf<'a, P>>,
    {
        let mut round = Self::new(params, shared, alpha, previous, cursor, blocks)?;
        round.check(blocks)?;
        round.value_at_start(blocks, pool)?;
        if round.params.threads == 1 {
            round.descend_alone(blocks)?;
        } else {
            round.descend_together(blocks, pool)?;
        }
        round.value_at_end(blocks, pool)?;
        Ok(round)
    }

    fn new<B>(
        params: ValidParams<P>,
        shared: Vec<f64>,
        alpha: &[f64],
        previous: &[f64],
        cursor: u64,
        blocks: &mut B,
    ) -> Result<Self, B::Error>
    where
        B: for<'a> Blocks<Block<'a> = DataOf<'a, P>>,
    {
        let coordinate = P::Objective::COORDINATE;
        same_length("alpha", alpha.len(), blocks.len(), coordinate)?;
        same_length("previous", previous.len(), alpha.len(), coordinate)?;
        let local = blocks.lend(|loan| {
            let data = loan.block(0)?;
            let weights = P::load_weights(&data);
            Ok(Local::new(params.subproblem, shared, weights, alpha)?)
        })?;
        Ok(Self {
            local,
            start: finite_copy::<P::Objective>(alpha, P::Objective::VARIABLE)?,
            previous: finite_copy::<P::Objective>(previous, "previous step")?,
            order: BucketOrder::new(
                alpha.len(),
                bucket_size(alpha.len()),
                params.seed,
                params.partition,
            )?,
            cursor,
            scalars: RoundScalars {
                value_before: 0.0,
                value_after: 0.0,
                conjugate: f64::NAN,
                ratio: f64::NAN,
                correlation: f64::NAN,
                coordinates: 0,
                nonzeros: 0,
                kappa: 0.0,
                slope: [0.0; 2],
                curve: [0.0; 3],
                samples: Vec::new(),
                losses: Vec::new(),
            },
            params,
        })
    }

    /// Refuses blocks that do not suit the problem.
    fn check<B>(&self, blocks: &mut B) -> Result<(), B::Error>
    where
        B: for<'a> Blocks<Block<'a> = DataOf<'a, P>>,
    {
        for block in 0..blocks.count() {
            let coordinates = blocks.coordinates(block);
            blocks.lend(|loan| {
                let data = loan.block(block)?;
                self.local.fits(&data, coordinates.len())?;
                let subproblem = &self.params.subproblem;
                Ok(subproblem.check(&data, 0..coordinates.len())?)
            })?;
        }
        Ok(())
    }

    /// Sums value and certificate at the start of the round.
    fn value_at_start<B>(
        &mut self,
        blocks: &mut B,
        pool: Option<&rayon::ThreadPool>,
    ) -> Result<(), B::Error>
    where
        B: for<'a> Blocks<Block<'a> = DataOf<'a, P>>,
    {
        let length = self.local.w.len();
        let scalars = &mut self.scalars;
        if self.params.certificate {
            let summand = Certified {
                subproblem: &self.params.subproblem,
                alpha: &self.start,
                certificate: self.local.certificate(&self.params.candidates),
            };
            let sums = total(blocks, length, &summand, pool)?;
            scalars.value_before = sums.value;
            [scalars.conjugate, scalars.ratio, scalars.correlation] = P::penalty_side(&sums);
            scalars.losses = sums.losses[..self.params.candidates.len()].to_vec();
        } else {
            let summand = Value {
                objective: self.params.subproblem.objective(),
                alpha: &self.start,
            };
            scalars.value_before = total(blocks, length, &summand, pool)?.value;
        }
        Ok(())
    }

    /// Sums the value after the steps, and how it changes along them.
    fn value_at_end<B>(
        &mut self,
        blocks: &mut B,
        pool: Option<&rayon::ThreadPool>,
    ) -> Result<(), B::Error>
    where
        B: for<'a> Blocks<Block<'a> = DataOf<'a, P>>,
    {
        let summand = Change {
            objective: self.params.subproblem.objective(),
            start: &self.start,
            after: self.local.alpha(),
            previous: &self.previous,
            points: &self.params.points,
        };
        let sums = total(blocks, self.local.w.len(), &summand, pool)?;
        let scalars = &mut self.scalars;
        scalars.value_after = sums.value;
        scalars.slope = sums.slope;
        scalars.curve = sums.curve;
        scalars.samples = sums.samples[..self.params.points.len()].to_vec();
        scalars.kappa = self.local.kappa();
        Ok(())
    }

    /// Whether the round visits no more buckets.
    fn is_enough(&self) -> bool {
        self.scalars.coordinates >= self.params.budget || self.order.buckets() == 0
    }

    /// The next bucket of the round; empty if there is none.
    fn next_bucket(&mut self) -> Range<usize> {
        if self.is_enough() {
            return 0..0;
        }
        let bucket = self.order.at(self.cursor);
        self.cursor += 1;
        self.scalars.coordinates += bucket.len() as u64;
        bucket
    }

    /// Visits buckets until they hold as many coordinates as the round asks for.
    fn descend_alone<B>(&mut self, blocks: &mut B) -> Result<(), B::Error>
    where
        B: for<'a> Blocks<Block<'a> = DataOf<'a, P>>,
    {
        let mut bucket = self.next_bucket();
        while !bucket.is_empty() {
            blocks.lend(|loan| {
                while !(bucket.is_empty() || loan.is_over()) {
                    let (data, own) = loan.at(bucket.start)?;
                    let range = bucket.start..bucket.end.min(own.end);
                    let descent = self.local.descend(&data, own.start, range, loan.left())?;
                    let visited = descent.next - bucket.start;
                    loan.spend(COORDINATE * visited + descent.nonzeros);
                    self.scalars.nonzeros += descent.nonzeros as u64;
                    bucket.start = descent.next;
                    if bucket.is_empty() {
                        bucket = self.next_bucket();
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The same on copies of the vector, which are averaged after every epoch. In an epoch, buckets of one block follow one another.
    fn descend_together<B>(
        &mut self,
        blocks: &mut B,
        pool: Option<&rayon::ThreadPool>,
    ) -> Result<(), B::Error>
    where
        B: for<'a> Blocks<Block<'a> = DataOf<'a, P>>,
    {
        while !self.is_enough() {
            let buckets = self.buckets_of_epoch(blocks)?;
            let members = self
                .params
                .threads
                .min(buckets.iter().map(|(_, own)| own.len()).sum());
            let mut team = Team::new(&self.local, members)?;
            for (block, own) in &buckets {
                let first = blocks.coordinates(*block).start;
                let mut done = 0;
                while done < own.len() {
                    let local = &mut self.local;
                    done += blocks.lend(|loan| {
                        let data = loan.block(*block)?;
                        Ok(team.visit(local, &data, first, &own[done..], pool)?)
                    })?;
                }
            }
            self.scalars.nonzeros += team.finish(&mut self.local);
        }
        Ok(())
    }

    /// The buckets up to the end of the epoch, or until they hold enough coordinates, by block: blocks in the order of their first buckets.
    /// A bucket is cut where a block ends.
    fn buckets_of_epoch<B: Blocks>(&mut self, blocks: &B) -> Result<Vec<OfBlock>, SolverError> {
        let mut order: Vec<OfBlock> = Vec::new();
        let mut places = reserve(blocks.count(), "the order of the blocks")?;
        places.resize(blocks.count(), None);
        loop {
            let mut bucket = self.next_bucket();
            while !bucket.is_empty() {
                let block = blocks.block_of(bucket.start);
                let place = *places[block].get_or_insert(order.len());
                if place == order.len() {
                    order.push((block, Vec::new()));
                }
                let end = bucket.end.min(blocks.coordinates(block).end);
                order[place].1.push(bucket.start..end);
                bucket.start = end;
            }
            if self.epoch_ends() || self.is_enough() {
                return Ok(order);
            }
        }
    }

    /// Whether the next bucket is the first one of an epoch.
    fn epoch_ends(&self) -> bool {
        self.cursor.is_multiple_of(self.order.buckets() as u64)
    }

    /// Writes the update of the shared vector from number `start` on, as many as `out` has room for, little endian: see
    /// [`Local::write_update`].
    ///
    /// # Errors
    /// `Shape` for wrong lengths, `NonFinite` if the steps overflowed.
    pub fn write_update(
        &self,
        data: &DataOf<'_, P>,
        start: usize,
        shared: &[u8],
        out: &mut [u8],
    ) -> Result<(), SolverError> {
        self.local
            .write_update(P::load_weights(data), start, shared, out)
    }

    /// The steps and the numbers of the round. `committed` is the alpha of [`Round::run`].
    ///
    /// # Errors
    /// `Shape` for a wrong length.
    pub fn finish(self, committed: &[f64]) -> Result<RoundOutcome, SolverError> {
        Ok(RoundOutcome {
            delta: self.local.into_delta(committed)?,
            cursor: self.cursor,
            scalars: self.scalars,
        })
    }
}
