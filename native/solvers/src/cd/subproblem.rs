//! The local subproblem of one round, and descent on it along given coordinates.

use std::ops::Range;

use super::{
    data::PrimalData,
    kernel::{Entries, WithEntries, dot, subtract, with_entries},
    pass::Certificate,
};
use crate::{
    columns::Columns,
    error::{SolverError, reserve, same_length},
    moments::ColumnMoments,
    penalty::{ElasticNet, ElasticNetParams, at_least_zero},
};

/// Unchecked parameters of the local subproblem.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `penalty` | elastic net | see [`ElasticNetParams`] |
/// | `sigma_prime` | weight of the quadratic term | finite, > 0 |
/// | `total_weight` | S, sum of the weights of all rows | finite, > 0 |
/// | `centred` | solve for columns minus their means | |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubproblemParams {
    pub penalty: ElasticNetParams,
    pub sigma_prime: f64,
    pub total_weight: f64,
    pub centred: bool,
}

impl SubproblemParams {
    /// Checks the ranges of the table above.
    ///
    /// # Errors
    /// `InvalidParam` names the first parameter out of range.
    pub fn check(self) -> Result<ValidSubproblemParams, SolverError> {
        for (name, value) in [
            ("sigma_prime", self.sigma_prime),
            ("total_weight", self.total_weight),
        ] {
            at_least_zero(name, value)?;
            if value == 0.0 {
                return Err(SolverError::InvalidParam {
                    name,
                    value,
                    expected: "must be positive",
                });
            }
        }
        Ok(ValidSubproblemParams {
            penalty: self.penalty.check()?,
            sigma_prime: self.sigma_prime,
            total_weight: self.total_weight,
            centred: self.centred,
        })
    }
}

/// Checked [`SubproblemParams`].
#[derive(Debug, Clone, Copy)]
pub struct ValidSubproblemParams {
    penalty: ElasticNet,
    sigma_prime: f64,
    total_weight: f64,
    centred: bool,
}

/// Second derivative of the local model along a column: `sigma'` times its mean square, about the mean if `centred`.
#[inline(always)]
pub(super) fn curvature(sigma_prime: f64, centred: bool, mean: f64, variance: f64) -> f64 {
    sigma_prime
        * if centred {
            variance
        } else {
            variance + mean * mean
        }
}

/// The local subproblem (10) of CoCoA for the squared loss, in residual form:
///
/// ```text
/// min over a'   sum_i g_i(a'_i) - x^T (a' - a) + sigma'/(2S) | sum_i (a'_i - a_i) c_i |_s^2,     x_i = c_i^T (s r) / S
/// ```
///
/// It keeps `w = s (r - sigma' sum_i (a'_i - a_i) c_i)`, so that the derivative along a column is one dot product. With `centred`
/// columns the part of that sum along the vector of ones is kept as one number, `kappa = sum_i (a'_i - a_i) mean_i`.
#[derive(Debug)]
pub struct LocalSubproblem {
    params: ValidSubproblemParams,
    rows: usize,
    alpha: Vec<f64>,
    w: Vec<f64>,
    /// Sum of `w` before the first step.
    residual_sum: f64,
    kappa: f64,
}

impl LocalSubproblem {
    /// A subproblem at `alpha` (one coefficient for each column), its residual (`rows` numbers) still to be loaded.
    ///
    /// # Errors
    /// `NonFinite` for a coefficient that is not finite, `OutOfMemory`.
    pub fn new(
        params: ValidSubproblemParams,
        rows: usize,
        alpha: &[f64],
    ) -> Result<Self, SolverError> {
        let mut copy = reserve(alpha.len(), "the coefficients of a round")?;
        copy.extend_from_slice(alpha);
        if let Some(i) = copy.iter().position(|a| !a.is_finite()) {
            return Err(SolverError::NonFinite(format!(
                "coefficient of column {i} is {}: coefficients must be finite",
                copy[i]
            )));
        }
        Ok(Self {
            params,
            rows,
            alpha: copy,
            w: reserve(rows, "the residual of a round")?,
            residual_sum: 0.0,
            kappa: 0.0,
        })
    }

    /// Loads the next rows of the residual, at most `rows` of them. `residual`: all rows, little endian `f64`.
    ///
    /// # Errors
    /// `Shape` for a wrong length, `NonFinite` names the row.
    pub fn load(
        &mut self,
        residual: &[u8],
        weights: Option<&[f64]>,
        rows: usize,
    ) -> Result<(), SolverError> {
        let residual = doubles(residual, self.rows, "residual")?;
        if let Some(weights) = weights {
            same_length("weights", weights.len(), self.rows, "row")?;
        }
        let start = self.w.len();
        let end = start.saturating_add(rows).min(self.rows);
        for (row, bytes) in (start..end).zip(&residual[start..end]) {
            let r = f64::from_le_bytes(*bytes);
            let w = weighted(weights, row, r);
            if !w.is_finite() {
                return Err(SolverError::NonFinite(format!(
                    "residual of row {row} is {r}, {w} times its weight: both must be finite"
                )));
            }
            self.residual_sum += w;
            self.w.push(w);
        }
        Ok(())
    }

    /// Rows of the residual that are still to be loaded.
    pub fn rows_to_load(&self) -> usize {
        self.rows - self.w.len()
    }

    /// Whether `data` has the columns and rows of this subproblem.
    pub(super) fn fits(&self, data: &PrimalData<'_>) -> Result<(), SolverError> {
        same_length("alpha", self.alpha.len(), data.columns.len(), "column")?;
        same_length("residual", self.rows, data.columns.rows(), "row")
    }

    /// Visits coordinates from `range.start` on in rising order, and minimises along each exactly, until the range is done or the
    /// work reaches `budget` (one unit for each coordinate and each entry; one coordinate at least is visited).
    /// Returns the first coordinate not visited.
    ///
    /// # Errors
    /// `Shape` if `data` or `range` does not fit, `Unfinished` if the residual is not loaded.
    pub fn descend(
        &mut self,
        data: &PrimalData<'_>,
        range: Range<usize>,
        budget: usize,
    ) -> Result<Descent, SolverError> {
        self.fits(data)?;
        if self.rows_to_load() > 0 {
            return Err(SolverError::Unfinished);
        }
        if range.end > self.alpha.len() {
            return Err(SolverError::Shape(format!(
                "coordinates {range:?} of {} columns",
                self.alpha.len()
            )));
        }
        let columns = data.columns;
        Ok(with_entries(
            columns.values(),
            columns.nonzeros(),
            Descend {
                subproblem: self,
                data,
                range,
                budget,
            },
        ))
    }

    /// What the certificate at the start of the round needs: meaningful before the first step only.
    pub(super) fn certificate(&self) -> Certificate<'_> {
        Certificate {
            residual: &self.w,
            shift: -self.residual_sum,
            inverse_weight: 1.0 / self.params.total_weight,
            centred: self.params.centred,
            sigma_prime: self.params.sigma_prime,
        }
    }

    /// The elastic net.
    pub(super) fn penalty(&self) -> &ElasticNet {
        &self.params.penalty
    }

    /// Coefficients after the steps made so far, one for each column.
    pub fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// `sum_i (a'_i - a_i) mean_i`; 0 if not `centred`.
    pub fn kappa(&self) -> f64 {
        self.kappa
    }

    /// Writes `u_j = sum_i (a'_i - a_i) c_ij` (centred columns if `centred`; not multiplied by `sigma'`) for the rows from `start` on,
    /// as many as `out` has room for, little endian. `residual` and `weights` are those that were loaded.
    ///
    /// # Errors
    /// `Shape` for wrong lengths, `Unfinished` if the residual is not loaded, `NonFinite` if the steps overflowed.
    pub fn write_update(
        &self,
        residual: &[u8],
        weights: Option<&[f64]>,
        start: usize,
        out: &mut [u8],
    ) -> Result<(), SolverError> {
        if self.rows_to_load() > 0 {
            return Err(SolverError::Unfinished);
        }
        let residual = doubles(residual, self.rows, "residual")?;
        if let Some(weights) = weights {
            same_length("weights", weights.len(), self.rows, "row")?;
        }
        let (out, end) = output(start, out, self.rows)?;
        let shift = if self.params.centred { self.kappa } else { 0.0 };
        for ((row, slot), bytes) in (start..end).zip(out).zip(&residual[start..end]) {
            let before = weighted(weights, row, f64::from_le_bytes(*bytes));
            let mut u = (before - self.w[row]) / self.params.sigma_prime;
            if let Some(weights) = weights {
                u /= weights[row];
            }
            u -= shift;
            if !u.is_finite() {
                return Err(SolverError::NonFinite(format!(
                    "the update of row {row} overflowed: scale the features or the labels down"
                )));
            }
            *slot = u.to_le_bytes();
        }
        Ok(())
    }

    /// The steps `a' - a`, in the place of the coefficients.
    pub(super) fn into_delta(mut self, committed: &[f64]) -> Result<Vec<f64>, SolverError> {
        same_length("committed", committed.len(), self.alpha.len(), "column")?;
        for (a, before) in self.alpha.iter_mut().zip(committed) {
            *a -= before;
        }
        Ok(self.alpha)
    }
}

/// `s_j r`, or `r` without weights.
#[inline(always)]
fn weighted(weights: Option<&[f64]>, row: usize, r: f64) -> f64 {
    match weights {
        None => r,
        Some(weights) => weights[row] * r,
    }
}

/// `rows` doubles as groups of eight bytes.
fn doubles<'a>(bytes: &'a [u8], rows: usize, what: &str) -> Result<&'a [[u8; 8]], SolverError> {
    let (doubles, rest) = bytes.as_chunks::<8>();
    if doubles.len() == rows && rest.is_empty() {
        Ok(doubles)
    } else {
        Err(SolverError::Shape(format!(
            "{what} has {} bytes, expected 8 for each of {rows} rows",
            bytes.len()
        )))
    }
}

/// `out` as groups of eight bytes, and the row after its last.
pub(super) fn output(
    start: usize,
    out: &mut [u8],
    rows: usize,
) -> Result<(&mut [[u8; 8]], usize), SolverError> {
    let length = out.len();
    let (out, rest) = out.as_chunks_mut::<8>();
    let end = start.saturating_add(out.len());
    if rest.is_empty() && end <= rows {
        Ok((out, end))
    } else {
        Err(SolverError::Shape(format!(
            "{length} bytes from row {start} on: expected 8 for each of at most {rows} rows"
        )))
    }
}

/// What a call of [`LocalSubproblem::descend`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descent {
    /// The first coordinate of the range that was not visited.
    pub next: usize,
    /// Entries of the coordinates that were visited.
    pub nonzeros: usize,
}

struct Descend<'a> {
    subproblem: &'a mut LocalSubproblem,
    data: &'a PrimalData<'a>,
    range: Range<usize>,
    budget: usize,
}

impl WithEntries for Descend<'_> {
    type Output = Descent;

    fn run<E: Entries>(self, values: E) -> Descent {
        // Compiled for each of the four cases, so that the loops carry no tests that never change.
        match (self.data.weights.is_some(), self.subproblem.params.centred) {
            (false, false) => self.descend::<E, false, false>(values),
            (false, true) => self.descend::<E, false, true>(values),
            (true, false) => self.descend::<E, true, false>(values),
            (true, true) => self.descend::<E, true, true>(values),
        }
    }
}

impl Descend<'_> {
    fn descend<E: Entries, const WEIGHTED: bool, const CENTRED: bool>(self, values: E) -> Descent {
        let ValidSubproblemParams {
            penalty,
            sigma_prime,
            total_weight,
            ..
        } = self.subproblem.params;
        let mut steps = Steps::<E, WEIGHTED, CENTRED> {
            columns: self.data.columns,
            values,
            moments: self.data.moments,
            weights: self.data.weights,
            penalty,
            sigma_prime,
            total_weight,
            inverse_weight: 1.0 / total_weight,
            residual_sum: self.subproblem.residual_sum,
            alpha: &mut self.subproblem.alpha,
            w: &mut self.subproblem.w,
            kappa: self.subproblem.kappa,
            shift: 0.0,
            nonzeros: 0,
        };
        steps.shift = steps.shift();
        let mut next = self.range.start;
        while next < self.range.end {
            next = steps.visit(next, &self.range, self.budget);
            if steps.nonzeros + (next - self.range.start) >= self.budget {
                break;
            }
        }
        let (kappa, nonzeros) = (steps.kappa, steps.nonzeros);
        self.subproblem.kappa = kappa;
        Descent { next, nonzeros }
    }
}

/// Everything a step reads or writes.
struct Steps<'a, E, const WEIGHTED: bool, const CENTRED: bool> {
    columns: Columns<'a>,
    values: E,
    moments: ColumnMoments<'a>,
    weights: Option<&'a [f64]>,
    penalty: ElasticNet,
    sigma_prime: f64,
    total_weight: f64,
    inverse_weight: f64,
    residual_sum: f64,
    alpha: &'a mut [f64],
    w: &'a mut [f64],
    kappa: f64,
    /// What centring adds to a dot product, divided by the mean of the column.
    shift: f64,
    nonzeros: usize,
}

impl<E: Entries, const WEIGHTED: bool, const CENTRED: bool> Steps<'_, E, WEIGHTED, CENTRED> {
    /// Visits columns from `i` on that are of the same length, if that is 1 to 8, else of any greater length. Returns the first
    /// that was not visited.
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

    /// Visits columns of length `L`; 0 stands for 0 and all above 8.
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
        if let Some(step) = self.minimise(i, sum) {
            let weights = if WEIGHTED { self.weights } else { None };
            subtract(rows, values, step, weights, self.w);
        }
    }

    /// The same sums in the same order, but with the entries of `w` read once and no loop.
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
        if let Some(step) = self.minimise(i, sum) {
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

    /// Moves coordinate `i` to the minimum along it, given the dot product of its column with `w`.
    /// Returns `sigma'` times the step, or nothing if it stays.
    #[inline(always)]
    fn minimise(&mut self, i: usize, mut sum: f64) -> Option<f64> {
        let (mean, variance) = (self.moments.mean[i], self.moments.variance[i]);
        if CENTRED {
            sum += mean * self.shift;
        }
        let before = self.alpha[i];
        let after = self.penalty.of_column(&self.moments, i).minimise(
            curvature(self.sigma_prime, CENTRED, mean, variance),
            before,
            sum * self.inverse_weight,
        );
        let delta = after - before;
        if delta == 0.0 {
            return None;
        }
        self.alpha[i] = after;
        if CENTRED {
            self.kappa += delta * mean;
            self.shift = self.shift();
        }
        Some(self.sigma_prime * delta)
    }

    #[inline(always)]
    fn shift(&self) -> f64 {
        (self.sigma_prime * self.kappa) * self.total_weight - self.residual_sum
    }
}
