//! Rounds and products of either orientation: lend the arrays slice by slice to the solver, keep or write what comes out.

use std::time::{Duration, Instant};

use dwell_solvers::{Progress, RoundOutcome, RoundScalars};

use crate::{
    argument,
    arrays::{Arrays, Structure},
    boundary::Fault,
    orientation::{Orientation, ProductScalars, Start},
    pins::SliceLength,
    pool,
    registry::{Registry, Step},
    request::{MOST_CANDIDATES, MOST_POINTS, Request},
};

/// Bytes before the vector of a result.
pub const HEADER_BYTES: usize = 512;

/// Slots that this library writes. The rest of the header belongs to the caller.
pub const HEADER_SLOTS: usize = LOSSES + MOST_CANDIDATES;

const SLOPE: usize = 11;
const CURVE: usize = 13;
const SAMPLES: usize = 16;
const LOSSES: usize = SAMPLES + MOST_POINTS;

/// Numbers of a header, by slot.
pub type Header = [f64; HEADER_SLOTS];

/// Who owns the arrays: Java, which lends them pinned, or a C caller.
pub trait Lender<O: Orientation> {
    /// Lends the arrays, and the vector of the result for writing, to one slice of work.
    ///
    /// # Errors
    /// Of the work, or if the arrays cannot be lent.
    fn lend<R>(
        &mut self,
        work: impl FnOnce(&Arrays<'_, O>, &mut [u8]) -> Result<R, Fault>,
    ) -> Result<R, Fault>;

    /// Called between slices, while nothing is lent.
    ///
    /// # Errors
    /// `Cancelled` if the result is not wanted any more.
    fn poll(&mut self) -> Result<(), Fault>;
}

/// Lends slice after slice of `units` of work until `work` says it is done. Returns the time spent inside of `work`.
fn in_slices<O: Orientation, L: Lender<O>>(
    lender: &mut L,
    mut work: impl FnMut(&Arrays<'_, O>, &mut [u8], usize) -> Result<Progress, Fault>,
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

/// As [`in_slices`], for work that goes through a vector of `length`: `work` gets the first number, and the part of the result from
/// there on.
fn write_vector<O: Orientation, L: Lender<O>>(
    lender: &mut L,
    length: usize,
    mut work: impl FnMut(&Arrays<'_, O>, usize, &mut [u8]) -> Result<(), Fault>,
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

fn done_if(done: bool) -> Progress {
    if done { Progress::Done } else { Progress::More }
}

/// Validates the arrays, unless they are those of `known`.
fn validate<O: Orientation, L: Lender<O>>(
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
            O::check(arrays.matrix.known(length)?, arrays.fields)?;
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
fn data<'a, O: Orientation>(length: usize, arrays: &Arrays<'a, O>) -> Result<O::Data<'a>, Fault> {
    Ok(O::data(arrays.matrix.known(length)?, arrays.fields)?)
}

/// What a computation gives beside the vector, which is written to its lender.
#[derive(Debug)]
pub struct Computed<T> {
    pub result: T,
    pub structure: Structure,
    pub elapsed: Duration,
}

/// Computes a round: a pure function of its arguments.
///
/// # Errors
/// Of the solver, and of the lender.
pub fn compute_round<O: Orientation, L: Lender<O>>(
    lender: &mut L,
    request: &Request<O::Params>,
    start: Start<'_>,
    known: Option<Structure>,
) -> Result<Computed<RoundOutcome>, Fault> {
    let length = request.length;
    let mut round = O::round(&request.params, length, start)?;
    let pool = pool::of(request.threads);
    let structure = validate(lender, length, known)?;
    let solving = in_slices(lender, |arrays, _, units| {
        let data = data(length, arrays)?;
        Ok(O::advance(
            &mut round,
            &data,
            arrays.shared,
            units,
            pool.as_deref(),
        )?)
    })?;
    let writing = write_vector(lender, length, |arrays, first, out| {
        let data = data(length, arrays)?;
        Ok(O::write_update(&round, &data, arrays.shared, first, out)?)
    })?;
    Ok(Computed {
        result: O::finish(round, start.alpha)?,
        structure,
        elapsed: solving + writing,
    })
}

/// Computes the product of the matrix with `alpha`.
///
/// # Errors
/// Of the solver, and of the lender.
pub fn compute_product<O: Orientation, L: Lender<O>>(
    lender: &mut L,
    request: &Request<O::Params>,
    alpha: &[f64],
    known: Option<Structure>,
) -> Result<Computed<ProductScalars>, Fault> {
    let length = request.length;
    let mut product = O::product(&request.params, length, alpha)?;
    let structure = validate(lender, length, known)?;
    let solving = in_slices(lender, |arrays, _, units| {
        let data = data(length, arrays)?;
        Ok(O::advance_product(&mut product, &data, units)?)
    })?;
    let writing = write_vector(lender, length, |_, first, out| {
        Ok(O::write_product(&product, first, out)?)
    })?;
    Ok(Computed {
        result: O::product_scalars(&product)?,
        structure,
        elapsed: solving + writing,
    })
}

/// One round on the state in `registry`. `None`: state lost.
///
/// # Errors
/// As [`compute_round`]; the state is as it was then.
pub fn round<O: Orientation, L: Lender<O>>(
    registry: &Registry,
    lender: &mut L,
    request: &Request<O::Params>,
    coordinates: usize,
) -> Result<Option<Header>, Fault> {
    let Some(ticket) = registry.begin_round(
        request.key,
        request.round,
        request.stamp,
        coordinates,
        request.verdict,
    )?
    else {
        return Ok(None);
    };
    let committed = &ticket.start;
    let start = Start {
        alpha: &committed.alpha,
        previous: &committed.previous,
        cursor: committed.cursor,
    };
    let Computed {
        result,
        structure,
        elapsed,
    } = compute_round(lender, request, start, ticket.structure)?;
    let step = Step {
        round: request.round,
        cursor: result.cursor,
        delta: result.delta,
    };
    let bytes = registry.publish_round(&ticket, structure, step);
    Ok(bytes.map(|bytes| round_header(&result.scalars, elapsed, bytes, committed.stamp)))
}

fn round_header(scalars: &RoundScalars, elapsed: Duration, bytes: usize, stamp: i64) -> Header {
    let mut header = [0.0; HEADER_SLOTS];
    header[..SLOPE].copy_from_slice(&[
        scalars.value_before,
        scalars.value_after,
        scalars.conjugate,
        scalars.ratio,
        scalars.correlation,
        scalars.coordinates as f64,
        scalars.nonzeros as f64,
        elapsed.as_nanos() as f64,
        bytes as f64,
        stamp as f64,
        scalars.kappa,
    ]);
    header[SLOPE..CURVE].copy_from_slice(&scalars.slope);
    header[CURVE..SAMPLES].copy_from_slice(&scalars.curve);
    header[SAMPLES..LOSSES].copy_from_slice(&padded::<MOST_POINTS>(&scalars.samples));
    header[LOSSES..].copy_from_slice(&padded::<MOST_CANDIDATES>(&scalars.losses));
    header
}

/// At most `N` numbers, and zeros.
pub fn padded<const N: usize>(numbers: &[f64]) -> [f64; N] {
    std::array::from_fn(|k| numbers.get(k).copied().unwrap_or(0.0))
}

/// Settles the state in `registry` and computes its product. `None`: the fit was freed, or the call is late.
///
/// # Errors
/// As [`compute_product`]; the state is as it was then.
pub fn product<O: Orientation, L: Lender<O>>(
    registry: &Registry,
    lender: &mut L,
    request: &Request<O::Params>,
    coordinates: usize,
) -> Result<Option<Header>, Fault> {
    let Some(ticket) = registry.begin_product(
        request.key,
        request.round,
        request.stamp,
        coordinates,
        request.verdict,
    )?
    else {
        return Ok(None);
    };
    let start = &ticket.start;
    let Computed {
        result,
        structure,
        elapsed,
    } = compute_product(lender, request, &start.alpha, ticket.structure)?;
    let bytes = registry.publish_product(&ticket, structure);
    Ok(bytes.map(|bytes| {
        let scalars = RoundScalars {
            value_before: result.value,
            value_after: result.value,
            conjugate: f64::NAN,
            ratio: f64::NAN,
            correlation: f64::NAN,
            coordinates: coordinates as u64,
            nonzeros: result.nonzeros,
            kappa: result.kappa,
            slope: [0.0; 2],
            curve: [0.0; 3],
            samples: Vec::new(),
            losses: Vec::new(),
        };
        round_header(&scalars, elapsed, bytes, start.stamp)
    }))
}
