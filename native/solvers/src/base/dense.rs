//! The inner loops over entries that are stored without their rows: one for each row, in order.
//!
//! Other implementations of these solvers give the same bits, so the order of additions is a contract: the product of row j goes to
//! accumulator `j mod 16`, and the sixteen are added by halves,
//!
//! ```text
//! b_l = a_l + a_(l+8),   c_l = b_l + b_(l+4),   d_l = c_l + c_(l+2),   d_0 + d_1
//! ```
//!
//! A product is rounded before it is added, so all instructions give the same bits. The loops are plain Rust, which the compiler
//! vectorises with the instructions of the function that they are inlined into: therefore every function here is inlined, and the type
//! `K` keeps apart what is compiled for different instructions.

use std::{marker::PhantomData, ops::Range};

use crate::base::entries::{Column, Entries, TOGETHER, Visitor, subtracted};

/// Accumulators of a dot product.
const LANES: usize = 16;

/// Rows that several columns read before they go on: their part of the vector stays in the first level of cache. A multiple of [`LANES`].
const BLOCK: usize = 1024;

/// Every row of every column.
#[derive(Clone, Copy)]
pub(crate) struct Dense<'a, T, K> {
    /// Number of rows.
    pub rows: usize,
    /// One value for each row, column after column.
    pub values: &'a [T],
    /// The instructions that its loops are compiled for.
    pub kernel: PhantomData<K>,
}

impl<'a, T, K: Copy> Dense<'a, T, K> {
    #[inline(always)]
    fn values(self, i: usize) -> &'a [T] {
        &self.values[i * self.rows..][..self.rows]
    }
}

/// Adds the products of `values` and `w`, which start at a multiple of [`LANES`], to the accumulators.
#[inline(always)]
fn accumulate<T: Copy + Into<f64>>(sums: &mut [f64; LANES], values: &[T], w: &[f64]) {
    let (value_blocks, value_rest) = values.as_chunks::<LANES>();
    let (w_blocks, w_rest) = w.as_chunks::<LANES>();
    let mut lanes = *sums;
    for (values, w) in value_blocks.iter().zip(w_blocks) {
        for l in 0..LANES {
            lanes[l] += values[l].into() * w[l];
        }
    }
    *sums = lanes;
    // Fours, and then what remains, because a loop over 0 to 15 products takes as long as that over the blocks.
    let (value_fours, value_few) = value_rest.as_chunks::<4>();
    let (w_fours, w_few) = w_rest.as_chunks::<4>();
    let (fours, _) = sums.as_chunks_mut::<4>();
    for ((sums, values), w) in fours.iter_mut().zip(value_fours).zip(w_fours) {
        for l in 0..4 {
            sums[l] += values[l].into() * w[l];
        }
    }
    let few = &mut sums[4 * value_fours.len()..];
    for ((sum, &value), w) in few.iter_mut().zip(value_few).zip(w_few) {
        *sum += value.into() * w;
    }
}

/// The sum of the accumulators.
#[inline(always)]
fn total(a: [f64; LANES]) -> f64 {
    let mut b = [0.0; 8];
    for l in 0..8 {
        b[l] = a[l] + a[l + 8];
    }
    let mut c = [0.0; 4];
    for l in 0..4 {
        c[l] = b[l] + b[l + 4];
    }
    (c[0] + c[2]) + (c[1] + c[3])
}

/// `w -= step values`, times the weights if there are weights.
#[inline(always)]
fn subtract<T: Copy + Into<f64>>(values: &[T], step: f64, weights: Option<&[f64]>, w: &mut [f64]) {
    match weights {
        None => {
            for (w, &value) in w.iter_mut().zip(values) {
                *w = subtracted(*w, step, value.into(), None);
            }
        }
        Some(weights) => {
            for ((w, &value), &weight) in w.iter_mut().zip(values).zip(weights) {
                *w = subtracted(*w, step, value.into(), Some(weight));
            }
        }
    }
}

/// The cells of `count` rows from `first` on. Their number is known where the loops over them are compiled, which then check no bounds.
#[inline(always)]
fn part(cells: &mut [f64], stride: usize, first: usize, count: usize) -> &mut [f64] {
    &mut cells[first * stride..][..count * stride]
}

/// The blocks of `rows` rows.
#[inline(always)]
fn blocks(rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rows)
        .step_by(BLOCK)
        .map(move |start| start..(start + BLOCK).min(rows))
}

impl<'a, T: Copy + Into<f64> + Send + Sync, K: Copy + Send + Sync> Entries for Dense<'a, T, K> {
    type Column = DenseColumn<'a, T, K>;

    #[inline(always)]
    fn column(self, i: usize) -> DenseColumn<'a, T, K> {
        DenseColumn {
            values: self.values(i),
            kernel: PhantomData,
        }
    }

    #[inline(always)]
    fn together(self, budget: usize) -> usize {
        (budget / self.rows.max(1)).clamp(1, TOGETHER)
    }

    #[inline(always)]
    fn dots(self, columns: Range<usize>, w: &[f64], dots: &mut [f64]) {
        let mut sums = [[0.0; LANES]; TOGETHER];
        for block in blocks(self.rows) {
            let w = &w[block.clone()];
            for (i, sums) in columns.clone().zip(&mut sums) {
                accumulate(sums, &self.values(i)[block.clone()], w);
            }
        }
        for (dot, sums) in dots.iter_mut().zip(sums) {
            *dot = total(sums);
        }
    }

    #[inline(always)]
    fn subtract_all(self, steps: &[(usize, f64)], weights: Option<&[f64]>, w: &mut [f64]) {
        for block in blocks(self.rows) {
            let weights = weights.map(|weights| &weights[block.clone()]);
            let w = &mut w[block.clone()];
            for &(i, step) in steps {
                subtract(&self.values(i)[block.clone()], step, weights, w);
            }
        }
    }

    #[inline(always)]
    fn walk<V: Visitor>(self, range: Range<usize>, visitor: &mut V) -> usize {
        for i in range.clone() {
            if !visitor.column(i, self.column(i)) {
                return i + 1;
            }
        }
        range.end.max(range.start)
    }
}

/// A value for each row.
#[derive(Clone, Copy)]
pub(crate) struct DenseColumn<'a, T, K> {
    values: &'a [T],
    kernel: PhantomData<K>,
}

impl<T: Copy + Into<f64>, K: Copy> Column for DenseColumn<'_, T, K> {
    #[inline(always)]
    fn len(self) -> usize {
        self.values.len()
    }

    #[inline(always)]
    fn dot(self, w: &[f64]) -> f64 {
        let mut sums = [0.0; LANES];
        accumulate(&mut sums, self.values, &w[..self.values.len()]);
        total(sums)
    }

    #[inline(always)]
    fn gather(
        self,
        cells: &mut [f64],
        stride: usize,
        mut read: impl FnMut(&mut [f64], usize) -> f64,
    ) -> f64 {
        let mut sums = [0.0; LANES];
        let (blocks, rest) = self.values.as_chunks::<LANES>();
        for (block, values) in blocks.iter().enumerate() {
            let cells = part(cells, stride, LANES * block, LANES);
            for l in 0..LANES {
                sums[l] += values[l].into() * read(cells, l);
            }
        }
        let cells = part(cells, stride, LANES * blocks.len(), rest.len());
        for (l, (sum, &value)) in sums.iter_mut().zip(rest).enumerate() {
            *sum += value.into() * read(cells, l);
        }
        total(sums)
    }

    #[inline(always)]
    fn subtract(self, step: f64, weights: Option<&[f64]>, w: &mut [f64]) {
        subtract(self.values, step, weights, &mut w[..self.values.len()]);
    }

    #[inline(always)]
    fn each(
        self,
        cells: &mut [f64],
        stride: usize,
        mut change: impl FnMut(&mut [f64], usize, f64),
    ) {
        let (blocks, rest) = self.values.as_chunks::<LANES>();
        for (block, values) in blocks.iter().enumerate() {
            let cells = part(cells, stride, LANES * block, LANES);
            for (l, &value) in values.iter().enumerate() {
                change(cells, l, value.into());
            }
        }
        let cells = part(cells, stride, LANES * blocks.len(), rest.len());
        for (l, &value) in rest.iter().enumerate() {
            change(cells, l, value.into());
        }
    }

    #[inline(always)]
    fn fours(
        self,
    ) -> (
        impl Iterator<Item = [(usize, f64); 4]>,
        impl Iterator<Item = (usize, f64)>,
    ) {
        let (fours, rest) = self.values.as_chunks::<4>();
        let first = 4 * fours.len();
        (
            fours
                .iter()
                .enumerate()
                .map(|(four, values)| std::array::from_fn(|k| (4 * four + k, values[k].into()))),
            rest.iter()
                .enumerate()
                .map(move |(k, &value)| (first + k, value.into())),
        )
    }
}
