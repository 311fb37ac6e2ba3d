//! `mpirun -np K dwell-mpi-sgd --data DIR --step ETA --steps N,... --output DIR`: K is the number of partitions in the first DIR. Writes
//! `history.json` and, after each of the given numbers of rounds, the model as a file of doubles.

#![forbid(unsafe_code)]

use std::{env, fs};

use dwell_mpi::{
    Checkpoint, Failure, Ranks, RowPartition, RowProblem, SgdOptions, World, average, run,
};
use serde_json::json;

fn main() {
    run("dwell-mpi-sgd", Input::read, Input::run);
}

/// The inputs of one rank.
struct Input {
    options: SgdOptions,
    problem: RowProblem,
    partition: RowPartition,
}

impl Input {
    fn read(world: &World<'_>) -> Result<Self, Failure> {
        let options = SgdOptions::parse(env::args_os().skip(1))?;
        let problem = RowProblem::read(&options.data)?;
        world.is_one_rank_each(&options.data, problem.parts.len())?;
        Ok(Self {
            partition: RowPartition::read(&options.data, &problem, world.rank())?,
            problem,
            options,
        })
    }

    /// Fits, and writes the output on rank 0.
    fn run(self, ranks: &mut World<'_>) -> Result<(), Failure> {
        let data = self.partition.data()?;
        let mut fit =
            |rounds: &[usize]| average(&self.problem, &data, self.options.step, rounds, ranks);
        // Warm-up.
        fit(&[1])?;
        let checkpoints = fit(&self.options.steps)?;
        if ranks.rank() == 0 {
            self.write(&checkpoints)?;
        }
        Ok(())
    }

    fn write(&self, checkpoints: &[Checkpoint]) -> Result<(), Failure> {
        let write = |name: &str, bytes: &[u8]| {
            let path = self.options.output.join(name);
            fs::write(&path, bytes).map_err(|error| Failure::new(path.display(), error))
        };
        let mut history = Vec::with_capacity(checkpoints.len());
        for (k, checkpoint) in checkpoints.iter().enumerate() {
            let name = format!("model-{k}.f64");
            write(&name, bytemuck::cast_slice(&checkpoint.model))?;
            history.push(json!({
                "steps": checkpoint.rounds,
                "seconds": checkpoint.seconds,
                "model": name,
            }));
        }
        let history = json!({"checkpoints": history});
        write("history.json", history.to_string().as_bytes())
    }
}
