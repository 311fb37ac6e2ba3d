//! A borrowed sparse matrix in compressed columns (CSC).

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
}

/// A sparse matrix of `rows()` by `len()`, by columns; borrowed, never copied.
///
/// | array | shape | meaning |
/// |---|---|---|
/// | offsets | `len() + 1` | entries of column i are `offsets[i]..offsets[i + 1]`; starts at 0, never falls, ends at the number of entries |
/// | indices | entries | row of each entry, in `0..rows`, strictly increasing inside a column |
/// | values  | entries | see [`Values`] |
///
/// All readers of a `Columns` check bounds. Arrays that change after their validation can therefore give a wrong number or a panic,
/// never undefined behaviour.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    rows: usize,
    offsets: &'a [i32],
    indices: &'a [i32],
    values: Values<'a>,
}

impl<'a> Columns<'a> {
    /// Checks every invariant of the table above, and that values are finite: O(entries).
    ///
    /// # Errors
    /// `Shape` names the column (and the row) at fault, `NonFinite` the column and the row of the value.
    pub fn new(
        rows: usize,
        offsets: &'a [i32],
        indices: &'a [i32],
        values: Values<'a>,
    ) -> Result<Self, SolverError> {
        let columns = Self::validated_before(rows, offsets, indices, values)?;
        if columns.has_structure() && values.are_finite() {
            return Ok(columns);
        }
        // Something is wrong: find out what. `sprs` checks the structure. Its values have size 0, so that `vec!` allocates nothing.
        let unit = vec![(); indices.len()];
        CsMatViewI::<(), i32, i32>::try_new_csc((rows, columns.len()), offsets, indices, &unit)
            .map_err(|(_, _, _, error)| columns.explain(&error))?;
        let first_bad = match values {
            Values::Ones => None,
            Values::F32(v) => v.iter().position(|x| !x.is_finite()),
            Values::F64(v) => v.iter().position(|x| !x.is_finite()),
        };
        match first_bad {
            None => Ok(columns),
            Some(entry) => {
                let column = offsets.partition_point(|&o| o as usize <= entry) - 1;
                Err(SolverError::NonFinite(format!(
                    "value of column {column}, row {} is not finite: remove or replace NaN and infinity",
                    indices[entry]
                )))
            }
        }
    }

    /// Whether offsets never fall, and rows are in range and increase inside every column.
    ///
    /// The loop over entries has no branch. Rows may fall from one entry to the next only where a column starts, so two counts are
    /// compared: the falls anywhere, and the falls at starts of columns.
    fn has_structure(&self) -> bool {
        let falls = |pair: &[i32]| usize::from(pair[0] >= pair[1]);
        let mut at_starts = 0;
        for pair in self.offsets.windows(2) {
            let (start, end) = (pair[0] as usize, pair[1] as usize);
            if pair[0] < 0 || end < start || end > self.indices.len() {
                return false;
            }
            if 0 < start && start < end {
                at_starts += falls(&self.indices[start - 1..=start]);
            }
        }
        let in_range = |all: bool, &row: &i32| all & ((row as u32) < self.rows as u32);
        self.indices.windows(2).map(falls).sum::<usize>() == at_starts
            && self.indices.iter().fold(true, in_range)
    }

    /// For arrays that [`Columns::new`] has accepted: compares lengths and the first and last offset, O(1).
    ///
    /// # Errors
    /// `Shape` if the lengths disagree.
    pub fn validated_before(
        rows: usize,
        offsets: &'a [i32],
        indices: &'a [i32],
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
        if usize::try_from(last) != Ok(indices.len()) {
            return Err(SolverError::Shape(format!(
                "the last offset is {last}, but there are {} indices",
                indices.len()
            )));
        }
        let stored = match values {
            Values::Ones => indices.len(),
            Values::F32(v) => v.len(),
            Values::F64(v) => v.len(),
        };
        same_length("values", stored, indices.len(), "index")?;
        Ok(Self {
            rows,
            offsets,
            indices,
            values,
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
        self.indices.len()
    }

    /// Row of each stored entry, column after column.
    pub fn indices(&self) -> &'a [i32] {
        self.indices
    }

    /// Values of the stored entries, column after column.
    pub fn values(&self) -> Values<'a> {
        self.values
    }

    /// Entries of column `i`, as positions in `indices` and `values`.
    ///
    /// # Panics
    /// If there is no column `i`.
    #[inline(always)]
    pub fn entries(&self, i: usize) -> Range<usize> {
        self.offsets[i] as usize..self.offsets[i + 1] as usize
    }

    /// Names the column and the row of the error that the structure check found.
    fn explain(&self, error: &StructureError) -> SolverError {
        for (column, pair) in self.offsets.windows(2).enumerate() {
            let (start, end) = (pair[0], pair[1]);
            if start < 0 || end < start || end as usize > self.indices.len() {
                return SolverError::Shape(format!(
                    "column {column} has offsets {start} and {end}: offsets start at 0 and never fall"
                ));
            }
            let mut previous = -1;
            for &row in &self.indices[start as usize..end as usize] {
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
