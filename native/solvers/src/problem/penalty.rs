//! The elastic net, with weights for each column: `g_i(a) = l1_i |a| + l2_i a^2 / 2`.

use crate::base::{checks::at_least_zero, error::SolverError, moments::ColumnMoments};

/// Unchecked parameters of the penalty.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `l1` | weight of `\|a\|` | finite, >= 0 |
/// | `l2` | weight of `a^2 / 2` | finite, >= 0 |
/// | `scale_factor` | f: if > 0 column i has `l1_i = l1 sqrt(f) deviation_i`, `l2_i = l2 f variance_i`; if 0 all columns have `l1`, `l2` | finite, >= 0 |
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the table names every field")]
pub struct ElasticNetParams {
    pub l1: f64,
    pub l2: f64,
    pub scale_factor: f64,
}

impl ElasticNetParams {
    /// Checks the ranges of the table above.
    ///
    /// # Errors
    /// `InvalidParam` names the first parameter out of range.
    pub fn check(self) -> Result<ElasticNet, SolverError> {
        for (name, value) in [
            ("l1", self.l1),
            ("l2", self.l2),
            ("scale_factor", self.scale_factor),
        ] {
            at_least_zero(name, value)?;
        }
        Ok(ElasticNet {
            l1: self.l1,
            l2: self.l2,
            scaled: self.scale_factor > 0.0,
            scaled_l1: self.l1 * self.scale_factor.sqrt(),
            scaled_l2: self.l2 * self.scale_factor,
        })
    }
}

/// Checked penalty of all columns.
#[derive(Debug, Clone, Copy)]
pub struct ElasticNet {
    l1: f64,
    l2: f64,
    scaled: bool,
    scaled_l1: f64,
    scaled_l2: f64,
}

impl ElasticNet {
    /// The penalty of column `i`.
    ///
    /// # Panics
    /// If there is no column `i`.
    #[inline(always)]
    pub fn of_column(&self, moments: &ColumnMoments<'_>, i: usize) -> ColumnPenalty {
        if self.scaled {
            ColumnPenalty {
                // Without an L1 part an epoch does not read the array of deviations.
                l1: if self.scaled_l1 == 0.0 {
                    0.0
                } else {
                    self.scaled_l1 * moments.deviation[i]
                },
                l2: self.scaled_l2 * moments.variance[i],
            }
        } else {
            ColumnPenalty {
                l1: self.l1,
                l2: self.l2,
            }
        }
    }
}

/// Penalty of one column: `g(a) = l1 |a| + l2 a^2 / 2`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnPenalty {
    /// Weight of `|a|`.
    pub l1: f64,
    /// Weight of `a^2 / 2`.
    pub l2: f64,
}

impl ColumnPenalty {
    /// `g(a)`, in units of the objective.
    #[inline(always)]
    pub fn value(&self, a: f64) -> f64 {
        self.l1 * a.abs() + 0.5 * (self.l2 * (a * a))
    }

    /// Convex conjugate `g*(x) = sup_a x a - g(a)`: infinite outside `|x| <= l1` where there is no L2 part.
    #[inline(always)]
    pub fn conjugate(&self, x: f64) -> f64 {
        if self.l2 > 0.0 {
            let excess = (x.abs() - self.l1).max(0.0);
            excess * excess / (2.0 * self.l2)
        } else if x.abs() <= self.l1 {
            0.0
        } else {
            f64::INFINITY
        }
    }

    /// Minimiser over `a` of `q (a - current)^2 / 2 - x (a - current) + g(a)`, with curvature `q >= 0`.
    ///
    /// Without curvature (an empty column and no L2 part) the minimiser is 0 if there is an L1 part, else `current`.
    #[inline(always)]
    pub fn minimise(&self, q: f64, current: f64, x: f64) -> f64 {
        let t = q * current + x;
        let curvature = q + self.l2;
        if curvature > 0.0 {
            soft_threshold(t, self.l1) / curvature
        } else if self.l1 > 0.0 {
            0.0
        } else {
            current
        }
    }
}

/// Proximal operator of `threshold |.|` at `t`.
///
/// The processor cannot predict the sign of `t` and knows it late, so there is no branch on it. It knows early whether there is a
/// threshold; without one the latency of a step is a fifth shorter.
#[inline(always)]
pub(crate) fn soft_threshold(t: f64, threshold: f64) -> f64 {
    if threshold == 0.0 {
        return t;
    }
    shrunk(t, threshold)
}

/// The same for a threshold other than 0.
#[inline(always)]
pub(crate) fn shrunk(t: f64, threshold: f64) -> f64 {
    let excess = t.abs() - threshold;
    let magnitude = if excess > 0.0 { excess } else { 0.0 };
    // Adding 0 makes a negative zero positive.
    magnitude.copysign(t) + 0.0
}
