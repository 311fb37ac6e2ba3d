//! A borrowed matrix by columns: in compressed columns (CSC), or dense.

use std::ops::Range;

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

impl Values<'_> {
    /// Whether no value is NaN or infinite. The loop has no branch for each value.
    fn are_finite(self) -> bool {
        match self {
            Self::Ones => true,
            Self::F32(values) => values.iter().fold(true, |all, x| all & x.is_finite()),
            Self::F64(values) => values.iter().fold(true, |all, x| all & x.is_finite()),
        }
    }

    /// Position of the first value that is NaN or infinite.
    fn first_not_finite(self) -> Option<usize> {
        match self {
            Self::Ones => None,
            Self::F32(values) => values.iter().position(|x| !x.is_finite()),
            Self::F64(values) => values.iter().position(|x| !x.is_finite()),
        }
    }
}

/// The entries of a matrix, column after column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stored<'a> {
    /// With the row of each entry.
    Sparse(&'a [i32], Values<'a>),
    /// One entry for each row.
    Dense32(&'a [f32]),
    /// One entry for each row.
    Dense64(&'a [f64]),
}

/// A matrix of `rows()` by `len()`, by columns; borrowed, never copied.
///
/// | array | shape | meaning in a sparse matrix | in a dense one |
/// |---|---|---|---|
/// | offsets | `len() + 1` | entries of column i are `offsets[i]..offsets[i + 1]`; starts at 0, never falls, ends at the number of entries | `offsets[i] = i rows()` |
/// | indices | entries | row of each entry, in `0..rows`, strictly increasing inside a column | none: every column has an entry for each row, in order |
/// | values  | entries | see [`Values`] | `f32` or `f64` |
///
/// All readers of a `Columns` check bounds. Arrays that change after their validation can therefore give a wrong number or a panic,
/// never undefined behaviour.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    rows: usize,
    offsets: &'a [i32],
    stored: Stored<'a>,
}

impl<'a> Columns<'a> {
    /// A sparse matrix. Checks every invariant of the table above, and that values are finite: O(entries).
    ///
    /// # Errors
    /// `Shape` names the column (and the row) at fault, `NonFinite` the column and the row of the value.
    pub fn new(
        rows: usize,
        offsets: &'a [i32],
        indices: &'a [i32],
        values: Values<'a>,
    ) -> Result<Self, SolverError> {
        let columns = Self::validated_before(rows, offsets, Some(indices), values)?;
        if columns.has_structure(indices) && values.are_finite() {
            return Ok(columns);
        }
        // Something is wrong: find out what. `sprs` checks the structure. Its values have size 0, so that `vec!` allocates nothing.
        let unit = vec![(); indices.len()];
        CsMatViewI::<(), i32, i32>::try_new_csc((rows, columns.len()), offsets, indices, &unit)
            .map_err(|(_, _, _, error)| columns.explain(indices, &error))?;
        match values.first_not_finite() {
            None => Ok(columns),
            Some(entry) => {
                let column = offsets.partition_point(|&o| o as usize <= entry) - 1;
                Err(not_finite(column, indices[entry] as usize))
            }
        }
    }

    /// A dense matrix, with `f32` or `f64` values. Checks every invariant of the table above, and that values are finite: O(entries).
    ///
    /// # Errors
    /// `Shape` names the column at fault, `NonFinite` the column and the row of the value.
    pub fn dense(rows: usize, offsets: &'a [i32], values: Values<'a>) -> Result<Self, SolverError> {
        let columns = Self::validated_before(rows, offsets, None, values)?;
        for (column, &offset) in offsets.iter().enumerate() {
            if usize::try_from(offset) != Ok(column * rows) {
                return Err(SolverError::Shape(format!(
                    "column {column} starts at offset {offset}, expected {}: without indices every column has {rows} entries, one for each row",
                    column * rows
                )));
            }
        }
        if values.are_finite() {
            return Ok(columns);
        }
        match values.first_not_finite() {
            None => Ok(columns),
            Some(entry) => Err(not_finite(entry / rows, entry % rows)),
        }
    }

    /// Whether offsets never fall, and rows are in range and increase inside every column.
    ///
    /// The loop over entries has no branch. Rows may fall from one entry to the next only where a column starts, so two counts are
    /// compared: the falls anywhere, and the falls at starts of columns.
    fn has_structure(&self, indices: &[i32]) -> bool {
        let falls = |pair: &[i32]| usize::from(pair[0] >= pair[1]);
        let mut at_starts = 0;
        for pair in self.offsets.windows(2) {
            let (start, end) = (pair[0] as usize, pair[1] as usize);
            if pair[0] < 0 || end < start || end > indices.len() {
                return false;
            }
            if 0 < start && start < end {
                at_starts += falls(&indices[start - 1..=start]);
            }
        }
        let in_range = |all: bool, &row: &i32| all & ((row as u32) < self.rows as u32);
        indices.windows(2).map(falls).sum::<usize>() == at_starts
            && indices.iter().fold(true, in_range)
    }

    /// For arrays that [`Columns::new`] has accepted, or [`Columns::dense`] where there are no `indices`: compares lengths and the first
    /// and last offset, O(1).
    ///
    /// # Errors
    /// `Shape` if the lengths disagree.
    pub fn validated_before(
        rows: usize,
        offsets: &'a [i32],
        indices: Option<&'a [i32]>,
        values: Values<'a>,
    ) -> Result<Self, SolverError> {
        if rows > i32::MAX as usize {
            return Err(SolverError::Shape(format!(
                "{rows} rows: at most {} fit an index",
                i32::MAX
            )));
        }
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
        let stored = match indices {
            Some(indices) => sparse(last, indices, values)?,
            None => dense(rows, offsets.len() - 1, last, values)?,
        };
        Ok(Self {
            rows,
            offsets,
            stored,
        })
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of stored entries.
    pub fn nonzeros(&self) -> usize {
        match self.stored {
            Stored::Sparse(indices, _) => indices.len(),
            Stored::Dense32(values) => values.len(),
            Stored::Dense64(values) => values.len(),
        }
    }

    /// Positions of the entries of each column in the arrays of [`Columns::stored`].
    pub(crate) fn offsets(&self) -> &'a [i32] {
        self.offsets
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
        self.offsets[i] as usize..self.offsets[i + 1] as usize
    }

    /// Names the column and the row of the error that the structure check found.
    fn explain(&self, indices: &[i32], error: &StructureError) -> SolverError {
        for (column, pair) in self.offsets.windows(2).enumerate() {
            let (start, end) = (pair[0], pair[1]);
            if start < 0 || end < start || end as usize > indices.len() {
                return SolverError::Shape(format!(
                    "column {column} has offsets {start} and {end}: offsets start at 0 and never fall"
                ));
            }
            let mut previous = -1;
            for &row in &indices[start as usize..end as usize] {
                if row < 0 || row as usize >= self.rows {
                    return SolverError::Shape(format!(
                        "column {column} has an entry in row {row}, but rows are 0 to {}",
                        self.rows as i64 - 1
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
}

/// The entries of a sparse matrix, if the lengths agree.
fn sparse<'a>(
    last: i32,
    indices: &'a [i32],
    values: Values<'a>,
) -> Result<Stored<'a>, SolverError> {
    if usize::try_from(last) != Ok(indices.len()) {
        return Err(SolverError::Shape(format!(
            "the last offset is {last}, but there are {} indices",
            indices.len()
        )));
    }
    let count = match values {
        Values::Ones => indices.len(),
        Values::F32(v) => v.len(),
        Values::F64(v) => v.len(),
    };
    same_length("values", count, indices.len(), "index")?;
    Ok(Stored::Sparse(indices, values))
}

/// The entries of a dense matrix, if the lengths agree.
fn dense(
    rows: usize,
    columns: usize,
    last: i32,
    values: Values<'_>,
) -> Result<Stored<'_>, SolverError> {
    let (stored, count) = match values {
        Values::F32(values) => (Stored::Dense32(values), values.len()),
        Values::F64(values) => (Stored::Dense64(values), values.len()),
        Values::Ones => {
            return Err(SolverError::Shape(
                "there are neither indices nor values: without indices a matrix has a value for each row of each column".into(),
            ));
        }
    };
    let entries = columns.saturating_mul(rows);
    if usize::try_from(last) != Ok(entries) || count != entries {
        return Err(SolverError::Shape(format!(
            "the last offset is {last} and there are {count} values, expected {entries}: without indices each of {columns} columns has {rows} entries, one for each row"
        )));
    }
    Ok(stored)
}

fn not_finite(column: usize, row: usize) -> SolverError {
    SolverError::NonFinite(format!(
        "value of column {column}, row {row} is not finite: remove or replace NaN and infinity"
    ))
}
