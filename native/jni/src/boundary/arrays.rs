//! The arrays of a matrix, and their validation part by part.

use dwell_solvers::{MatrixView, SolverError, Values};
use sprs::{CompressedStorage::CSC, CsMatViewI};

use crate::boundary::fault::{Fault, argument};

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

impl<'a> Matrix<'a> {
    /// Number of coordinates.
    pub fn coordinates(&self) -> usize {
        self.offsets.len().saturating_sub(1)
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
        // slices, and all readers of those check bounds. So nothing hangs on the check of `sprs` that `blocks::check` and `java::pass::block`
        // make before a solver works on arrays of a new fingerprint, the former after it has compared lengths by this view.
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
            .is_some_and(|part| part.check(length).is_ok())
        {
            return Ok(end);
        }
        // The check of the whole matrix names the place at fault.
        self.check(length)?;
        Err(argument!(
            "offsets, indices or values were changed while they were being validated"
        ))
    }

    /// Checks the values of the coordinates of a dense matrix from `next` on: as many as `units` of work allow, at least one. Returns the
    /// next coordinate.
    ///
    /// # Errors
    /// `Argument` names the place at fault.
    pub fn check_values(
        &self,
        length: usize,
        next: usize,
        count: usize,
        units: usize,
    ) -> Result<usize, Fault> {
        let end = count.min(next + (units / length.max(1)).max(1));
        let view = MatrixView::dense(count, length, self.values)?;
        let part = match self.values {
            Values::Ones => None,
            Values::F32(values) => values.get(next * length..end * length).map(Values::F32),
            Values::F64(values) => values.get(next * length..end * length).map(Values::F64),
        };
        let is_finite = part.is_some_and(|values| {
            MatrixView::dense(end - next, length, values)
                .is_ok_and(|part| part.check_finite().is_ok())
        });
        if !is_finite {
            // The check of the whole matrix names the place at fault.
            view.check_finite()?;
        }
        Ok(end)
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

    /// Checks every offset and entry.
    fn check(&self, length: usize) -> Result<(), SolverError> {
        self.checked_view(self.coordinates(), length)?
            .check_finite()
    }
}

#[cfg(test)]
mod tests {
    use dwell_solvers::Columns;

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
        Columns::validated_before(matrix.known_view(matrix.coordinates(), 4)?)?;
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
    fn a_value_that_is_not_finite_is_named_in_any_part() {
        let mut values = [1.0; 12];
        let check = |values: &[f64], units| {
            let matrix = Matrix {
                offsets: &[],
                indices: None,
                values: Values::F64(values),
            };
            let (mut next, mut parts) = (0, 0);
            while next < 3 {
                next = matrix.check_values(4, next, 3, units)?;
                parts += 1;
            }
            Ok::<_, Fault>(parts)
        };
        for (units, parts) in [(1, 3), (9, 2), (1000, 1)] {
            assert_eq!(check(&values, units).unwrap(), parts);
        }
        assert!(check(&values[1..], 1).is_err());
        values[9] = f64::INFINITY;
        for units in [1, 9, 1000] {
            let fault = check(&values, units).unwrap_err();
            assert!(
                matches!(&fault, Fault::Argument(text) if text.contains("column 2, row 1")),
                "{fault:?}"
            );
        }
    }
}
