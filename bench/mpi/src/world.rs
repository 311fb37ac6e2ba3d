//! The common parts of programs under mpirun: the ranks, and how all of them end if one fails.

use std::{mem, panic, path::Path, process};

use mpi::{collective::SystemOperation, topology::SimpleCommunicator, traits::*};

use crate::{failure::Failure, rounds::Ranks};

/// Exit status for wrong options and files, and for a solver that cannot continue.
const FAILED: i32 = 2;

/// Runs a program on every rank: it reads its inputs, and works once all ranks have theirs. If a rank fails, the program prints the reason
/// and ends on all ranks.
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

/// Ranks that unwind would wait in `MPI_Finalize` for ranks that wait for them. If they are killed instead, mpirun ends all.
fn end_all_on_panic() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        print(panic);
        process::abort();
    }));
}

/// All ranks that mpirun started.
pub struct World<'a> {
    /// The name of the program, for messages.
    name: &'static str,
    communicator: &'a SimpleCommunicator,
    /// Memory for sums: the binding offers none in place.
    sums: Vec<f64>,
}

impl World<'_> {
    /// Refuses a number of ranks other than the number of `partitions` of a directory.
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

    /// Prints the reason, and ends every rank.
    fn end_all(&self, failure: &Failure) -> ! {
        eprintln!("{}: rank {}: {failure}", self.name, self.rank());
        self.communicator.abort(FAILED)
    }

    /// If ranks have failed, the first of them prints its reason and all end. Most failures hit all ranks, so one message is enough.
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
