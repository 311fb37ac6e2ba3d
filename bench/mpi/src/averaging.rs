//! MA-SGD: every rank makes a pass over its rows from the common model, and one sum over all ranks averages the models.

use std::{mem, time::Instant};

use dwell_solvers::{
    LabelledRows, Schedule, ScheduleKind, SgdData, SgdOutcome, SgdParams, SgdRound, SolverError,
    Views,
};

use crate::{failure::Failure, rounds::Ranks, row_directory::RowProblem};

/// The model after some rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    pub rounds: usize,
    /// Seconds from the start of the fit, without the time for copying models.
    pub seconds: f64,
    /// Coefficients, n.
    pub model: Vec<f64>,
}

/// Runs rounds from a model of zeros, up to the last of `at`, which rise; returns on every rank the models after these rounds. `data`: the
/// partition of this rank.
///
/// The average weighs models by rows. Steps shrink as Dwell's do by default: as `eta0 / (1 + l2 eta0 t)` after t rows, and without a
/// penalty with the root of the passes. A rank whose numbers are no longer finite returns the model that it began with.
///
/// # Errors
/// Those of the solver of this rank. The other ranks then wait for it, so the caller must end all.
pub fn average(
    problem: &RowProblem,
    data: &SgdData<'_>,
    eta0: f64,
    at: &[usize],
    ranks: &mut impl Ranks,
) -> Result<Vec<Checkpoint>, Failure> {
    let mut checkpoints = Vec::with_capacity(at.len());
    let last = at.last().copied().unwrap_or(0);
    // The last number is the intercept; it stays 0.
    let mut model = vec![0.0; problem.features + 1];
    let mut sum = model.clone();
    let mut worker = Worker::new(problem, data, eta0, ranks.rank());
    let start = Instant::now();
    let mut copying = 0.0;
    for rounds in 1..=last {
        worker.descend(data, &model, &mut sum)?;
        ranks.sum(&mut sum);
        mem::swap(&mut model, &mut sum);
        if at.contains(&rounds) {
            let before = start.elapsed().as_secs_f64();
            checkpoints.push(Checkpoint {
                rounds,
                seconds: before - copying,
                model: model[..problem.features].to_vec(),
            });
            copying += start.elapsed().as_secs_f64() - before;
        }
    }
    Ok(checkpoints)
}

/// The position of a rank in its rows.
struct Worker {
    params: SgdParams,
}

impl Worker {
    fn new(problem: &RowProblem, data: &SgdData<'_>, eta0: f64, rank: usize) -> Self {
        let rows = data.rows().len();
        let l2 = problem.sgd.l2;
        let (kind, rate) = if l2 > 0.0 {
            (ScheduleKind::Inverse, l2)
        } else {
            (ScheduleKind::InverseSquareRoot, 1.0 / rows.max(1) as f64)
        };
        Self {
            params: SgdParams {
                problem: problem.sgd,
                schedule: Schedule { kind, eta0, rate },
                seed: problem.seed,
                partition: rank as u32,
                budget: rows.max(1) as u64,
                cursor: 0,
                steps: 0,
                share: rows as f64 / problem.rows() as f64,
                threads: 1,
            },
        }
    }

    /// A pass from `shared`; writes this rank's part of the average.
    fn descend(
        &mut self,
        data: &SgdData<'_>,
        shared: &[f64],
        part: &mut [f64],
    ) -> Result<(), SolverError> {
        let blocks = [*data];
        let mut blocks = Views::<LabelledRows>::new(&blocks)?;
        let round = SgdRound::run(self.params.check()?, shared, &mut blocks, None)?;
        let shared = bytemuck::cast_slice(shared);
        round.write_update(0, shared, bytemuck::cast_slice_mut(part))?;
        let SgdOutcome { cursor, steps, .. } = round.finish();
        self.params.cursor = cursor;
        self.params.steps = steps;
        Ok(())
    }
}
