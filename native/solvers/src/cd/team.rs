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
    subproblem::{DataOf, Separable, Subproblem},
};
use crate::base::{
    blocks::LOAN,
    error::{SolverError, reserve},
};

/// The copies of the vector between two averages.
#[derive(Debug)]
pub(super) struct Team<P: Subproblem> {
    members: Vec<Member<P>>,
}

/// A copy of the vector.
#[derive(Debug)]
struct Member<P: Subproblem> {
    w: Vec<f64>,
    running: P::Running,
    nonzeros: u64,
    /// Variables of the coordinates that it visits at a time.
    alpha: Vec<f64>,
}

impl<P: Subproblem> Team<P> {
    /// A team of so many members.
    pub fn new(local: &Local<P>, members: usize) -> Result<Self, SolverError> {
        let mut team = reserve(members, "the copies of a round")?;
        for _ in 0..members {
            let mut w = reserve(local.w.len(), "the vector of a thread")?;
            w.extend_from_slice(&local.w);
            team.push(Member {
                w,
                running: local.running,
                nonzeros: 0,
                alpha: Vec::new(),
            });
        }
        Ok(Self { members: team })
    }

    /// Visits buckets of the block `data`, which begins with coordinate `first`: as many as make a loan, in contiguous shares. Returns how many.
    ///
    /// # Errors
    /// `Shape` if the block does not fit, `OutOfMemory`.
    pub fn visit(
        &mut self,
        local: &mut Local<P>,
        data: &DataOf<'_, P>,
        first: usize,
        buckets: &[Range<usize>],
        pool: Option<&rayon::ThreadPool>,
    ) -> Result<usize, SolverError> {
        let columns = P::Objective::columns(data);
        local.fits(data, columns.len())?;
        let copies = self.members.len();
        let mut units = 0;
        let mut count = 0;
        while count < buckets.len() && units < copies * LOAN {
            let bucket = &buckets[count];
            units += bucket.len() + columns.entries(bucket.end - 1 - first).end
                - columns.entries(bucket.start - first).start;
            count += 1;
        }
        let share = |k: usize| &buckets[k * count / copies..(k + 1) * count / copies];
        for (k, member) in self.members.iter_mut().enumerate() {
            member.take(local, share(k))?;
        }
        let subproblem = &local.subproblem;
        let work = |(k, member): (usize, &mut Member<P>)| {
            member.descend(subproblem, data, first, copies as f64, share(k));
        };
        match pool {
            Some(pool) => pool.install(|| {
                self.members
                    .par_iter_mut()
                    .with_max_len(1)
                    .enumerate()
                    .for_each(work);
            }),
            None => self.members.iter_mut().enumerate().for_each(work),
        }
        for (k, member) in self.members.iter().enumerate() {
            member.give(local, share(k));
        }
        Ok(count)
    }

    /// Averages the copies. Returns the entries visited.
    pub fn finish(self, local: &mut Local<P>) -> u64 {
        let copies = self.members.len() as f64;
        let before = local.running;
        for (entry, w) in local.w.iter_mut().enumerate() {
            let mut change = 0.0;
            for member in &self.members {
                change += member.w[entry] - *w;
            }
            *w += change / copies;
        }
        let mut nonzeros = 0;
        for member in &self.members {
            P::merge(&mut local.running, &before, &member.running, copies);
            nonzeros += member.nonzeros;
        }
        nonzeros
    }
}

impl<P: Subproblem> Member<P> {
    /// Copies the variables of its buckets.
    fn take(&mut self, local: &Local<P>, buckets: &[Range<usize>]) -> Result<(), SolverError> {
        let coordinates = buckets.iter().map(ExactSizeIterator::len).sum();
        if self.alpha.capacity() < coordinates {
            self.alpha = reserve(coordinates, "the variables of a thread")?;
        }
        self.alpha.clear();
        for bucket in buckets {
            self.alpha.extend_from_slice(&local.alpha[bucket.clone()]);
        }
        Ok(())
    }

    /// Visits the coordinates of its buckets, on one of `copies` copies.
    fn descend(
        &mut self,
        subproblem: &P,
        data: &DataOf<'_, P>,
        first: usize,
        copies: f64,
        buckets: &[Range<usize>],
    ) {
        let mut alpha = self.alpha.as_mut_slice();
        for bucket in buckets {
            let (own, rest) = alpha.split_at_mut(bucket.len());
            alpha = rest;
            let range = bucket.start - first..bucket.end - first;
            let iterate = Iterate {
                alpha: own,
                first: range.start,
                w: &mut self.w,
            };
            let descent = descend(
                subproblem,
                data,
                copies,
                &mut self.running,
                iterate,
                range,
                usize::MAX,
            );
            self.nonzeros += descent.nonzeros as u64;
        }
    }

    /// Hands the variables over to `local`.
    fn give(&self, local: &mut Local<P>, buckets: &[Range<usize>]) {
        let mut alpha = self.alpha.as_slice();
        for bucket in buckets {
            let (visited, rest) = alpha.split_at(bucket.len());
            local.alpha[bucket.clone()].copy_from_slice(visited);
            alpha = rest;
        }
    }
}
