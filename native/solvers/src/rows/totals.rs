//! The sums that calls report.

use super::model::Model;

/// Sums over the rows visited, in the order of the visits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Totals {
    pub loss_sum: f64,
    pub weight_sum: f64,
    pub rows: u64,
    pub nonzeros: u64,
}

impl Totals {
    /// Adds the sums over other rows.
    pub fn merge(&mut self, other: &Self) {
        self.loss_sum += other.loss_sum;
        self.weight_sum += other.weight_sum;
        self.rows += other.rows;
        self.nonzeros += other.nonzeros;
    }

    /// Adds a row. Returns false, without a change, if the sum of the losses would not be finite.
    #[inline(always)]
    pub fn add(&mut self, loss: f64, weight: f64, nonzeros: usize) -> bool {
        let loss_sum = self.loss_sum + weight * loss;
        if !loss_sum.is_finite() {
            return false;
        }
        self.loss_sum = loss_sum;
        self.weight_sum += weight;
        self.rows += 1;
        self.nonzeros += nonzeros as u64;
        true
    }
}

/// Numbers that a call reports. Sums are in the order of the visits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SgdScalars {
    /// `sum s_i loss` over the rows visited, each before its step; infinite if the call diverged.
    pub loss_sum: f64,
    /// `sum s_i` over the same rows.
    pub weight_sum: f64,
    /// `sum u_j |w_jc|` of the shared model.
    pub l1_norm: f64,
    /// `sum u_j^2 w_jc^2` of the shared model.
    pub square_norm: f64,
    /// Whether a number became infinite or NaN. The vector is then the vector of a call without rows.
    pub diverged: bool,
    /// Rows visited.
    pub rows: u64,
    /// Entries of these rows.
    pub nonzeros: u64,
}

impl SgdScalars {
    /// The numbers of a call at `model`.
    pub(super) fn new(model: &Model, totals: &Totals, diverged: bool) -> Self {
        let norms = model.norms();
        Self {
            loss_sum: if diverged {
                f64::INFINITY
            } else {
                totals.loss_sum
            },
            weight_sum: totals.weight_sum,
            l1_norm: norms.l1,
            square_norm: norms.square,
            diverged,
            rows: totals.rows,
            nonzeros: totals.nonzeros,
        }
    }
}
