//! `mpirun -np K dwell-mpi --data DIR --local-work H,... --rounds N --output FILE`: K is the number of partitions in DIR.

#![forbid(unsafe_code)]

use std::{env, fs::File, io::Write};

use dwell_mpi::{
    Certificates, Exchange, Failure, Fit, Options, Partition, Problem, Ranks, Worker, World,
    empty_round, fit, read_labels, run, to_json,
};

/// Most rounds of the fit that is not measured.
const WARM_UP_ROUNDS: usize = 3;

fn main() {
    run("dwell-mpi", Input::read, Input::run);
}

/// The inputs of one rank.
struct Input {
    options: Options,
    problem: Problem,
    labels: Vec<f64>,
    partition: Partition,
    /// On rank 0. The program opens it before the work, so that a wrong name does not lose the results.
    output: Option<File>,
}

impl Input {
    fn read(world: &World<'_>) -> Result<Self, Failure> {
        let options = Options::parse(env::args_os().skip(1))?;
        let problem = Problem::read(&options.data)?;
        world.is_one_rank_each(&options.data, problem.parts.len())?;
        let rank = world.rank();
        Ok(Self {
            labels: read_labels(&options.data, problem.rows)?,
            partition: Partition::read(&options.data, &problem, rank)?,
            output: if rank == 0 {
                Some(
                    File::create(&options.output)
                        .map_err(|error| output_failed(&options, error))?,
                )
            } else {
                None
            },
            problem,
            options,
        })
    }

    /// Fits, and writes the output on rank 0.
    fn run(self, ranks: &mut World<'_>) -> Result<(), Failure> {
        let mut exchange = Exchange::new(&self.labels, self.problem.total_weight, ranks.count());
        let data = self.partition.data()?;
        let mut run = |local_work: f64, rounds: usize| -> Result<Fit, Failure> {
            let mut worker = Worker::new(
                &self.problem,
                data,
                ranks.rank(),
                local_work,
                Certificates::new(self.options.certificates, local_work),
            )?;
            Ok(Fit {
                local_work,
                rounds: fit(&mut exchange, &mut worker, ranks, rounds)?,
            })
        };
        let rounds = self.options.rounds;
        run(self.options.local_work[0], rounds.min(WARM_UP_ROUNDS))?;
        let fits: Vec<Fit> = self
            .options
            .local_work
            .iter()
            .map(|&local_work| run(local_work, rounds))
            .collect::<Result<_, _>>()?;
        let empty = empty_round(ranks)?;
        if let Some(mut output) = self.output {
            output
                .write_all(to_json(empty, &fits).to_string().as_bytes())
                .map_err(|error| output_failed(&self.options, error))?;
        }
        Ok(())
    }
}

fn output_failed(options: &Options, error: impl std::fmt::Display) -> Failure {
    Failure::new(options.output.display(), error)
}
