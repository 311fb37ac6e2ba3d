//! The sums of features, and where they are.

use crate::base::error::{SolverError, same_length};

/// The number of its nonzeros, the first number of a feature. A feature without nonzeros has none.
pub const COUNT: usize = 0;
/// The sum of their weights.
pub const WEIGHT: usize = 1;
/// The first nonzero, c.
pub const FIRST: usize = 2;
/// `sum s (x - c)`
pub const DIFFERENCES: usize = 3;
/// `sum s (x - c)^2`
pub const SQUARES: usize = 4;
/// `sum s x` over rows with a positive label.
pub const POSITIVE: usize = 5;
/// The width of the nonzeros: 0 if all are 1, 1 if floats hold them exactly, 2 otherwise.
pub const WIDTH: usize = 6;
/// Numbers of a feature.
pub const SUMS: usize = 7;

/// Sums over rows of features. Nonzeros that are 1 in rows of weight 1 are counted where a block has no others: in spaces of hashes they are most of
/// the data, and counts of all features stay in a cache that their sums would not fit into. Other nonzeros have sums, in the order in which their
/// features came.
#[derive(Debug)]
pub struct FeatureSums<'a> {
    pub(super) ones: &'a mut [[i64; 2]],
    positions: &'a mut [i32],
    sums: &'a mut [[f64; SUMS]],
    used: usize,
}

impl<'a> FeatureSums<'a> {
    /// The sums so far.
    ///
    /// `ones`: for each feature the counted ones, in rows without and with a positive label, or nothing if ones have sums as well; `positions`: for each feature 1 and its position in
    /// `sums`, or 0; `sums`: [`SUMS`] numbers a feature, with room for those that have their first one in the rows to come; `used`: the number of
    /// features in it.
    ///
    /// # Errors
    /// `Shape` if `ones` has another length, or `sums` has no room for `used` features.
    pub fn new(
        ones: &'a mut [i64],
        positions: &'a mut [i32],
        sums: &'a mut [f64],
        used: usize,
    ) -> Result<Self, SolverError> {
        if !ones.is_empty() {
            same_length(
                "ones",
                ones.len(),
                2 * positions.len(),
                "class of a feature",
            )?;
        }
        let (ones, _) = ones.as_chunks_mut();
        let (sums, _) = sums.as_chunks_mut();
        if used > sums.len() {
            return Err(SolverError::Shape(format!(
                "sums has room for {} features, and {used} have sums",
                sums.len()
            )));
        }
        Ok(Self {
            ones,
            positions,
            sums,
            used,
        })
    }

    /// The number of features that have sums.
    pub fn used(&self) -> usize {
        self.used
    }

    /// The sums of a feature that has the nonzero `x`.
    #[inline]
    pub(super) fn of(&mut self, feature: usize, x: f64) -> Result<&mut [f64; SUMS], SolverError> {
        let position = &mut self.positions[feature];
        if *position == 0 {
            let Some(sums) = self.sums.get_mut(self.used) else {
                return Err(SolverError::Shape(format!(
                    "sums has room for {} features, and more have nonzeros",
                    self.sums.len()
                )));
            };
            *sums = [0.0; SUMS];
            sums[FIRST] = x;
            self.used += 1;
            *position = self.used as i32;
        }
        Ok(&mut self.sums[*position as usize - 1])
    }

    /// Number of features, with nonzeros or without.
    pub(super) fn features(&self) -> usize {
        self.positions.len()
    }

    /// The first nonzero of a feature, if it had one.
    pub(super) fn first(&self, feature: usize) -> Option<f64> {
        let position = self.positions[feature];
        (position > 0).then(|| self.sums[position as usize - 1][FIRST])
    }
}
