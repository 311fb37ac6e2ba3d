//! Sums over all coordinates: the separable part of the objective, its changes, and the parts of the certificate.
//!
//! A pass cuts the coordinates of a block into fixed chunks and adds the sums of the chunks in order. The result is the same to the bit for
//! every number of threads.

use rayon::prelude::*;

use super::{
    subproblem::{Certificate, DataOf, Separable, Subproblem, same_shape},
    sums::Sums,
};
use crate::base::{
    blocks::{Blocks, LOAN},
    entries::{Column, Entries, TOGETHER},
    error::{SolverError, reserve},
    kernel::{WithEntries, with_entries},
};

/// Coordinates in a chunk.
const CHUNK: usize = 4096;

/// A chunk of coordinates of a block, with the sums over those before `next`.
#[derive(Debug)]
pub(super) struct Chunk {
    next: usize,
    end: usize,
    sums: Sums,
}

/// The numbers that a pass sums. Chunks count the coordinates of their block; `first` is the first coordinate of the block.
pub(super) trait Summand<S: Separable>: Sync {
    /// Work of some coordinates: one unit each, and one for each entry that it reads.
    fn work(&self, data: &S::Data<'_>, start: usize, end: usize) -> usize;

    /// Continues with a chunk for about `budget` units of work; returns the units spent.
    fn advance(&self, data: &S::Data<'_>, first: usize, chunk: &mut Chunk, budget: usize) -> usize;
}

/// The sums over all coordinates: block after block, and chunk after chunk of each. The shared vector has `length` entries.
///
/// # Errors
/// `Shape` for a block that does not fit, `OutOfMemory`, errors of the owner of the blocks.
pub(super) fn total<S: Separable, B>(
    blocks: &mut B,
    length: usize,
    summand: &impl Summand<S>,
    pool: Option<&rayon::ThreadPool>,
) -> Result<Sums, B::Error>
where
    B: for<'a> Blocks<Block<'a> = S::Data<'a>>,
{
    let mut total = Sums::ZERO;
    for block in 0..blocks.count() {
        let coordinates = blocks.coordinates(block);
        let mut chunks = chunks(coordinates.len())?;
        let mut done = 0;
        while done < chunks.len() {
            done += blocks.lend(|loan| {
                let data = loan.block(block)?;
                same_shape::<S>(&data, coordinates.len(), S::SHARED, length)?;
                Ok(advance(
                    summand,
                    &data,
                    coordinates.start,
                    &mut chunks[done..],
                    pool,
                ))
            })?;
        }
        for chunk in &chunks {
            total.add(&chunk.sums);
        }
    }
    Ok(total)
}

/// The chunks of a block.
fn chunks(coordinates: usize) -> Result<Vec<Chunk>, SolverError> {
    let mut chunks = reserve(coordinates.div_ceil(CHUNK), "the sums of the coordinates")?;
    chunks.extend((0..coordinates).step_by(CHUNK).map(|next| Chunk {
        next,
        end: (next + CHUNK).min(coordinates),
        sums: Sums::ZERO,
    }));
    Ok(chunks)
}

/// Continues with chunks for about [`LOAN`] units of work on each thread; returns how many of them are done.
fn advance<S: Separable>(
    summand: &impl Summand<S>,
    data: &S::Data<'_>,
    first: usize,
    chunks: &mut [Chunk],
    pool: Option<&rayon::ThreadPool>,
) -> usize {
    let threads = pool.map_or(1, rayon::ThreadPool::current_num_threads);
    let mut planned = 0;
    let mut until = 0;
    while until < chunks.len() && planned < LOAN.saturating_mul(threads) {
        planned += summand
            .work(data, chunks[until].next, chunks[until].end)
            .min(LOAN);
        until += 1;
    }
    let window = &mut chunks[..until];
    match pool {
        Some(pool) if threads > 1 => pool.install(|| {
            window.par_iter_mut().with_max_len(1).for_each(|chunk| {
                summand.advance(data, first, chunk, LOAN);
            });
        }),
        _ => {
            let mut spent = 0;
            for chunk in window {
                spent += summand.advance(data, first, chunk, LOAN.saturating_sub(spent));
            }
        }
    }
    chunks.iter().take_while(|c| c.next == c.end).count()
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
pub(super) struct Value<'a, S: Separable> {
    pub objective: &'a S,
    pub alpha: &'a [f64],
}

impl<S: Separable> Summand<S> for Value<'_, S> {
    fn work(&self, _: &S::Data<'_>, start: usize, end: usize) -> usize {
        end - start
    }

    fn advance(&self, data: &S::Data<'_>, first: usize, chunk: &mut Chunk, budget: usize) -> usize {
        one_by_one(chunk, budget, |i, sums| {
            sums.value += self.objective.value(data, i, self.alpha[first + i]);
        })
    }
}

/// The separable part of the objective at `after`, and how it changes from `start` on along `after - start` and along `previous`.
pub(super) struct Change<'a, S: Separable> {
    pub objective: &'a S,
    pub start: &'a [f64],
    pub after: &'a [f64],
    pub previous: &'a [f64],
    pub points: &'a [[f64; 2]],
}

impl<S: Separable> Summand<S> for Change<'_, S> {
    fn work(&self, _: &S::Data<'_>, start: usize, end: usize) -> usize {
        end - start
    }

    fn advance(&self, data: &S::Data<'_>, first: usize, chunk: &mut Chunk, budget: usize) -> usize {
        let objective = self.objective;
        one_by_one(chunk, budget, |i, sums| {
            let at = first + i;
            let (a, after, previous) = (self.start[at], self.after[at], self.previous[at]);
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
pub(super) struct Certified<'a, P: Subproblem> {
    pub subproblem: &'a P,
    pub alpha: &'a [f64],
    pub certificate: Certificate<'a, P::Running>,
}

impl<P: Subproblem> Summand<P::Objective> for Certified<'_, P> {
    fn work(&self, data: &DataOf<'_, P>, start: usize, end: usize) -> usize {
        if start == end {
            return 0;
        }
        let columns = P::Objective::columns(data);
        end - start + (columns.entries(end - 1).end - columns.entries(start).start)
    }

    fn advance(
        &self,
        data: &DataOf<'_, P>,
        first: usize,
        chunk: &mut Chunk,
        budget: usize,
    ) -> usize {
        with_entries(
            &P::Objective::columns(data),
            CertifiedEntries {
                summand: self,
                data,
                first,
                chunk,
                budget,
            },
        )
    }
}

/// A part of [`Certified`], compiled once for each kind of entries.
struct CertifiedEntries<'a, 'b, 'd, P: Subproblem> {
    summand: &'a Certified<'b, P>,
    data: &'a DataOf<'d, P>,
    first: usize,
    chunk: &'a mut Chunk,
    budget: usize,
}

impl<P: Subproblem> WithEntries for CertifiedEntries<'_, '_, '_, P> {
    type Output = usize;

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) -> usize {
        let Certified {
            subproblem,
            alpha,
            certificate,
        } = self.summand;
        let alpha = &alpha[self.first..];
        let chunk = self.chunk;
        let mut dots = [0.0; TOGETHER];
        let mut spent = 0;
        while chunk.next < chunk.end && spent < self.budget {
            let count = entries.together(self.budget - spent);
            let group = chunk.next..chunk.end.min(chunk.next + count);
            entries.dots(group.clone(), certificate.vector, &mut dots);
            for (i, &dot) in group.clone().zip(&dots) {
                spent += 1 + entries.column(i).len();
                subproblem.certify(self.data, certificate, i, alpha[i], dot, &mut chunk.sums);
            }
            chunk.next = group.end;
        }
        spent
    }
}
