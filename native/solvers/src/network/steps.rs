//! The steps of a round. Members copy parts of a batch and sum its gradient side by side; then the weights move.

use rayon::{ThreadPool, prelude::*};

use super::{
    batch::{Batch, most_rows},
    layers::Layers,
    params::DescentParams,
    visits::Visits,
};
use crate::{
    base::{
        blocks::{Blocks, COORDINATE, Loan},
        error::{SolverError, reserve, same_length},
        gram::add,
        matrix::Stored,
    },
    pass::{PassParams, chunk::Chunk},
    problem::data::SgdData,
};

/// The weights of a worker, and its members.
pub(super) struct Steps<'p> {
    layers: &'p Layers,
    packing: PassParams,
    weights: Vec<f64>,
    members: Vec<Member>,
    /// Rows of a batch.
    batch: usize,
    /// Rows that a member takes at once.
    part: usize,
    /// Times the sum of the gradients over a batch.
    step: f64,
}

/// Sums over the rows visited.
#[derive(Clone, Copy, Default)]
pub(super) struct Sums {
    pub(super) loss: f64,
    pub(super) weight: f64,
    pub(super) rows: u64,
    pub(super) nonzeros: u64,
}

/// Works on a part of a batch.
struct Member {
    chunk: Chunk,
    batch: Batch,
    gradient: Vec<f64>,
    sums: Sums,
}

impl<'p> Steps<'p> {
    /// Before the first step from the weights `shared`. There are so many rows.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub(super) fn new(
        params: &'p DescentParams,
        shared: &[f64],
        rows: usize,
    ) -> Result<Self, SolverError> {
        let batch = params.batch.min(rows).max(1);
        let most = most_rows(&params.layers, true);
        let parts = params.threads * batch.div_ceil(params.threads * most);
        let mut weights = reserve(shared.len(), "the weights of a network")?;
        weights.extend_from_slice(shared);
        let members: Result<_, _> = (0..params.threads)
            .map(|_| Member::new(shared.len()))
            .collect();
        Ok(Self {
            layers: &params.layers,
            packing: params.layers.packing(),
            weights,
            members: members?,
            batch,
            part: batch.div_ceil(parts),
            step: params.step / batch as f64,
        })
    }

    /// Sums losses and gradient over the next batch. Returns whether there was a row.
    ///
    /// # Errors
    /// `Shape` if a row or a label does not fit, `OutOfMemory`, those of the owner of the blocks.
    pub(super) fn gather<B>(
        &mut self,
        blocks: &mut B,
        visits: &mut Visits,
        pool: Option<&ThreadPool>,
    ) -> Result<bool, B::Error>
    where
        B: for<'a> Blocks<Block<'a> = SgdData<'a>>,
    {
        let mut rows = 0;
        while rows < self.batch && !visits.next().is_empty() {
            for member in &mut self.members {
                let most = self.part.min(self.batch - rows);
                member.fill(&self.packing, blocks, visits, most)?;
                rows += member.chunk.rows;
            }
            let (layers, weights) = (self.layers, &self.weights[..]);
            match pool {
                None => {
                    (self.members.iter_mut()).try_for_each(|member| member.work(layers, weights))
                }
                Some(pool) => pool.install(|| {
                    (self.members.par_iter_mut().with_max_len(1))
                        .try_for_each(|member| member.work(layers, weights))
                }),
            }?;
        }
        Ok(rows > 0)
    }

    /// Makes a step by the gradient of the batch. Returns whether its losses are finite; if not, the weights are of no use.
    pub(super) fn step(&mut self) -> bool {
        if let [first, others @ ..] = &mut self.members[..] {
            for other in others {
                add(&mut first.gradient, &other.gradient);
                other.gradient.fill(0.0);
            }
            for (w, g) in self.weights.iter_mut().zip(&mut first.gradient) {
                *w -= self.step * *g;
                *g = 0.0;
            }
        }
        self.sums().loss.is_finite()
    }

    /// The sums over all rows so far, in the order of the members.
    pub(super) fn sums(&self) -> Sums {
        self.members
            .iter()
            .fold(Sums::default(), |all, member| Sums {
                loss: all.loss + member.sums.loss,
                weight: all.weight + member.sums.weight,
                rows: all.rows + member.sums.rows,
                nonzeros: all.nonzeros + member.sums.nonzeros,
            })
    }

    /// The weights reached.
    pub(super) fn into_weights(self) -> Vec<f64> {
        self.weights
    }
}

impl Member {
    fn new(weights: usize) -> Result<Self, SolverError> {
        let mut gradient = reserve(weights, "the gradient of a network")?;
        gradient.resize(weights, 0.0);
        Ok(Self {
            chunk: Chunk::default(),
            batch: Batch::default(),
            gradient,
            sums: Sums::default(),
        })
    }

    /// Copies the rows that are next, at most so many, and fewer where dense rows and sparse ones meet.
    fn fill<B>(
        &mut self,
        packing: &PassParams,
        blocks: &mut B,
        visits: &mut Visits,
        most: usize,
    ) -> Result<(), B::Error>
    where
        B: for<'a> Blocks<Block<'a> = SgdData<'a>>,
    {
        self.chunk.rows = 0;
        let mut is_full = most == 0;
        while !is_full {
            is_full = blocks.lend(|loan| self.copy(packing, loan, visits, most))?;
        }
        Ok(())
    }

    /// Copies as many rows as a loan is for. Returns whether no more are to be copied.
    fn copy<E: From<SolverError>>(
        &mut self,
        packing: &PassParams,
        loan: &mut Loan<'_, SgdData<'_>, E>,
        visits: &mut Visits,
        most: usize,
    ) -> Result<bool, E> {
        let chunk = &mut self.chunk;
        while !loan.is_over() {
            let next = visits.next();
            if chunk.rows == most || next.is_empty() {
                return Ok(true);
            }
            let (data, own) = loan.at(next.start)?;
            let rows = data.rows();
            same_length("a row", rows.rows(), packing.features, "feature")?;
            let is_sparse = matches!(rows.stored(), Stored::Sparse(..));
            if chunk.rows > 0 && chunk.is_sparse != is_sparse {
                return Ok(true);
            }
            let end = (next.end.min(own.end)).min(next.start + most - chunk.rows);
            let range = next.start - own.start..end - own.start;
            chunk.add(
                packing,
                rows.stored(),
                (data.labels(), data.weights()),
                &range,
            )?;
            visits.pass(range.len());
            let entries = rows.nonzeros() / rows.len().max(1);
            loan.spend(range.len() * (COORDINATE + entries));
        }
        Ok(false)
    }

    /// Adds the rows that it has copied to its sums.
    fn work(&mut self, layers: &Layers, weights: &[f64]) -> Result<(), SolverError> {
        let (chunk, sums) = (&self.chunk, &mut self.sums);
        if chunk.rows == 0 {
            return Ok(());
        }
        sums.loss += self.batch.add(layers, weights, chunk, &mut self.gradient)?;
        sums.weight += chunk.weights.iter().sum::<f64>();
        sums.rows += chunk.rows as u64;
        sums.nonzeros += chunk.entries_visited(layers.features());
        Ok(())
    }
}
