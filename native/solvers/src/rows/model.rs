//! The model of a worker, kept lazily: a step brings only those coefficients up to date that it touches.
//!
//! To **settle** the model is to bring all coefficients up to date, so that the cells hold the numbers of the result.

use super::{
    clock::Clock,
    shape::{LINE, Layout, Shape},
};
use crate::{
    base::{
        blocks::{Blocks, LOAN},
        error::{SolverError, reserve},
    },
    problem::{
        data::SgdData,
        vector::{check_shared, length},
    },
};

/// Most renormalisations whose factors [`Model::factors`] keeps: together they multiply a coefficient by at most `1e-115`.
pub(super) const MAX_RENORMALISATIONS: usize = 23;

/// `sum u_j |w_jc|` and `sum u_j^2 w_jc^2` with `u_j^2 = 1 / scale_j`; features with a scale of 0 are left out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Norms {
    pub l1: f64,
    pub square: f64,
}

impl Norms {
    #[inline(always)]
    fn add(&mut self, w: f64, feature: FeatureScale) {
        // Dividing by 1 would not change a bit, but would take time.
        if !feature.scaled {
            self.l1 += w.abs();
            self.square += w * w;
        } else if feature.scale != 0.0 {
            self.l1 += w.abs() / feature.root;
            self.square += (w * w) / feature.scale;
        }
    }
}

/// Norms of a model, and whether all its numbers are finite.
#[derive(Debug, Clone, Copy, Default)]
struct Measured {
    norms: Norms,
    finite: bool,
}

impl Measured {
    /// A model with these intercepts, without cells.
    fn of(intercepts: &[f64]) -> Self {
        Self {
            norms: Norms::default(),
            finite: intercepts.iter().all(|b| b.is_finite()),
        }
    }

    /// Adds the numbers of a cell that is up to date.
    #[inline(always)]
    fn add(&mut self, layout: Layout, cell: &[f64]) {
        let feature = FeatureScale::of(layout, cell);
        for &w in &cell[..layout.outputs] {
            self.finite &= w.is_finite();
            self.norms.add(w, feature);
        }
    }
}

/// The scale of a feature, and its square root.
#[derive(Debug, Clone, Copy)]
struct FeatureScale {
    scaled: bool,
    scale: f64,
    root: f64,
}

impl FeatureScale {
    /// The numbers of a cell.
    #[inline(always)]
    fn of(layout: Layout, cell: &[f64]) -> Self {
        if !layout.scaled {
            return Self {
                scaled: false,
                scale: 1.0,
                root: 1.0,
            };
        }
        let scale = cell[layout.scale()];
        Self {
            scaled: true,
            scale,
            root: if layout.threshold {
                cell[layout.root()]
            } else {
                scale.sqrt()
            },
        }
    }
}

/// The cells of the features, the intercepts, and the clock, which runs ahead of the cells.
#[derive(Debug)]
pub(super) struct Model {
    layout: Layout,
    /// Cells of the features whose scale is known; there is room for all.
    numbers: Vec<f64>,
    /// Index of the first cell, at the start of a cache line.
    first: usize,
    pub intercepts: Vec<f64>,
    pub clock: Clock,
    factors: Factors,
    norms: Norms,
    settled: Measured,
    /// Predictions and derivatives of one row.
    scratch: [Vec<f64>; 2],
}

/// The parts of a model that a step needs.
pub(super) struct Parts<'a> {
    pub cells: &'a mut [f64],
    pub intercepts: &'a mut [f64],
    pub clock: &'a mut Clock,
    pub z: &'a mut [f64],
    pub derivatives: &'a mut [f64],
}

impl Model {
    /// A model for the rows of these blocks, which is not loaded yet. `outputs` is the number of its outputs, `threshold` says whether there is
    /// an L1 penalty.
    pub fn of_blocks<B>(blocks: &mut B, outputs: usize, threshold: bool) -> Result<Self, B::Error>
    where
        B: for<'a> Blocks<Block<'a> = SgdData<'a>>,
    {
        let (mut model, features) = blocks.lend(|loan| {
            let data = loan.block(0)?;
            let layout = Layout {
                outputs,
                threshold,
                scaled: data.scale.is_some(),
            };
            let features = data.rows.rows();
            Ok((Self::new(layout, features)?, features))
        })?;
        for first in (0..features).step_by(LOAN) {
            let part = first..features.min(first + LOAN);
            blocks.lend(|loan| {
                let data = loan.block(0)?;
                model.add_cells(part.len(), data.scale.map(|scale| &scale[part]));
                Ok(())
            })?;
        }
        Ok(model)
    }

    /// A model with room for the cells of `features`.
    fn new(layout: Layout, features: usize) -> Result<Self, SolverError> {
        let outputs = layout.outputs;
        length(outputs, features)?;
        let stride = layout.stride();
        let mut numbers: Vec<f64> = reserve(
            features.saturating_mul(stride).saturating_add(LINE),
            "a model",
        )?;
        let first = numbers.as_ptr().align_offset(LINE * size_of::<f64>());
        // If the alignment of the address is unknown, any start is as good.
        let first = if first <= LINE { first } else { 0 };
        numbers.resize(first, 0.0);
        Ok(Self {
            layout,
            first,
            numbers,
            intercepts: zeros(outputs)?,
            clock: Clock::new(),
            factors: Factors::default(),
            norms: Norms::default(),
            settled: Measured::default(),
            scratch: [zeros(outputs)?, zeros(outputs)?],
        })
    }

    /// A copy of a model without steps.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn copy(&self) -> Result<Self, SolverError> {
        let cells = &self.numbers[self.first..];
        let mut copy = Self::new(self.layout, cells.len() / self.layout.stride())?;
        copy.numbers.extend_from_slice(cells);
        copy.intercepts.copy_from_slice(&self.intercepts);
        copy.norms = self.norms;
        Ok(copy)
    }

    /// Adds the cells of the next features.
    fn add_cells(&mut self, count: usize, scale: Option<&[f64]>) {
        let (layout, start) = (self.layout, self.numbers.len());
        let stride = layout.stride();
        self.numbers.resize(start + count * stride, 0.0);
        let cells = self.numbers[start..].chunks_exact_mut(stride);
        for (cell, &scale) in cells.zip(scale.unwrap_or_default()) {
            cell[layout.scale()] = scale;
            if layout.threshold {
                cell[layout.root()] = scale.sqrt();
            }
        }
    }

    /// The layout of the cells.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Numbers in the shared vector.
    pub fn length(&self) -> usize {
        let cells = (self.numbers.len() - self.first) / self.layout.stride();
        (cells + 1) * self.layout.outputs
    }

    /// Norms of the shared vector.
    pub fn norms(&self) -> Norms {
        self.norms
    }

    /// The parts that a step reads and writes.
    pub fn parts(&mut self) -> Parts<'_> {
        let [z, derivatives] = &mut self.scratch;
        Parts {
            cells: &mut self.numbers[self.first..],
            intercepts: &mut self.intercepts,
            clock: &mut self.clock,
            z,
            derivatives,
        }
    }

    /// Loads the shared vector, in the place of what was loaded before.
    pub fn load(&mut self, shared: &[f64]) -> Result<(), SolverError> {
        check_shared(shared, self.length())?;
        self.clock.reset();
        self.factors = Factors::default();
        let (layout, mut norms) = (self.layout, Norms::default());
        let (coefficients, intercepts) = shared.split_at(shared.len() - layout.outputs);
        let cells = cells(&mut self.numbers[self.first..], layout);
        for (cell, numbers) in cells.zip(coefficients.chunks_exact(layout.outputs)) {
            if layout.threshold {
                cell[layout.mark()] = 0.0;
            }
            let feature = FeatureScale::of(layout, cell);
            for (x, &w) in cell.iter_mut().zip(numbers) {
                *x = w;
                norms.add(w, feature);
            }
        }
        self.intercepts.copy_from_slice(intercepts);
        self.norms = norms;
        Ok(())
    }

    /// Whether [`Model::renormalise`] has to precede the next step.
    pub fn needs_renormalising(&self) -> bool {
        self.clock.needs_renormalising(self.layout)
    }

    /// Brings all coefficients up to date.
    pub fn renormalise(&mut self) {
        let (layout, clock) = (self.layout, &self.clock);
        for cell in cells(&mut self.numbers[self.first..], layout) {
            clock.renormalise(layout, cell);
        }
        self.factors.add(self.clock.factor);
        self.clock.reset();
    }

    /// Settles the model.
    pub fn settle(&mut self) {
        let (layout, clock) = (self.layout, &self.clock);
        let mut settled = Measured::of(&self.intercepts);
        for cell in cells(&mut self.numbers[self.first..], layout) {
            clock.renormalise(layout, cell);
            settled.add(layout, cell);
        }
        self.factors.add(self.clock.factor);
        self.clock.reset();
        self.settled = settled;
    }

    /// Makes this model the mean of itself and others. All are settled. The weights, of this model first, sum to 1.
    pub fn average(&mut self, others: &[Self], weights: &[f64]) {
        let (layout, stride) = (self.layout, self.layout.stride());
        for (c, b) in self.intercepts.iter_mut().enumerate() {
            *b = mean(*b, others.iter().map(|other| other.intercepts[c]), weights);
        }
        let mut settled = Measured::of(&self.intercepts);
        for (j, cell) in cells(&mut self.numbers[self.first..], layout).enumerate() {
            for (c, x) in cell[..layout.outputs].iter_mut().enumerate() {
                let at = j * stride + c;
                let others = others.iter().map(|other| other.numbers[other.first + at]);
                *x = mean(*x, others, weights);
            }
            settled.add(layout, cell);
        }
        self.settled = settled;
    }

    /// Whether all numbers of a settled model are finite.
    pub fn is_finite(&self) -> bool {
        self.settled.finite
    }

    /// The factors of an untouched coefficient: its settled value is its loaded value times each of these in turn. None with a threshold,
    /// or after more than [`MAX_RENORMALISATIONS`].
    pub fn factors(&self) -> Option<&[f64]> {
        if self.layout.threshold {
            None
        } else {
            self.factors.all()
        }
    }

    /// Norms of a settled model.
    pub fn settled_norms(&self) -> Norms {
        self.settled.norms
    }

    /// Numbers of a settled model in the order of the shared vector, from `start` on.
    pub fn numbers(&self, start: usize) -> impl Iterator<Item = f64> {
        let outputs = self.layout.outputs;
        let stride = self.layout.stride();
        let features = (self.numbers.len() - self.first) / stride;
        let (feature, output) = (start / outputs, start % outputs);
        self.numbers[self.first..]
            .chunks_exact(stride)
            .skip(feature)
            .flat_map(move |cell| &cell[..outputs])
            .chain(&self.intercepts)
            .skip(if feature < features {
                output
            } else {
                start - features * outputs
            })
            .copied()
    }
}

/// The factors by which renormalisations have multiplied all coefficients.
#[derive(Debug, Default)]
struct Factors {
    first: [f64; MAX_RENORMALISATIONS],
    count: usize,
}

impl Factors {
    fn add(&mut self, factor: f64) {
        if let Some(slot) = self.first.get_mut(self.count) {
            *slot = factor;
        }
        self.count += 1;
    }

    /// None if there were too many to keep.
    fn all(&self) -> Option<&[f64]> {
        self.first.get(..self.count)
    }
}

/// The mean of a number and of others, with these weights.
#[inline(always)]
fn mean(first: f64, others: impl Iterator<Item = f64>, weights: &[f64]) -> f64 {
    let others = others.zip(&weights[1..]);
    others.fold(weights[0] * first, |sum, (x, weight)| sum + weight * x)
}

/// The cells of all features.
fn cells(numbers: &mut [f64], layout: Layout) -> impl Iterator<Item = &mut [f64]> {
    numbers.chunks_exact_mut(layout.stride())
}

/// So many zeros. The room after them keeps the numbers that another thread writes out of their cache lines.
fn zeros(length: usize) -> Result<Vec<f64>, SolverError> {
    let mut numbers = reserve(length + 2 * LINE, "a model")?;
    numbers.resize(length, 0.0);
    Ok(numbers)
}
