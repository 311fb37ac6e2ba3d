//! Rounds and products of either orientation: computed slice by slice, then kept with their worker state.

use std::time::Duration;

use dwell_solvers::{RoundOutcome, RoundScalars};

use crate::{
    boundary::{
        fault::Fault,
        fingerprint::Fingerprint,
        header::{self, Header, NONZEROS, SOLVER_NANOS, STATE_BYTES},
        pool,
        slices::{Lender, data, in_slices, validate, write_vector},
    },
    cd::{
        layout::{
            CONJUGATE, COORDINATES, CORRELATION, CURVE11, CURVE12, CURVE22, KAPPA, LOSSES,
            MAX_CANDIDATES, MAX_POINTS, RATIO, SAMPLES, SLOPE1, SLOPE2, STAMP, VALUE_AFTER,
            VALUE_BEFORE,
        },
        orientation::{Orientation, ProductScalars, RoundStart},
        request::Request,
        states::{PendingStep, States},
    },
};

/// What a computation gives, apart from the vector, which goes to the lender.
#[derive(Debug)]
pub struct Computed<T> {
    /// The numbers.
    pub result: T,
    /// The fingerprint of the validated arrays.
    pub fingerprint: Fingerprint,
    /// Time inside the solver.
    pub elapsed: Duration,
}

/// Computes a round from `start`, a pure function of its arguments. The shared vector has `length` numbers.
///
/// # Errors
/// Those of the solver and of the lender.
pub fn compute_round<O: Orientation, L: Lender<O>>(
    lender: &mut L,
    params: &O::Params,
    length: usize,
    threads: usize,
    start: RoundStart<'_>,
    known: Option<Fingerprint>,
) -> Result<Computed<RoundOutcome>, Fault> {
    let mut round = O::round(params, length, start)?;
    let pool = pool::of(threads);
    let fingerprint = validate(lender, length, known)?;
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
        fingerprint,
        elapsed: solving + writing,
    })
}

/// Computes the product of the matrix with `alpha`. The vector has `length` numbers.
///
/// # Errors
/// Those of the solver and of the lender.
pub fn compute_product<O: Orientation, L: Lender<O>>(
    lender: &mut L,
    params: &O::Params,
    length: usize,
    alpha: &[f64],
    known: Option<Fingerprint>,
) -> Result<Computed<ProductScalars>, Fault> {
    let mut product = O::product(params, length, alpha)?;
    let fingerprint = validate(lender, length, known)?;
    let solving = in_slices(lender, |arrays, _, units| {
        let data = data(length, arrays)?;
        Ok(O::advance_product(&mut product, &data, units)?)
    })?;
    let writing = write_vector(lender, length, |_, first, out| {
        Ok(O::write_product(&product, first, out)?)
    })?;
    Ok(Computed {
        result: O::product_scalars(&product)?,
        fingerprint,
        elapsed: solving + writing,
    })
}

/// One round on the state in `states`, which must have this number of coordinates. `None`: state lost.
///
/// # Errors
/// As [`compute_round`]; the state stays unchanged.
pub fn round<O: Orientation, L: Lender<O>>(
    states: &States,
    lender: &mut L,
    request: &Request<O>,
    coordinates: usize,
) -> Result<Option<Header>, Fault> {
    let Request {
        control,
        verdict,
        params,
    } = request;
    let Some(ticket) = states.begin_round(
        control.key,
        control.round,
        control.stamp,
        coordinates,
        *verdict,
    )?
    else {
        return Ok(None);
    };
    let committed = &ticket.start;
    let start = RoundStart {
        alpha: &committed.alpha,
        previous: &committed.previous,
        cursor: committed.cursor,
    };
    let Computed {
        result,
        fingerprint,
        elapsed,
    } = compute_round(
        lender,
        params,
        control.length,
        control.threads,
        start,
        ticket.fingerprint,
    )?;
    let step = PendingStep {
        round: control.round,
        cursor: result.cursor,
        delta: result.delta,
    };
    let bytes = states.publish_round(&ticket, fingerprint, step);
    Ok(bytes.map(|bytes| round_header(&result.scalars, elapsed, bytes, committed.stamp)))
}

fn round_header(scalars: &RoundScalars, elapsed: Duration, bytes: usize, stamp: i64) -> Header {
    let mut header = header::EMPTY;
    header[VALUE_BEFORE] = scalars.value_before;
    header[VALUE_AFTER] = scalars.value_after;
    header[CONJUGATE] = scalars.conjugate;
    header[RATIO] = scalars.ratio;
    header[CORRELATION] = scalars.correlation;
    header[COORDINATES] = scalars.coordinates as f64;
    header[NONZEROS] = scalars.nonzeros as f64;
    header[SOLVER_NANOS] = elapsed.as_nanos() as f64;
    header[STATE_BYTES] = bytes as f64;
    header[STAMP] = stamp as f64;
    header[KAPPA] = scalars.kappa;
    [header[SLOPE1], header[SLOPE2]] = scalars.slope;
    [header[CURVE11], header[CURVE12], header[CURVE22]] = scalars.curve;
    header::fill(&mut header[SAMPLES..][..MAX_POINTS], &scalars.samples);
    header::fill(&mut header[LOSSES..][..MAX_CANDIDATES], &scalars.losses);
    header
}

/// Settles the state in `states`, which must have this number of coordinates, and computes its product. `None`: the fit was freed, or the
/// call is late.
///
/// # Errors
/// As [`compute_product`]; the state stays unchanged.
pub fn product<O: Orientation, L: Lender<O>>(
    states: &States,
    lender: &mut L,
    request: &Request<O>,
    coordinates: usize,
) -> Result<Option<Header>, Fault> {
    let Request {
        control,
        verdict,
        params,
    } = request;
    let Some(ticket) = states.begin_product(
        control.key,
        control.round,
        control.stamp,
        coordinates,
        *verdict,
    )?
    else {
        return Ok(None);
    };
    let start = &ticket.start;
    let Computed {
        result,
        fingerprint,
        elapsed,
    } = compute_product(
        lender,
        params,
        control.length,
        &start.alpha,
        ticket.fingerprint,
    )?;
    let bytes = states.publish_product(&ticket, fingerprint);
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
