//! Rounds and products of either orientation: computed, then kept with their worker state.

use std::{
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use dwell_solvers::{Blocks, RoundOutcome, RoundScalars, RowNorms};

use crate::{
    boundary::{
        blocks::{Block, Caller, View, Viewed, check},
        fault::Fault,
        header::{self, Header, NONZEROS, SOLVER_NANOS, STATE_BYTES},
        pool,
    },
    cd::{
        layout::{
            CONJUGATE, COORDINATES, CORRELATION, CURVE11, CURVE12, CURVE22, KAPPA, LOSSES,
            MAX_CANDIDATES, MAX_POINTS, RATIO, SAMPLES, SLOPE1, SLOPE2, STAMP, VALUE_AFTER,
            VALUE_BEFORE,
        },
        numbers::Control,
        orientation::{Orientation, RoundStart, WorkerFacts},
        request::Request,
        states::{PendingStep, States, Ticket},
    },
};

/// What a computation gives, apart from the vector, which goes to the caller.
#[derive(Debug)]
pub struct Computed<T> {
    /// The numbers.
    pub result: T,
    /// The norms of the rows, if the solver needs them.
    pub norms: Option<Arc<RowNorms>>,
    /// Time inside the solver.
    pub elapsed: Duration,
}

impl<O: Orientation> View<O> for WorkerFacts {
    fn data<'a>(
        &'a self,
        block: Block<'a, O>,
        coordinates: Range<usize>,
    ) -> Result<O::Data<'a>, Fault> {
        let columns = block.columns(self.length)?;
        Ok(O::data(columns, block.fields, coordinates, self)?)
    }
}

/// Checks the blocks, and computes what is not known yet.
fn prepare<O: Orientation, C: Caller<O>>(
    caller: &mut C,
    known: &mut WorkerFacts,
) -> Result<(), Fault> {
    check(caller, known.length, |block| O::check(block.fields))?;
    if known.norms.is_none() {
        known.norms = O::norms(caller, known.length)?.map(Arc::new);
    }
    Ok(())
}

/// Computes a round from `start`, a pure function of its arguments.
///
/// # Errors
/// Those of the solver and of the caller.
pub fn compute_round<O: Orientation, C: Caller<O>>(
    caller: &mut C,
    params: &O::Params,
    threads: usize,
    start: RoundStart<'_>,
    mut known: WorkerFacts,
) -> Result<Computed<RoundOutcome>, Fault> {
    prepare::<O, C>(caller, &mut known)?;
    let began = Instant::now();
    let (shared, pool) = (caller.shared()?, pool::of(threads));
    let mut blocks = Viewed::new(caller, &known);
    let round = O::round(params, shared, start, &mut blocks, pool.as_deref())?;
    caller.write(known.length, |caller, first, shared, out| {
        Viewed::new(caller, &known).lend(|loan| {
            let data = loan.block(0)?;
            Ok(O::write_update(&round, &data, first, shared, out)?)
        })
    })?;
    Ok(Computed {
        result: O::finish(round, start.alpha)?,
        norms: known.norms,
        elapsed: began.elapsed(),
    })
}

/// Computes the product of the matrix with `alpha`.
///
/// # Errors
/// Those of the solver and of the caller.
pub fn compute_product<O: Orientation, C: Caller<O>>(
    caller: &mut C,
    params: &O::Params,
    alpha: &[f64],
    mut known: WorkerFacts,
) -> Result<Computed<O::Product>, Fault> {
    prepare::<O, C>(caller, &mut known)?;
    let began = Instant::now();
    let mut blocks = Viewed::new(caller, &known);
    let product = O::product(params, known.length, alpha, &mut blocks)?;
    caller.write(known.length, |_, first, _, out| {
        Ok(O::write_product(&product, first, out)?)
    })?;
    Ok(Computed {
        result: product,
        norms: known.norms,
        elapsed: began.elapsed(),
    })
}

/// One round on the state in `states`. `None`: state lost.
///
/// # Errors
/// As [`compute_round`]; the state stays unchanged.
pub fn round<O: Orientation, C: Caller<O>>(
    states: &States,
    caller: &mut C,
    request: &Request<O>,
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
        caller.len(),
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
        norms,
        elapsed,
    } = compute_round(
        caller,
        params,
        control.threads,
        start,
        known(control, &ticket),
    )?;
    let step = PendingStep {
        round: control.round,
        cursor: result.cursor,
        delta: result.delta,
    };
    let bytes = states.publish_round(&ticket, norms, step);
    Ok(bytes.map(|bytes| round_header(&result.scalars, elapsed, bytes, committed.stamp)))
}

/// What a call and its state tell of the data.
fn known(control: &Control, ticket: &Ticket) -> WorkerFacts {
    WorkerFacts {
        length: control.length,
        classes: control.classes(),
        norms: ticket.norms.clone(),
    }
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

/// Settles the state in `states`, and computes its product. `None`: the fit was freed, or the
/// call is late.
///
/// # Errors
/// As [`compute_product`]; the state stays unchanged.
pub fn product<O: Orientation, C: Caller<O>>(
    states: &States,
    caller: &mut C,
    request: &Request<O>,
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
        caller.len(),
        *verdict,
    )?
    else {
        return Ok(None);
    };
    let start = &ticket.start;
    let Computed {
        result,
        norms,
        elapsed,
    } = compute_product(caller, params, &start.alpha, known(control, &ticket))?;
    let bytes = states.publish_product(&ticket, norms);
    let (value, kappa, nonzeros) = O::product_scalars(&result);
    Ok(bytes.map(|bytes| {
        let scalars = RoundScalars {
            value_before: value,
            value_after: value,
            conjugate: f64::NAN,
            ratio: f64::NAN,
            correlation: f64::NAN,
            coordinates: start.alpha.len() as u64,
            nonzeros,
            kappa,
            slope: [0.0; 2],
            curve: [0.0; 3],
            samples: Vec::new(),
            losses: Vec::new(),
        };
        round_header(&scalars, elapsed, bytes, start.stamp)
    }))
}
