//! The algorithm: a worker and a copy of the leader on every rank, and a sum over all ranks between them.

use std::time::Instant;

use dwell_solvers::{
    PrimalData, PrimalParams, PrimalRound, Progress, SolverError, ValidPrimalParams,
};

use crate::{directory::Problem, failure::Failure};

/// Independent sums of the squares of the residual: in a single sum every addition would wait for the one before.
const LANES: usize = 8;

/// Rounds that [`empty_round`] measures, after those that warm up.
const EMPTY_ROUNDS: usize = 30;
const EMPTY_WARM_UP: usize = 5;

/// All ranks, seen from one of them.
pub trait Ranks {
    /// 0 to `count() - 1`.
    fn rank(&self) -> usize;

    /// K.
    fn count(&self) -> usize;

    /// Overwrites `numbers` with their sums over the ranks, entry by entry. All ranks pass the same length. The implementation chooses the
    /// order of addition, the same on every rank, and may exchange the memory for another.
    fn sum(&mut self, numbers: &mut Vec<f64>);
}

/// The rounds that measure the parts of the duality gap, by a pass over the data before the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certificates {
    /// No round, as in the textbook.
    Never,
    /// The rounds in which Dwell measures them: the first and then every second one.
    EveryOther,
    /// Every round, as Dwell does if rounds are long.
    Always,
}

impl Certificates {
    /// Epochs of a round from which on Dwell measures in every round.
    const ALWAYS_FROM: f64 = 2.0;

    /// The rounds that Dwell chooses for this number of epochs; never, unless `wanted`.
    pub fn new(wanted: bool, local_work: f64) -> Self {
        match wanted {
            false => Self::Never,
            true if local_work >= Self::ALWAYS_FROM => Self::Always,
            true => Self::EveryOther,
        }
    }

    fn wants(self, round: u64) -> bool {
        match self {
            Self::Never => false,
            Self::EveryOther => round.is_multiple_of(2),
            Self::Always => true,
        }
    }
}

/// The local solver of one partition and its state during a fit.
#[derive(Debug)]
pub struct Worker<'a> {
    data: PrimalData<'a>,
    params: ValidPrimalParams,
    /// Parameters for rounds with a certificate, and which rounds these are.
    certifying: ValidPrimalParams,
    certificates: Certificates,
    rounds: u64,
    alpha: Vec<f64>,
    previous: Vec<f64>,
    cursor: u64,
}

impl<'a> Worker<'a> {
    /// A worker at alpha = 0. `data`: partition `k` of `problem`. `local_work`: epochs in a round, rounded up to whole columns, at least
    /// one.
    ///
    /// # Errors
    /// `InvalidParam` names a number of the problem that is out of range.
    pub fn new(
        problem: &Problem,
        data: PrimalData<'a>,
        k: usize,
        local_work: f64,
        certificates: Certificates,
    ) -> Result<Self, SolverError> {
        let columns = data.columns().len();
        let params = PrimalParams {
            subproblem: problem.subproblem(),
            seed: problem.seed,
            partition: k as u32,
            budget: ((columns as f64 * local_work).ceil() as u64).max(1),
            certificate: false,
            points: Vec::new(),
            threads: 1,
            batch: false,
        };
        let certifying = PrimalParams {
            certificate: true,
            ..params.clone()
        };
        Ok(Self {
            data,
            params: params.check()?,
            certifying: certifying.check()?,
            certificates,
            rounds: 0,
            alpha: vec![0.0; columns],
            previous: vec![0.0; columns],
            cursor: 0,
        })
    }

    /// Coefficients of the columns of this partition.
    pub fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// One round. `residual`: m numbers; `update`: m numbers, written: `A_k` times the steps. Returns the penalty of this partition
    /// after the steps.
    ///
    /// # Errors
    /// `NonFinite` if the residual or the steps overflow, `OutOfMemory`, `Shape` for wrong lengths.
    pub fn round(&mut self, residual: &[f64], update: &mut [f64]) -> Result<f64, SolverError> {
        let params = if self.certificates.wants(self.rounds) {
            &self.certifying
        } else {
            &self.params
        };
        self.rounds += 1;
        let mut round = PrimalRound::new(
            params.clone(),
            residual.len(),
            &self.alpha,
            &self.previous,
            self.cursor,
        )?;
        let residual = bytemuck::cast_slice(residual);
        while round.advance(&self.data, residual, usize::MAX, None)? == Progress::More {}
        round.write_update(&self.data, residual, 0, bytemuck::cast_slice_mut(update))?;
        let outcome = round.finish(&self.alpha)?;
        for (a, d) in self.alpha.iter_mut().zip(&outcome.delta) {
            *a += d;
        }
        self.previous = outcome.delta;
        self.cursor = outcome.cursor;
        Ok(outcome.scalars.value_after)
    }
}

/// The numbers of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    /// F after the round.
    pub objective: f64,
    /// Seconds of the local solver on the slowest rank.
    pub worker: f64,
    /// Seconds of forming margins, residual and objective on this rank.
    pub leader: f64,
    /// Seconds from the start of the fit to the end of the round, on this rank.
    pub elapsed: f64,
}

/// Rounds of one fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Epochs of every worker in a round.
    pub local_work: f64,
    pub rounds: Vec<Round>,
}

/// The leader's half of a round, replicated on every rank, and the exchanged vector.
///
/// | numbers of the vector | meaning |
/// |---|---|
/// | m | update of the margins |
/// | 1 | penalty |
/// | K | seconds of the solver on each rank; the others leave 0 there, so that a sum finds the slowest |
#[derive(Debug)]
pub struct Exchange<'a> {
    labels: &'a [f64],
    total_weight: f64,
    margins: Vec<f64>,
    residual: Vec<f64>,
    numbers: Vec<f64>,
}

impl<'a> Exchange<'a> {
    /// A leader at margins 0. `labels`: m finite numbers; `total_weight`: S; `ranks`: K.
    pub fn new(labels: &'a [f64], total_weight: f64, ranks: usize) -> Self {
        Self {
            labels,
            total_weight,
            margins: vec![0.0; labels.len()],
            residual: labels.to_vec(),
            numbers: vec![0.0; labels.len() + 1 + ranks],
        }
    }

    /// Back to margins 0, keeping the memory.
    fn restart(&mut self) {
        self.margins.fill(0.0);
        self.residual.copy_from_slice(self.labels);
    }

    /// One round: `work` gets the residual, writes all of the update and returns the penalty after it. `elapsed` counts from `start`.
    ///
    /// # Errors
    /// Those of `work`. The other ranks then wait for this one, so the caller must end all.
    fn round(
        &mut self,
        ranks: &mut impl Ranks,
        start: Instant,
        work: impl FnOnce(&[f64], &mut [f64]) -> Result<f64, SolverError>,
    ) -> Result<Round, SolverError> {
        let rows = self.labels.len();
        let working = Instant::now();
        let (update, scalars) = self.numbers.split_at_mut(rows);
        // They still hold the numbers of the round before.
        scalars.fill(0.0);
        scalars[0] = work(&self.residual, update)?;
        scalars[1 + ranks.rank()] = working.elapsed().as_secs_f64();
        ranks.sum(&mut self.numbers);

        let adding = Instant::now();
        let (update, scalars) = self.numbers.split_at(rows);
        let squares = add(update, self.labels, &mut self.margins, &mut self.residual);
        let objective = squares / (2.0 * self.total_weight) + scalars[0];
        Ok(Round {
            objective,
            worker: scalars[1..].iter().copied().fold(0.0, f64::max),
            leader: adding.elapsed().as_secs_f64(),
            elapsed: start.elapsed().as_secs_f64(),
        })
    }
}

/// `z += update`, `r = -(z - y)`; returns `sum_j r_j^2`. All have the same length.
fn add(update: &[f64], labels: &[f64], margins: &mut [f64], residual: &mut [f64]) -> f64 {
    let add = |u: &f64, y: &f64, z: &mut f64, r: &mut f64| {
        *z += u;
        *r = -(*z - y);
        *r * *r
    };
    let (u, u_rest) = update.as_chunks::<LANES>();
    let (y, y_rest) = labels.as_chunks::<LANES>();
    let (z, z_rest) = margins.as_chunks_mut::<LANES>();
    let (r, r_rest) = residual.as_chunks_mut::<LANES>();
    let mut sums = [0.0; LANES];
    for (((u, y), z), r) in u.iter().zip(y).zip(z).zip(r) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum += add(&u[lane], &y[lane], &mut z[lane], &mut r[lane]);
        }
    }
    for ((((u, y), z), r), sum) in u_rest
        .iter()
        .zip(y_rest)
        .zip(z_rest)
        .zip(r_rest)
        .zip(&mut sums)
    {
        *sum += add(u, y, z, r);
    }
    sums.iter().sum()
}

/// Runs `rounds` rounds of `worker`, which starts at 0.
///
/// # Errors
/// Those of the solver of this rank. The other ranks then wait for it, so the caller must end all.
pub fn fit(
    exchange: &mut Exchange<'_>,
    worker: &mut Worker<'_>,
    ranks: &mut impl Ranks,
    rounds: usize,
) -> Result<Vec<Round>, Failure> {
    let mut history = Vec::with_capacity(rounds);
    let start = Instant::now();
    exchange.restart();
    let restarting = start.elapsed().as_secs_f64();
    for _ in 0..rounds {
        history.push(exchange.round(ranks, start, |residual, update| {
            worker.round(residual, update)
        })?);
    }
    // The first residual is the leader's work, too.
    if let Some(first) = history.first_mut() {
        first.leader += restarting;
    }
    Ok(history)
}

/// Median seconds of a round without work, on a vector of one entry.
///
/// # Errors
/// None of its own.
pub fn empty_round(ranks: &mut impl Ranks) -> Result<f64, Failure> {
    let mut exchange = Exchange::new(&[0.0], 1.0, ranks.count());
    let mut seconds = Vec::with_capacity(EMPTY_WARM_UP + EMPTY_ROUNDS);
    for _ in 0..EMPTY_WARM_UP + EMPTY_ROUNDS {
        let round = exchange.round(ranks, Instant::now(), |_, update| {
            update.fill(0.0);
            Ok(0.0)
        })?;
        seconds.push(round.elapsed);
    }
    let measured = &mut seconds[EMPTY_WARM_UP..];
    measured.sort_by(f64::total_cmp);
    Ok((measured[EMPTY_ROUNDS / 2 - 1] + measured[EMPTY_ROUNDS / 2]) / 2.0)
}
