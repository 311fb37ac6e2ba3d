//! The loop of coordinate descent, for columns and for rows.

use std::ops::Range;

use crate::base::entries::{Column, Entries, Visitor, subtracted};

/// How a step minimises along a coordinate: the part that differs between columns and rows.
pub(super) trait Rule {
    /// Moves `alpha`, the variable of coordinate `i`, to the minimum along it; `dot` is the dot product of its entries with the vector.
    /// Returns the factor with which the caller subtracts the entries (times their weights) from the vector, or `None` if alpha stays.
    fn minimise(&mut self, i: usize, alpha: &mut f64, dot: f64) -> Option<f64>;
}

/// How far a call of `Local::descend` came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descent {
    /// The first coordinate of the range that it did not visit.
    pub next: usize,
    /// Entries of the coordinates that it visited.
    pub nonzeros: usize,
}

/// Coordinates to visit, and the point that the steps move.
pub struct Span<'a, E> {
    pub entries: E,
    /// Weights of the entries of the vector.
    pub weights: Option<&'a [f64]>,
    /// Variables of the coordinates from `first` on.
    pub alpha: &'a mut [f64],
    pub first: usize,
    pub w: &'a mut [f64],
    pub range: Range<usize>,
    /// One unit for each coordinate and each entry; the first coordinate is visited in any case.
    pub budget: usize,
}

impl<E: Entries> Span<'_, E> {
    /// Visits coordinates from the start of the range on in rising order, until its end or until the work reaches the budget.
    /// Returns the rule after the last step.
    #[inline(always)]
    pub(super) fn descend<R: Rule, const WEIGHTED: bool>(self, rule: R) -> (R, Descent) {
        let mut steps = Steps::<R, WEIGHTED> {
            weights: self.weights,
            rule,
            alpha: self.alpha,
            first: self.first,
            w: self.w,
            nonzeros: 0,
            left: self.budget,
        };
        let next = self.entries.walk(self.range, &mut steps);
        let descent = Descent {
            next,
            nonzeros: steps.nonzeros,
        };
        (steps.rule, descent)
    }
}

/// Everything a step reads or writes, apart from the entries.
struct Steps<'a, R, const WEIGHTED: bool> {
    weights: Option<&'a [f64]>,
    rule: R,
    alpha: &'a mut [f64],
    first: usize,
    w: &'a mut [f64],
    nonzeros: usize,
    /// Units of work that are left.
    left: usize,
}

impl<R: Rule, const WEIGHTED: bool> Steps<'_, R, WEIGHTED> {
    /// Counts a coordinate with this number of entries. Returns whether work is left.
    #[inline(always)]
    fn count(&mut self, entries: usize) -> bool {
        self.nonzeros += entries;
        self.left = self.left.saturating_sub(1 + entries);
        self.left > 0
    }
}

impl<R: Rule, const WEIGHTED: bool> Visitor for Steps<'_, R, WEIGHTED> {
    #[inline(always)]
    fn column<C: Column>(&mut self, i: usize, column: C) -> bool {
        let dot = column.dot(self.w);
        if let Some(step) = self.rule.minimise(i, &mut self.alpha[i - self.first], dot) {
            let weights = if WEIGHTED { self.weights } else { None };
            column.subtract(step, weights, self.w);
        }
        self.count(column.len())
    }

    /// The same without a loop, and each entry of `w` is read once.
    #[inline(always)]
    fn short<const L: usize>(
        &mut self,
        i: usize,
        rows: [i32; L],
        values: [f64; L],
        sum: impl Fn([f64; L]) -> f64,
    ) -> bool {
        let w: [f64; L] = std::array::from_fn(|k| self.w[rows[k] as usize]);
        let dot = sum(std::array::from_fn(|k| values[k] * w[k]));
        if let Some(step) = self.rule.minimise(i, &mut self.alpha[i - self.first], dot) {
            for k in 0..L {
                let row = rows[k] as usize;
                let weight = match self.weights {
                    Some(weights) if WEIGHTED => Some(weights[row]),
                    _ => None,
                };
                self.w[row] = subtracted(w[k], step, values[k], weight);
            }
        }
        self.count(L)
    }
}
