//! The inner loops over entries that are stored with their rows: gather (dot product) and scatter (update).
//!
//! The order of additions is fixed, and the golden rounds check it to the last bit: four accumulators over chunks of four, then
//! `(a0 + a1) + (a2 + a3)`, then the last 0 to 3 products in order.

use std::{iter::repeat_n, ops::Range};

use crate::base::entries::{Column, Entries, Visitor, subtracted};

/// Values of entries, or of a part of them.
pub trait Numbers: Copy + Send + Sync {
    /// The values in `range`.
    fn part(self, range: Range<usize>) -> Self;
    /// All values; there are exactly `L`.
    fn array<const L: usize>(self) -> [f64; L];
    /// The values in chunks of four, and the 0 to 3 values that remain.
    fn fours(self) -> (impl Iterator<Item = [f64; 4]>, impl Iterator<Item = f64>);
}

/// All values are 1.
#[derive(Clone, Copy)]
pub(crate) struct Ones {
    pub length: usize,
}

impl Numbers for Ones {
    #[inline(always)]
    fn part(self, range: Range<usize>) -> Self {
        Self {
            length: range.len(),
        }
    }

    #[inline(always)]
    fn array<const L: usize>(self) -> [f64; L] {
        [1.0; L]
    }

    #[inline(always)]
    fn fours(self) -> (impl Iterator<Item = [f64; 4]>, impl Iterator<Item = f64>) {
        (
            repeat_n([1.0; 4], self.length / 4),
            repeat_n(1.0, self.length % 4),
        )
    }
}

impl<T: Copy + Into<f64> + Send + Sync> Numbers for &[T] {
    #[inline(always)]
    fn part(self, range: Range<usize>) -> Self {
        &self[range]
    }

    #[inline(always)]
    fn array<const L: usize>(self) -> [f64; L] {
        std::array::from_fn(|k| self[k].into())
    }

    #[inline(always)]
    fn fours(self) -> (impl Iterator<Item = [f64; 4]>, impl Iterator<Item = f64>) {
        let (fours, rest) = self.as_chunks::<4>();
        (
            fours.iter().map(|four| four.map(Into::into)),
            rest.iter().map(|&value| value.into()),
        )
    }
}

/// Entries with their rows; [`Columns`](crate::Columns) describes the arrays.
#[derive(Clone, Copy)]
pub(crate) struct Sparse<'a, N> {
    pub offsets: &'a [i32],
    pub indices: &'a [i32],
    pub values: N,
}

impl<N: Numbers> Sparse<'_, N> {
    #[inline(always)]
    fn range(self, i: usize) -> Range<usize> {
        self.offsets[i] as usize..self.offsets[i + 1] as usize
    }

    /// Visits columns from `i` on while they have `L` entries; here 0 stands for every number except 1 to 8.
    fn run<const L: usize, V: Visitor>(
        self,
        mut i: usize,
        end: usize,
        visitor: &mut V,
    ) -> (usize, bool) {
        loop {
            let go_on = if L == 0 {
                visitor.column(i, self.column(i))
            } else {
                let start = self.offsets[i] as usize;
                let rows = std::array::from_fn(|k| self.indices[start..start + L][k]);
                let values = self.values.part(start..start + L).array::<L>();
                visitor.short(i, rows, values, sum_of_few)
            };
            i += 1;
            if i >= end || !go_on {
                return (i, false);
            }
            let next = self.range(i).len();
            let same = if L == 0 {
                next == 0 || next > 8
            } else {
                next == L
            };
            if !same {
                return (i, true);
            }
        }
    }
}

/// The sum of 1 to 8 products, without a loop over chunks.
#[inline(always)]
fn sum_of_few<const L: usize>(products: [f64; L]) -> f64 {
    let p = |k: usize| products[k];
    let mut sum = match L / 4 {
        0 => 0.0,
        1 => (p(0) + p(1)) + (p(2) + p(3)),
        _ => ((p(0) + p(4)) + (p(1) + p(5))) + ((p(2) + p(6)) + (p(3) + p(7))),
    };
    for product in &products[L / 4 * 4..] {
        sum += product;
    }
    sum
}

impl<'a, N: Numbers> Entries for Sparse<'a, N> {
    type Column = SparseColumn<'a, N>;

    #[inline(always)]
    fn column(self, i: usize) -> SparseColumn<'a, N> {
        let range = self.range(i);
        SparseColumn {
            rows: &self.indices[range.clone()],
            values: self.values.part(range),
        }
    }

    /// Columns that share few rows gain nothing together.
    #[inline(always)]
    fn together(self, _: usize) -> usize {
        1
    }

    #[inline(always)]
    fn dots(self, columns: Range<usize>, w: &[f64], dots: &mut [f64]) {
        for (i, dot) in columns.zip(dots) {
            *dot = self.column(i).dot(w);
        }
    }

    #[inline(always)]
    fn subtract_all(self, steps: &[(usize, f64)], weights: Option<&[f64]>, w: &mut [f64]) {
        for &(i, step) in steps {
            self.column(i).subtract(step, weights, w);
        }
    }

    /// Columns of 1 to 8 entries are compiled for their length.
    #[inline(always)]
    fn walk<V: Visitor>(self, range: Range<usize>, visitor: &mut V) -> usize {
        let end = range.end;
        let mut next = range.start;
        while next < end {
            let go_on;
            (next, go_on) = match self.range(next).len() {
                1 => self.run::<1, V>(next, end, visitor),
                2 => self.run::<2, V>(next, end, visitor),
                3 => self.run::<3, V>(next, end, visitor),
                4 => self.run::<4, V>(next, end, visitor),
                5 => self.run::<5, V>(next, end, visitor),
                6 => self.run::<6, V>(next, end, visitor),
                7 => self.run::<7, V>(next, end, visitor),
                8 => self.run::<8, V>(next, end, visitor),
                _ => self.run::<0, V>(next, end, visitor),
            };
            if !go_on {
                break;
            }
        }
        next
    }
}

/// A column with the row of each entry.
#[derive(Clone, Copy)]
pub(crate) struct SparseColumn<'a, N> {
    rows: &'a [i32],
    values: N,
}

impl<N: Numbers> SparseColumn<'_, N> {
    /// `sum_k values_k w(rows_k)`
    #[inline(always)]
    fn sum(self, mut w: impl FnMut(usize) -> f64) -> f64 {
        let (row_fours, row_rest) = self.rows.as_chunks::<4>();
        let (value_fours, value_rest) = self.values.fours();
        let mut sums = [0.0; 4];
        for (row, value) in row_fours.iter().zip(value_fours) {
            for k in 0..4 {
                sums[k] += value[k] * w(row[k] as usize);
            }
        }
        let mut sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        for (&row, value) in row_rest.iter().zip(value_rest) {
            sum += value * w(row as usize);
        }
        sum
    }

    /// Calls `f` with row and value of each entry, in order.
    #[inline(always)]
    fn visit(self, mut f: impl FnMut(usize, f64)) {
        let (row_fours, row_rest) = self.rows.as_chunks::<4>();
        let (value_fours, value_rest) = self.values.fours();
        for (row, value) in row_fours.iter().zip(value_fours) {
            for k in 0..4 {
                f(row[k] as usize, value[k]);
            }
        }
        for (&row, value) in row_rest.iter().zip(value_rest) {
            f(row as usize, value);
        }
    }
}

impl<N: Numbers> Column for SparseColumn<'_, N> {
    #[inline(always)]
    fn len(self) -> usize {
        self.rows.len()
    }

    #[inline(always)]
    fn dot(self, w: &[f64]) -> f64 {
        self.sum(|row| w[row])
    }

    #[inline(always)]
    fn gather(
        self,
        cells: &mut [f64],
        _: usize,
        mut read: impl FnMut(&mut [f64], usize) -> f64,
    ) -> f64 {
        self.sum(|row| read(cells, row))
    }

    #[inline(always)]
    fn subtract(self, step: f64, weights: Option<&[f64]>, w: &mut [f64]) {
        match weights {
            None => self.visit(|row, value| w[row] = subtracted(w[row], step, value, None)),
            Some(weights) => self.visit(|row, value| {
                w[row] = subtracted(w[row], step, value, Some(weights[row]));
            }),
        }
    }

    #[inline(always)]
    fn each(self, cells: &mut [f64], _: usize, mut change: impl FnMut(&mut [f64], usize, f64)) {
        self.visit(|row, value| change(cells, row, value));
    }

    #[inline(always)]
    fn fours(
        self,
    ) -> (
        impl Iterator<Item = [(usize, f64); 4]>,
        impl Iterator<Item = (usize, f64)>,
    ) {
        let (row_fours, row_rest) = self.rows.as_chunks::<4>();
        let (value_fours, value_rest) = self.values.fours();
        (
            row_fours
                .iter()
                .zip(value_fours)
                .map(|(row, value)| std::array::from_fn(|k| (row[k] as usize, value[k]))),
            row_rest
                .iter()
                .zip(value_rest)
                .map(|(&row, value)| (row as usize, value)),
        )
    }
}
