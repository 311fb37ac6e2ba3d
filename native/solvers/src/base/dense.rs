//! The inner loops over entries that are stored without their rows: one for each row, in order.
//!
//! The order of additions is fixed, and the golden rounds check it to the last bit: the product of row j goes to accumulator
//! `j mod 16`, and the sixteen are added by halves,
//!
//! ```text
//! b_l = a_l + a_(l+8),   c_l = b_l + b_(l+4),   d_l = c_l + c_(l+2),   d_0 + d_1
//! ```
//!
//! Predictions of several outputs add entry after entry, as predictions of sparse entries do.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{
        instructions::Kernel,
        kernel::{WithEntries, with_kernel},
        matrix::{Columns, MatrixView, Values},
        order::SplitMix64,
    };

    /// Numbers around a block and a multiple of the accumulators.
    const ROWS: [usize; 14] = [0, 1, 3, 4, 15, 16, 17, 31, 37, 1023, 1024, 1025, 1040, 2100];

    const COLUMNS: usize = 5;

    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut random = SplitMix64::for_epoch(seed, 0, 0);
        (0..count)
            .map(|_| f64::from((random.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0))
            .collect()
    }

    /// The order of additions that the head of this file promises.
    fn promised(products: impl Iterator<Item = f64>) -> f64 {
        let mut a = [0.0; 16];
        for (j, product) in products.enumerate() {
            a[j % 16] += product;
        }
        for half in [8, 4, 2, 1] {
            for l in 0..half {
                a[l] += a[l + half];
            }
        }
        a[0]
    }

    /// Everything that loops compute from a vector, weights and cells of two numbers.
    struct Everything<'a> {
        w: &'a [f64],
        weights: &'a [f64],
        cells: &'a [f64],
    }

    #[derive(Debug, PartialEq)]
    struct Computed {
        dots: Vec<f64>,
        together: Vec<f64>,
        gathered: Vec<f64>,
        subtracted: Vec<f64>,
        weighted: Vec<f64>,
        subtracted_together: Vec<f64>,
        changed: Vec<f64>,
    }

    impl WithEntries for Everything<'_> {
        type Output = Computed;

        #[inline(always)]
        fn run<E: Entries>(self, entries: E) -> Computed {
            let Self { w, weights, cells } = self;
            let dots = (0..COLUMNS).map(|i| entries.column(i).dot(w)).collect();
            let mut together = vec![0.0; 4];
            entries.dots(1..5, w, &mut together);
            let mut cells = cells.to_vec();
            let gathered = (0..COLUMNS)
                .map(|i| {
                    let column = entries.column(i);
                    column.gather(&mut cells, 2, |cells, row| cells[2 * row])
                })
                .collect();
            let mut changed = cells;
            for i in 0..COLUMNS {
                entries
                    .column(i)
                    .each(&mut changed, 2, |cells, row, value| {
                        cells[2 * row + 1] += value;
                    });
            }
            let (mut subtracted, mut weighted) = (w.to_vec(), w.to_vec());
            for i in 0..COLUMNS {
                entries.column(i).subtract(0.3, None, &mut subtracted);
                entries
                    .column(i)
                    .subtract(0.3, Some(weights), &mut weighted);
            }
            let mut subtracted_together = w.to_vec();
            let steps: Vec<_> = (0..4).map(|i| (i, 0.1 * i as f64)).collect();
            entries.subtract_all(&steps, Some(weights), &mut subtracted_together);
            Computed {
                dots,
                together,
                gathered,
                subtracted,
                weighted,
                subtracted_together,
                changed,
            }
        }
    }

    /// The same, one number after the other.
    fn plain(columns: &[&[f64]], work: &Everything<'_>) -> Computed {
        let Everything { w, weights, cells } = *work;
        let dot = |column: &&[f64]| promised(column.iter().zip(w).map(|(x, w)| x * w));
        let take = |steps: &[(usize, f64)], weights: Option<&[f64]>| {
            let mut w = w.to_vec();
            for &(i, step) in steps {
                for (j, w) in w.iter_mut().enumerate() {
                    let change = step * columns[i][j];
                    *w -= weights.map_or(change, |weights| change * weights[j]);
                }
            }
            w
        };
        let dots: Vec<f64> = columns.iter().map(dot).collect();
        let gather =
            |column: &&[f64]| promised(column.iter().enumerate().map(|(j, x)| x * cells[2 * j]));
        let mut changed = cells.to_vec();
        for column in columns {
            for (j, x) in column.iter().enumerate() {
                changed[2 * j + 1] += x;
            }
        }
        let all: Vec<_> = (0..COLUMNS).map(|i| (i, 0.3)).collect();
        let four: Vec<_> = (0..4).map(|i| (i, 0.1 * i as f64)).collect();
        Computed {
            together: dots[1..].to_vec(),
            dots,
            gathered: columns.iter().map(gather).collect(),
            subtracted: take(&all, None),
            weighted: take(&all, Some(weights)),
            subtracted_together: take(&four, Some(weights)),
            changed,
        }
    }

    #[test]
    fn all_instructions_add_in_the_same_order() {
        for rows in ROWS {
            let values = numbers(COLUMNS * rows, 1);
            let narrow: Vec<f32> = values.iter().map(|&x| x as f32).collect();
            let (w, weights, cells) = (numbers(rows, 2), numbers(rows, 3), numbers(2 * rows, 4));
            let work = || Everything {
                w: &w,
                weights: &weights,
                cells: &cells,
            };
            let columns: Vec<&[f64]> = (0..COLUMNS).map(|i| &values[i * rows..][..rows]).collect();
            let expected = plain(&columns, &work());
            for kernel in Kernel::available() {
                for values in [Values::F64(&values), Values::F32(&narrow)] {
                    let columns = MatrixView::dense(COLUMNS, rows, values)
                        .and_then(Columns::new)
                        .unwrap();
                    let computed = with_kernel(kernel, &columns, work());
                    assert_eq!(computed, expected, "{rows} rows, {}", kernel.name());
                }
            }
        }
    }

    /// Visits columns until it has seen `left`.
    struct Count {
        left: usize,
        seen: Vec<usize>,
    }

    impl Visitor for Count {
        fn column<C: Column>(&mut self, i: usize, _: C) -> bool {
            self.seen.push(i);
            self.seen.len() < self.left
        }

        fn short<const L: usize>(
            &mut self,
            i: usize,
            _: [i32; L],
            _: [f64; L],
            _: impl Fn([f64; L]) -> f64,
        ) -> bool {
            self.seen.push(i);
            self.seen.len() < self.left
        }
    }

    struct Walk(Range<usize>, usize);

    impl WithEntries for Walk {
        type Output = (usize, Vec<usize>);

        fn run<E: Entries>(self, entries: E) -> Self::Output {
            let mut count = Count {
                left: self.1,
                seen: Vec::new(),
            };
            let next = entries.walk(self.0, &mut count);
            (next, count.seen)
        }
    }

    /// Sparse and dense columns are visited alike.
    #[test]
    fn a_walk_ends_with_its_range_or_its_visitor() {
        let values = [1.0; 10];
        let dense = MatrixView::dense(5, 2, Values::F64(&values))
            .and_then(Columns::new)
            .unwrap();
        let indices = [0, 1, 0, 0, 1];
        let sparse = MatrixView::sparse(2, &[0, 2, 2, 3, 3, 5], &indices, Values::Ones)
            .and_then(Columns::new)
            .unwrap();
        for columns in [dense, sparse] {
            for (range, left, expected) in [
                (1..4, 9, (4, vec![1, 2, 3])),
                (1..4, 2, (3, vec![1, 2])),
                (0..5, 1, (1, vec![0])),
                (2..2, 9, (2, vec![])),
            ] {
                let walk = Walk(range, left);
                assert_eq!(with_kernel(Kernel::PORTABLE, &columns, walk), expected);
            }
        }
    }
}
