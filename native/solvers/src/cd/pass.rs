//! Sums over all coordinates: the separable part of the objective, its changes, and the parts of the certificate.
//!
//! A pass cuts the coordinates into fixed chunks and adds the sums of the chunks in order. The result is the same to the bit for every
//! number of threads and for every cut into slices.

use rayon::prelude::*;

use super::{
    subproblem::{Certificate, DataOf, Separable, Subproblem},
    sums::Sums,
};
use crate::base::{
    entries::{Column, Entries, TOGETHER},
    error::{SolverError, reserve},
    kernel::{WithEntries, with_entries},
};

/// Coordinates in a chunk.
const CHUNK: usize = 4096;

/// A chunk of coordinates, with the sums over those before `next`.
#[derive(Debug)]
pub(super) struct Chunk {
    next: usize,
    end: usize,
    sums: Sums,
}

/// The numbers that a pass sums.
pub(super) trait Summand: Sync {
    /// Work of some coordinates: one unit each, and one for each entry that it reads.
    fn work(&self, start: usize, end: usize) -> usize;

    /// Continues with a chunk for about `budget` units of work; returns the units spent.
    fn advance(&self, chunk: &mut Chunk, budget: usize) -> usize;
}

/// A resumable pass over all coordinates.
#[derive(Debug)]
pub(super) struct Pass {
    chunks: Vec<Chunk>,
    /// All chunks before this one are done.
    first: usize,
}

impl Pass {
    /// A pass over this number of coordinates. `OutOfMemory` if its chunks find no room.
    pub fn new(coordinates: usize) -> Result<Self, SolverError> {
        let mut chunks = reserve(coordinates.div_ceil(CHUNK), "the sums of the coordinates")?;
        chunks.extend((0..coordinates).step_by(CHUNK).map(|next| Chunk {
            next,
            end: (next + CHUNK).min(coordinates),
            sums: Sums::ZERO,
        }));
        Ok(Self { chunks, first: 0 })
    }

    /// Continues for about `budget` units of work on each thread; returns the units of one thread.
    pub fn advance<S: Summand>(
        &mut self,
        summand: &S,
        budget: usize,
        pool: Option<&rayon::ThreadPool>,
    ) -> usize {
        let threads = pool.map_or(1, rayon::ThreadPool::current_num_threads);
        let wanted = budget.saturating_mul(threads);
        let mut planned = 0;
        let mut until = self.first;
        while until < self.chunks.len() && planned < wanted {
            planned += summand
                .work(self.chunks[until].next, self.chunks[until].end)
                .min(budget);
            until += 1;
        }
        let window = &mut self.chunks[self.first..until];
        let spent = match pool {
            Some(pool) if threads > 1 => {
                let spent: usize = pool.install(|| {
                    window
                        .par_iter_mut()
                        .with_max_len(1)
                        .map(|chunk| summand.advance(chunk, budget))
                        .sum()
                });
                spent.div_ceil(threads)
            }
            _ => {
                let mut spent = 0;
                for chunk in window {
                    spent += summand.advance(chunk, budget.saturating_sub(spent));
                }
                spent
            }
        };
        while self.chunks.get(self.first).is_some_and(|c| c.next == c.end) {
            self.first += 1;
        }
        spent
    }

    /// Whether all coordinates are summed.
    pub fn is_done(&self) -> bool {
        self.first == self.chunks.len()
    }

    /// The sums over all coordinates, once it is done.
    pub fn sums(&self) -> Sums {
        let mut total = Sums::ZERO;
        for chunk in &self.chunks {
            total.add(&chunk.sums);
        }
        total
    }
}

/// Calls `add` for coordinates of the chunk, one unit of work each.
fn one_by_one(chunk: &mut Chunk, budget: usize, mut add: impl FnMut(usize, &mut Sums)) -> usize {
    let start = chunk.next;
    let end = chunk.end.min(start.saturating_add(budget));
    for i in start..end {
        add(i, &mut chunk.sums);
    }
    chunk.next = end;
    end - start
}

/// The separable part of the objective at `alpha`.
pub(super) struct Value<'a, 'd, S: Separable> {
    pub objective: &'a S,
    pub data: &'a S::Data<'d>,
    pub alpha: &'a [f64],
}

impl<S: Separable> Summand for Value<'_, '_, S> {
    fn work(&self, start: usize, end: usize) -> usize {
        end - start
    }

    fn advance(&self, chunk: &mut Chunk, budget: usize) -> usize {
        one_by_one(chunk, budget, |i, sums| {
            sums.value += self.objective.value(self.data, i, self.alpha[i]);
        })
    }
}

/// The separable part of the objective at `after`, and how it changes from `start` on along `after - start` and along `previous`.
pub(super) struct Change<'a, 'd, S: Separable> {
    pub objective: &'a S,
    pub data: &'a S::Data<'d>,
    pub start: &'a [f64],
    pub after: &'a [f64],
    pub previous: &'a [f64],
    pub points: &'a [[f64; 2]],
}

impl<S: Separable> Summand for Change<'_, '_, S> {
    fn work(&self, start: usize, end: usize) -> usize {
        end - start
    }

    fn advance(&self, chunk: &mut Chunk, budget: usize) -> usize {
        let Self {
            objective, data, ..
        } = *self;
        one_by_one(chunk, budget, |i, sums| {
            let (a, after, previous) = (self.start[i], self.after[i], self.previous[i]);
            let delta = after - a;
            let value = objective.value(data, i, after);
            sums.value += value;
            // A variable that stays changes no sum, if it is feasible.
            if delta == 0.0 && previous == 0.0 && value < f64::INFINITY {
                return;
            }
            let (slope, curvature) = objective.quadratic(data, i, a);
            sums.slope[0] += slope * delta;
            sums.slope[1] += slope * previous;
            sums.curve[0] += (curvature * delta) * delta;
            sums.curve[1] += (curvature * delta) * previous;
            sums.curve[2] += (curvature * previous) * previous;
            objective.sample(
                data,
                i,
                a,
                [delta, previous],
                self.points,
                &mut sums.samples,
            );
        })
    }
}

/// The separable part of the objective at the start of a round, and the parts of the certificate.
pub(super) struct Certified<'a, 'd, P: Subproblem> {
    pub subproblem: &'a P,
    pub data: &'a DataOf<'d, P>,
    pub alpha: &'a [f64],
    pub certificate: Certificate<'a, P::Running>,
}

impl<P: Subproblem> Summand for Certified<'_, '_, P> {
    fn work(&self, start: usize, end: usize) -> usize {
        if start == end {
            return 0;
        }
        let columns = P::Objective::columns(self.data);
        end - start + (columns.entries(end - 1).end - columns.entries(start).start)
    }

    fn advance(&self, chunk: &mut Chunk, budget: usize) -> usize {
        with_entries(
            &P::Objective::columns(self.data),
            CertifiedEntries {
                summand: self,
                chunk,
                budget,
            },
        )
    }
}

/// A slice of [`Certified`], compiled once for each kind of entries.
struct CertifiedEntries<'a, 'b, 'd, P: Subproblem> {
    summand: &'a Certified<'b, 'd, P>,
    chunk: &'a mut Chunk,
    budget: usize,
}

impl<P: Subproblem> WithEntries for CertifiedEntries<'_, '_, '_, P> {
    type Output = usize;

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) -> usize {
        let Certified {
            subproblem,
            data,
            alpha,
            certificate,
        } = self.summand;
        let chunk = self.chunk;
        let mut dots = [0.0; TOGETHER];
        let mut spent = 0;
        while chunk.next < chunk.end && spent < self.budget {
            let count = entries.together(self.budget - spent);
            let group = chunk.next..chunk.end.min(chunk.next + count);
            entries.dots(group.clone(), certificate.vector, &mut dots);
            for (i, &dot) in group.clone().zip(&dots) {
                spent += 1 + entries.column(i).len();
                subproblem.certify(data, certificate, i, alpha[i], dot, &mut chunk.sums);
            }
            chunk.next = group.end;
        }
        spent
    }
}
