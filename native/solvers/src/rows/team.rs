//! Steps on several threads: each has a copy of the model, and the model that the round reaches is their mean.
//!
//! This is model averaging inside a worker. Copies count by the weights of the rows that they have visited, as workers do: shares differ by a bucket, and a
//! short round may leave a copy without rows. The result depends on the number of copies, not on which thread takes which, nor on how rows are cut into blocks.
//!
//! Source: Guo et al., "Model averaging in distributed machine learning", VLDB Journal 30, 2021.

use std::{collections::VecDeque, ops::Range};

use rayon::{ThreadPool, prelude::*};

use super::{
    model::Model,
    steps::{Descent, Span},
    totals::Totals,
};
use crate::{
    base::{
        blocks::{Blocks, LOAN, Loan},
        error::SolverError,
    },
    problem::data::SgdData,
};

/// Most work of a member in a loan. Its share of the work of a loan is half of that, but rows are not equally long.
const MOST: usize = 2 * LOAN;

/// The copies of the model.
#[derive(Debug)]
pub(super) struct Team<'p> {
    members: Vec<Member>,
    /// Buckets that are dealt together: about the work of a loan for each member, and the same in all cuts into blocks.
    dealt: usize,
    pool: Option<&'p ThreadPool>,
}

/// A copy of the model. Members share no cache lines: every step writes to its own.
#[derive(Debug)]
#[repr(align(128))]
struct Member {
    model: Model,
    totals: Totals,
    /// Rows that it has still to visit.
    left: VecDeque<Range<usize>>,
    diverged: bool,
}

impl<'p> Team<'p> {
    /// A team of so many members, at least one, which all begin with a model that is loaded. `bucket`: the mean work of a bucket.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn new(
        model: Model,
        members: usize,
        bucket: usize,
        pool: Option<&'p ThreadPool>,
    ) -> Result<Self, SolverError> {
        let copy = |_| model.copy();
        let copies: Result<Vec<_>, _> = match pool {
            None => (1..members).map(copy).collect(),
            Some(pool) => pool.install(|| (1..members).into_par_iter().map(copy).collect()),
        };
        let mut models = copies?;
        models.push(model);
        let all = models.into_iter().map(|model| Member {
            model,
            totals: Totals::default(),
            left: VecDeque::new(),
            diverged: false,
        });
        Ok(Self {
            members: all.collect(),
            dealt: members * (LOAN / bucket.max(1)).max(1),
            pool,
        })
    }

    /// Makes a step on every row of the buckets: of those that are dealt together, in contiguous shares, and then of the next ones. Returns whether no
    /// number became infinite or NaN.
    ///
    /// # Errors
    /// Those of the owner of the blocks.
    pub fn visit<B>(
        &mut self,
        blocks: &mut B,
        mut buckets: impl Iterator<Item = Range<usize>>,
        descent: Descent<'_>,
    ) -> Result<bool, B::Error>
    where
        B: for<'a> Blocks<Block<'a> = SgdData<'a>>,
    {
        loop {
            if self.is_idle() {
                self.deal(&mut buckets);
            }
            if self.is_idle() {
                return Ok(true);
            }
            blocks.lend(|loan| self.descend(loan, descent))?;
            if self.members.iter().any(|member| member.diverged) {
                return Ok(false);
            }
            let due = |member: &Member| member.model.needs_renormalising();
            if self.members.iter().any(due) {
                self.each(|member| {
                    if due(member) {
                        member.model.renormalise();
                    }
                });
            }
        }
    }

    /// Whether no member has rows to visit.
    fn is_idle(&self) -> bool {
        self.members.iter().all(|member| member.left.is_empty())
    }

    /// Deals out the next buckets.
    fn deal(&mut self, buckets: &mut impl Iterator<Item = Range<usize>>) {
        let dealt: Vec<_> = buckets.take(self.dealt).collect();
        let members = self.members.len();
        for (k, member) in self.members.iter_mut().enumerate() {
            let share = k * dealt.len() / members..(k + 1) * dealt.len() / members;
            member.left.extend(dealt[share].iter().cloned());
        }
    }

    /// Makes the steps of every member, as many as a loan is for.
    fn descend<E>(
        &mut self,
        loan: &mut Loan<'_, SgdData<'_>, E>,
        descent: Descent<'_>,
    ) -> Result<(), E> {
        let copies = self.members.len() as u64;
        let mut work = Vec::with_capacity(self.members.len());
        for member in &mut self.members {
            let mut lent = Vec::with_capacity(member.left.len());
            for rows in &member.left {
                let mut rows = rows.clone();
                while !rows.is_empty() {
                    let (data, own) = loan.at(rows.start)?;
                    let end = rows.end.min(own.end);
                    lent.push((data, rows.start - own.start..end - own.start));
                    rows.start = end;
                }
            }
            work.push((member, lent));
        }
        let descend =
            |(member, lent): (&mut Member, Vec<_>)| member.descend(&lent, descent, copies);
        match self.pool {
            None => work.into_iter().for_each(descend),
            Some(pool) => {
                pool.install(|| work.into_par_iter().with_max_len(1).for_each(descend));
            }
        }
        Ok(())
    }

    /// Calls `work` with each member.
    fn each(&mut self, work: impl Fn(&mut Member) + Sync + Send) {
        match self.pool {
            None => self.members.iter_mut().for_each(work),
            Some(pool) => {
                pool.install(|| self.members.par_iter_mut().with_max_len(1).for_each(work));
            }
        }
    }

    /// The settled mean of the copies, and the sums over all rows. `stable`: whether no copy has diverged; otherwise the model is of no use.
    pub fn finish(mut self, stable: bool) -> (Model, Totals) {
        let mut totals = Totals::default();
        for member in &self.members {
            totals.merge(&member.totals);
        }
        if stable {
            self.each(|member| member.model.settle());
        }
        let share = |member: &Member| member.totals.weight_sum / totals.weight_sum;
        let shares: Vec<f64> = self.members.iter().map(share).collect();
        let mut models: Vec<Model> = self.members.into_iter().map(|m| m.model).collect();
        if let [first, others @ ..] = &mut models[..]
            && stable
            && !others.is_empty()
        {
            first.average(others, &shares);
        }
        (models.swap_remove(0), totals)
    }
}

impl Member {
    /// Makes steps on the first of the rows that are left, in the parts that are lent, until it is enough for a loan or the model needs a renormalisation.
    /// It is one of so many copies.
    fn descend(&mut self, lent: &[(SgdData<'_>, Range<usize>)], descent: Descent<'_>, copies: u64) {
        let mut budget = MOST;
        for (data, rows) in lent {
            if budget == 0 || self.diverged || self.model.needs_renormalising() {
                return;
            }
            let span = Span {
                data,
                rows: rows.clone(),
                budget,
            };
            let steps = descent.on(span, copies, &self.totals);
            let scan = steps.run(&mut self.model, &mut self.totals);
            self.diverged = scan.diverged;
            budget = budget.saturating_sub(scan.spent);
            self.pass(scan.next - rows.start);
        }
    }

    /// Takes visited rows from those that are left.
    fn pass(&mut self, visited: usize) {
        if let Some(rows) = self.left.front_mut() {
            rows.start += visited;
            if rows.start == rows.end {
                self.left.pop_front();
            }
        }
    }
}
