//! The inner loops, over the entries of one column or row: gather (dot product) and scatter (update).
//!
//! Other implementations of these solvers give the same bits, so the order of additions is a contract: four accumulators over chunks
//! of four, then `(a0 + a1) + (a2 + a3)`, then the last 0 to 3 products in order.

use std::{iter::repeat_n, ops::Range};

use crate::base::columns::Values;

/// Values of the entries of a matrix, or of a part of them, in one of the types of [`Values`].
pub trait Entries: Copy + Send + Sync {
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
    length: usize,
}

impl Entries for Ones {
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

impl<T: Copy + Into<f64> + Send + Sync> Entries for &[T] {
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

/// Work that is compiled once for each type of values.
pub(crate) trait WithEntries {
    type Output;
    fn run<E: Entries>(self, entries: E) -> Self::Output;
}

/// Runs `work` on the type of `values`.
pub(crate) fn with_entries<W: WithEntries>(
    values: Values<'_>,
    nonzeros: usize,
    work: W,
) -> W::Output {
    match values {
        Values::Ones => work.run(Ones { length: nonzeros }),
        Values::F32(values) => work.run(values),
        Values::F64(values) => work.run(values),
    }
}

/// `sum_k values_k w[rows_k]`.
#[inline(always)]
pub(crate) fn dot<E: Entries>(rows: &[i32], values: E, w: &[f64]) -> f64 {
    gather(rows, values, |row| w[row])
}

/// `sum_k values_k w(rows_k)`.
#[inline(always)]
pub(crate) fn gather<E: Entries>(rows: &[i32], values: E, mut w: impl FnMut(usize) -> f64) -> f64 {
    let (row_fours, row_rest) = rows.as_chunks::<4>();
    let (value_fours, value_rest) = values.fours();
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

/// `w[rows_k] -= step values_k`, times the weight of the row if there are weights.
#[inline(always)]
pub(crate) fn subtract<E: Entries>(
    rows: &[i32],
    values: E,
    step: f64,
    weights: Option<&[f64]>,
    w: &mut [f64],
) {
    match weights {
        None => each(rows, values, |row, value| w[row] -= step * value),
        Some(weights) => each(rows, values, |row, value| {
            w[row] -= (step * value) * weights[row];
        }),
    }
}

/// Calls `f` with row and value of each entry, in order.
#[inline(always)]
pub(crate) fn each<E: Entries>(rows: &[i32], values: E, mut f: impl FnMut(usize, f64)) {
    let (row_fours, row_rest) = rows.as_chunks::<4>();
    let (value_fours, value_rest) = values.fours();
    for (row, value) in row_fours.iter().zip(value_fours) {
        for k in 0..4 {
            f(row[k] as usize, value[k]);
        }
    }
    for (&row, value) in row_rest.iter().zip(value_rest) {
        f(row as usize, value);
    }
}
