//! The E-step of the documents of a batch on several threads, to the bits of one.
//!
//! First each thread infers documents, and adds nothing. Then each adds to a range of words what the documents found, in the order of the documents.
//! No thread needs statistics of its own, and no sum depends on the threads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::{ThreadPool, prelude::*};

use super::{
    documents::Copies,
    estep::EStep,
    found::{AddRows, Found},
    lanes::{Kernel, Real},
    table::Table,
};
use crate::base::error::SolverError;

/// Documents that a thread infers before another may take over the rest.
const TOGETHER: usize = 4;

/// Ranges of words for each thread, so that one with frequent words does not keep the others waiting.
const RANGES: usize = 4;

/// A document in so many tells how frequent words are.
const SAMPLED: usize = 8;

/// Something for each thread of a pool.
#[derive(Debug)]
pub(super) struct OfThreads<T>(Vec<Mutex<T>>);

impl<T> OfThreads<T> {
    /// Makes one for each of so many threads.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn new(
        threads: usize,
        make: impl Fn() -> Result<T, SolverError>,
    ) -> Result<Self, SolverError> {
        let all: Result<_, _> = (0..threads).map(|_| make().map(Mutex::new)).collect();
        Ok(Self(all?))
    }

    /// That of the calling thread, which belongs to the pool. Other threads share one.
    pub fn own(&self) -> MutexGuard<'_, T> {
        let thread = rayon::current_thread_index().unwrap_or(0) % self.0.len();
        self.0[thread]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The threads of a round, and what they found of the documents last copied.
#[derive(Debug)]
pub(super) struct Team<'p, R> {
    pub pool: &'p ThreadPool,
    esteps: OfThreads<EStep<R>>,
    found: Vec<Found<R>>,
}

impl<'p, R: Real> Team<'p, R> {
    /// A team of the threads of `pool`. `make` makes an E-step.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn new(pool: &'p ThreadPool, make: impl Fn() -> EStep<R>) -> Result<Self, SolverError> {
        Ok(Self {
            pool,
            esteps: OfThreads::new(pool.current_num_threads(), || Ok(make()))?,
            found: Vec::new(),
        })
    }

    /// Makes room for documents of up to so many words.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn make_room(&mut self, words: usize) -> Result<(), SolverError> {
        let mut esteps = self.esteps.0.iter_mut();
        esteps.try_for_each(|estep| {
            let estep = estep.get_mut().unwrap_or_else(PoisonError::into_inner);
            estep.make_room(words)
        })
    }

    /// The E-step of each document, whose words are in the table, and its addition to the statistics. Returns what it found of the documents, in their
    /// order.
    pub fn infer(
        &mut self,
        documents: &Copies,
        table: &mut Table<R>,
        kernel: Kernel,
        concentration: bool,
    ) -> &[Found<R>] {
        let count = documents.len();
        if self.found.len() < count {
            self.found.resize_with(count, Found::default);
        }
        let (esteps, found) = (&self.esteps, &mut self.found[..count]);
        let (pool, shared) = (self.pool, &*table);
        pool.install(|| {
            let each = found.par_iter_mut().with_max_len(TOGETHER).enumerate();
            each.for_each(|(d, found)| {
                let mut estep = esteps.own();
                estep.start(documents.words(d).iter().copied(), shared);
                estep.run();
                estep.write(found, concentration);
            });
        });
        let documents = &*found;
        let ends = ends(documents, RANGES * pool.current_num_threads());
        let ranges = table.split(&ends);
        pool.install(|| {
            let each = ranges.into_par_iter().with_max_len(1);
            each.for_each(|rows| R::run(kernel, AddRows { documents, rows }));
        });
        documents
    }
}

/// Rows of the table, rising, before which ranges with about as many entries each end.
fn ends<R>(documents: &[Found<R>], ranges: usize) -> Vec<u32> {
    let sampled = documents.iter().step_by(SAMPLED);
    let mut slots: Vec<u32> = sampled.flat_map(|found| &found.slots).copied().collect();
    slots.sort_unstable();
    let ends = (1..ranges).filter_map(|k| slots.get(k * slots.len() / ranges));
    let mut ends: Vec<u32> = ends.copied().collect();
    ends.dedup();
    ends
}
