//! Sums over all columns: penalty, and the parts of the duality certificate.
//!
//! Columns are cut into fixed chunks; the sums of the chunks are added in order. The result is the same to the bit
//! for every number of threads and for every way the work is cut into slices.

use rayon::prelude::*;

use super::{
    data::PrimalData,
    kernel::{Entries, WithEntries, dot, with_entries},
};
use crate::{
    error::{SolverError, reserve},
    penalty::ElasticNet,
};

/// Columns in a chunk.
const CHUNK: usize = 4096;

/// What the certificate needs: `x_i = c_i^T w / S` at the residual of the start of the round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Certificate<'a> {
    pub residual: &'a [f64],
    /// Added to the dot product of a column, times its mean.
    pub shift: f64,
    pub inverse_weight: f64,
    pub centred: bool,
    pub sigma_prime: f64,
}

/// Sums and maxima over some columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ColumnSums {
    pub penalty: f64,
    pub conjugate: f64,
    pub ratio: f64,
    pub correlation: f64,
}

const ZERO: ColumnSums = ColumnSums {
    penalty: 0.0,
    conjugate: 0.0,
    ratio: 0.0,
    correlation: 0.0,
};

#[derive(Debug)]
struct Chunk {
    next: usize,
    end: usize,
    sums: ColumnSums,
}

/// A resumable pass over all columns.
#[derive(Debug)]
pub(super) struct ColumnPass {
    chunks: Vec<Chunk>,
    /// All chunks before this one are finished.
    first: usize,
}

impl ColumnPass {
    pub fn new(columns: usize) -> Result<Self, SolverError> {
        let mut chunks = reserve(columns.div_ceil(CHUNK), "the sums of the columns")?;
        chunks.extend((0..columns).step_by(CHUNK).map(|next| Chunk {
            next,
            end: (next + CHUNK).min(columns),
            sums: ZERO,
        }));
        Ok(Self { chunks, first: 0 })
    }

    /// Continues for about `budget` units of work on each thread; returns the work of the calling thread's share.
    pub fn advance(
        &mut self,
        data: &PrimalData<'_>,
        penalty: &ElasticNet,
        alpha: &[f64],
        certificate: Option<Certificate<'_>>,
        budget: usize,
        pool: Option<&rayon::ThreadPool>,
    ) -> usize {
        let task = Task {
            data,
            penalty,
            alpha,
            certificate,
        };
        let threads = pool.map_or(1, rayon::ThreadPool::current_num_threads);
        let wanted = budget.saturating_mul(threads);
        let mut planned = 0;
        let mut until = self.first;
        while until < self.chunks.len() && planned < wanted {
            planned += task
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
                        .map(|chunk| task.advance(chunk, budget))
                        .sum()
                });
                spent.div_ceil(threads)
            }
            _ => {
                let mut spent = 0;
                for chunk in window {
                    spent += task.advance(chunk, budget.saturating_sub(spent));
                }
                spent
            }
        };
        while self.chunks.get(self.first).is_some_and(|c| c.next == c.end) {
            self.first += 1;
        }
        spent
    }

    pub fn is_done(&self) -> bool {
        self.first == self.chunks.len()
    }

    /// The sums over all columns, once it is done.
    pub fn sums(&self) -> ColumnSums {
        self.chunks.iter().fold(ZERO, |total, chunk| ColumnSums {
            penalty: total.penalty + chunk.sums.penalty,
            conjugate: total.conjugate + chunk.sums.conjugate,
            ratio: total.ratio.max(chunk.sums.ratio),
            correlation: total.correlation.max(chunk.sums.correlation),
        })
    }
}

/// What is summed over the columns.
#[derive(Clone, Copy)]
struct Task<'a> {
    data: &'a PrimalData<'a>,
    penalty: &'a ElasticNet,
    alpha: &'a [f64],
    certificate: Option<Certificate<'a>>,
}

impl Task<'_> {
    /// Work of some columns: one unit each, and one for each entry that is read.
    fn work(&self, start: usize, end: usize) -> usize {
        let entries = match self.certificate {
            None => 0,
            Some(_) if start == end => 0,
            Some(_) => {
                self.data.columns.entries(end - 1).end - self.data.columns.entries(start).start
            }
        };
        end - start + entries
    }

    fn advance(&self, chunk: &mut Chunk, budget: usize) -> usize {
        let columns = &self.data.columns;
        let mut spent = 0;
        match self.certificate {
            None => {
                let end = chunk.end.min(chunk.next.saturating_add(budget));
                for i in chunk.next..end {
                    chunk.sums.penalty += self.column_penalty(i).value(self.alpha[i]);
                }
                spent = end - chunk.next;
                chunk.next = end;
            }
            Some(certificate) => with_entries(
                columns.values(),
                columns.nonzeros(),
                CertifiedColumns {
                    task: self,
                    certificate,
                    chunk,
                    budget,
                    spent: &mut spent,
                },
            ),
        }
        spent
    }

    #[inline(always)]
    fn column_penalty(&self, i: usize) -> crate::penalty::ColumnPenalty {
        self.penalty.of_column(&self.data.moments, i)
    }
}

struct CertifiedColumns<'a> {
    task: &'a Task<'a>,
    certificate: Certificate<'a>,
    chunk: &'a mut Chunk,
    budget: usize,
    spent: &'a mut usize,
}

impl WithEntries for CertifiedColumns<'_> {
    type Output = ();

    fn run<E: Entries>(self, values: E) {
        let Self {
            task,
            certificate,
            chunk,
            budget,
            spent,
        } = self;
        let columns = &task.data.columns;
        let moments = &task.data.moments;
        let sums = &mut chunk.sums;
        while chunk.next < chunk.end && *spent < budget {
            let i = chunk.next;
            let entries = columns.entries(i);
            *spent += 1 + entries.len();
            let rows = &columns.indices()[entries.clone()];
            let mut sum = dot(rows, values.part(entries), certificate.residual);
            let (mean, variance) = (moments.mean[i], moments.variance[i]);
            if certificate.centred {
                sum += mean * certificate.shift;
            }
            let x = sum * certificate.inverse_weight;
            let penalty = task.column_penalty(i);
            sums.penalty += penalty.value(task.alpha[i]);
            sums.conjugate += penalty.conjugate(x);
            sums.ratio = sums.ratio.max(quotient(x.abs(), penalty.l1));
            let q = super::subproblem::curvature(
                certificate.sigma_prime,
                certificate.centred,
                mean,
                variance,
            );
            sums.correlation = sums
                .correlation
                .max(quotient(x.abs(), (q / certificate.sigma_prime).sqrt()));
            chunk.next += 1;
        }
    }
}

/// `x / scale`, where 0 / 0 is 0.
fn quotient(x: f64, scale: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x / scale }
}
