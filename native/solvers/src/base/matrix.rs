//! A borrowed matrix, as views of `sprs` and `ndarray`.

use std::ops::Range;

use ndarray::{ArrayView, ArrayView2, Dimension, NdFloat};
use sprs::{CsMatViewI, errors::StructureError};

use crate::base::error::{SolverError, same_length};

/// Values of the stored entries, in the narrowest type that is exact. Arithmetic is in `f64` for every type.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// Every stored entry is 1.
    Ones,
    /// One `f32` for each stored entry.
    F32(&'a [f32]),
    /// One `f64` for each stored entry.
    F64(&'a [f64]),
}

/// A matrix by columns, or by rows where a solver takes rows; borrowed, never copied.
///
/// What it is by is the outer dimension of a sparse view, and the first axis of a dense one. Errors call these vectors columns, and the
/// places in them rows.
#[derive(Debug, Clone, Copy)]
pub enum MatrixView<'a> {
    /// Sparse; every stored entry is 1. A slice of `()` takes no memory.
    Ones(CsMatViewI<'a, (), i32>),
    /// Sparse, with `f32` values.
    Sparse32(CsMatViewI<'a, f32, i32>),
    /// Sparse, with `f64` values.
    Sparse64(CsMatViewI<'a, f64, i32>),
    /// Dense, with `f32` values.
    Dense32(ArrayView2<'a, f32>),
    /// Dense, with `f64` values.
    Dense64(ArrayView2<'a, f64>),
}

/// The arrays of a matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stored<'a> {
    /// Where the entries of each column start, the row of each entry, and its value.
    Sparse(&'a [i32], &'a [i32], Values<'a>),
    /// One entry for each row.
    Dense32(&'a [f32]),
    /// One entry for each row.
    Dense64(&'a [f64]),
}

/// As many `()` as anyone needs.
const UNITS: &[()] = &[(); usize::MAX];

impl<'a> MatrixView<'a> {
    /// A sparse matrix of columns with `rows` rows. `sprs` checks its structure: entries of column i are `offsets[i]..offsets[i + 1]`,
    /// counted from `offsets[0]`, and `indices`, the rows of the entries, increase inside a column. O(entries).
    ///
    /// # Errors
    /// `Shape` names the column and the row at fault.
    pub fn sparse(
        rows: usize,
        offsets: &'a [i32],
        indices: &'a [i32],
        values: Values<'a>,
    ) -> Result<Self, SolverError> {
        match values {
            Values::Ones => {
                let values = &UNITS[..indices.len()];
                checked(rows, offsets, indices, values).map(Self::Ones)
            }
            Values::F32(values) => checked(rows, offsets, indices, values).map(Self::Sparse32),
            Values::F64(values) => checked(rows, offsets, indices, values).map(Self::Sparse64),
        }
    }

    /// A dense matrix: the values of one column after another.
    ///
    /// # Errors
    /// `Shape` unless there are values, as many as the matrix has places.
    pub fn dense(columns: usize, rows: usize, values: Values<'a>) -> Result<Self, SolverError> {
        let shape = (columns, rows);
        let (count, view) = match values {
            Values::F32(values) => (
                values.len(),
                ArrayView::from_shape(shape, values).map(Self::Dense32),
            ),
            Values::F64(values) => (
                values.len(),
                ArrayView::from_shape(shape, values).map(Self::Dense64),
            ),
            Values::Ones => {
                return Err(SolverError::Shape(
                    "there are neither indices nor values: without indices a matrix has a value for each row of each column".into(),
                ));
            }
        };
        let entries = columns.saturating_mul(rows);
        let wrong = || {
            SolverError::Shape(format!(
                "there are {count} values, expected {entries}: without indices each of {columns} columns has {rows} entries, one for each row"
            ))
        };
        view.ok().filter(|_| count == entries).ok_or_else(wrong)
    }

    /// Numbers of columns and rows.
    pub(crate) fn shape(&self) -> (usize, usize) {
        match self {
            Self::Ones(view) => (view.outer_dims(), view.inner_dims()),
            Self::Sparse32(view) => (view.outer_dims(), view.inner_dims()),
            Self::Sparse64(view) => (view.outer_dims(), view.inner_dims()),
            Self::Dense32(view) => view.dim(),
            Self::Dense64(view) => view.dim(),
        }
    }

    /// Checks that every value is finite: O(entries).
    ///
    /// # Errors
    /// `NonFinite` names the column and the row of the value.
    pub fn check_finite(&self) -> Result<(), SolverError> {
        let place = match self {
            Self::Ones(_) => None,
            Self::Sparse32(view) => sparse_not_finite(*view),
            Self::Sparse64(view) => sparse_not_finite(*view),
            Self::Dense32(view) => dense_not_finite(view),
            Self::Dense64(view) => dense_not_finite(view),
        };
        match place {
            None => Ok(()),
            Some((column, row)) => Err(SolverError::NonFinite(format!(
                "value of column {column}, row {row} is not finite: remove or replace NaN and infinity"
            ))),
        }
    }

    /// The arrays: O(1). Offsets of a part of a larger sparse matrix count from its own first entry, which is `offsets[0]` of the larger one.
    ///
    /// # Errors
    /// `Shape` if the numbers of a dense matrix do not follow one another.
    pub(crate) fn stored(&self) -> Result<Stored<'a>, SolverError> {
        match self {
            Self::Ones(view) => Ok(sparse(view, |_| Values::Ones)),
            Self::Sparse32(view) => Ok(sparse(view, Values::F32)),
            Self::Sparse64(view) => Ok(sparse(view, Values::F64)),
            Self::Dense32(view) => slice("a dense matrix", *view).map(Stored::Dense32),
            Self::Dense64(view) => slice("a dense matrix", *view).map(Stored::Dense64),
        }
    }
}

/// A matrix of finite numbers, of `rows()` by `len()`, by columns; borrowed, never copied.
///
/// All readers of a `Columns` check bounds. Arrays that change after their validation can therefore give a wrong number or a panic,
/// never undefined behaviour.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    rows: usize,
    len: usize,
    stored: Stored<'a>,
}

impl<'a> Columns<'a> {
    /// The matrix of a view. Checks that values are finite: O(entries).
    ///
    /// # Errors
    /// `NonFinite` names the column and the row of the value; `Shape` if the view is a part of a larger one.
    pub fn new(view: MatrixView<'a>) -> Result<Self, SolverError> {
        let columns = Self::validated_before(view)?;
        view.check_finite()?;
        Ok(columns)
    }

    /// For a view whose values [`MatrixView::check_finite`] has accepted: O(1).
    ///
    /// # Errors
    /// `Shape` if the view is a part of a larger one.
    pub fn validated_before(view: MatrixView<'a>) -> Result<Self, SolverError> {
        let (len, rows) = view.shape();
        check_rows(rows)?;
        let stored = view.stored()?;
        if let Stored::Sparse(offsets, indices, _) = stored {
            check_ends(offsets, indices)?;
        }
        Ok(Self { rows, len, stored })
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of stored entries.
    pub fn nonzeros(&self) -> usize {
        match self.stored {
            Stored::Sparse(_, indices, _) => indices.len(),
            Stored::Dense32(values) => values.len(),
            Stored::Dense64(values) => values.len(),
        }
    }

    /// The stored entries.
    pub(crate) fn stored(&self) -> Stored<'a> {
        self.stored
    }

    /// Entries of column `i`, as positions in the arrays of [`Columns::stored`].
    ///
    /// # Panics
    /// If there is no column `i`.
    #[inline(always)]
    pub(crate) fn entries(&self, i: usize) -> Range<usize> {
        match self.stored {
            Stored::Sparse(offsets, ..) => offsets[i] as usize..offsets[i + 1] as usize,
            Stored::Dense32(_) | Stored::Dense64(_) => i * self.rows..(i + 1) * self.rows,
        }
    }
}

/// The arrays of a sparse view.
fn sparse<'a, T: Copy>(
    view: &CsMatViewI<'a, T, i32>,
    values: impl FnOnce(&'a [T]) -> Values<'a>,
) -> Stored<'a> {
    let (offsets, indices, data) = view.into_raw_storage();
    Stored::Sparse(offsets, indices, values(data))
}

/// The numbers of a view that follow one another.
///
/// # Errors
/// `Shape` if they do not.
pub(crate) fn slice<'a, T, D: Dimension>(
    what: &str,
    view: ArrayView<'a, T, D>,
) -> Result<&'a [T], SolverError> {
    view.to_slice().ok_or_else(|| {
        SolverError::Shape(format!(
            "{what} is not in standard layout: its numbers must follow one another"
        ))
    })
}

/// A sparse view, if `sprs` accepts it.
fn checked<'a, T>(
    rows: usize,
    offsets: &'a [i32],
    indices: &'a [i32],
    values: &'a [T],
) -> Result<CsMatViewI<'a, T, i32>, SolverError> {
    same_length("values", values.len(), indices.len(), "index")?;
    let shape = (rows, offsets.len().saturating_sub(1));
    CsMatViewI::try_new_csc(shape, offsets, indices, values)
        .map_err(|(offsets, indices, _, error)| explain(rows, offsets, indices, &error))
}

/// Whether the entries of the first column come first, and those of the last column last.
fn check_ends(offsets: &[i32], indices: &[i32]) -> Result<(), SolverError> {
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
        return Err(SolverError::Shape(
            "offsets is empty: even a matrix without columns has one offset, 0".into(),
        ));
    };
    if first != 0 {
        return Err(SolverError::Shape(format!(
            "offsets[0] = {first}: the first column starts at entry 0"
        )));
    }
    if usize::try_from(last) != Ok(indices.len()) {
        return Err(SolverError::Shape(format!(
            "the last offset is {last}, but there are {} indices: offsets end at the number of entries",
            indices.len()
        )));
    }
    Ok(())
}

/// Names the column and the row of the error that `sprs` found.
fn explain(rows: usize, offsets: &[i32], indices: &[i32], error: &StructureError) -> SolverError {
    if let Err(error) = check_rows(rows).and_then(|()| check_ends(offsets, indices)) {
        return error;
    }
    for (column, pair) in offsets.windows(2).enumerate() {
        let (start, end) = (pair[0], pair[1]);
        if start < 0 || end < start || end as usize > indices.len() {
            return SolverError::Shape(format!(
                "column {column} has offsets {start} and {end}: offsets start at 0 and never fall"
            ));
        }
        let mut previous = -1;
        for &row in &indices[start as usize..end as usize] {
            if row < 0 || row as usize >= rows {
                return SolverError::Shape(format!(
                    "column {column} has an entry in row {row}, which is out of range: rows are 0 to {}",
                    rows as i64 - 1
                ));
            }
            if row <= previous {
                return SolverError::Shape(format!(
                    "column {column} has row {row} after row {previous}: rows must increase"
                ));
            }
            previous = row;
        }
    }
    SolverError::Shape(error.to_string())
}

/// Whether every row has an index.
fn check_rows(rows: usize) -> Result<(), SolverError> {
    if i32::try_from(rows).is_ok() {
        return Ok(());
    }
    Err(SolverError::Shape(format!(
        "{rows} rows: at most {} fit an index",
        i32::MAX
    )))
}

/// Column and row of the first value that is not finite. The loop over the values has no branch for each.
fn sparse_not_finite<T: NdFloat>(view: CsMatViewI<'_, T, i32>) -> Option<(usize, usize)> {
    let (offsets, indices, values) = view.into_raw_storage();
    if values.iter().fold(true, |all, x| all & x.is_finite()) {
        return None;
    }
    let entry = values.iter().position(|x| !x.is_finite())?;
    let at = entry + offsets[0] as usize;
    let column = offsets.partition_point(|&o| o as usize <= at) - 1;
    Some((column, indices[entry] as usize))
}

/// The same of a dense matrix.
fn dense_not_finite<T: NdFloat>(view: &ArrayView2<'_, T>) -> Option<(usize, usize)> {
    if view.fold(true, |all, x| all & x.is_finite()) {
        return None;
    }
    let mut places = view.indexed_iter().filter(|(_, x)| !x.is_finite());
    places.next().map(|(place, _)| place)
}
