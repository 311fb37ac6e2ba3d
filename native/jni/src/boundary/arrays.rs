//! The arrays of a partition, and their validation part by part.

use dwell_solvers::{Columns, MatrixView, SolverError, Values};
use sprs::{CompressedStorage::CSC, CsMatViewI};

use crate::boundary::{
    fault::{Fault, argument},
    partition::Partition,
};

/// A matrix, coordinate by coordinate: a coordinate is a column of the data, or a row in dual calls.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    /// Entries of coordinate i are `offsets[i]` until `offsets[i + 1]`.
    pub offsets: &'a [i32],
    /// Place of each entry in its coordinate. A dense matrix has none: every coordinate has an entry for each place.
    pub indices: Option<&'a [i32]>,
    /// Value of each entry.
    pub values: Values<'a>,
}

/// The arrays of a partition, for one slice of work.
pub struct Arrays<'a, P: Partition> {
    /// The coordinates.
    pub matrix: Matrix<'a>,
    /// The arrays of doubles that belong to the matrix.
    pub fields: P::Fields<&'a [f64]>,
    /// The shared vector, little endian: doubles, or floats in the calls of LDA. Empty in a product.
    pub shared: &'a [u8],
}

impl<'a> Matrix<'a> {
    /// Number of coordinates.
    pub fn coordinates(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The columns of a matrix that was checked: O(1).
    ///
    /// # Errors
    /// `Argument` if lengths disagree.
    pub fn known(&self, length: usize) -> Result<Columns<'a>, Fault> {
        if self.indices.is_none() {
            self.check_last_offset(length)?;
        }
        Ok(Columns::validated_before(
            self.known_view(self.coordinates(), length)?,
        )?)
    }

    /// The view of a matrix that was checked: O(1). The solver gets it, and no function of `sprs` that trusts its structure.
    ///
    /// # Errors
    /// `Shape` if a dense matrix has another number of values.
    pub fn known_view(&self, count: usize, length: usize) -> Result<MatrixView<'a>, SolverError> {
        let (shape, offsets) = ((length, count), self.offsets);
        let Some(indices) = self.indices else {
            return MatrixView::dense(count, length, self.values);
        };
        // SAFETY: functions of `sprs` may rely on the structure of a view. None of them works on this one: `MatrixView::stored` takes its
        // slices, and all readers of those check bounds. So nothing hangs on the check of `sprs` that `slices::validate` and `java::pass::block`
        // make before a solver works on arrays of a new fingerprint, and that `validate` makes after it has compared lengths by this view.
        Ok(unsafe {
            match self.values {
                Values::Ones => {
                    let ones = &[(); usize::MAX][..indices.len()];
                    MatrixView::Ones(CsMatViewI::new_unchecked(
                        CSC, shape, offsets, indices, ones,
                    ))
                }
                Values::F32(values) => MatrixView::Sparse32(CsMatViewI::new_unchecked(
                    CSC, shape, offsets, indices, values,
                )),
                Values::F64(values) => MatrixView::Sparse64(CsMatViewI::new_unchecked(
                    CSC, shape, offsets, indices, values,
                )),
            }
        })
    }

    /// The view of a matrix. `sprs` checks its structure: O(entries).
    ///
    /// # Errors
    /// `Shape` names the place at fault.
    pub fn checked_view(&self, count: usize, length: usize) -> Result<MatrixView<'a>, SolverError> {
        match self.indices {
            Some(indices) => MatrixView::sparse(length, self.offsets, indices, self.values),
            None => MatrixView::dense(count, length, self.values),
        }
    }

    /// Checks offsets and entries of the coordinates from `next` on: as many as `units` of work allow, at least one. Returns the next
    /// coordinate. The matrix is right if every part is, because each part starts where the one before it ends.
    ///
    /// # Errors
    /// `Argument` names the place at fault.
    pub fn check_part(&self, length: usize, next: usize, units: usize) -> Result<usize, Fault> {
        let coordinates = self.coordinates();
        let mut end = next;
        let mut left = units as i64;
        while end < coordinates && (left > 0 || end == next) {
            left -= 1 + (i64::from(self.offsets[end + 1]) - i64::from(self.offsets[end])).max(0);
            end += 1;
        }
        if self
            .part(next, end)
            .is_some_and(|part| part.check(length, next).is_ok())
        {
            return Ok(end);
        }
        // The check of the whole matrix names the place at fault.
        self.check(length, 0)?;
        Err(argument!(
            "offsets, indices or values were changed while they were being validated"
        ))
    }

    /// The matrix with its own entries alone: the offsets of a part of a larger matrix point into the arrays of all. As it is, if its entries
    /// are not there: its check names the place at fault.
    pub fn with_own_entries(self) -> Self {
        if self.indices.is_none() || self.offsets.is_empty() {
            return self;
        }
        self.part(0, self.coordinates()).unwrap_or(self)
    }

    /// The coordinates from `next` to `end`; none if their entries are not there.
    fn part(&self, next: usize, end: usize) -> Option<Self> {
        let offsets = &self.offsets[next..=end];
        let entries = offsets[0] as usize..offsets[end - next] as usize;
        Some(Self {
            offsets,
            indices: match self.indices {
                Some(indices) => Some(indices.get(entries.clone())?),
                None => None,
            },
            values: match self.values {
                Values::Ones => Values::Ones,
                Values::F32(values) => Values::F32(values.get(entries)?),
                Values::F64(values) => Values::F64(values.get(entries)?),
            },
        })
    }

    /// Checks every offset and entry. The first coordinate has number `first`.
    fn check(&self, length: usize, first: usize) -> Result<(), SolverError> {
        if self.indices.is_none() {
            self.check_dense_offsets(length, first)?;
        }
        self.checked_view(self.coordinates(), length)?
            .check_finite()
    }

    /// In a dense matrix the last offset follows from the number of coordinates.
    fn check_last_offset(&self, length: usize) -> Result<(), Fault> {
        let (columns, last) = (self.coordinates(), self.offsets.last());
        let expected = columns.saturating_mul(length);
        match last.map(|&offset| usize::try_from(offset)) {
            Some(Ok(offset)) if offset == expected => Ok(()),
            _ => Err(argument!(
                "the last offset is {}, expected {expected}: without indices each of {columns} columns has {length} entries, one for each row",
                last.map_or("missing".into(), i32::to_string)
            )),
        }
    }

    /// In a dense matrix all coordinates have as many entries.
    fn check_dense_offsets(&self, length: usize, first: usize) -> Result<(), SolverError> {
        for (column, &offset) in (first..).zip(self.offsets) {
            let expected = column * length;
            if usize::try_from(offset) != Ok(expected) {
                return Err(SolverError::Shape(format!(
                    "column {column} starts at offset {offset}, expected {expected}: without indices every column has {length} entries, one for each row"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Coordinates of 0, 3, 2 and 4 entries, of length 4.
    const OFFSETS: [i32; 5] = [0, 0, 3, 5, 9];
    const INDICES: [i32; 9] = [0, 1, 3, 1, 2, 0, 1, 2, 3];
    const VALUES: [f64; 9] = [1.0; 9];

    fn matrix<'a>(offsets: &'a [i32], indices: &'a [i32], values: &'a [f64]) -> Matrix<'a> {
        Matrix {
            offsets,
            indices: Some(indices),
            values: Values::F64(values),
        }
    }

    /// Checks in parts of `units`; the number of parts.
    fn check(matrix: &Matrix<'_>, units: usize) -> Result<usize, Fault> {
        matrix.known(4)?;
        let (mut next, mut parts) = (0, 0);
        while next < matrix.coordinates() {
            next = matrix.check_part(4, next, units)?;
            parts += 1;
        }
        Ok(parts)
    }

    #[test]
    fn parts_find_what_the_whole_finds() {
        for (units, parts) in [(1, 4), (5, 2), (1000, 1)] {
            assert_eq!(
                check(&matrix(&OFFSETS, &INDICES, &VALUES), units).unwrap(),
                parts
            );
            for entry in 0..INDICES.len() {
                for bad in [-1, 4, i32::MAX, i32::MIN] {
                    let mut indices = INDICES;
                    indices[entry] = bad;
                    assert!(check(&matrix(&OFFSETS, &indices, &VALUES), units).is_err());
                }
                let mut spoiled = VALUES;
                spoiled[entry] = f64::NAN;
                assert!(check(&matrix(&OFFSETS, &INDICES, &spoiled), units).is_err());
            }
            for coordinate in 0..OFFSETS.len() {
                for bad in [-1, 7, i32::MAX, i32::MIN] {
                    let mut offsets = OFFSETS;
                    offsets[coordinate] = bad;
                    let whole = MatrixView::sparse(4, &offsets, &INDICES, Values::F64(&VALUES))
                        .and_then(Columns::new);
                    let parts = check(&matrix(&offsets, &INDICES, &VALUES), units);
                    assert_eq!(whole.is_err(), parts.is_err(), "{offsets:?}");
                }
            }
        }
        assert!(check(&matrix(&[], &[], &[]), 1).is_err());
    }

    #[test]
    fn rows_of_a_larger_matrix_have_their_own_entries() {
        let offsets = [3, 5, 9];
        let part = matrix(&offsets, &INDICES, &VALUES).with_own_entries();
        assert_eq!(part.indices, Some(&INDICES[3..]));
        assert!(part.checked_view(2, 4).is_ok());
        for missing in [[3, 5, 10], [-1, 5, 9], [6, 5, 5]] {
            let part = matrix(&missing, &INDICES, &VALUES).with_own_entries();
            assert_eq!(part.indices, Some(&INDICES[..]));
            assert!(part.checked_view(2, 4).is_err());
        }
    }

    #[test]
    fn parts_of_dense_matrices_find_what_the_whole_finds() {
        let offsets = [0, 4, 8, 12];
        let values = [1.0; 12];
        fn dense<'a>(offsets: &'a [i32], values: &'a [f64]) -> Matrix<'a> {
            Matrix {
                offsets,
                indices: None,
                values: Values::F64(values),
            }
        }
        for (units, parts) in [(1, 3), (6, 2), (1000, 1)] {
            assert_eq!(check(&dense(&offsets, &values), units).unwrap(), parts);
            for coordinate in 0..offsets.len() {
                for bad in [-1, 5, 16, i32::MAX, i32::MIN] {
                    let mut offsets = offsets;
                    offsets[coordinate] = bad;
                    let fault = check(&dense(&offsets, &values), units).unwrap_err();
                    let place = if coordinate == 3 {
                        format!("the last offset is {bad}, expected 12")
                    } else {
                        format!(
                            "column {coordinate} starts at offset {bad}, expected {}",
                            4 * coordinate
                        )
                    };
                    assert!(
                        matches!(&fault, Fault::Argument(text) if text.contains(&place)),
                        "{fault:?}"
                    );
                }
            }
            assert!(check(&dense(&[], &[]), units).is_err());
            for entry in 0..values.len() {
                let mut spoiled = values;
                spoiled[entry] = f64::NAN;
                let fault = check(&dense(&offsets, &spoiled), units).unwrap_err();
                let place = format!("column {}, row {}", entry / 4, entry % 4);
                assert!(
                    matches!(&fault, Fault::Argument(text) if text.contains(&place)),
                    "{fault:?}"
                );
            }
            assert!(check(&dense(&offsets, &values[1..]), units).is_err());
        }
        let ones = Matrix {
            values: Values::Ones,
            ..dense(&offsets, &values)
        };
        assert!(ones.known(4).is_err());
    }
}
