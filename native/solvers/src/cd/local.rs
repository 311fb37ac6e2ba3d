//! The local subproblem of a round: its variables, its vector, and the descent along given coordinates.

use std::ops::Range;

use super::{
    dual::ValidDualSubproblemParams,
    primal::ValidSubproblemParams,
    steps::{Descent, Span},
    subproblem::{Certificate, DataOf, Separable, Subproblem, same_shape},
};
use crate::base::{
    entries::Entries,
    error::{SolverError, reserve, same_length},
    kernel::{WithEntries, with_entries},
};

/// Variables, and a vector with which the derivative along each of them is one dot product.
#[derive(Debug)]
pub struct Local<P: Subproblem> {
    pub(super) subproblem: P,
    pub(super) alpha: Vec<f64>,
    pub(super) w: Vec<f64>,
    pub(super) running: P::Running,
}

/// Columns as coordinates: see [`ValidSubproblemParams`].
pub type LocalSubproblem = Local<ValidSubproblemParams>;

/// Rows as coordinates: see [`ValidDualSubproblemParams`].
pub type LocalDualSubproblem = Local<ValidDualSubproblemParams>;

impl<P: Subproblem> Local<P> {
    /// A subproblem at `alpha` (one variable for each coordinate). `shared`: the shared vector; `weights`: numbers that multiply its entries
    /// (columns: the weights of the rows; rows: none).
    ///
    /// # Errors
    /// `NonFinite` for a variable or an entry that is not finite, `Shape` for a wrong length, `OutOfMemory`.
    pub fn new(
        subproblem: P,
        shared: Vec<f64>,
        weights: Option<&[f64]>,
        alpha: &[f64],
    ) -> Result<Self, SolverError> {
        let mut local = Self {
            subproblem,
            alpha: finite_copy::<P::Objective>(alpha, P::Objective::VARIABLE)?,
            w: shared,
            running: P::Running::default(),
        };
        same_weights::<P::Objective>(weights, local.w.len())?;
        for (entry, w) in local.w.iter_mut().enumerate() {
            let r = *w;
            *w = weighted(weights, entry, r);
            if !w.is_finite() {
                return Err(SolverError::NonFinite(format!(
                    "{} of {} {entry} is {r}, {w} times its weight: both must be finite",
                    P::Objective::SHARED,
                    P::Objective::ENTRY
                )));
            }
            P::loaded(&mut local.running, *w);
        }
        Ok(local)
    }

    /// Refuses a block of `coordinates` of another shape, or without what this subproblem needs.
    pub(super) fn fits(&self, data: &DataOf<'_, P>, coordinates: usize) -> Result<(), SolverError> {
        let vector = P::Objective::SHARED;
        same_shape::<P::Objective>(data, coordinates, vector, self.w.len())?;
        self.subproblem.suits(data)
    }

    /// Visits coordinates from `range.start` on in rising order and minimises along each exactly. Stops at the end of the range, or when
    /// the work reaches `budget`: one unit for each coordinate and each entry. Visits at least one coordinate. `first` is the first
    /// coordinate of the block `data`.
    ///
    /// # Errors
    /// `Shape` if `data` or `range` does not fit.
    pub fn descend(
        &mut self,
        data: &DataOf<'_, P>,
        first: usize,
        range: Range<usize>,
        budget: usize,
    ) -> Result<Descent, SolverError> {
        let end = first + P::Objective::columns(data).len();
        self.fits(data, end - first)?;
        if range.start < first || range.end > end || end > self.alpha.len() {
            return Err(SolverError::Shape(format!(
                "coordinates {range:?} of {} {}s, in a block of {first} to {end}",
                self.alpha.len(),
                P::Objective::COORDINATE
            )));
        }
        let descent = descend(
            &self.subproblem,
            data,
            1.0,
            &mut self.running,
            Iterate {
                alpha: &mut self.alpha[first..end],
                first: 0,
                w: &mut self.w,
            },
            range.start - first..range.end - first,
            budget,
        );
        Ok(Descent {
            next: first + descent.next,
            ..descent
        })
    }

    /// The inputs of the certificate at the start of the round. Call it before the first step.
    pub(super) fn certificate<'a>(&'a self, candidates: &'a [f64]) -> Certificate<'a, P::Running> {
        Certificate {
            running: self.running,
            vector: &self.w,
            candidates,
        }
    }

    /// Variables after the steps made so far, one for each coordinate.
    pub fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// Columns: `sum_i (a'_i - a_i) mean_i`, 0 if not centred. Rows: `sum_i t_i (a'_i - a_i)`.
    pub fn kappa(&self) -> f64 {
        self.subproblem.kappa(&self.running)
    }

    /// Writes the update of the shared vector for the entries from `start` on, as many as `out` has room for, little endian, without the
    /// factor `sigma'`. Columns: `u_j = sum_i (a'_i - a_i) c_ij`, of centred columns if `centred`.
    /// Rows: `U_j = sum_i t_i (a'_i - a_i) scale_j x_ij`. `shared`: the same entries of the shared vector; `weights` as in [`Local::new`].
    ///
    /// # Errors
    /// `Shape` for wrong lengths, `NonFinite` if the steps overflowed.
    pub fn write_update(
        &self,
        weights: Option<&[f64]>,
        start: usize,
        shared: &[u8],
        out: &mut [u8],
    ) -> Result<(), SolverError> {
        same_weights::<P::Objective>(weights, self.w.len())?;
        same_length("the shared vector's part", shared.len(), out.len(), "byte")?;
        let shared = shared.as_chunks::<8>().0;
        write_entries::<P::Objective>("update", start, out, self.w.len(), |entry| {
            let before = weighted(weights, entry, f64::from_le_bytes(shared[entry - start]));
            self.subproblem.update(
                &self.running,
                before,
                self.w[entry],
                weights.map(|weights| weights[entry]),
            )
        })
    }

    /// The steps `a' - a`, in the memory of the variables.
    pub(super) fn into_delta(mut self, committed: &[f64]) -> Result<Vec<f64>, SolverError> {
        same_length(
            "committed",
            committed.len(),
            self.alpha.len(),
            P::Objective::COORDINATE,
        )?;
        for (a, before) in self.alpha.iter_mut().zip(committed) {
            *a -= before;
        }
        Ok(self.alpha)
    }
}

fn same_weights<S: Separable>(weights: Option<&[f64]>, length: usize) -> Result<(), SolverError> {
    weights.map_or(Ok(()), |weights| {
        same_length("weights", weights.len(), length, S::ENTRY)
    })
}

/// `s_j r`, or `r` without weights.
#[inline(always)]
fn weighted(weights: Option<&[f64]>, entry: usize, r: f64) -> f64 {
    match weights {
        None => r,
        Some(weights) => weights[entry] * r,
    }
}

/// Copies `numbers`, one for each coordinate. Refuses NaN and infinity; `name` is what messages call one number.
pub(super) fn finite_copy<S: Separable>(
    numbers: &[f64],
    name: &str,
) -> Result<Vec<f64>, SolverError> {
    let mut copy = reserve(numbers.len(), "the variables of a round")?;
    copy.extend_from_slice(numbers);
    match copy.iter().position(|a| !a.is_finite()) {
        None => Ok(copy),
        Some(i) => Err(SolverError::NonFinite(format!(
            "{name} of {} {i} is {}: it must be finite",
            S::COORDINATE,
            copy[i]
        ))),
    }
}

/// Writes `number(entry)`, little endian, for as many entries from `start` on as `out` has room for.
pub(super) fn write_entries<S: Separable>(
    what: &str,
    start: usize,
    out: &mut [u8],
    length: usize,
    number: impl Fn(usize) -> f64,
) -> Result<(), SolverError> {
    let bytes = out.len();
    let (out, rest) = out.as_chunks_mut::<8>();
    let end = start.saturating_add(out.len());
    if !rest.is_empty() || end > length {
        return Err(SolverError::Shape(format!(
            "{bytes} bytes from {} {start} on: expected 8 for each of at most {length} {}s",
            S::ENTRY,
            S::ENTRY
        )));
    }
    for (entry, slot) in (start..end).zip(out) {
        let number = number(entry);
        if !number.is_finite() {
            return Err(SolverError::NonFinite(format!(
                "the {what} of {} {entry} overflowed: scale the features or the labels down",
                S::ENTRY
            )));
        }
        *slot = number.to_le_bytes();
    }
    Ok(())
}

/// The point that steps move: variables of the coordinates from `first` on, and the vector.
pub(super) struct Iterate<'a> {
    pub alpha: &'a mut [f64],
    pub first: usize,
    pub w: &'a mut [f64],
}

/// Visits coordinates on one of `threads` copies of the vector.
pub(super) fn descend<P: Subproblem>(
    subproblem: &P,
    data: &DataOf<'_, P>,
    threads: f64,
    running: &mut P::Running,
    iterate: Iterate<'_>,
    range: Range<usize>,
    budget: usize,
) -> Descent {
    with_entries(
        &P::Objective::columns(data),
        Descend {
            subproblem,
            data,
            threads,
            running,
            iterate,
            range,
            budget,
        },
    )
}

/// A descent, compiled once for each kind of entries.
struct Descend<'a, 'd, P: Subproblem> {
    subproblem: &'a P,
    data: &'a DataOf<'d, P>,
    threads: f64,
    running: &'a mut P::Running,
    iterate: Iterate<'a>,
    range: Range<usize>,
    budget: usize,
}

impl<P: Subproblem> WithEntries for Descend<'_, '_, P> {
    type Output = Descent;

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) -> Descent {
        let weights = P::entry_weights(self.data);
        let span = Span {
            entries,
            weights,
            alpha: self.iterate.alpha,
            first: self.iterate.first,
            w: self.iterate.w,
            range: self.range,
            budget: self.budget,
        };
        // Compiled for both cases, so that the loops do not test.
        if weights.is_some() {
            self.subproblem
                .descend::<E, true>(self.data, self.threads, self.running, span)
        } else {
            self.subproblem
                .descend::<E, false>(self.data, self.threads, self.running, span)
        }
    }
}
