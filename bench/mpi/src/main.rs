//! `mpirun -np K dwell-mpi --data DIR --local-work H,... --rounds N --output FILE`: K is the number of partitions in DIR.

#![forbid(unsafe_code)]

use std::{env, fs::File, io::Write, mem, panic, process};

use dwell_mpi::{
    Certificates, Exchange, Failure, Fit, Options, Partition, Problem, Ranks, Worker, empty_round,
    fit, read_labels, to_json,
};
use mpi::{collective::SystemOperation, topology::SimpleCommunicator, traits::*};

/// Exit status for wrong options and files, and for a solver that cannot go on.
const FAILED: i32 = 2;

/// Rounds of the fit that is not measured, at most.
const WARM_UP_ROUNDS: usize = 3;

fn main() {
    end_all_on_panic();
    let universe = mpi::initialize().expect("MPI is initialised here only");
    let world = universe.world();
    let input = agreed(&world, Input::read(&world));
    if let Err(failure) = input.run(&mut World::of(&world)) {
        end_all(&world, &failure);
    }
}

/// Ranks that unwind would wait in `MPI_Finalize` for ranks that wait for them: killed, they make mpirun end all.
fn end_all_on_panic() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        print(panic);
        process::abort();
    }));
}

/// Says why, and ends every rank.
fn end_all(world: &SimpleCommunicator, failure: &Failure) -> ! {
    eprintln!("dwell-mpi: rank {}: {failure}", world.rank());
    world.abort(FAILED)
}

/// Where a rank has failed, the first one that has says so and all end: most failures are those of all ranks, and one message is enough.
fn agreed<T>(world: &SimpleCommunicator, result: Result<T, Failure>) -> T {
    let nobody = world.size();
    let mut first = nobody;
    let own = if result.is_ok() { nobody } else { world.rank() };
    world.all_reduce_into(&own, &mut first, SystemOperation::min());
    match result {
        Ok(value) if first == nobody => value,
        Err(failure) if first == world.rank() => end_all(world, &failure),
        _ => {
            world.barrier();
            unreachable!("rank {first} ends all ranks and does not come here");
        }
    }
}

/// What one rank needs.
struct Input {
    options: Options,
    problem: Problem,
    labels: Vec<f64>,
    partition: Partition,
    /// On rank 0; opened before the work, so that a wrong name does not cost it.
    output: Option<File>,
}

impl Input {
    fn read(world: &SimpleCommunicator) -> Result<Self, Failure> {
        let options = Options::parse(env::args_os().skip(1))?;
        let problem = Problem::read(&options.data)?;
        let (rank, ranks) = (world.rank() as usize, world.size() as usize);
        if ranks != problem.parts.len() {
            return Err(Failure::new(
                options.data.display(),
                format!(
                    "{} partitions, but mpirun started {ranks} ranks: one for each is needed",
                    problem.parts.len()
                ),
            ));
        }
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

/// All ranks that mpirun started.
struct World<'a> {
    communicator: &'a SimpleCommunicator,
    /// For sums: the binding has none that are in place.
    sums: Vec<f64>,
}

impl<'a> World<'a> {
    fn of(communicator: &'a SimpleCommunicator) -> Self {
        Self {
            communicator,
            sums: Vec::new(),
        }
    }
}

impl Ranks for World<'_> {
    fn rank(&self) -> usize {
        self.communicator.rank() as usize
    }

    fn count(&self) -> usize {
        self.communicator.size() as usize
    }

    fn sum(&mut self, numbers: &mut Vec<f64>) {
        self.sums.resize(numbers.len(), 0.0);
        self.communicator
            .all_reduce_into(&numbers[..], &mut self.sums[..], SystemOperation::sum());
        mem::swap(numbers, &mut self.sums);
    }
}
