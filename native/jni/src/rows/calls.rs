//! The two calls of model averaging. Every call is a pure function of its arguments.

use std::time::Duration;

use dwell_solvers::{SearchParams, SgdParams, SgdRound, SgdScalars, SgdSearch};

use crate::{
    boundary::{
        fault::{Fault, argument},
        header::{self, Header, NONZEROS, SOLVER_NANOS},
        memory::copied,
        slices::{Lender, data, in_slices, write_vector},
    },
    checks::Checks,
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

/// One of the two calls, named by the parameters of its solver: a descent ([`SgdParams`]) or a search ([`SearchParams`]).
pub trait SgdCall: Sized {
    /// Whether the result has a vector after its header.
    const HAS_VECTOR: bool;

    /// A computation in progress.
    type Work;

    /// Checks and names the numbers of a call.
    ///
    /// # Errors
    /// `Argument` names the number at fault.
    fn decode(control: &[i64], settings: &[f64]) -> Result<SgdRequest<Self>, Fault>;

    /// Checks the parameters, and begins.
    ///
    /// # Errors
    /// Those of the solver.
    fn begin(request: &SgdRequest<Self>) -> Result<Self::Work, Fault>;

    /// Computes the result on valid arrays, and the time that it took.
    ///
    /// # Errors
    /// Those of the solver and of the lender.
    fn run<L: Lender<Sgd>>(
        work: Self::Work,
        request: &SgdRequest<Self>,
        lender: &mut L,
    ) -> Result<(Header, Duration), Fault>;
}

/// Computes a call.
///
/// # Errors
/// Those of the solver and of the lender.
pub fn compute<P: SgdCall, L: Lender<Sgd>>(
    checks: &Checks,
    lender: &mut L,
    request: &SgdRequest<P>,
) -> Result<Header, Fault> {
    let work = P::begin(request)?;
    checks.validate(request.key, request.features, lender, |_| Ok(()))?;
    let (mut header, elapsed) = P::run(work, request, lender)?;
    header[SOLVER_NANOS] = elapsed.as_nanos() as f64;
    Ok(header)
}

impl SgdCall for SgdParams {
    const HAS_VECTOR: bool = true;

    type Work = SgdRound;

    fn decode(control: &[i64], settings: &[f64]) -> Result<SgdRequest<Self>, Fault> {
        let common = Common::decode(control, settings)?;
        common.settings.nothing_more()?;
        let params = Self {
            problem: common.problem,
            schedule: common.schedule,
            seed: common.seed,
            partition: common.partition(),
            budget: common.budget,
            cursor: common.cursor,
            steps: common.steps,
            share: common.settings.get(SETTING_SHARE),
        };
        Ok(common.request(params))
    }

    fn begin(request: &SgdRequest<Self>) -> Result<SgdRound, Fault> {
        Ok(SgdRound::new(request.params.check()?, request.features)?)
    }

    fn run<L: Lender<Sgd>>(
        mut round: SgdRound,
        request: &SgdRequest<Self>,
        lender: &mut L,
    ) -> Result<(Header, Duration), Fault> {
        let solving = in_slices(lender, |arrays, _, units| {
            let data = data(request.features, arrays)?;
            Ok(round.advance(&data, arrays.shared, units)?)
        })?;
        let writing = write_vector(lender, request.length, |arrays, first, out| {
            Ok(round.write_update(arrays.shared, first, out)?)
        })?;
        let outcome = round.finish()?;
        let mut header = with_scalars(&outcome.scalars, outcome.cursor, outcome.steps);
        header[REACHED_L1_NORM] = outcome.reached_l1_norm;
        header[REACHED_SQUARE_NORM] = outcome.reached_square_norm;
        header[FACTORS] = outcome.factors.len() as f64;
        header::fill(&mut header[FACTOR..][..MAX_FACTORS], &outcome.factors);
        Ok((header, solving + writing))
    }
}

impl SgdCall for SearchParams {
    const HAS_VECTOR: bool = false;

    type Work = SgdSearch;

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
            partition: common.partition(),
            budget: common.budget,
            cursor: common.cursor,
            steps: common.steps,
        };
        Ok(common.request(params))
    }

    fn begin(request: &SgdRequest<Self>) -> Result<SgdSearch, Fault> {
        let params = request.params.clone().check()?;
        Ok(SgdSearch::new(params, request.features)?)
    }

    fn run<L: Lender<Sgd>>(
        mut search: SgdSearch,
        request: &SgdRequest<Self>,
        lender: &mut L,
    ) -> Result<(Header, Duration), Fault> {
        let solving = in_slices(lender, |arrays, _, units| {
            let data = data(request.features, arrays)?;
            Ok(search.advance(&data, arrays.shared, units)?)
        })?;
        let outcome = search.finish()?;
        let mut header = with_scalars(&outcome.scalars, request.cursor, request.steps);
        header::fill(
            &mut header[OBJECTIVES..][..MAX_CANDIDATES],
            &outcome.objectives,
        );
        Ok((header, solving))
    }
}

/// A header with the numbers that both calls report.
fn with_scalars(scalars: &SgdScalars, cursor: u64, steps: u64) -> Header {
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
    header
}

#[cfg(test)]
mod tests {
    use dwell_solvers::{Loss, RowLoss, Schedule, ScheduleKind, SgdProblem};

    use super::*;
    use crate::{
        boundary::fault::Fault,
        rows::layout::{CONTROL_SLOTS, INTERCEPT, LAYOUT_VERSION},
    };

    /// Legal numbers, with intercept, for the smoothed hinge.
    const CONTROL: [i64; CONTROL_SLOTS] =
        [LAYOUT_VERSION, -5, 3, -6, 100, 3, 1, INTERCEPT, 50, 7, 9, 1];

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
        assert_eq!(request.key, (-5, 3));
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
        assert_eq!((request.cursor, request.steps), (7, 9));

        let mut control = CONTROL;
        control[7] = 0;
        control[5] = RowLoss::SOFTMAX;
        control[6] = 4;
        let request = SgdParams::decode(&control, &SETTINGS).unwrap();
        assert_eq!(request.length, 404);
        assert_eq!(request.params.problem.loss, RowLoss::Softmax(4));
        assert!(!request.params.problem.intercept);
    }

    #[test]
    fn bad_numbers_are_named() {
        for (slot, bad, part) in [
            (0, 0, "control[0]"),
            (2, -1, "control[2]"),
            (2, 1 << 31, "control[2]"),
            (4, -1, "control[4]"),
            (4, 1 << 31, "control[4]"),
            (4, i32::MAX.into(), "no byte[]"),
            (5, -1, "loss"),
            (5, 6, "loss"),
            (5, RowLoss::SOFTMAX, "outputs"),
            (6, 0, "control[6]"),
            (6, 2, "outputs"),
            (6, i32::MAX.into(), "no byte[]"),
            (7, 2, "control[7]"),
            (7, -1, "control[7]"),
            (8, -1, "control[8]"),
            (9, -1, "control[9]"),
            (10, -1, "control[10]"),
            (11, 2, "schedule"),
            (11, -1, "schedule"),
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
