//! The arrays of a partition: their validation, and how they are known again.

use std::hash::{DefaultHasher, Hash, Hasher};

use dwell_solvers::{Columns, Values};

use crate::{
    argument,
    boundary::fault::{Fault, reserve},
    boundary::partition::Partition,
};

/// A sparse matrix, coordinate by coordinate: a coordinate is a column of the data, or a row in the dual.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    pub offsets: &'a [i32],
    pub indices: &'a [i32],
    pub values: Values<'a>,
}

/// The arrays of a partition, for one slice of work.
pub struct Arrays<'a, P: Partition> {
    pub matrix: Matrix<'a>,
    pub fields: P::Fields<&'a [f64]>,
    /// The shared vector of a round: little endian numbers, of 8 bytes or two in 8.
    pub shared: &'a [u8],
}

impl<'a> Matrix<'a> {
    /// Number of coordinates.
    pub fn coordinates(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// For a matrix that was checked: O(1).
    ///
    /// # Errors
    /// `Argument` if lengths do not fit.
    pub fn known(&self, length: usize) -> Result<Columns<'a>, Fault> {
        Ok(Columns::validated_before(
            length,
            self.offsets,
            self.indices,
            self.values,
        )?)
    }

    /// Checks offsets and entries of the coordinates from `next` on, of as many as `units` of work allow, one at least. Returns the
    /// coordinate to go on with. All are right if every part is: each starts where the one before it ends.
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
        let offsets = &self.offsets[next..=end];
        let first = offsets[0];
        let entries = first as usize..offsets[end - next] as usize;
        let values = match self.values {
            Values::Ones => Some(Values::Ones),
            Values::F32(values) => values.get(entries.clone()).map(Values::F32),
            Values::F64(values) => values.get(entries.clone()).map(Values::F64),
        };
        let mut own = reserve(offsets.len(), "a check of offsets")?;
        own.extend(offsets.iter().map(|offset| offset.wrapping_sub(first)));
        let part = match (self.indices.get(entries), values) {
            (Some(indices), Some(values)) => Columns::new(length, &own, indices, values).is_ok(),
            _ => false,
        };
        if part {
            return Ok(end);
        }
        // The check of the whole names the place at fault.
        Columns::new(length, self.offsets, self.indices, self.values)?;
        Err(argument!(
            "offsets, indices or values were changed while they were being validated"
        ))
    }
}

/// Tells whether arrays are those that were validated before: lengths, and samples of the elements. It does not prove that nothing
/// was changed: the solver checks bounds whatever it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Structure(u64);

impl Structure {
    const SAMPLES: usize = 64;

    /// `length` is that of the shared vector.
    pub fn of<P: Partition>(length: usize, arrays: &Arrays<'_, P>) -> Self {
        let Matrix {
            offsets,
            indices,
            values,
        } = arrays.matrix;
        let mut hasher = DefaultHasher::new();
        length.hash(&mut hasher);
        sample(&mut hasher, offsets, |x| x as u64);
        sample(&mut hasher, indices, |x| x as u64);
        match values {
            Values::Ones => "ones".hash(&mut hasher),
            Values::F32(values) => {
                "values32".hash(&mut hasher);
                sample(&mut hasher, values, |x| x.to_bits().into());
            }
            Values::F64(values) => {
                "values64".hash(&mut hasher);
                sample(&mut hasher, values, f64::to_bits);
            }
        }
        // The names tell which arrays are there, and with it the orientation.
        P::each(arrays.fields, |name, field| {
            name.hash(&mut hasher);
            sample(&mut hasher, field, f64::to_bits);
        });
        Self(hasher.finish())
    }
}

/// The length, and evenly spread elements, the first and the last among them.
fn sample<T: Copy>(hasher: &mut DefaultHasher, elements: &[T], bits: impl Fn(T) -> u64) {
    elements.len().hash(hasher);
    let Some(last) = elements.len().checked_sub(1) else {
        return;
    };
    let count = elements.len().min(Structure::SAMPLES);
    for i in 0..count {
        let at = (last as u64 * i as u64)
            .checked_div(count as u64 - 1)
            .unwrap_or(0);
        bits(elements[at as usize]).hash(hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cd::dual::{Dual, Rows},
        cd::primal::{Moments, Primal},
        lda::calls::Lda,
        sgd::calls::{LabelledRows, Sgd},
    };

    /// Coordinates of 0, 3, 2 and 4 entries, of length 4.
    const OFFSETS: [i32; 5] = [0, 0, 3, 5, 9];
    const INDICES: [i32; 9] = [0, 1, 3, 1, 2, 0, 1, 2, 3];
    const VALUES: [f64; 9] = [1.0; 9];
    const FIELD: [f64; 4] = [0.5; 4];

    fn matrix<'a>(offsets: &'a [i32], indices: &'a [i32], values: &'a [f64]) -> Matrix<'a> {
        Matrix {
            offsets,
            indices,
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
                    let whole = Columns::new(4, &offsets, &INDICES, Values::F64(&VALUES));
                    let parts = check(&matrix(&offsets, &INDICES, &VALUES), units);
                    assert_eq!(whole.is_err(), parts.is_err(), "{offsets:?}");
                }
            }
        }
        assert!(check(&matrix(&[], &[], &[]), 1).is_err());
    }

    #[test]
    fn structures_differ_where_arrays_do() {
        let primal = |matrix: Matrix<'static>, weights: Option<&'static [f64]>| Arrays::<Primal> {
            matrix,
            fields: Moments {
                mean: &FIELD,
                variance: &FIELD,
                deviation: &FIELD,
                weights,
            },
            shared: &[],
        };
        let dual = |weights, projections, scale| Arrays::<Dual> {
            matrix: matrix(&OFFSETS, &INDICES, &VALUES),
            fields: Rows {
                labels: &FIELD,
                weights,
                norms: &FIELD,
                projections,
                scale,
            },
            shared: &[],
        };
        let sgd = |weights, scale| Arrays::<Sgd> {
            matrix: matrix(&OFFSETS, &INDICES, &VALUES),
            fields: LabelledRows {
                labels: &FIELD,
                weights,
                scale,
            },
            shared: &[],
        };
        let same = matrix(&OFFSETS, &INDICES, &VALUES);
        let documents = Arrays::<Lda> {
            matrix: same,
            fields: (),
            shared: &[],
        };
        let ones = Matrix {
            values: Values::Ones,
            ..same
        };
        let changed = Matrix {
            values: Values::F64(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]),
            ..same
        };
        let some = Some(&FIELD[..]);
        let structures = [
            Structure::of(4, &primal(same, None)),
            Structure::of(5, &primal(same, None)),
            Structure::of(4, &primal(ones, None)),
            Structure::of(4, &primal(changed, None)),
            Structure::of(4, &primal(same, some)),
            Structure::of(4, &primal(same, Some(&[]))),
            Structure::of(4, &dual(None, None, None)),
            Structure::of(4, &dual(some, None, None)),
            Structure::of(4, &dual(None, some, None)),
            Structure::of(4, &dual(None, None, some)),
            Structure::of(4, &sgd(None, None)),
            Structure::of(4, &sgd(some, None)),
            Structure::of(4, &sgd(None, some)),
            Structure::of(4, &documents),
        ];
        for (i, one) in structures.iter().enumerate() {
            for (k, other) in structures.iter().enumerate() {
                assert_eq!(i == k, one == other, "{i} and {k}");
            }
        }
        let copy = VALUES.to_vec();
        let again = Arrays {
            matrix: matrix(&OFFSETS, &INDICES, &copy),
            ..primal(same, None)
        };
        assert_eq!(structures[0], Structure::of(4, &again));
    }
}
