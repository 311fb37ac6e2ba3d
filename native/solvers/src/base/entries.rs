//! The entries of a matrix as the inner loops see them, whether they are stored with their rows (`sparse`) or without (`dense`).

use std::ops::Range;

/// Most columns that a loop takes together.
pub const TOGETHER: usize = 4;

/// The entries of a matrix, column by column.
pub trait Entries: Copy + Send + Sync {
    /// The entries of one column.
    type Column: Column;

    /// The entries of column `i`.
    fn column(self, i: usize) -> Self::Column;

    /// How many columns to take together, of about `budget` entries in all: at least 1, at most [`TOGETHER`].
    fn together(self, budget: usize) -> usize;

    /// Writes the dot product of each of `columns` with `w` to `dots`: [`Column::dot`].
    fn dots(self, columns: Range<usize>, w: &[f64], dots: &mut [f64]);

    /// Calls [`Column::subtract`] for each column with its step, in order.
    fn subtract_all(self, steps: &[(usize, f64)], weights: Option<&[f64]>, w: &mut [f64]);

    /// Visits columns from `range.start` on in rising order, until the end of the range or until the visitor has enough. Returns the
    /// first column that it did not visit.
    fn walk<V: Visitor>(self, range: Range<usize>, visitor: &mut V) -> usize;
}

/// The entries of a column.
pub trait Column: Copy {
    /// Number of entries.
    fn len(self) -> usize;

    /// `sum_k values_k w[rows_k]`.
    fn dot(self, w: &[f64]) -> f64;

    /// `sum_k values_k read(cells, rows_k)`, added in the order of [`Column::dot`]. Every row has `stride` of the numbers in `cells`; `read`
    /// may get a part of them, with the row counted from its first cell.
    fn gather(
        self,
        cells: &mut [f64],
        stride: usize,
        read: impl FnMut(&mut [f64], usize) -> f64,
    ) -> f64;

    /// `w[rows_k] -= step values_k`, times the weight of the row if there are weights.
    fn subtract(self, step: f64, weights: Option<&[f64]>, w: &mut [f64]);

    /// Calls `change` with the cells, the row and the value of each entry, in order. [`Column::gather`] makes the cells.
    fn each(self, cells: &mut [f64], stride: usize, change: impl FnMut(&mut [f64], usize, f64));

    /// Rows and values in fours, and the 0 to 3 entries that remain.
    fn fours(
        self,
    ) -> (
        impl Iterator<Item = [(usize, f64); 4]>,
        impl Iterator<Item = (usize, f64)>,
    );
}

/// What [`Entries::walk`] calls for each column. The answer is whether to go on.
pub trait Visitor {
    /// Visits column `i`.
    fn column<C: Column>(&mut self, i: usize, column: C) -> bool;

    /// Visits column `i` with these rows and values. `sum` adds products of the values in the order of [`Column::dot`].
    fn short<const L: usize>(
        &mut self,
        i: usize,
        rows: [i32; L],
        values: [f64; L],
        sum: impl Fn([f64; L]) -> f64,
    ) -> bool;
}

/// `w[row] - step value`, times the weight of the row if there are weights.
#[inline(always)]
pub fn subtracted(w: f64, step: f64, value: f64, weight: Option<f64>) -> f64 {
    let change = step * value;
    w - match weight {
        None => change,
        Some(weight) => change * weight,
    }
}
