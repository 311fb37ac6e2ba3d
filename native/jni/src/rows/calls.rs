//! The calls of model averaging. Every call is a pure function of its arguments.

use std::time::Instant;

use dwell_solvers::{SearchParams, SgdData, SgdParams, SgdRound, SgdScalars, search_step_size};

use crate::{
    boundary::{
        blocks::{Caller, Viewed, check},
        fault::{Fault, argument},
        header::{self, Header, NONZEROS, SOLVER_NANOS},
        memory::copied,
        pool,
    },
    rows::{
        arrays::Sgd,
        layout::{
            CURSOR, DIVERGED, FACTOR, FACTORS, L1_NORM, LOSS_SUM, MAX_CANDIDATES, MAX_FACTORS,
            OBJECTIVES, REACHED_L1_NORM, REACHED_SQUARE_NORM, ROWS, SETTING_SHARE, SQUARE_NORM,
            STEPS, WEIGHT_SUM,
        },
        request::{Common, SgdRequest},
    },
};

/// One of the calls, named by the parameters of its solver: a descent ([`SgdParams`]; of a network
/// [`DescentParams`](dwell_solvers::network::DescentParams)) or a search ([`SearchParams`]).
pub trait SgdCall: Sized {
    /// Whether the result has a vector after its header.
    const HAS_VECTOR: bool;

    /// Checks and names the numbers of a call.
    ///
    /// # Errors
    /// `Argument` names the number at fault.
    fn decode(control: &[i64], settings: &[f64]) -> Result<SgdRequest<Self>, Fault>;

    /// Checks the parameters and the blocks, and computes the result.
    ///
    /// # Errors
    /// Those of the solver and of the caller.
    fn compute<C: Caller<Sgd>>(request: &SgdRequest<Self>, caller: &mut C)
    -> Result<Header, Fault>;
}

/// Checks the blocks of a call. They have so many features.
pub(super) fn check_rows<C: Caller<Sgd>>(caller: &mut C, features: usize) -> Result<(), Fault> {
    check(caller, features, |block| {
        let fields = block.fields;
        Ok(SgdData::check(fields.labels, fields.weights, fields.scale)?)
    })
}

impl SgdCall for SgdParams {
    const HAS_VECTOR: bool = true;

    fn decode(control: &[i64], settings: &[f64]) -> Result<SgdRequest<Self>, Fault> {
        let common = Common::decode(control, settings)?;
        common.settings.nothing_more()?;
        let params = Self {
            problem: common.problem,
            schedule: common.schedule,
            seed: common.seed,
            partition: common.partition,
            budget: common.budget,
            cursor: common.cursor,
            steps: common.steps,
            share: common.settings.get(SETTING_SHARE),
            threads: common.threads,
        };
        Ok(common.request(params))
    }

    fn compute<C: Caller<Sgd>>(
        request: &SgdRequest<Self>,
        caller: &mut C,
    ) -> Result<Header, Fault> {
        let params = request.params.check()?;
        check_rows(caller, request.features)?;
        let began = Instant::now();
        let shared = caller.shared()?;
        let pool = pool::of(request.params.threads);
        let mut blocks = Viewed::new(caller, request);
        let round = SgdRound::run(params, &shared, &mut blocks, pool.as_deref())?;
        caller.write(request.length, |_, first, shared, out| {
            Ok(round.write_update(first, shared, out)?)
        })?;
        let outcome = round.finish();
        let mut header = with_scalars(&outcome.scalars, outcome.cursor, outcome.steps, began);
        header[REACHED_L1_NORM] = outcome.reached_l1_norm;
        header[REACHED_SQUARE_NORM] = outcome.reached_square_norm;
        header[FACTORS] = outcome.factors.len() as f64;
        header::fill(&mut header[FACTOR..][..MAX_FACTORS], &outcome.factors);
        Ok(header)
    }
}

impl SgdCall for SearchParams {
    const HAS_VECTOR: bool = false;

    fn decode(control: &[i64], settings: &[f64]) -> Result<SgdRequest<Self>, Fault> {
        let common = Common::decode(control, settings)?;
        let candidates = common.settings.rest();
        if candidates.len() > MAX_CANDIDATES {
            return Err(argument!(
                "there are {} candidates for the step size: it must be 1 to {MAX_CANDIDATES}",
                candidates.len()
            ));
        }
        let params = Self {
            problem: common.problem,
            schedule: common.schedule,
            candidates: copied(candidates, "settings")?,
            seed: common.seed,
            partition: common.partition,
            budget: common.budget,
            cursor: common.cursor,
            steps: common.steps,
        };
        Ok(common.request(params))
    }

    fn compute<C: Caller<Sgd>>(
        request: &SgdRequest<Self>,
        caller: &mut C,
    ) -> Result<Header, Fault> {
        let params = request.params.clone().check()?;
        check_rows(caller, request.features)?;
        let began = Instant::now();
        let shared = caller.shared()?;
        let outcome = search_step_size(&params, &shared, &mut Viewed::new(caller, request))?;
        let Self { cursor, steps, .. } = request.params;
        let mut header = with_scalars(&outcome.scalars, cursor, steps, began);
        header::fill(
            &mut header[OBJECTIVES..][..MAX_CANDIDATES],
            &outcome.objectives,
        );
        Ok(header)
    }
}

/// A header with the numbers that both calls report. `began`: when the solver did.
fn with_scalars(scalars: &SgdScalars, cursor: u64, steps: u64, began: Instant) -> Header {
    let mut header = header::EMPTY;
    header[LOSS_SUM] = scalars.loss_sum;
    header[WEIGHT_SUM] = scalars.weight_sum;
    header[L1_NORM] = scalars.l1_norm;
    header[SQUARE_NORM] = scalars.square_norm;
    header[DIVERGED] = f64::from(u8::from(scalars.diverged));
    header[ROWS] = scalars.rows as f64;
    header[NONZEROS] = scalars.nonzeros as f64;
    header[CURSOR] = cursor as f64;
    header[STEPS] = steps as f64;
    header[SOLVER_NANOS] = began.elapsed().as_nanos() as f64;
    header
}

#[cfg(test)]
mod tests {
    use dwell_solvers::{Loss, RowLoss, Schedule, ScheduleKind, SgdProblem};

    use super::*;
    use crate::{
        boundary::fault::Fault,
        rows::layout::{CLASSES, CONTROL_SLOTS, INTERCEPT, LAYOUT_VERSION},
    };

    /// Legal numbers, with intercept, for the smoothed hinge.
    const CONTROL: [i64; CONTROL_SLOTS] = [
        LAYOUT_VERSION,
        3,
        -6,
        100,
        3,
        1,
        INTERCEPT | CLASSES,
        50,
        7,
        9,
        1,
        6,
    ];

    const SETTINGS: [f64; 7] = [0.25, 0.1, 0.2, 1.5, 0.3, 0.4, 0.5];

    fn refused<P: SgdCall>(control: &[i64], settings: &[f64], part: &str) {
        match P::decode(control, settings) {
            Err(Fault::Argument(text)) => assert!(text.contains(part), "{text}"),
            Err(fault) => panic!("{fault:?}, not {part}"),
            Ok(_) => panic!("accepted in spite of {part}"),
        }
    }

    #[test]
    fn numbers_find_their_names() {
        let problem = SgdProblem {
            loss: RowLoss::Margin(Loss::SmoothedHinge(0.25)),
            l1: 0.1,
            l2: 0.2,
            intercept: true,
            weight_factor: 1.5,
        };
        let schedule = Schedule {
            kind: ScheduleKind::Inverse,
            eta0: 0.3,
            rate: 0.4,
        };
        let request = SgdParams::decode(&CONTROL, &SETTINGS).unwrap();
        assert!(request.classes);
        assert_eq!((request.features, request.length), (100, 101));
        let expected = SgdParams {
            problem,
            schedule,
            seed: -6_i64 as u64,
            partition: 3,
            budget: 50,
            cursor: 7,
            steps: 9,
            share: 0.5,
            threads: 6,
        };
        assert_eq!(request.params, expected);

        let settings = [&SETTINGS[..], &[0.6, 0.7]].concat();
        let request = SearchParams::decode(&CONTROL, &settings).unwrap();
        let expected = SearchParams {
            problem,
            schedule,
            candidates: vec![0.6, 0.7],
            seed: -6_i64 as u64,
            partition: 3,
            budget: 50,
            cursor: 7,
            steps: 9,
        };
        assert_eq!(request.params, expected);

        let mut control = CONTROL;
        control[6] = 0;
        control[4] = RowLoss::SOFTMAX;
        control[5] = 4;
        let request = SgdParams::decode(&control, &SETTINGS).unwrap();
        assert_eq!(request.length, 404);
        assert_eq!(request.params.problem.loss, RowLoss::Softmax(4));
        assert!(!request.params.problem.intercept && !request.classes);
    }

    #[test]
    fn bad_numbers_are_named() {
        for (slot, bad, part) in [
            (0, 0, "control[0]"),
            (1, -1, "control[1]"),
            (1, 1 << 31, "control[1]"),
            (3, -1, "control[3]"),
            (3, 1 << 31, "control[3]"),
            (3, i32::MAX.into(), "no byte[]"),
            (4, -1, "loss"),
            (4, 6, "loss"),
            (4, RowLoss::SOFTMAX, "outputs"),
            (5, 0, "control[5]"),
            (5, 2, "outputs"),
            (5, i32::MAX.into(), "no byte[]"),
            (6, 4, "control[6]"),
            (6, -1, "control[6]"),
            (7, -1, "control[7]"),
            (8, -1, "control[8]"),
            (9, -1, "control[9]"),
            (10, 2, "schedule"),
            (10, -1, "schedule"),
            (11, 0, "control[11]"),
            (11, 1 << 31, "control[11]"),
        ] {
            let mut control = CONTROL;
            control[slot] = bad;
            refused::<SgdParams>(&control, &SETTINGS, part);
            refused::<SearchParams>(&control, &SETTINGS, part);
        }
        refused::<SgdParams>(&CONTROL[..11], &SETTINGS, "control has length 11");
        refused::<SgdParams>(&CONTROL, &SETTINGS[..6], "settings has length 6");
        let longer = [&SETTINGS[..], &[0.1; 25]].concat();
        refused::<SgdParams>(&CONTROL, &longer, "25 numbers more");
        refused::<SearchParams>(&CONTROL, &longer, "25 candidates");
        let mut settings = SETTINGS;
        settings[0] = 0.0;
        refused::<SgdParams>(&CONTROL, &settings, "gamma");
    }
}
