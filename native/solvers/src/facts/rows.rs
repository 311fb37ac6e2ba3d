//! What belongs to rows and values.

use std::ops::Range;

/// Labels and weights of rows.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) labels: &'a [f64],
    pub(super) weights: Option<&'a [f64]>,
}

impl Rows<'_> {
    pub(super) fn part(&self, range: Range<usize>) -> Self {
        Self {
            labels: &self.labels[range.clone()],
            weights: self.weights.map(|weights| &weights[range]),
        }
    }

    #[inline(always)]
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }

    #[inline(always)]
    pub(super) fn is_positive(&self, row: usize) -> bool {
        self.labels[row] > 0.0
    }

    /// The weight of a row with a positive label, 0 for another row.
    #[inline(always)]
    pub(super) fn positive_weight(&self, row: usize) -> f64 {
        if self.is_positive(row) {
            self.weight(row)
        } else {
            0.0
        }
    }
}

/// The width of a nonzero.
#[inline(always)]
pub(super) fn width(x: f64) -> f64 {
    if f64::from(x as f32) != x {
        2.0
    } else {
        f64::from(x != 1.0)
    }
}
