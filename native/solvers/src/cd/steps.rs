//! The loop of coordinate descent, for columns and for rows.

use std::ops::Range;

use crate::base::{
    columns::Columns,
    kernel::{Entries, dot, subtract},
};

/// How a step minimises along a coordinate: the part that differs between columns and rows.
pub(super) trait Rule: Clone {
    /// Moves `alpha`, the variable of coordinate `i`, to the minimum along it; `dot` is the dot product of its entries with the vector.
    /// Returns the factor with which the caller subtracts the entries (times their weights) from the vector, or `None` if alpha stays.
    fn minimise(&mut self, i: usize, alpha: &mut f64, dot: f64) -> Option<f64>;

    /// Adds the changes that a step made, from `before` to `after`, to everything except the vector.
    fn add(&mut self, before: &Self, after: &Self);
}

/// How far a call of `Local::descend` came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descent {
    /// The first coordinate of the range that it did not visit.
    pub next: usize,
    /// Entries of the coordinates that it visited.
    pub nonzeros: usize,
}

/// The vector and its sums before the first step: all steps of a batch read them.
#[derive(Debug)]
pub struct Frozen<R> {
    pub w: Vec<f64>,
    pub running: R,
}

/// Coordinates to visit, and the point that the steps move.
pub struct Span<'a, E, R> {
    pub columns: Columns<'a>,
    pub values: E,
    /// Weights of the entries of the vector.
    pub weights: Option<&'a [f64]>,
    /// Variables of the coordinates from `first` on.
    pub alpha: &'a mut [f64],
    pub first: usize,
    pub w: &'a mut [f64],
    /// In a batch: what the steps read instead of `w`.
    pub frozen: Option<&'a Frozen<R>>,
    pub range: Range<usize>,
    /// One unit for each coordinate and each entry; the first coordinate is visited in any case.
    pub budget: usize,
}

impl<E: Entries, S> Span<'_, E, S> {
    /// Visits coordinates from the start of the range on in rising order, until its end or until the work reaches the budget.
    /// `rule` makes the rule for given sums of the vector. Returns the rule after the last step.
    #[inline(always)]
    pub(super) fn descend<R: Rule, const WEIGHTED: bool>(
        self,
        running: &S,
        rule: impl Fn(&S) -> R,
    ) -> (R, Descent) {
        if let Some(frozen) = self.frozen {
            return self.descend_at_once(&frozen.w, rule(&frozen.running), rule(running));
        }
        let rule = rule(running);
        let mut steps = Steps::<E, R, WEIGHTED> {
            columns: self.columns,
            values: self.values,
            weights: self.weights,
            rule,
            alpha: self.alpha,
            first: self.first,
            w: self.w,
            nonzeros: 0,
        };
        let descent = steps.descend(&self.range, self.budget);
        (steps.rule, descent)
    }

    /// The same visits, but every step reads `frozen` and the sums of `start`; `rule` collects the changes.
    fn descend_at_once<R: Rule>(self, frozen: &[f64], start: R, mut rule: R) -> (R, Descent) {
        let mut next = self.range.start;
        let mut nonzeros = 0;
        while next < self.range.end
            && (nonzeros + (next - self.range.start) < self.budget || next == self.range.start)
        {
            let entries = self.columns.entries(next);
            nonzeros += entries.len();
            let indices = &self.columns.indices()[entries.clone()];
            let values = self.values.part(entries);
            let mut after = start.clone();
            let alpha = &mut self.alpha[next - self.first];
            if let Some(step) = after.minimise(next, alpha, dot(indices, values, frozen)) {
                subtract(indices, values, step, self.weights, self.w);
                rule.add(&start, &after);
            }
            next += 1;
        }
        (rule, Descent { next, nonzeros })
    }
}

/// Everything a step reads or writes.
struct Steps<'a, E, R, const WEIGHTED: bool> {
    columns: Columns<'a>,
    values: E,
    weights: Option<&'a [f64]>,
    rule: R,
    alpha: &'a mut [f64],
    first: usize,
    w: &'a mut [f64],
    nonzeros: usize,
}

impl<E: Entries, R: Rule, const WEIGHTED: bool> Steps<'_, E, R, WEIGHTED> {
    fn descend(&mut self, range: &Range<usize>, budget: usize) -> Descent {
        let mut next = range.start;
        while next < range.end {
            next = self.visit(next, range, budget);
            if self.nonzeros + (next - range.start) >= budget {
                break;
            }
        }
        Descent {
            next,
            nonzeros: self.nonzeros,
        }
    }

    /// Visits coordinates from `i` on while they are as long as the first, if that has 1 to 8 entries; else while none has 1 to 8. Returns
    /// the first coordinate that it did not visit.
    fn visit(&mut self, i: usize, range: &Range<usize>, budget: usize) -> usize {
        match self.columns.entries(i).len() {
            1 => self.run::<1>(i, range, budget),
            2 => self.run::<2>(i, range, budget),
            3 => self.run::<3>(i, range, budget),
            4 => self.run::<4>(i, range, budget),
            5 => self.run::<5>(i, range, budget),
            6 => self.run::<6>(i, range, budget),
            7 => self.run::<7>(i, range, budget),
            8 => self.run::<8>(i, range, budget),
            _ => self.run::<0>(i, range, budget),
        }
    }

    /// Visits coordinates of length `L`; here 0 stands for every length except 1 to 8.
    fn run<const L: usize>(&mut self, mut i: usize, range: &Range<usize>, budget: usize) -> usize {
        loop {
            let entries = self.columns.entries(i);
            if L == 0 {
                self.any_length(i, entries);
            } else {
                self.fixed_length::<L>(i, entries.start);
            }
            i += 1;
            if i >= range.end || self.nonzeros + (i - range.start) >= budget {
                return i;
            }
            let next = self.columns.entries(i).len();
            let same = if L == 0 {
                next == 0 || next > 8
            } else {
                next == L
            };
            if !same {
                return i;
            }
        }
    }

    #[inline(always)]
    fn any_length(&mut self, i: usize, entries: Range<usize>) {
        self.nonzeros += entries.len();
        let rows = &self.columns.indices()[entries.clone()];
        let values = self.values.part(entries);
        let sum = dot(rows, values, self.w);
        if let Some(step) = self.rule.minimise(i, &mut self.alpha[i - self.first], sum) {
            let weights = if WEIGHTED { self.weights } else { None };
            subtract(rows, values, step, weights, self.w);
        }
    }

    /// The same sums in the same order, but without a loop, and each entry of `w` is read once.
    #[inline(always)]
    fn fixed_length<const L: usize>(&mut self, i: usize, start: usize) {
        self.nonzeros += L;
        let rows: [i32; L] = std::array::from_fn(|k| self.columns.indices()[start..start + L][k]);
        let values = self.values.part(start..start + L).array::<L>();
        let w: [f64; L] = std::array::from_fn(|k| self.w[rows[k] as usize]);
        let product = |k: usize| values[k] * w[k];
        let mut sum = match L / 4 {
            0 => 0.0,
            1 => (product(0) + product(1)) + (product(2) + product(3)),
            _ => {
                ((product(0) + product(4)) + (product(1) + product(5)))
                    + ((product(2) + product(6)) + (product(3) + product(7)))
            }
        };
        for k in L / 4 * 4..L {
            sum += product(k);
        }
        if let Some(step) = self.rule.minimise(i, &mut self.alpha[i - self.first], sum) {
            for k in 0..L {
                let row = rows[k] as usize;
                let mut change = step * values[k];
                if WEIGHTED && let Some(weights) = self.weights {
                    change *= weights[row];
                }
                self.w[row] = w[k] - change;
            }
        }
    }
}
