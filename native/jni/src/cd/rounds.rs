//! Rounds and products of either orientation: computed slice by slice, kept or written.

use std::time::Duration;

use dwell_solvers::{RoundOutcome, RoundScalars};

use crate::{
    boundary::arrays::Structure,
    boundary::fault::Fault,
    boundary::pool,
    boundary::slices::{Lender, data, in_slices, validate, write_vector},
    cd::orientation::{Orientation, ProductScalars, Start},
    cd::request::{MOST_CANDIDATES, MOST_POINTS, Request},
    cd::states::{Registry, Step},
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
