//! The rows' side of the primal form: margins, losses and derivatives of a slice of rows, and the sums over them that the leader asks for.
//!
//! A margin is `z_j = a_j + b` with the product `a` of the data with the coefficients and the intercept `b`, which every operation gets
//! anew. The last round's update is `u`, and `d` is the step before it.
//!
//! Sums are taken in blocks of [`BLOCK`] rows, whose sums are added in order: neither the number of threads nor the cut of a slice into
//! calls changes a bit, as long as calls begin at multiples of [`BLOCK`].

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::{
    base::{
        checks::{ensure, finite},
        error::{SolverError, reserve},
    },
    problem::loss::{Formulas, Loss, WithFormulas},
};

/// Rows whose terms are added before any other sum is taken.
pub const BLOCK: usize = 4096;

/// Sums of an operation, at most.
pub const MAX_SUMS: usize = 6;

/// Rows that are evaluated together: their intermediate results stay in the first cache.
const TOGETHER: usize = 256;

/// Rows whose terms are added to different accumulators.
const LANES: usize = 8;

/// What to compute. `s_j` is the weight of a row, `l` the loss, `z` the margins at the intercept of the call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operation {
    /// Writes `residuals = -l'(z) / curvature`. No sums.
    Residuals,
    /// Writes `losses = l(z)`. Sums of `s l`, `s l'^2`, `s l' y`.
    Losses,
    /// Sums of `s l'`, `s |l'|`, `s l''`.
    Slopes,
    /// With `z + g1 u + g2 d` for z. Sums of `s (l - losses)`, `s l' u`, `s l' d`, `s l'' u^2`, `s l'' u d`, `s l'' d^2`.
    Along(f64, f64),
    /// Sums of `s l*(-rho l')`, one for each of two rho. A dual variable outside the domain makes its sum infinite.
    Conjugates(f64, f64),
    /// Writes `d = g1 u + g2 d`, `a = a + d`. No sums.
    Move(f64, f64),
}

/// A slice of rows; all arrays have the same length.
#[derive(Debug)]
pub struct MarginSlice<'a> {
    /// `a`, without the intercept.
    pub margins: &'a mut [f64],
    /// `d`
    pub direction: &'a mut [f64],
    /// `u`
    pub update: &'a [f64],
    /// Written by [`Operation::Losses`].
    pub losses: &'a mut [f64],
    /// Written by [`Operation::Residuals`].
    pub residuals: &'a mut [f64],
    /// `y`
    pub labels: &'a [f64],
    /// `s`, or nothing if every weight is 1.
    pub weights: Option<&'a [f64]>,
}

/// An operation on a slice, checked.
#[derive(Debug, Clone, Copy)]
pub struct MarginCall {
    loss: Loss,
    /// From a derivative to a residual.
    factor: f64,
    intercept: f64,
    operation: Operation,
}

impl MarginCall {
    /// An operation for a smooth loss.
    ///
    /// # Errors
    /// `InvalidParam` if the loss has no curvature, or a number is not finite.
    pub fn new(loss: Loss, intercept: f64, operation: Operation) -> Result<Self, SolverError> {
        let curvature = loss.check()?.curvature().unwrap_or(f64::INFINITY);
        ensure(
            "curvature",
            curvature,
            curvature.is_finite(),
            "must be finite: the loss must be smooth",
        )?;
        finite("intercept", intercept)?;
        match operation {
            Operation::Residuals | Operation::Losses | Operation::Slopes => {}
            Operation::Along(first, second)
            | Operation::Conjugates(first, second)
            | Operation::Move(first, second) => {
                finite("first", first)?;
                finite("second", second)?;
            }
        }
        Ok(Self {
            loss,
            factor: -1.0 / curvature,
            intercept,
            operation,
        })
    }

    /// Runs the operation on `rows`, and adds their sums to `sums`. With `parallel` the threads of the current rayon pool share the work.
    ///
    /// # Errors
    /// `Shape` if arrays differ in length or `rows` does not begin at a multiple of [`BLOCK`], `OutOfMemory`.
    pub fn run(
        &self,
        slice: &mut MarginSlice<'_>,
        rows: Range<usize>,
        parallel: bool,
        sums: &mut [f64; MAX_SUMS],
    ) -> Result<(), SolverError> {
        slice.check(&rows)?;
        let mut blocks = slice.blocks(rows)?;
        let mut parts = reserve(blocks.len(), "the sums of blocks")?;
        if parallel {
            blocks
                .par_iter_mut()
                .map(|block| self.on(block))
                .collect_into_vec(&mut parts);
        } else {
            parts.extend(blocks.iter_mut().map(|block| self.on(block)));
        }
        for part in &parts {
            for (sum, term) in sums.iter_mut().zip(part) {
                *sum += term;
            }
        }
        Ok(())
    }

    fn on(&self, block: &mut Block<'_>) -> [f64; MAX_SUMS] {
        self.loss.with(CallOn { call: *self, block })
    }
}

/// An operation on a block, compiled for each loss.
struct CallOn<'w, 'b> {
    call: MarginCall,
    block: &'w mut Block<'b>,
}

impl WithFormulas for CallOn<'_, '_> {
    type Output = [f64; MAX_SUMS];

    fn run<F: Formulas>(self, formulas: F) -> Self::Output {
        Arch::new().dispatch(BlockWork {
            call: self.call,
            formulas,
            block: self.block,
        })
    }
}

impl<'a> MarginSlice<'a> {
    fn check(&self, rows: &Range<usize>) -> Result<(), SolverError> {
        let length = self.margins.len();
        let others = [
            ("direction", self.direction.len()),
            ("update", self.update.len()),
            ("losses", self.losses.len()),
            ("residuals", self.residuals.len()),
            ("labels", self.labels.len()),
            ("weights", self.weights.map_or(length, <[f64]>::len)),
        ];
        for (name, other) in others {
            if other != length {
                return Err(SolverError::Shape(format!(
                    "{name} has length {other}, and margins has {length}"
                )));
            }
        }
        if rows.start > rows.end || rows.end > length || !rows.start.is_multiple_of(BLOCK) {
            return Err(SolverError::Shape(format!(
                "rows {rows:?} of {length}: they must begin at a multiple of {BLOCK}"
            )));
        }
        Ok(())
    }

    fn blocks(&mut self, rows: Range<usize>) -> Result<Vec<Block<'_>>, SolverError> {
        let mut blocks = reserve(rows.len().div_ceil(BLOCK), "the blocks of a slice")?;
        let margins = self.margins[rows.clone()].chunks_mut(BLOCK);
        let direction = self.direction[rows.clone()].chunks_mut(BLOCK);
        let losses = self.losses[rows.clone()].chunks_mut(BLOCK);
        let residuals = self.residuals[rows.clone()].chunks_mut(BLOCK);
        let mut first = rows.start;
        for (((margins, direction), losses), residuals) in
            margins.zip(direction).zip(losses).zip(residuals)
        {
            let own = first..first + margins.len();
            first = own.end;
            blocks.push(Block {
                update: &self.update[own.clone()],
                labels: &self.labels[own.clone()],
                weights: self.weights.map(|weights| &weights[own]),
                margins,
                direction,
                losses,
                residuals,
            });
        }
        Ok(blocks)
    }
}

/// At most [`BLOCK`] rows.
#[derive(Debug)]
struct Block<'a> {
    margins: &'a mut [f64],
    direction: &'a mut [f64],
    update: &'a [f64],
    losses: &'a mut [f64],
    residuals: &'a mut [f64],
    labels: &'a [f64],
    weights: Option<&'a [f64]>,
}

/// The same, compiled for each set of instructions as well.
struct BlockWork<'w, 'b, F> {
    call: MarginCall,
    formulas: F,
    block: &'w mut Block<'b>,
}

impl<F: Formulas> WithSimd for BlockWork<'_, '_, F> {
    type Output = [f64; MAX_SUMS];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Self {
            call,
            formulas,
            block,
        } = self;
        let b = call.intercept;
        let mut sums = Accumulators::new();
        let rows = block.margins.len();
        let mut first = 0;
        while first < rows {
            let part = first..rows.min(first + TOGETHER);
            first = part.end;
            let a = &mut block.margins[part.clone()];
            let y = &block.labels[part.clone()];
            let u = &block.update[part.clone()];
            let d = &mut block.direction[part.clone()];
            let s = block.weights.map(|weights| &weights[part.clone()]);
            match call.operation {
                Operation::Residuals => {
                    let factor = call.factor;
                    for ((r, &a), &y) in block.residuals[part].iter_mut().zip(&*a).zip(y) {
                        *r = factor * formulas.all(a + b, y).1;
                    }
                }
                Operation::Losses => {
                    let mut slopes = [0.0; TOGETHER];
                    let losses = &mut block.losses[part];
                    for (((loss, slope), &a), &y) in
                        losses.iter_mut().zip(&mut slopes).zip(&*a).zip(y)
                    {
                        let (value, derivative, _) = formulas.all(a + b, y);
                        *loss = value;
                        *slope = derivative;
                    }
                    sums.add(0, s, losses, |x, _| x, losses);
                    sums.add(1, s, &slopes, |x, _| x * x, losses);
                    sums.add(2, s, &slopes, |x, y| x * y, y);
                }
                Operation::Slopes => {
                    let mut slopes = [0.0; TOGETHER];
                    let mut curves = [0.0; TOGETHER];
                    for (((slope, curve), &a), &y) in
                        slopes.iter_mut().zip(&mut curves).zip(&*a).zip(y)
                    {
                        (_, *slope, *curve) = formulas.all(a + b, y);
                    }
                    sums.add(0, s, &slopes, |x, _| x, y);
                    sums.add(1, s, &slopes, |x, _| x.abs(), y);
                    sums.add(2, s, &curves, |x, _| x, y);
                }
                Operation::Along(g1, g2) => {
                    let mut values = [0.0; TOGETHER];
                    let mut slopes = [0.0; TOGETHER];
                    let mut curves = [0.0; TOGETHER];
                    let results = values.iter_mut().zip(&mut slopes).zip(&mut curves);
                    let rows = a.iter().zip(y).zip(u).zip(&*d).zip(&block.losses[part]);
                    for (((value, slope), curve), ((((&a, &y), &u), &d), &loss)) in
                        results.zip(rows)
                    {
                        let (there, derivative, second) =
                            formulas.all((a + b) + (g1 * u + g2 * d), y);
                        *value = there - loss;
                        *slope = derivative;
                        *curve = second;
                    }
                    sums.add(0, s, &values, |x, _| x, u);
                    sums.add(1, s, &slopes, |x, u| x * u, u);
                    sums.add(2, s, &slopes, |x, d| x * d, d);
                    sums.add(3, s, &curves, |x, u| x * u * u, u);
                    sums.add(5, s, &curves, |x, d| x * d * d, d);
                    for (curve, &u) in curves.iter_mut().zip(u) {
                        *curve *= u;
                    }
                    sums.add(4, s, &curves, |x, d| x * d, d);
                }
                Operation::Conjugates(rho1, rho2) => {
                    let mut firsts = [0.0; TOGETHER];
                    let mut seconds = [0.0; TOGETHER];
                    for (((first, second), &a), &y) in
                        firsts.iter_mut().zip(&mut seconds).zip(&*a).zip(y)
                    {
                        let (_, slope, _) = formulas.all(a + b, y);
                        *first = formulas.conjugate(-rho1 * slope, y);
                        *second = formulas.conjugate(-rho2 * slope, y);
                    }
                    sums.add(0, s, &firsts, |x, _| x, y);
                    sums.add(1, s, &seconds, |x, _| x, y);
                }
                Operation::Move(g1, g2) => {
                    for ((a, d), &u) in a.iter_mut().zip(d.iter_mut()).zip(u) {
                        *d = g1 * u + g2 * *d;
                        *a += *d;
                    }
                }
            }
        }
        sums.totals()
    }
}

/// The sums of a block. The term of row j goes to accumulator j modulo [`LANES`].
struct Accumulators([[f64; LANES]; MAX_SUMS]);

impl Accumulators {
    #[inline(always)]
    fn new() -> Self {
        Self([[0.0; LANES]; MAX_SUMS])
    }

    /// Adds `weight * term(x, y)` for each of the rows of `y`, which begin at a multiple of [`LANES`].
    #[inline(always)]
    fn add(
        &mut self,
        sum: usize,
        weights: Option<&[f64]>,
        x: &[f64],
        term: impl Fn(f64, f64) -> f64,
        y: &[f64],
    ) {
        let x = &x[..y.len()];
        let lanes = &mut self.0[sum];
        match weights {
            None => each_lane(lanes, y.len(), |j| term(x[j], y[j])),
            Some(s) => {
                let s = &s[..y.len()];
                each_lane(lanes, y.len(), |j| s[j] * term(x[j], y[j]));
            }
        }
    }

    /// `((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7))` of each sum.
    #[inline(always)]
    fn totals(&self) -> [f64; MAX_SUMS] {
        self.0
            .map(|l| ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7])))
    }
}

#[inline(always)]
fn each_lane(lanes: &mut [f64; LANES], length: usize, term: impl Fn(usize) -> f64) {
    let whole = length / LANES * LANES;
    let mut first = 0;
    while first < whole {
        for (l, lane) in lanes.iter_mut().enumerate() {
            *lane += term(first + l);
        }
        first += LANES;
    }
    for (l, lane) in lanes.iter_mut().enumerate().take(length - whole) {
        *lane += term(whole + l);
    }
}
