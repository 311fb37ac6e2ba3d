//! Steps on several threads: each has a copy of the vector, and the team averages the copies.
//!
//! This is CoCoA inside a partition. With T copies every step counts T times in its own copy (`sigma'` times T), so that the average is the
//! vector of all steps, and the objective cannot rise. The result depends on T, not on which thread takes which copy.
//!
//! Source: Ioannou, Mendler-Duenner, Parnell, "SySCD", NeurIPS 2019.

use std::ops::Range;

use rayon::prelude::*;

use super::{
    local::{Iterate, Local, descend},
    subproblem::{DataOf, Subproblem},
};
use crate::base::error::{SolverError, reserve};

/// The copies of the vector between two averages.
#[derive(Debug)]
pub(super) struct Team<P: Subproblem> {
    members: Vec<Member<P>>,
    /// Entries of the vector averaged so far.
    merged: usize,
}

/// A copy of the vector, and the buckets whose steps it takes.
#[derive(Debug)]
struct Member<P: Subproblem> {
    w: Vec<f64>,
    running: P::Running,
    buckets: Vec<Range<usize>>,
    /// Variables of the coordinates of the buckets, in their order.
    alpha: Vec<f64>,
    /// The current bucket, the index of its first variable in `alpha`, and the first of its coordinates that is not visited yet.
    current: usize,
    first: usize,
    next: usize,
    nonzeros: u64,
}

impl<P: Subproblem> Team<P> {
    /// Deals `buckets`, in contiguous shares, to at most `threads` members.
    pub fn new(
        local: &Local<P>,
        buckets: &[Range<usize>],
        threads: usize,
    ) -> Result<Self, SolverError> {
        let count = threads.min(buckets.len());
        let mut members = reserve(count, "the copies of a round")?;
        for k in 0..count {
            let share = &buckets[k * buckets.len() / count..(k + 1) * buckets.len() / count];
            let coordinates = share.iter().map(ExactSizeIterator::len).sum();
            let mut alpha = reserve(coordinates, "the variables of a thread")?;
            for bucket in share {
                alpha.extend_from_slice(&local.alpha[bucket.clone()]);
            }
            members.push(Member {
                w: reserve(local.w.len(), "the vector of a thread")?,
                running: local.running,
                buckets: share.to_vec(),
                alpha,
                current: 0,
                first: 0,
                next: share[0].start,
                nonzeros: 0,
            });
        }
        Ok(Self { members, merged: 0 })
    }

    /// Continues for about `budget` units of work on each thread of the pool; returns the units of one thread.
    pub fn advance(
        &mut self,
        local: &mut Local<P>,
        data: &DataOf<'_, P>,
        budget: usize,
        pool: Option<&rayon::ThreadPool>,
    ) -> usize {
        let copies = self.members.len() as f64;
        if self.members.iter().any(|member| !member.is_done()) {
            let local = &*local;
            return match pool {
                Some(pool) => {
                    let spent: usize = pool.install(|| {
                        self.members
                            .par_iter_mut()
                            .with_max_len(1)
                            .map(|member| member.advance(local, data, copies, budget))
                            .sum()
                    });
                    spent.div_ceil(pool.current_num_threads().min(self.members.len()))
                }
                None => {
                    let mut spent = 0;
                    for member in &mut self.members {
                        spent += member.advance(local, data, copies, budget.saturating_sub(spent));
                    }
                    spent
                }
            };
        }
        let start = self.merged;
        let rows = (budget / self.members.len()).max(1);
        let end = start.saturating_add(rows).min(local.w.len());
        for (row, w) in (start..end).zip(&mut local.w[start..end]) {
            let mut change = 0.0;
            for member in &self.members {
                change += member.w[row] - *w;
            }
            *w += change / copies;
        }
        self.merged = end;
        (end - start) * self.members.len()
    }

    /// Whether all buckets are visited and all entries of the vector averaged.
    pub fn is_done(&self, local: &Local<P>) -> bool {
        self.members.iter().all(Member::is_done) && self.merged == local.w.len()
    }

    /// Hands the variables over to `local`; returns the entries visited.
    pub fn finish(self, local: &mut Local<P>) -> u64 {
        let copies = self.members.len() as f64;
        let before = local.running;
        let mut nonzeros = 0;
        for member in self.members {
            P::merge(&mut local.running, &before, &member.running, copies);
            nonzeros += member.nonzeros;
            let mut alpha = member.alpha.as_slice();
            for bucket in member.buckets {
                let (visited, rest) = alpha.split_at(bucket.len());
                local.alpha[bucket].copy_from_slice(visited);
                alpha = rest;
            }
        }
        nonzeros
    }
}

impl<P: Subproblem> Member<P> {
    fn is_done(&self) -> bool {
        self.current == self.buckets.len()
    }

    /// Copies the vector, then visits coordinates.
    fn advance(
        &mut self,
        local: &Local<P>,
        data: &DataOf<'_, P>,
        copies: f64,
        budget: usize,
    ) -> usize {
        let start = self.w.len();
        let end = start.saturating_add(budget).min(local.w.len());
        self.w.extend_from_slice(&local.w[start..end]);
        let mut spent = end - start;
        while spent < budget && !self.is_done() {
            let bucket = self.buckets[self.current].clone();
            let iterate = Iterate {
                alpha: &mut self.alpha[self.first..self.first + bucket.len()],
                first: bucket.start,
                w: &mut self.w,
            };
            let descent = descend(
                &local.subproblem,
                data,
                copies,
                &mut self.running,
                iterate,
                self.next..bucket.end,
                budget - spent,
            );
            spent += descent.next - self.next + descent.nonzeros;
            self.nonzeros += descent.nonzeros as u64;
            self.next = descent.next;
            if self.next == bucket.end {
                self.current += 1;
                self.first += bucket.len();
                if let Some(bucket) = self.buckets.get(self.current) {
                    self.next = bucket.start;
                }
            }
        }
        spent
    }
}
