//! Loops over rows: steps of gradient descent, losses.

use std::ops::Range;

use super::{
    clock::Clock,
    model::{Model, Parts},
    params::{Schedule, SgdProblem},
    shape::{Layout, Shape, WithShape, with_shape},
    totals::Totals,
};
use crate::{
    base::{
        blocks::{Blocks, COORDINATE},
        entries::{Column, Entries},
        kernel::{WithEntries, with_entries},
    },
    problem::{data::SgdData, softmax::RowLoss},
};

/// How far a scan over rows came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scan {
    /// The first row that it did not visit.
    pub next: usize,
    /// Units of work: one for each output of an entry, [`COORDINATE`] for each output of a row.
    pub spent: usize,
    /// Whether row `next` made a number infinite or NaN.
    pub diverged: bool,
}

/// Rows of a block. A scan visits as many as about `budget` units of work allow, and at least one.
#[derive(Clone)]
pub(super) struct Span<'a, 'd> {
    pub data: &'a SgdData<'d>,
    pub rows: Range<usize>,
    pub budget: usize,
}

/// Scans ranges of a worker's rows, in as few loans as their work allows. Brings the model up to date between two loans, where a scan has made
/// this due. Returns whether no number became infinite or NaN.
pub(super) fn visit<B>(
    blocks: &mut B,
    ranges: impl Iterator<Item = Range<usize>>,
    model: &mut Model,
    mut scan: impl FnMut(Span<'_, '_>, &mut Model) -> Scan,
) -> Result<bool, B::Error>
where
    B: for<'a> Blocks<Block<'a> = SgdData<'a>>,
{
    let mut ranges = ranges.filter(|range| !range.is_empty());
    let mut rows = ranges.next().unwrap_or_default();
    while !rows.is_empty() {
        let stable = blocks.lend(|loan| {
            while !(rows.is_empty() || loan.is_over() || model.needs_renormalising()) {
                let (data, own) = loan.at(rows.start)?;
                let span = Span {
                    data: &data,
                    rows: rows.start - own.start..rows.end.min(own.end) - own.start,
                    budget: loan.left(),
                };
                let scan = scan(span, model);
                if scan.diverged {
                    return Ok(false);
                }
                loan.spend(scan.spent);
                rows.start = own.start + scan.next;
                if rows.is_empty() {
                    rows = ranges.next().unwrap_or_default();
                }
            }
            Ok(true)
        })?;
        if !stable {
            return Ok(false);
        }
        if model.needs_renormalising() {
            model.renormalise();
        }
    }
    Ok(true)
}

impl Span<'_, '_> {
    /// Calls `visit` with each row and its entries, until `visit` says that it has enough or that it diverged.
    #[inline(always)]
    fn each<E: Entries>(
        &self,
        outputs: usize,
        entries: E,
        mut visit: impl FnMut(usize, E::Column) -> Next,
    ) -> Scan {
        let mut result = Scan {
            next: self.rows.start,
            spent: 0,
            diverged: false,
        };
        while result.next < self.rows.end && result.spent < self.budget {
            let row = entries.column(result.next);
            let next = visit(result.next, row);
            if next == Next::Diverged {
                result.diverged = true;
                break;
            }
            result.next += 1;
            result.spent += outputs * (COORDINATE + row.len());
            if next == Next::Enough {
                break;
            }
        }
        result
    }
}

/// The answer of a visit: go on, stop after this row, or stop before it.
#[derive(PartialEq)]
enum Next {
    Row,
    Enough,
    Diverged,
}

/// `z_c = x^T w_c + b_c`. Brings the features of the row up to date.
#[inline(always)]
fn predict<S: Shape, C: Column>(
    shape: S,
    cells: &mut [f64],
    clock: &Clock,
    intercepts: &[f64],
    entries: C,
    z: &mut [f64],
) {
    if shape.outputs() == 1 {
        let dot = entries.gather(cells, shape.stride(), |cells, feature| {
            let cell = shape.cell(cells, feature);
            clock.sync(shape, cell);
            cell[0]
        });
        z[0] = clock.factor * dot + intercepts[0];
        return;
    }
    z.fill(0.0);
    if shape.threshold() {
        entries.each(cells, shape.stride(), |cells, feature, _| {
            clock.sync(shape, shape.cell(cells, feature));
        });
    }
    add_cells(shape, cells, entries, z);
    for (z, b) in z.iter_mut().zip(intercepts) {
        *z = clock.factor * *z + b;
    }
}

/// `sums_c += value x_jc` for every entry, in order. Takes four entries at a time, so that each sum is read and written once for four of
/// them.
#[inline(always)]
fn add_cells<S: Shape, C: Column>(shape: S, cells: &[f64], entries: C, sums: &mut [f64]) {
    let outputs = sums.len();
    let numbers = |feature: usize| &cells[feature * shape.stride()..][..outputs];
    let (fours, rest) = entries.fours();
    for [(i, v0), (j, v1), (k, v2), (l, v3)] in fours {
        let (first, second) = (numbers(i), numbers(j));
        let (third, fourth) = (numbers(k), numbers(l));
        for c in 0..outputs {
            let two = (sums[c] + v0 * first[c]) + v1 * second[c];
            sums[c] = (two + v2 * third[c]) + v3 * fourth[c];
        }
    }
    for (feature, value) in rest {
        for (sum, x) in sums.iter_mut().zip(numbers(feature)) {
            *sum += value * x;
        }
    }
}

/// The steps of a round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descent<'a> {
    pub problem: &'a SgdProblem,
    pub schedule: Schedule,
    /// Rows visited before the round, since the start of the fit.
    pub steps: u64,
}

impl<'a> Descent<'a> {
    /// The steps on a span, after those that a copy of the model has made in the round. There are so many copies.
    pub fn on<'d>(&self, span: Span<'a, 'd>, copies: u64, made: &Totals) -> Steps<'a, 'd> {
        Steps {
            span,
            problem: self.problem,
            schedule: self.schedule,
            t: self.steps + copies * made.rows,
            pace: copies,
        }
    }
}

/// Makes a step on every row of a span; stops after a step that makes a renormalisation due.
pub(super) struct Steps<'a, 'd> {
    pub span: Span<'a, 'd>,
    pub problem: &'a SgdProblem,
    pub schedule: Schedule,
    /// t: rows visited before, since the start of the fit.
    pub t: u64,
    /// By how much t rises with a row: the copies of the model on which steps are made at a time.
    pub pace: u64,
}

impl Steps<'_, '_> {
    /// Makes the steps and adds the rows to `totals`.
    pub fn run(self, model: &mut Model, totals: &mut Totals) -> Scan {
        let layout = model.layout();
        let work = StepWork {
            steps: self,
            parts: model.parts(),
            totals,
        };
        with_shape(layout, work)
    }
}

/// [`Steps`] with what they change, compiled once for each shape.
struct StepWork<'a, 'd, 'm> {
    steps: Steps<'a, 'd>,
    parts: Parts<'m>,
    totals: &'m mut Totals,
}

impl WithShape for StepWork<'_, '_, '_> {
    type Output = Scan;

    fn run<S: Shape>(self, shape: S) -> Scan {
        let rows = *self.steps.span.data.rows();
        with_entries(&rows, ShapedStepWork { work: self, shape })
    }
}

/// [`StepWork`] on cells of a known shape, compiled once for each kind of entries.
struct ShapedStepWork<'a, 'd, 'm, S> {
    work: StepWork<'a, 'd, 'm>,
    shape: S,
}

impl<S: Shape> WithEntries for ShapedStepWork<'_, '_, '_, S> {
    type Output = Scan;

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) -> Scan {
        let shape = self.shape;
        let StepWork {
            steps:
                Steps {
                    span,
                    problem,
                    schedule,
                    mut t,
                    pace,
                },
            parts,
            totals,
        } = self.work;
        let Parts {
            cells,
            intercepts,
            clock,
            z,
            derivatives,
        } = parts;
        let outputs = shape.outputs();
        let (z, derivatives) = (&mut z[..outputs], &mut derivatives[..outputs]);
        span.each(outputs, entries, |row, entries| {
            predict(shape, cells, clock, intercepts, entries, z);
            let weight = span.data.weight(row);
            let loss = problem
                .loss
                .differentiate(z, span.data.label(row), derivatives);
            let factor = weight * problem.weight_factor;
            let mut finite = true;
            for (z, g) in z.iter().zip(&mut *derivatives) {
                *g *= factor;
                finite &= z.is_finite() & g.is_finite();
            }
            if !finite || !totals.add(loss, weight, entries.len()) {
                return Next::Diverged;
            }
            let eta = schedule.at(t);
            t += pace;
            let next = clock.factor * (1.0 - eta * problem.l2);
            if problem.intercept {
                for (b, g) in intercepts.iter_mut().zip(&*derivatives) {
                    *b -= eta * g;
                }
            }
            // Late in a fit the hinge loss of most rows has slope 0.
            if outputs > 1 || derivatives[0] != 0.0 {
                for step in &mut *derivatives {
                    *step = (eta * *step) / next;
                }
                entries.each(cells, shape.stride(), |cells, feature, value| {
                    let cell = shape.cell(cells, feature);
                    let value = if shape.scaled() {
                        value * cell[shape.scale()]
                    } else {
                        value
                    };
                    for (x, step) in cell[..outputs].iter_mut().zip(&*derivatives) {
                        *x -= step * value;
                    }
                });
            }
            clock.tick(shape, next, eta * problem.l1);
            if clock.needs_renormalising(shape) {
                Next::Enough
            } else {
                Next::Row
            }
        })
    }
}

/// Sums the losses of rows at a settled model.
pub(super) struct Losses<'a, 'd> {
    pub span: Span<'a, 'd>,
    pub loss: RowLoss,
}

impl Losses<'_, '_> {
    /// Adds the losses to `totals`.
    pub fn run(self, model: &mut Model, totals: &mut Totals) -> Scan {
        let layout = model.layout();
        let rows = *self.span.data.rows();
        let work = LossWork {
            losses: self,
            layout,
            parts: model.parts(),
            totals,
        };
        with_entries(&rows, work)
    }
}

/// [`Losses`] with what they change, compiled once for each kind of entries.
struct LossWork<'a, 'd, 'm> {
    losses: Losses<'a, 'd>,
    layout: Layout,
    parts: Parts<'m>,
    totals: &'m mut Totals,
}

impl WithEntries for LossWork<'_, '_, '_> {
    type Output = Scan;

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) -> Scan {
        let Self {
            losses: Losses { span, loss },
            layout,
            parts,
            totals,
        } = self;
        let Parts {
            cells,
            intercepts,
            clock,
            z,
            derivatives,
        } = parts;
        span.each(layout.outputs, entries, |row, entries| {
            predict(layout, cells, clock, intercepts, entries, z);
            let loss = loss.value(z, span.data.label(row), derivatives);
            let finite = z.iter().all(|z| z.is_finite());
            if finite && totals.add(loss, span.data.weight(row), entries.len()) {
                Next::Row
            } else {
                Next::Diverged
            }
        })
    }
}
