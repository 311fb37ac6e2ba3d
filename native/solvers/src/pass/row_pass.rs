//! A pass in progress.

use std::sync::Arc;

use ndarray::ArrayView1;

use super::{
    chunk::{CHUNK, Chunk},
    loss::PassLoss,
    margins::{DualMargins, Margins},
    params::PassParams,
    plan::Plan,
    sums::{PassOutcome, Sums, centre, write_sums},
    work::Work,
};
use crate::{
    base::{
        error::{SolverError, reserve, same_length},
        instructions::{Instructions, Kernel},
        matrix::MatrixView,
    },
    problem::softmax::RowLoss,
};

/// A pass in progress. The caller gives a block's rows to [`RowPass::add`], or lends them by [`RowPass::take`], a chunk at a time, and then lets
/// the pass [`RowPass::work`].
pub struct RowPass {
    plan: Arc<Plan>,
    kernel: Kernel,
    dense: Option<Sums>,
    sparse: Option<Sums>,
    chunk: Chunk,
    outcome: PassOutcome,
}

impl RowPass {
    /// A pass before its first row.
    ///
    /// # Errors
    /// `InvalidParam` or `Shape` names the parameter at fault.
    pub fn new(params: PassParams) -> Result<Self, SolverError> {
        Self::with_kernel(params, Kernel::detect())
    }

    /// The same on a given kernel.
    ///
    /// # Errors
    /// As [`RowPass::new`].
    pub fn with_kernel(params: PassParams, kernel: Kernel) -> Result<Self, SolverError> {
        params.check()?;
        Ok(Self::of(Arc::new(Plan::new(params)), kernel))
    }

    /// Another pass with the same parameters, before its first row. They share the parameters.
    pub fn fork(&self) -> Self {
        Self::of(Arc::clone(&self.plan), self.kernel)
    }

    fn of(plan: Arc<Plan>, kernel: Kernel) -> Self {
        let outcome = PassOutcome {
            losses: vec![0.0; plan.params.steps.len()],
            ..PassOutcome::default()
        };
        Self {
            plan,
            kernel,
            dense: None,
            sparse: None,
            chunk: Chunk::default(),
            outcome,
        }
    }

    /// The features, p.
    pub fn features(&self) -> usize {
        self.plan.params.features
    }

    /// The bytes that the pass holds, about, apart from the parameters.
    pub fn bytes(&self) -> usize {
        let n = self.plan.params.entries();
        let sums = self.dense.iter().chain(&self.sparse);
        let summed: usize = sums.map(|sums| sums.numbers(n)).sum();
        8 * (summed + self.chunk.numbers())
    }

    /// Whether the pass sums vectors, and not only losses.
    pub fn has_vector(&self) -> bool {
        self.plan.params.gradient || self.plan.params.is_whole()
    }

    /// The length of [`RowPass::write`]'s vector: `C n` numbers of a gradient alone; otherwise 2 p more, and `n (n + 1) / 2` for each pair
    /// of outputs.
    pub fn length(&self) -> usize {
        let params = &self.plan.params;
        let n = params.entries();
        let gradient = params.model.len();
        if params.is_whole() {
            gradient + 2 * params.features + params.pairs() * (n * (n + 1) / 2)
        } else {
            gradient
        }
    }

    /// Copies the rows of a block from number `from` on, as many as a chunk holds, and returns the number of the first row that it leaves.
    /// Signed losses take labels 0 and 1.
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
        let range = self
            .chunk
            .take(&self.plan.params, rows, (labels, weights), from, CHUNK)?;
        if !self.plan.remainders.is_empty() {
            self.chunk.replace(&self.plan, range.len());
        }
        Ok(range.end)
    }

    /// Adds all rows of a block, as [`RowPass::take`] and [`RowPass::work`] do by the chunk.
    ///
    /// # Errors
    /// As theirs.
    pub fn add(
        &mut self,
        rows: MatrixView<'_>,
        labels: ArrayView1<'_, f64>,
        weights: Option<ArrayView1<'_, f64>>,
    ) -> Result<(), SolverError> {
        let mut next = 0;
        loop {
            next = self.take(rows, labels, weights, next)?;
            self.work()?;
            if next >= labels.len() {
                return Ok(());
            }
        }
    }

    /// Adds the rows that [`RowPass::take`] has copied.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn work(&mut self) -> Result<(), SolverError> {
        if self.chunk.rows == 0 {
            return Ok(());
        }
        let params = &self.plan.params;
        let sums = if self.chunk.is_sparse {
            self.plan.prepare_sparse()?;
            &mut self.sparse
        } else {
            &mut self.dense
        };
        let sums = match sums {
            Some(sums) => sums,
            None => sums.insert(Sums::new(params)?),
        };
        let work = Work {
            plan: &self.plan,
            params,
            chunk: &mut self.chunk,
            sums,
            outcome: &mut self.outcome,
        };
        match self.kernel.0 {
            Instructions::Portable => work.run(),
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon(_) => work.run(),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(token) => token.vectorize(On(work)),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(token) => token.vectorize(On(work)),
        }
        if params.hessian {
            self.chunk.add_curved(params, &mut sums.hessian)?;
        }
        let chunk = &self.chunk;
        self.outcome.rows += chunk.rows as u64;
        self.outcome.entries += chunk.entries_visited(params.features);
        self.chunk.rows = 0;
        Ok(())
    }

    /// Adds the sums of a pass over other rows, with the same parameters.
    ///
    /// # Errors
    /// `Shape` if the parameters differ.
    pub fn join(&mut self, other: Self) -> Result<(), SolverError> {
        if !Arc::ptr_eq(&self.plan, &other.plan) && self.plan.params != other.plan.params {
            return Err(SolverError::Shape(
                "two passes with other parameters cannot be joined".into(),
            ));
        }
        for (own, others) in [
            (&mut self.dense, other.dense),
            (&mut self.sparse, other.sparse),
        ] {
            match (own, others) {
                (Some(own), Some(others)) => own.join(&others),
                (own @ None, others) => *own = others,
                (Some(_), None) => {}
            }
        }
        self.outcome.join(&other.outcome);
        Ok(())
    }

    /// Writes the vector of the pass: the gradient (n numbers for each output), and, if more was asked for, the sums of `s x~` and of `s x~^2`
    /// (p each), and for each pair of outputs (a, b) with b <= a, in the order of a triangle, the lower triangle of the sum of the second
    /// derivative by `z_a` and `z_b` times `x~ x~^T`, row by row. What was not asked for is 0.
    ///
    /// # Errors
    /// `Shape` unless `out` has [`RowPass::length`] numbers, `OutOfMemory`.
    pub fn write(&self, out: &mut [f64]) -> Result<(), SolverError> {
        same_length("out", out.len(), self.length(), "sum")?;
        let params = &self.plan.params;
        out.fill(0.0);
        if let Some(sums) = &self.sparse {
            write_sums(sums, params, true, out);
            centre(&self.plan, sums.weight, out);
        }
        if let Some(sums) = &self.dense {
            if self.sparse.is_none() {
                write_sums(sums, params, false, out);
                return Ok(());
            }
            let mut own = reserve(out.len(), "the sums of dense rows")?;
            own.resize(out.len(), 0.0);
            write_sums(sums, params, false, &mut own);
            for (total, number) in out.iter_mut().zip(&own) {
                *total += number;
            }
        }
        Ok(())
    }

    /// The numbers of the pass so far.
    pub fn outcome(&self) -> &PassOutcome {
        &self.outcome
    }
}

#[cfg(target_arch = "x86_64")]
struct On<'a>(Work<'a>);

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for On<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.0.run();
    }
}

impl Work<'_> {
    #[inline(always)]
    fn run(mut self) {
        self.predict();
        let corner = self.params.loss.corner().filter(|_| self.params.proximal);
        match self.params.loss {
            PassLoss::Row(_) if corner.is_some() => {
                if let Some(gamma) = corner {
                    self.proximal(gamma);
                    self.by_class();
                }
            }
            PassLoss::Row(loss) if !self.params.dual.is_empty() => self.dual(loss),
            PassLoss::Row(RowLoss::Margin(loss)) => loss.with(Margins(&mut self)),
            PassLoss::Row(RowLoss::Softmax(_)) => self.softmax(),
            PassLoss::Scaled(huber) => self.scaled(huber),
        }
        if !self.params.reach.is_empty() {
            self.reach();
        }
        if self.params.gradient {
            self.gradient();
        }
        if self.params.moments {
            self.moments();
        }
    }

    /// Conjugates and dual variables in the place of losses and their derivatives.
    #[inline(always)]
    fn dual(&mut self, loss: RowLoss) {
        match loss {
            RowLoss::Margin(loss) => loss.with(DualMargins(self, loss.feasibility())),
            RowLoss::Softmax(_) => self.dual_softmax(),
        }
    }
}
