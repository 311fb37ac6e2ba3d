//! What programs under mpirun have in common: the ranks, and how all of them end where one fails.

use std::{mem, panic, path::Path, process};

use mpi::{collective::SystemOperation, topology::SimpleCommunicator, traits::*};

use crate::{failure::Failure, rounds::Ranks};

/// Exit status for wrong options and files, and for a solver that cannot go on.
const FAILED: i32 = 2;

/// A program on every rank: reads what it needs, and works when all have it. Where a rank fails, the program says why and ends on all.
pub fn run<T>(
    name: &'static str,
    read: impl FnOnce(&World<'_>) -> Result<T, Failure>,
    work: impl FnOnce(T, &mut World<'_>) -> Result<(), Failure>,
) {
    end_all_on_panic();
    let universe = mpi::initialize().expect("MPI is initialised here only");
    let communicator = universe.world();
    let mut world = World {
        name,
        communicator: &communicator,
        sums: Vec::new(),
    };
    let input = read(&world);
    let input = world.agreed(input);
    if let Err(failure) = work(input, &mut world) {
        world.end_all(&failure);
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

/// All ranks that mpirun started.
pub struct World<'a> {
    /// Of the program, for messages.
    name: &'static str,
    communicator: &'a SimpleCommunicator,
    /// For sums: the binding has none that are in place.
    sums: Vec<f64>,
}

impl World<'_> {
    /// Whether mpirun has started a rank for each of the `partitions` of a directory.
    ///
    /// # Errors
    /// Names the directory, and both numbers.
    pub fn is_one_rank_each(&self, directory: &Path, partitions: usize) -> Result<(), Failure> {
        let ranks = self.count();
        if ranks == partitions {
            return Ok(());
        }
        Err(Failure::new(
            directory.display(),
            format!(
                "{partitions} partitions, but mpirun started {ranks} ranks: one for each is needed"
            ),
        ))
    }

    /// Says why, and ends every rank.
    fn end_all(&self, failure: &Failure) -> ! {
        eprintln!("{}: rank {}: {failure}", self.name, self.rank());
        self.communicator.abort(FAILED)
    }

    /// Where a rank has failed, the first one that has says so and all end: most failures are those of all ranks, and one message is enough.
    fn agreed<T>(&self, result: Result<T, Failure>) -> T {
        let (nobody, rank) = (self.communicator.size(), self.communicator.rank());
        let mut first = nobody;
        let own = if result.is_ok() { nobody } else { rank };
        self.communicator
            .all_reduce_into(&own, &mut first, SystemOperation::min());
        match result {
            Ok(value) if first == nobody => value,
            Err(failure) if first == rank => self.end_all(&failure),
            _ => {
                self.communicator.barrier();
                unreachable!("rank {first} ends all ranks and does not come here");
            }
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
