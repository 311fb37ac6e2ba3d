//! One round of one partition: certificate, descent, update.

use std::ops::Range;

use super::{
    Progress,
    data::PrimalData,
    pass::ColumnPass,
    subproblem::{LocalSubproblem, SubproblemParams, ValidSubproblemParams},
};
use crate::{
    error::{SolverError, same_length},
    order::{BucketOrder, bucket_size},
};

/// Unchecked parameters of a round.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `subproblem` | the local problem | see [`SubproblemParams`] |
/// | `seed`, `partition` | of the order of the coordinates | |
/// | `budget` | coordinates to visit: whole buckets until there are as many | >= 1 |
/// | `certificate` | compute the parts of the duality certificate at the start of the round | |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrimalParams {
    pub subproblem: SubproblemParams,
    pub seed: u64,
    pub partition: u32,
    pub budget: u64,
    pub certificate: bool,
}

impl PrimalParams {
    /// Checks the ranges of the table above.
    ///
    /// # Errors
    /// `InvalidParam` names the first parameter out of range.
    pub fn check(self) -> Result<ValidPrimalParams, SolverError> {
        if self.budget == 0 {
            return Err(SolverError::InvalidParam {
                name: "budget",
                value: 0.0,
                expected: "must be at least 1",
            });
        }
        Ok(ValidPrimalParams {
            subproblem: self.subproblem.check()?,
            seed: self.seed,
            partition: self.partition,
            budget: self.budget,
            certificate: self.certificate,
        })
    }
}

/// Checked [`PrimalParams`].
#[derive(Debug, Clone, Copy)]
pub struct ValidPrimalParams {
    subproblem: ValidSubproblemParams,
    seed: u64,
    partition: u32,
    budget: u64,
    certificate: bool,
}

/// Numbers that a round reports. Sums are over the columns of the partition, in the order of their chunks of 4096.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundScalars {
    /// `sum_i g_i(a_i)` at the start of the round, in units of the objective.
    pub penalty_before: f64,
    /// `sum_i g_i(a'_i)` after the steps of the round.
    pub penalty_after: f64,
    /// `sum_i g_i*(x_i)` at the start of the round; NaN without certificate.
    pub conjugate: f64,
    /// `max_i |x_i| / l1_i`; NaN without certificate.
    pub ratio: f64,
    /// `max_i |x_i| / (root mean square of column i)`; NaN without certificate.
    pub correlation: f64,
    /// Coordinates visited.
    pub coordinates: u64,
    /// Entries of the coordinates visited.
    pub nonzeros: u64,
    /// `sum_i mean_i (a'_i - a_i)`; 0 if not centred.
    pub kappa: f64,
}

/// The result of a round, apart from the update vector.
#[derive(Debug)]
pub struct RoundOutcome {
    /// `a'_i - a_i` for each column.
    pub delta: Vec<f64>,
    /// Buckets visited since the start of the fit.
    pub cursor: u64,
    pub scalars: RoundScalars,
}

/// Step factors for the pending step of a round and for the step before it, which the message of the next round brings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    pub pending: f64,
    pub previous: f64,
}

impl Verdict {
    /// Commits: `p = pending delta + previous p_old`, `alpha += p`, and `p` is the previous step from now on.
    ///
    /// # Errors
    /// `Shape` unless all three have one number for each column; nothing is changed then.
    pub fn commit(
        &self,
        alpha: &mut [f64],
        previous: &mut [f64],
        delta: &[f64],
    ) -> Result<(), SolverError> {
        same_length("previous", previous.len(), alpha.len(), "column")?;
        same_length("delta", delta.len(), alpha.len(), "column")?;
        for ((a, p), d) in alpha.iter_mut().zip(previous).zip(delta) {
            *p = self.pending * d + self.previous * *p;
            *a += *p;
        }
        Ok(())
    }
}

/// A round in progress. It owns everything it needs but the data, which are lent for each slice of work and may be elsewhere
/// in memory the next time.
///
/// Phases: load the residual; penalty and certificate at the start; descent; penalty after. The result is a pure function of
/// parameters, data, alpha and cursor: slices, threads and repetitions do not change a bit of it.
#[derive(Debug)]
pub struct PrimalRound {
    params: ValidPrimalParams,
    subproblem: LocalSubproblem,
    order: BucketOrder,
    cursor: u64,
    /// What is left of the bucket being visited.
    bucket: Range<usize>,
    phase: Phase,
    scalars: RoundScalars,
}

#[derive(Debug)]
enum Phase {
    Load,
    Start(ColumnPass),
    Descent,
    End(ColumnPass),
    Done,
}

impl PrimalRound {
    /// A round from the committed `alpha` (one coefficient for each column) and `cursor`, on data of `rows` rows.
    ///
    /// # Errors
    /// `NonFinite` for a coefficient that is not finite, `Shape`, `OutOfMemory`.
    pub fn new(
        params: ValidPrimalParams,
        rows: usize,
        alpha: &[f64],
        cursor: u64,
    ) -> Result<Self, SolverError> {
        Ok(Self {
            params,
            subproblem: LocalSubproblem::new(params.subproblem, rows, alpha)?,
            order: BucketOrder::new(
                alpha.len(),
                bucket_size(alpha.len()),
                params.seed,
                params.partition,
            )?,
            cursor,
            bucket: 0..0,
            phase: Phase::Load,
            scalars: RoundScalars {
                penalty_before: 0.0,
                penalty_after: 0.0,
                conjugate: f64::NAN,
                ratio: f64::NAN,
                correlation: f64::NAN,
                coordinates: 0,
                nonzeros: 0,
                kappa: 0.0,
            },
        })
    }

    /// Works on for about `budget` units: one for each entry, each column and each row that is touched. One column is never cut.
    ///
    /// `residual`: one little endian `f64` for each row, the same in every call. `pool`: threads for the certificate, each of which
    /// gets the whole budget; without a pool the calling thread does all.
    ///
    /// # Errors
    /// `Shape` if the data do not fit the round, `NonFinite` for a bad residual, `OutOfMemory`.
    /// After an error the round cannot be continued with other data; drop it.
    pub fn advance(
        &mut self,
        data: &PrimalData<'_>,
        residual: &[u8],
        budget: usize,
        pool: Option<&rayon::ThreadPool>,
    ) -> Result<Progress, SolverError> {
        self.subproblem.fits(data)?;
        let mut left = budget.max(1);
        while left > 0 {
            let spent = match &mut self.phase {
                Phase::Load => {
                    let rows = self.subproblem.rows_to_load().min(left);
                    self.subproblem.load(residual, data.weights, rows)?;
                    if self.subproblem.rows_to_load() == 0 {
                        self.phase = Phase::Start(ColumnPass::new(data.columns.len())?);
                    }
                    rows
                }
                Phase::Start(pass) => {
                    let certificate = self
                        .params
                        .certificate
                        .then(|| self.subproblem.certificate());
                    let spent = pass.advance(
                        data,
                        self.subproblem.penalty(),
                        self.subproblem.alpha(),
                        certificate,
                        left,
                        pool,
                    );
                    if pass.is_done() {
                        let sums = pass.sums();
                        self.scalars.penalty_before = sums.penalty;
                        if self.params.certificate {
                            self.scalars.conjugate = sums.conjugate;
                            self.scalars.ratio = sums.ratio;
                            self.scalars.correlation = sums.correlation;
                        }
                        self.phase = Phase::Descent;
                    }
                    spent
                }
                Phase::Descent => self.descend(data, left)?,
                Phase::End(pass) => {
                    let spent = pass.advance(
                        data,
                        self.subproblem.penalty(),
                        self.subproblem.alpha(),
                        None,
                        left,
                        None,
                    );
                    if pass.is_done() {
                        self.scalars.penalty_after = pass.sums().penalty;
                        self.scalars.kappa = self.subproblem.kappa();
                        self.phase = Phase::Done;
                    }
                    spent
                }
                Phase::Done => return Ok(Progress::Done),
            };
            left = left.saturating_sub(spent);
        }
        Ok(Progress::More)
    }

    /// Visits at most the rest of one bucket.
    fn descend(&mut self, data: &PrimalData<'_>, budget: usize) -> Result<usize, SolverError> {
        if self.bucket.is_empty() {
            let enough = self.scalars.coordinates >= self.params.budget;
            if enough || self.order.buckets() == 0 {
                self.phase = Phase::End(ColumnPass::new(data.columns.len())?);
                return Ok(0);
            }
            self.bucket = self.order.at(self.cursor);
            self.cursor += 1;
        }
        let descent = self.subproblem.descend(data, self.bucket.clone(), budget)?;
        let coordinates = descent.next - self.bucket.start;
        self.bucket.start = descent.next;
        self.scalars.coordinates += coordinates as u64;
        self.scalars.nonzeros += descent.nonzeros as u64;
        Ok(coordinates + descent.nonzeros)
    }

    /// Writes the update vector `u_j = sum_i (a'_i - a_i) c_ij` (centred columns if `centred`) for rows from `start` on, as many as `out`
    /// has room for, little endian. `residual` is that of [`PrimalRound::advance`].
    ///
    /// # Errors
    /// `Unfinished` before the round is done, `Shape` for wrong lengths, `NonFinite` if the steps overflowed.
    pub fn write_update(
        &self,
        data: &PrimalData<'_>,
        residual: &[u8],
        start: usize,
        out: &mut [u8],
    ) -> Result<(), SolverError> {
        self.finished()?;
        self.subproblem
            .write_update(residual, data.weights, start, out)
    }

    /// The steps and the numbers of the round. `committed` is the alpha the round started from.
    ///
    /// # Errors
    /// `Unfinished` before the round is done, `Shape` for a wrong length.
    pub fn finish(self, committed: &[f64]) -> Result<RoundOutcome, SolverError> {
        self.finished()?;
        Ok(RoundOutcome {
            delta: self.subproblem.into_delta(committed)?,
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
