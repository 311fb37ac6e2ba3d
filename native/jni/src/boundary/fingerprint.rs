//! How arrays that were validated are recognised, and which blocks were.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Mutex, MutexGuard},
};

use dwell_solvers::Values;
use once_cell::sync::Lazy;

use crate::boundary::{arrays::Matrix, partition::Partition};

/// Lengths of arrays and samples of their elements. Arrays with the fingerprint of validated arrays are not validated again. The
/// fingerprint does not prove that they are unchanged: the solver checks bounds in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    const SAMPLES: usize = 64;

    /// The fingerprint of a matrix, whose coordinates have `length` numbers, and of the arrays that belong to it.
    pub fn of<P: Partition>(length: usize, matrix: Matrix<'_>, fields: P::Fields<&[f64]>) -> Self {
        let mut hasher = hasher_of(length, matrix);
        // The names identify the arrays that are there, and thereby the kind of call.
        P::INDICES.hash(&mut hasher);
        P::each(fields, |name, field| {
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

/// The blocks of this process.
pub static KNOWN: Lazy<Known> = Lazy::new(Known::default);

/// Blocks that are remembered. With one more all are forgotten, and checked again.
const MOST_BLOCKS: usize = 1 << 16;

/// Blocks that are remembered by their fingerprints.
#[derive(Debug, Default)]
pub struct Known {
    blocks: Mutex<HashSet<Fingerprint>>,
}

impl Known {
    /// Nothing can panic under the lock.
    fn lock(&self) -> MutexGuard<'_, HashSet<Fingerprint>> {
        self.blocks
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Checks a block unless it was checked before, and remembers it.
    ///
    /// # Errors
    /// Those of `check`.
    pub fn check<E>(
        &self,
        block: Fingerprint,
        check: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.lock().contains(&block) {
            check()?;
            let mut blocks = self.lock();
            if blocks.len() >= MOST_BLOCKS {
                blocks.clear();
            }
            blocks.insert(block);
        }
        Ok(())
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
            dual::{Dual, DualFields},
            primal::{Primal, PrimalFields},
        },
        lda::documents::Lda,
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
        let primal = |matrix: Matrix<'static>, weights: Option<&'static [f64]>| {
            let moments = PrimalFields {
                mean: &FIELD[..],
                variance: &FIELD,
                deviation: &FIELD,
                weights,
            };
            Fingerprint::of::<Primal>(4, matrix, moments)
        };
        let same = matrix(&OFFSETS, &INDICES, &VALUES);
        let dual = |weights, scale, mean| {
            let rows = DualFields {
                labels: &FIELD[..],
                weights,
                scale,
                mean,
            };
            Fingerprint::of::<Dual>(4, same, rows)
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
        let moments = PrimalFields {
            mean: &FIELD[..],
            variance: &FIELD,
            deviation: &FIELD,
            weights: None,
        };
        let fingerprints = [
            primal(same, None),
            Fingerprint::of::<Primal>(5, same, moments),
            primal(ones, None),
            primal(changed, None),
            primal(dense, None),
            primal(without_entries, None),
            primal(same, some),
            primal(same, Some(&[])),
            dual(None, None, None),
            dual(some, None, None),
            dual(None, some, None),
            dual(None, None, some),
            Fingerprint::of::<Lda>(4, same, ()),
        ];
        for (i, one) in fingerprints.iter().enumerate() {
            for (k, other) in fingerprints.iter().enumerate() {
                assert_eq!(i == k, one == other, "{i} and {k}");
            }
        }
        let copy = VALUES.to_vec();
        let again = matrix(&OFFSETS, &INDICES, &copy);
        assert_eq!(
            fingerprints[0],
            Fingerprint::of::<Primal>(4, again, moments)
        );
    }

    #[test]
    fn blocks_are_remembered_up_to_a_number() {
        let known = Known::default();
        let block = |features| {
            let (offsets, values) = (&[0][..], Values::Ones);
            let indices = Some(&[][..]);
            Fingerprint::of_matrix(
                features,
                Matrix {
                    offsets,
                    indices,
                    values,
                },
            )
        };
        let contains = |k| known.check(block(k), || Err(())).is_ok();
        let insert = |k| known.check(block(k), || Ok::<_, ()>(())).unwrap();
        assert!(!contains(0));
        (0..MOST_BLOCKS).for_each(insert);
        assert!(contains(0) && contains(MOST_BLOCKS - 1));
        insert(MOST_BLOCKS);
        assert!(contains(MOST_BLOCKS) && !contains(0));
    }
}
