//! How validated arrays are recognised.

use std::hash::{DefaultHasher, Hash, Hasher};

use dwell_solvers::Values;

use crate::boundary::{
    arrays::{Arrays, Matrix},
    partition::Partition,
};

/// Lengths of arrays and samples of their elements. Arrays with the fingerprint of validated arrays are not validated again. The
/// fingerprint does not prove that they are unchanged: the solver checks bounds in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    const SAMPLES: usize = 64;

    /// The fingerprint of `arrays`, whose coordinates have `length` numbers.
    pub fn of<P: Partition>(length: usize, arrays: &Arrays<'_, P>) -> Self {
        let mut hasher = hasher_of(length, arrays.matrix);
        // The names identify the arrays that are there, and thereby the orientation.
        P::each(arrays.fields, |name, field| {
            name.hash(&mut hasher);
            sample(&mut hasher, field, f64::to_bits);
        });
        Self(hasher.finish())
    }

    /// The fingerprint of a matrix alone.
    pub fn of_matrix(length: usize, matrix: Matrix<'_>) -> Self {
        Self(hasher_of(length, matrix).finish())
    }
}

/// A hasher that has seen a matrix.
fn hasher_of(length: usize, matrix: Matrix<'_>) -> DefaultHasher {
    let Matrix {
        offsets,
        indices,
        values,
    } = matrix;
    let mut hasher = DefaultHasher::new();
    length.hash(&mut hasher);
    sample(&mut hasher, offsets, |x| x as u64);
    indices.is_some().hash(&mut hasher);
    sample(&mut hasher, indices.unwrap_or_default(), |x| x as u64);
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
    hasher
}

/// Hashes the length and evenly spread elements, which include the first and the last.
fn sample<T: Copy>(hasher: &mut DefaultHasher, elements: &[T], bits: impl Fn(T) -> u64) {
    elements.len().hash(hasher);
    let Some(last) = elements.len().checked_sub(1) else {
        return;
    };
    let count = elements.len().min(Fingerprint::SAMPLES);
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
        cd::{
            dual::{Dual, Rows},
            primal::{Moments, Primal},
        },
        lda::documents::Lda,
        rows::arrays::{LabelledRows, Sgd},
    };

    /// Coordinates of 0, 3, 2 and 4 entries, of length 4.
    const OFFSETS: [i32; 5] = [0, 0, 3, 5, 9];
    const INDICES: [i32; 9] = [0, 1, 3, 1, 2, 0, 1, 2, 3];
    const VALUES: [f64; 9] = [1.0; 9];
    const FIELD: [f64; 4] = [0.5; 4];

    fn matrix<'a>(offsets: &'a [i32], indices: &'a [i32], values: &'a [f64]) -> Matrix<'a> {
        Matrix {
            offsets,
            indices: Some(indices),
            values: Values::F64(values),
        }
    }

    #[test]
    fn fingerprints_differ_where_arrays_do() {
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
        let dense = Matrix {
            indices: None,
            ..same
        };
        let without_entries = Matrix {
            indices: Some(&[]),
            ..same
        };
        let changed = Matrix {
            values: Values::F64(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]),
            ..same
        };
        let some = Some(&FIELD[..]);
        let fingerprints = [
            Fingerprint::of(4, &primal(same, None)),
            Fingerprint::of(5, &primal(same, None)),
            Fingerprint::of(4, &primal(ones, None)),
            Fingerprint::of(4, &primal(changed, None)),
            Fingerprint::of(4, &primal(dense, None)),
            Fingerprint::of(4, &primal(without_entries, None)),
            Fingerprint::of(4, &primal(same, some)),
            Fingerprint::of(4, &primal(same, Some(&[]))),
            Fingerprint::of(4, &dual(None, None, None)),
            Fingerprint::of(4, &dual(some, None, None)),
            Fingerprint::of(4, &dual(None, some, None)),
            Fingerprint::of(4, &dual(None, None, some)),
            Fingerprint::of(4, &sgd(None, None)),
            Fingerprint::of(4, &sgd(some, None)),
            Fingerprint::of(4, &sgd(None, some)),
            Fingerprint::of(4, &documents),
        ];
        for (i, one) in fingerprints.iter().enumerate() {
            for (k, other) in fingerprints.iter().enumerate() {
                assert_eq!(i == k, one == other, "{i} and {k}");
            }
        }
        let copy = VALUES.to_vec();
        let again = Arrays {
            matrix: matrix(&OFFSETS, &INDICES, &copy),
            ..primal(same, None)
        };
        assert_eq!(fingerprints[0], Fingerprint::of(4, &again));
    }
}
