//! What belongs to rows and values.

use std::ops::Range;

use super::sums::{OTHER, POSITIVE};

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

    /// Which sum of its class a row counts to.
    #[inline(always)]
    pub(super) fn class(&self, row: usize) -> usize {
        if self.labels[row] > 0.0 {
            POSITIVE
        } else {
            OTHER
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
