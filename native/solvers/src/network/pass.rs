//! A pass over rows in progress.

use std::sync::Arc;

use ndarray::ArrayView1;

use super::{
    batch::{Batch, most_rows},
    layers::Layers,
};
use crate::{
    base::{
        error::{SolverError, reserve, same_length},
        gram::add,
        matrix::MatrixView,
    },
    pass::{PassOutcome, PassParams, chunk::Chunk},
};

/// A pass in progress: sums of the losses of a network, and their gradient. The caller lends blocks by [`NetworkPass::take`], a batch at a
/// time, and then lets the pass [`NetworkPass::work`].
pub struct NetworkPass {
    network: Arc<Network>,
    chunk: Chunk,
    batch: Batch,
    gradient: Vec<f64>,
    outcome: PassOutcome,
}

/// What passes share.
struct Network {
    layers: Layers,
    weights: Vec<f64>,
    /// How rows are copied: as they are.
    packing: PassParams,
}

impl NetworkPass {
    /// A pass before its first row. Weights that are not finite give a loss that is not.
    ///
    /// # Errors
    /// `Shape` unless there is a number for each weight, `OutOfMemory`.
    pub fn new(layers: Layers, weights: Vec<f64>) -> Result<Self, SolverError> {
        same_length("weights", weights.len(), layers.weights(), "weight")?;
        Self::of(Arc::new(Network {
            packing: layers.packing(),
            layers,
            weights,
        }))
    }

    /// Another pass of the same network, before its first row.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn fork(&self) -> Result<Self, SolverError> {
        Self::of(Arc::clone(&self.network))
    }

    fn of(network: Arc<Network>) -> Result<Self, SolverError> {
        let mut gradient = reserve(network.weights.len(), "the gradient of a network")?;
        gradient.resize(network.weights.len(), 0.0);
        Ok(Self {
            network,
            chunk: Chunk::default(),
            batch: Batch::default(),
            gradient,
            outcome: PassOutcome::default(),
        })
    }

    /// Features of a row.
    pub fn features(&self) -> usize {
        self.network.layers.features()
    }

    /// The bytes that the pass holds, about, apart from the weights.
    pub fn bytes(&self) -> usize {
        8 * (self.gradient.len() + self.chunk.numbers() + self.batch.numbers())
    }

    /// Copies the rows of a block from number `from` on, as many as a batch holds, and returns the number of the first row that it leaves.
    /// Labels are numbers of classes.
    ///
    /// # Errors
    /// `Shape` if lengths disagree, a view is a part of a larger one, or a label is of no class.
    pub fn take(
        &mut self,
        rows: MatrixView<'_>,
        labels: ArrayView1<'_, f64>,
        weights: Option<ArrayView1<'_, f64>>,
        from: usize,
    ) -> Result<usize, SolverError> {
        let Network {
            layers, packing, ..
        } = &*self.network;
        let is_dense = matches!(rows, MatrixView::Dense32(_) | MatrixView::Dense64(_));
        let most = most_rows(layers, is_dense);
        let range = self
            .chunk
            .take(packing, rows, (labels, weights), from, most)?;
        Ok(range.end)
    }

    /// Adds the rows that [`NetworkPass::take`] has copied.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn work(&mut self) -> Result<(), SolverError> {
        if self.chunk.rows == 0 {
            return Ok(());
        }
        let Network {
            layers, weights, ..
        } = &*self.network;
        let (chunk, outcome) = (&mut self.chunk, &mut self.outcome);
        outcome.loss += self.batch.add(layers, weights, chunk, &mut self.gradient)?;
        outcome.rows += chunk.rows as u64;
        outcome.entries += chunk.entries_visited(layers.features());
        chunk.rows = 0;
        Ok(())
    }

    /// Adds the sums of a pass of the same network over other rows.
    ///
    /// # Errors
    /// `Shape` if the networks differ.
    pub fn join(&mut self, other: &Self) -> Result<(), SolverError> {
        let (own, others) = (&self.network, &other.network);
        let is_same = own.layers == others.layers && own.weights == others.weights;
        if !Arc::ptr_eq(own, others) && !is_same {
            return Err(SolverError::Shape(
                "two passes of other networks cannot be joined".into(),
            ));
        }
        add(&mut self.gradient, &other.gradient);
        self.outcome.join(&other.outcome);
        Ok(())
    }

    /// The gradient of the sum of the losses, in the order of the weights.
    pub fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    /// The numbers of the pass so far: loss, rows and entries.
    pub fn outcome(&self) -> &PassOutcome {
        &self.outcome
    }
}
