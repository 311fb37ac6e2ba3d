//! Work in slices. Each slice borrows the arrays; between two slices nothing is pinned and the call can be cancelled.

use std::time::{Duration, Instant};

use dwell_solvers::Progress;

use crate::boundary::{
    arrays::Arrays,
    fault::{Fault, argument},
    fingerprint::Fingerprint,
    partition::Partition,
};

/// The owner of the arrays, which lends them to one slice after another: Java, whose arrays are pinned for each slice, or a C caller.
pub trait Lender<P: Partition> {
    /// Lends the arrays, and the vector of the result for writing, to one slice of work.
    ///
    /// # Errors
    /// Those of the work; a fault if the arrays cannot be lent.
    fn lend<R>(
        &mut self,
        work: impl FnOnce(&Arrays<'_, P>, &mut [u8]) -> Result<R, Fault>,
    ) -> Result<R, Fault>;

    /// Called between slices, while nothing is lent.
    ///
    /// # Errors
    /// `Cancelled` if the caller no longer wants the result.
    fn poll(&mut self) -> Result<(), Fault>;
}

/// Lends the arrays to slice after slice of `units` of work, until `work` is done. Returns the time spent in `work`.
///
/// # Errors
/// Those of `work` and of the lender.
pub fn in_slices<P: Partition, L: Lender<P>>(
    lender: &mut L,
    mut work: impl FnMut(&Arrays<'_, P>, &mut [u8], usize) -> Result<Progress, Fault>,
) -> Result<Duration, Fault> {
    let mut length = SliceLength::default();
    let mut total = Duration::ZERO;
    loop {
        lender.poll()?;
        let (progress, elapsed) = lender.lend(|arrays, out| {
            let start = Instant::now();
            let progress = work(arrays, out, length.units())?;
            Ok((progress, start.elapsed()))
        })?;
        total += elapsed;
        if progress == Progress::Done {
            return Ok(total);
        }
        length.took(elapsed);
    }
}

/// Writes the vector of a result, `length` numbers of 8 bytes, slice by slice. `work` gets the number that its slice starts with, and the
/// slice's bytes.
///
/// # Errors
/// As [`in_slices`], and `Argument` if the result is too short.
pub fn write_vector<P: Partition, L: Lender<P>>(
    lender: &mut L,
    length: usize,
    mut work: impl FnMut(&Arrays<'_, P>, usize, &mut [u8]) -> Result<(), Fault>,
) -> Result<Duration, Fault> {
    let mut first = 0;
    in_slices(lender, |arrays, out, units| {
        let end = length.min(first + units);
        let part = out
            .get_mut(8 * first..8 * end)
            .ok_or_else(|| argument!("result is too short for {length} numbers"))?;
        work(arrays, first, part)?;
        first = end;
        Ok(done_if(first == length))
    })
}

/// `Done` or `More`.
pub fn done_if(done: bool) -> Progress {
    if done { Progress::Done } else { Progress::More }
}

/// Validates the arrays, unless they have the `known` fingerprint. Returns their fingerprint.
///
/// # Errors
/// Names array and place at fault.
pub fn validate<P: Partition, L: Lender<P>>(
    lender: &mut L,
    length: usize,
    known: Option<Fingerprint>,
) -> Result<Fingerprint, Fault> {
    lender.poll()?;
    let (fingerprint, mut next) = lender.lend(|arrays, _| {
        let fingerprint = Fingerprint::of(length, arrays);
        let next = if known == Some(fingerprint) {
            arrays.matrix.coordinates()
        } else {
            P::check(arrays.matrix.known(length)?, arrays.fields)?;
            0
        };
        Ok((fingerprint, next))
    })?;
    in_slices(lender, |arrays, _, units| {
        next = arrays.matrix.check_part(length, next, units)?;
        Ok(done_if(next == arrays.matrix.coordinates()))
    })?;
    Ok(fingerprint)
}

/// The validated arrays of a slice, as the solver takes them.
///
/// # Errors
/// `Argument` if lengths disagree.
pub fn data<'a, P: Partition>(length: usize, arrays: &Arrays<'a, P>) -> Result<P::Data<'a>, Fault> {
    Ok(P::data(arrays.matrix.known(length)?, arrays.fields)?)
}

/// Units of work in the next slice. It aims at two milliseconds and learns from the time of earlier slices.
#[derive(Debug)]
pub struct SliceLength {
    units: usize,
}

impl Default for SliceLength {
    fn default() -> Self {
        Self { units: Self::FIRST }
    }
}

impl SliceLength {
    /// A millisecond on a fast machine.
    const FIRST: usize = 80_000;
    /// With fewer units the cost of pinning would show.
    const MIN: usize = 5_000;
    /// Phases of a call differ in speed: a slice that grew in a fast one must not be long in the next.
    const MAX: usize = 1_000_000;
    const TARGET: Duration = Duration::from_millis(2);

    /// Units of work for the next slice.
    pub fn units(&self) -> usize {
        self.units
    }

    /// A slice of [`SliceLength::units`] has taken this long.
    pub fn took(&mut self, elapsed: Duration) {
        let ratio = Self::TARGET.as_secs_f64() / elapsed.as_secs_f64().max(1e-9);
        let wanted = (self.units as f64 * ratio.min(2.0)) as usize;
        self.units = wanted.clamp(Self::MIN, Self::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_grow_and_shrink_towards_two_milliseconds() {
        let mut length = SliceLength::default();
        assert_eq!(length.units(), 80_000);
        length.took(Duration::from_millis(1));
        assert_eq!(length.units(), 160_000);
        length.took(Duration::from_millis(8));
        assert_eq!(length.units(), 40_000);
        for _ in 0..10 {
            length.took(Duration::from_secs(1));
        }
        assert_eq!(length.units(), 5_000);
        for _ in 0..20 {
            length.took(Duration::ZERO);
        }
        assert_eq!(length.units(), 1_000_000);
    }
}
