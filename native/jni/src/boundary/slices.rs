//! Work in slices: the arrays are lent to each, and the call can be cancelled between two.

use std::time::{Duration, Instant};

use dwell_solvers::Progress;

use crate::{
    argument,
    boundary::arrays::{Arrays, Structure},
    boundary::fault::Fault,
    boundary::partition::Partition,
    boundary::pins::SliceLength,
};

/// Who owns the arrays: Java, which lends them pinned, or a C caller.
pub trait Lender<P: Partition> {
    /// Lends the arrays, and the vector of the result for writing, to one slice of work.
    ///
    /// # Errors
    /// Of the work, or if the arrays cannot be lent.
    fn lend<R>(
        &mut self,
        work: impl FnOnce(&Arrays<'_, P>, &mut [u8]) -> Result<R, Fault>,
    ) -> Result<R, Fault>;

    /// Called between slices, while nothing is lent.
    ///
    /// # Errors
    /// `Cancelled` if the result is not wanted any more.
    fn poll(&mut self) -> Result<(), Fault>;
}

/// Lends slice after slice of `units` of work until `work` says it is done. Returns the time spent inside of `work`.
///
/// # Errors
/// Of `work`, and of the lender.
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

/// As [`in_slices`], for work that goes through a vector of `length` times 8 bytes: `work` gets the first such number, and the part of the
/// result from there on.
///
/// # Errors
/// As there, and `Argument` if the result is too short.
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

/// Whether there is more to do.
pub fn done_if(done: bool) -> Progress {
    if done { Progress::Done } else { Progress::More }
}

/// Validates the arrays, unless they are those of `known`.
///
/// # Errors
/// Names array and place at fault.
pub fn validate<P: Partition, L: Lender<P>>(
    lender: &mut L,
    length: usize,
    known: Option<Structure>,
) -> Result<Structure, Fault> {
    lender.poll()?;
    let (structure, mut next) = lender.lend(|arrays, _| {
        let structure = Structure::of(length, arrays);
        let next = if known == Some(structure) {
            arrays.matrix.coordinates()
        } else {
            P::check(arrays.matrix.known(length)?, arrays.fields)?;
            0
        };
        Ok((structure, next))
    })?;
    in_slices(lender, |arrays, _, units| {
        next = arrays.matrix.check_part(length, next, units)?;
        Ok(done_if(next == arrays.matrix.coordinates()))
    })?;
    Ok(structure)
}

/// The arrays of a slice, as the solver takes them.
///
/// # Errors
/// `Argument` if lengths do not fit.
pub fn data<'a, P: Partition>(length: usize, arrays: &Arrays<'a, P>) -> Result<P::Data<'a>, Fault> {
    Ok(P::data(arrays.matrix.known(length)?, arrays.fields)?)
}
