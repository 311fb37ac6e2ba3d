//! One round of one partition: certificate, descent, update.

use std::ops::Range;

use super::{
    dual::{DualSubproblemParams, ValidDualSubproblemParams},
    local::{Local, finite_copy},
    pass::{Certified, Change, Pass, Value},
    primal::{SubproblemParams, ValidSubproblemParams},
    subproblem::{DataOf, Separable, Subproblem},
    sums::{MAX_CANDIDATES, MAX_POINTS},
    team::Team,
};
use crate::base::{
    checks::{at_least_one, ensure, finite},
    error::{SolverError, same_length},
    order::{BucketOrder, bucket_size},
    progress::Progress,
};

/// Most copies of the vector: more copies than cores gain nothing.
const MAX_THREADS: usize = 256;

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
        let legal = (1..=MAX_THREADS).contains(&self.threads);
        ensure("threads", self.threads as f64, legal, "must be 1 to 256")?;
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

/// A round in progress. It owns everything except the data. The caller lends them for each slice of work, and they may move in memory
/// between slices.
///
/// Phases: check the coordinates; load the shared vector; value and certificate at the start; descent; value at the end. The result is a
/// pure function of parameters, data, alpha and cursor. Neither slices nor the threads of the pool change a bit of it.
#[derive(Debug)]
pub struct Round<P: Subproblem> {
    params: ValidParams<P>,
    local: Local<P>,
    /// Variables at the start.
    start: Vec<f64>,
    previous: Vec<f64>,
    order: BucketOrder,
    cursor: u64,
    /// The rest of the current bucket.
    bucket: Range<usize>,
    /// With more than one thread, instead of `bucket`.
    team: Option<Team<P>>,
    /// The sums of the start, and then of the end.
    pass: Pass,
    phase: Phase,
    scalars: RoundScalars,
}

/// Columns as coordinates; the shared vector is the residual.
pub type PrimalRound = Round<ValidSubproblemParams>;

/// Rows as coordinates; the shared vector holds the coefficients.
pub type DualRound = Round<ValidDualSubproblemParams>;

/// The phases of a round, in order. `Check` holds the first coordinate that is not checked yet.
#[derive(Debug, Clone, Copy)]
enum Phase {
    Check(usize),
    Load,
    Start,
    Descent,
    End,
    Done,
}

impl<P: Subproblem> Round<P> {
    /// A round from the committed `alpha` (one variable for each coordinate) and from `cursor`. `previous`: the last committed change of
    /// alpha. `length`: numbers in the shared vector, one for each row (primal) or feature (dual).
    ///
    /// # Errors
    /// `NonFinite` for a variable that is not finite, `Shape`, `OutOfMemory`.
    pub fn new(
        params: ValidParams<P>,
        length: usize,
        alpha: &[f64],
        previous: &[f64],
        cursor: u64,
    ) -> Result<Self, SolverError> {
        same_length(
            "previous",
            previous.len(),
            alpha.len(),
            P::Objective::COORDINATE,
        )?;
        Ok(Self {
            local: Local::new(params.subproblem, length, alpha)?,
            start: finite_copy::<P::Objective>(alpha, P::Objective::VARIABLE)?,
            previous: finite_copy::<P::Objective>(previous, "previous step")?,
            order: BucketOrder::new(
                alpha.len(),
                bucket_size(alpha.len()),
                params.seed,
                params.partition,
            )?,
            cursor,
            bucket: 0..0,
            team: None,
            pass: Pass::new(alpha.len())?,
            phase: Phase::Check(0),
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

    /// Works for about `budget` units: one for each entry, coordinate and number of the shared vector that it touches. It never stops inside
    /// a coordinate.
    ///
    /// `shared`: one little endian `f64` for each number, the same in every call. `pool`: threads for the sums and the copies, each with the
    /// whole budget; without a pool the calling thread does all.
    ///
    /// # Errors
    /// `Shape` if the data do not fit the round or a label does not suit the loss, `NonFinite` for a bad shared vector, `OutOfMemory`.
    /// Drop the round after an error: it cannot continue.
    pub fn advance(
        &mut self,
        data: &DataOf<'_, P>,
        shared: &[u8],
        budget: usize,
        pool: Option<&rayon::ThreadPool>,
    ) -> Result<Progress, SolverError> {
        self.local.fits(data)?;
        let mut left = budget.max(1);
        while left > 0 {
            let spent = match self.phase {
                Phase::Check(next) => self.check(data, next, left)?,
                Phase::Load => self.load(data, shared, left)?,
                Phase::Start => self.value_at_start(data, left, pool),
                Phase::Descent => self.descend(data, left, pool)?,
                Phase::End => self.value_at_end(data, left, pool),
                Phase::Done => return Ok(Progress::Done),
            };
            left = left.saturating_sub(spent);
        }
        Ok(Progress::More)
    }

    /// Checks coordinates from `next` on.
    fn check(
        &mut self,
        data: &DataOf<'_, P>,
        next: usize,
        budget: usize,
    ) -> Result<usize, SolverError> {
        let end = next.saturating_add(budget).min(self.start.len());
        self.params.subproblem.check(data, next..end)?;
        self.phase = if end == self.start.len() {
            Phase::Load
        } else {
            Phase::Check(end)
        };
        Ok(end - next)
    }

    /// Copies numbers of the shared vector.
    fn load(
        &mut self,
        data: &DataOf<'_, P>,
        shared: &[u8],
        budget: usize,
    ) -> Result<usize, SolverError> {
        let count = self.local.left_to_load().min(budget);
        self.local.load(shared, P::load_weights(data), count)?;
        if self.local.left_to_load() == 0 {
            self.phase = Phase::Start;
        }
        Ok(count)
    }

    /// Sums value and certificate at the start of the round.
    fn value_at_start(
        &mut self,
        data: &DataOf<'_, P>,
        budget: usize,
        pool: Option<&rayon::ThreadPool>,
    ) -> usize {
        let spent = if self.params.certificate {
            let summand = Certified {
                subproblem: &self.params.subproblem,
                data,
                alpha: &self.start,
                certificate: self.local.certificate(&self.params.candidates),
            };
            self.pass.advance(&summand, budget, pool)
        } else {
            let summand = Value {
                objective: self.params.subproblem.objective(),
                data,
                alpha: &self.start,
            };
            self.pass.advance(&summand, budget, pool)
        };
        if self.pass.is_done() {
            let sums = self.pass.sums();
            let scalars = &mut self.scalars;
            scalars.value_before = sums.value;
            if self.params.certificate {
                [scalars.conjugate, scalars.ratio, scalars.correlation] = P::penalty_side(&sums);
                scalars.losses = sums.losses[..self.params.candidates.len()].to_vec();
            }
            self.phase = Phase::Descent;
        }
        spent
    }

    /// Sums the value after the steps, and how it changes along them.
    fn value_at_end(
        &mut self,
        data: &DataOf<'_, P>,
        budget: usize,
        pool: Option<&rayon::ThreadPool>,
    ) -> usize {
        let summand = Change {
            objective: self.params.subproblem.objective(),
            data,
            start: &self.start,
            after: self.local.alpha(),
            previous: &self.previous,
            points: &self.params.points,
        };
        let spent = self.pass.advance(&summand, budget, pool);
        if self.pass.is_done() {
            let sums = self.pass.sums();
            let scalars = &mut self.scalars;
            scalars.value_after = sums.value;
            scalars.slope = sums.slope;
            scalars.curve = sums.curve;
            scalars.samples = sums.samples[..self.params.points.len()].to_vec();
            scalars.kappa = self.local.kappa();
            self.phase = Phase::Done;
        }
        spent
    }

    /// Visits buckets until they hold as many coordinates as the round asks for; then the next phase begins.
    fn descend(
        &mut self,
        data: &DataOf<'_, P>,
        budget: usize,
        pool: Option<&rayon::ThreadPool>,
    ) -> Result<usize, SolverError> {
        let enough = self.scalars.coordinates >= self.params.budget || self.order.buckets() == 0;
        if enough && self.bucket.is_empty() && self.team.is_none() {
            self.pass = Pass::new(self.start.len())?;
            self.phase = Phase::End;
            Ok(0)
        } else if self.params.threads == 1 {
            self.descend_alone(data, budget)
        } else {
            self.descend_together(data, budget, pool)
        }
    }

    fn next_bucket(&mut self) -> Range<usize> {
        let bucket = self.order.at(self.cursor);
        self.cursor += 1;
        bucket
    }

    /// Visits at most the rest of one bucket.
    fn descend_alone(&mut self, data: &DataOf<'_, P>, budget: usize) -> Result<usize, SolverError> {
        if self.bucket.is_empty() {
            self.bucket = self.next_bucket();
        }
        let descent = self.local.descend(data, self.bucket.clone(), budget)?;
        let coordinates = descent.next - self.bucket.start;
        self.bucket.start = descent.next;
        self.scalars.coordinates += coordinates as u64;
        self.scalars.nonzeros += descent.nonzeros as u64;
        Ok(coordinates + descent.nonzeros)
    }

    /// Visits buckets, of at most one epoch, on copies of the vector.
    fn descend_together(
        &mut self,
        data: &DataOf<'_, P>,
        budget: usize,
        pool: Option<&rayon::ThreadPool>,
    ) -> Result<usize, SolverError> {
        let mut team = match self.team.take() {
            Some(team) => team,
            None => {
                let buckets = self.buckets_of_epoch();
                Team::new(&self.local, &buckets, self.params.threads)?
            }
        };
        let spent = team.advance(&mut self.local, data, budget, pool);
        if team.is_done(&self.local) {
            self.scalars.nonzeros += team.finish(&mut self.local);
        } else {
            self.team = Some(team);
        }
        Ok(spent)
    }

    /// The buckets up to the end of the epoch, or until they hold enough coordinates.
    fn buckets_of_epoch(&mut self) -> Vec<Range<usize>> {
        let mut buckets = Vec::new();
        loop {
            let bucket = self.next_bucket();
            self.scalars.coordinates += bucket.len() as u64;
            buckets.push(bucket);
            if self.epoch_ends() || self.scalars.coordinates >= self.params.budget {
                return buckets;
            }
        }
    }

    /// Whether the next bucket is the first one of an epoch.
    fn epoch_ends(&self) -> bool {
        self.cursor.is_multiple_of(self.order.buckets() as u64)
    }

    /// Writes the update of the shared vector from number `start` on, as many as `out` has room for, little endian: see
    /// [`Local::write_update`]. `shared` is the vector of [`Round::advance`].
    ///
    /// # Errors
    /// `Unfinished` before the round is done, `Shape` for wrong lengths, `NonFinite` if the steps overflowed.
    pub fn write_update(
        &self,
        data: &DataOf<'_, P>,
        shared: &[u8],
        start: usize,
        out: &mut [u8],
    ) -> Result<(), SolverError> {
        self.finished()?;
        self.local
            .write_update(shared, P::load_weights(data), start, out)
    }

    /// The steps and the numbers of the round. `committed` is the alpha of [`Round::new`].
    ///
    /// # Errors
    /// `Unfinished` before the round is done, `Shape` for a wrong length.
    pub fn finish(self, committed: &[f64]) -> Result<RoundOutcome, SolverError> {
        self.finished()?;
        Ok(RoundOutcome {
            delta: self.local.into_delta(committed)?,
            cursor: self.cursor,
            scalars: self.scalars,
        })
    }

    fn finished(&self) -> Result<(), SolverError> {
        match self.phase {
            Phase::Done => Ok(()),
            _ => Err(SolverError::Unfinished),
        }
    }
}
