//! Model averaging: decode, call, write. Every call is a pure function of its arguments.

use std::time::Duration;

use dwell_solvers::{
    Columns, EvaluationParams, Schedule, ScheduleKind, SearchParams, SgdData, SgdEvaluation,
    SgdLoss, SgdParams, SgdProblem, SgdRound, SgdScalars, SgdSearch, SolverError,
    sgd::{MAX_FACTORS, MAX_STEP_SIZES},
};

use crate::{
    argument,
    boundary::{Fault, reserve},
    partition::Partition,
    registry::{Key, Registry},
    request::{fixed, within},
    rounds::{HEADER_SLOTS, Header},
    slices::{Lender, data, in_slices, validate, write_vector},
};

/// Version of the layout of `control`, `settings` and results of these calls.
pub const SGD_LAYOUT_VERSION: i64 = 1;

pub const SGD_CONTROL_LENGTH: usize = 12;

/// Flag of `control`.
pub const INTERCEPT: i64 = 1;
/// Flag of `control`.
pub const RUNNING: i64 = 2;
/// Flag of `control`.
pub const DUAL: i64 = 4;

/// Step sizes that a search can be asked for.
pub const MOST_STEP_SIZES: usize = 24;

const _: () = assert!(MOST_STEP_SIZES == MAX_STEP_SIZES);

const CURSOR: usize = 9;
const STEPS: usize = 10;
const SIDES: usize = 11;
const REACHED: usize = 13;
const DECAYS: usize = 15;
const DECAY: usize = 16;
const OBJECTIVES: usize = 16;

const _: () = assert!(DECAY + MAX_FACTORS <= HEADER_SLOTS);
const _: () = assert!(OBJECTIVES + MOST_STEP_SIZES <= HEADER_SLOTS);

/// Rows, with labels.
#[derive(Debug)]
pub enum Sgd {}

/// What belongs to the rows, and the scale of the features.
#[derive(Debug, Clone, Copy)]
pub struct LabelledRows<A> {
    pub labels: A,
    pub weights: Option<A>,
    pub scale: Option<A>,
}

impl Partition for Sgd {
    const INDICES: &'static str = "features";

    type Fields<A: Copy> = LabelledRows<A>;
    type Data<'a> = SgdData<'a>;

    fn try_map<A: Copy, B: Copy, E>(
        fields: LabelledRows<A>,
        mut f: impl FnMut(&'static str, A) -> Result<B, E>,
    ) -> Result<LabelledRows<B>, E> {
        Ok(LabelledRows {
            labels: f("labels", fields.labels)?,
            weights: fields.weights.map(|w| f("weights", w)).transpose()?,
            scale: fields.scale.map(|s| f("scale", s)).transpose()?,
        })
    }

    fn check(columns: Columns<'_>, fields: LabelledRows<&[f64]>) -> Result<(), SolverError> {
        SgdData::new(columns, fields.labels, fields.weights, fields.scale)?;
        Ok(())
    }

    fn data<'a>(
        columns: Columns<'a>,
        fields: LabelledRows<&'a [f64]>,
    ) -> Result<SgdData<'a>, SolverError> {
        SgdData::validated_before(columns, fields.labels, fields.weights, fields.scale)
    }
}

/// A decoded request, with the parameters of its call.
#[derive(Debug, Clone)]
pub struct SgdRequest<P> {
    pub key: Key,
    pub features: usize,
    /// Numbers in the shared model.
    pub length: usize,
    cursor: u64,
    steps: u64,
    pub params: P,
}

/// The numbers that all calls have.
struct Common<'a> {
    key: Key,
    features: usize,
    length: usize,
    seed: u64,
    partition: u32,
    problem: SgdProblem,
    schedule: Schedule,
    flags: i64,
    budget: u64,
    cursor: u64,
    steps: u64,
    /// Share or factor.
    multiplier: f64,
    rest: &'a [f64],
}

impl<'a> Common<'a> {
    fn decode(control: &[i64], settings: &'a [f64]) -> Result<Self, Fault> {
        let &[
            layout,
            fit,
            partition,
            seed,
            features,
            loss,
            outputs,
            flags,
            budget,
            cursor,
            steps,
            kind,
        ] = control
        else {
            return Err(argument!(
                "control has length {}, expected {SGD_CONTROL_LENGTH}",
                control.len()
            ));
        };
        if layout != SGD_LAYOUT_VERSION {
            return Err(argument!(
                "control[0], the layout version, is {layout}, expected {SGD_LAYOUT_VERSION}: use jar and library of one version"
            ));
        }
        let partition = within("control[2], the partition", partition, 0, i32::MAX.into())? as i32;
        let features = within("control[4], the features", features, 0, i32::MAX.into())? as usize;
        let outputs = within("control[6], the outputs", outputs, 1, i32::MAX.into())? as usize;
        if flags & !(INTERCEPT | RUNNING | DUAL) != 0 {
            return Err(argument!(
                "control[7], the flags, is {flags}: it must be a sum of the flags in {}",
                INTERCEPT | RUNNING | DUAL
            ));
        }
        let budget = within("control[8], the rows to visit", budget, 0, i64::MAX)? as u64;
        let cursor = within("control[9], the cursor", cursor, 0, i64::MAX)? as u64;
        let steps = within("control[10], the steps", steps, 0, i64::MAX)? as u64;
        let (&[gamma, l1, l2, weight_factor, eta0, rate, multiplier], rest) = fixed(settings)?;
        let length = (features + 1).saturating_mul(outputs);
        // As long as the bytes of a vector and a header can be an array.
        if length > (i32::MAX as usize - crate::rounds::HEADER_BYTES) / 8 {
            return Err(argument!(
                "control[4] and control[6], {features} features and {outputs} outputs, are a model that no byte[] can hold"
            ));
        }
        Ok(Self {
            key: (fit, partition),
            features,
            length,
            seed: seed as u64,
            partition: partition as u32,
            problem: SgdProblem {
                loss: SgdLoss::from_code(loss, gamma, outputs)?,
                l1,
                l2,
                intercept: flags & INTERCEPT != 0,
                weight_factor,
            },
            schedule: Schedule {
                kind: ScheduleKind::from_code(kind)?,
                eta0,
                rate,
            },
            flags,
            budget,
            cursor,
            steps,
            multiplier,
            rest,
        })
    }

    fn nothing_more(&self) -> Result<(), Fault> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(argument!(
                "settings has {} numbers more than this call reads",
                self.rest.len()
            ))
        }
    }

    fn request<P>(self, params: P) -> SgdRequest<P> {
        SgdRequest {
            key: self.key,
            features: self.features,
            length: self.length,
            cursor: self.cursor,
            steps: self.steps,
            params,
        }
    }
}

fn copied(numbers: &[f64]) -> Result<Vec<f64>, Fault> {
    let mut copy = reserve(numbers.len(), "settings")?;
    copy.extend_from_slice(numbers);
    Ok(copy)
}

/// One of the three calls.
pub trait SgdCall: Sized {
    /// Whether the result has a vector after its header.
    const HAS_VECTOR: bool;

    /// Names the numbers of a call.
    ///
    /// # Errors
    /// `Argument` names the number at fault.
    fn decode(control: &[i64], settings: &[f64]) -> Result<SgdRequest<Self>, Fault>;

    /// Computes the result, and the time that it took.
    ///
    /// # Errors
    /// Of the solver, and of the lender.
    fn compute<L: Lender<Sgd>>(
        request: &SgdRequest<Self>,
        round: &mut Call<'_, L>,
    ) -> Result<(Header, Duration), Fault>;
}

/// The lender of a call, whose arrays are validated the first time that they are needed.
pub struct Call<'a, L> {
    registry: &'a Registry,
    lender: &'a mut L,
    key: Key,
    features: usize,
}

impl<L: Lender<Sgd>> Call<'_, L> {
    /// Validates the arrays, unless they were before.
    fn validate(&mut self) -> Result<(), Fault> {
        let known = self.registry.checked(self.key);
        let structure = validate(self.lender, self.features, known)?;
        self.registry.record_check(self.key, structure);
        Ok(())
    }
}

/// Computes a call.
///
/// # Errors
/// Of the solver, and of the lender.
pub fn compute<P: SgdCall, L: Lender<Sgd>>(
    registry: &Registry,
    lender: &mut L,
    request: &SgdRequest<P>,
) -> Result<Header, Fault> {
    let mut call = Call {
        registry,
        lender,
        key: request.key,
        features: request.features,
    };
    let (mut header, elapsed) = P::compute(request, &mut call)?;
    header[7] = elapsed.as_nanos() as f64;
    Ok(header)
}

impl SgdCall for SgdParams {
    const HAS_VECTOR: bool = true;

    fn decode(control: &[i64], settings: &[f64]) -> Result<SgdRequest<Self>, Fault> {
        let common = Common::decode(control, settings)?;
        common.nothing_more()?;
        let params = Self {
            problem: common.problem,
            schedule: common.schedule,
            seed: common.seed,
            partition: common.partition,
            budget: common.budget,
            cursor: common.cursor,
            steps: common.steps,
            running: common.flags & RUNNING != 0,
            share: common.multiplier,
        };
        Ok(common.request(params))
    }

    fn compute<L: Lender<Sgd>>(
        request: &SgdRequest<Self>,
        call: &mut Call<'_, L>,
    ) -> Result<(Header, Duration), Fault> {
        let mut round = SgdRound::new(request.params.check()?, request.features)?;
        call.validate()?;
        let solving = in_slices(call.lender, |arrays, _, units| {
            let data = data(request.features, arrays)?;
            Ok(round.advance(&data, arrays.shared, units)?)
        })?;
        let writing = write_vector(call.lender, request.length, |arrays, first, out| {
            Ok(round.write_update(arrays.shared, first, out)?)
        })?;
        let outcome = round.finish()?;
        let mut header = header(&outcome.scalars, outcome.cursor, outcome.steps);
        header[REACHED..REACHED + 2]
            .copy_from_slice(&[outcome.reached_l1_norm, outcome.reached_square_norm]);
        header[DECAYS] = outcome.factors.len() as f64;
        for (slot, &factor) in header[DECAY..].iter_mut().zip(&outcome.factors) {
            *slot = factor;
        }
        Ok((header, solving + writing))
    }
}

impl SgdCall for EvaluationParams {
    const HAS_VECTOR: bool = true;

    fn decode(control: &[i64], settings: &[f64]) -> Result<SgdRequest<Self>, Fault> {
        let common = Common::decode(control, settings)?;
        let dual = if common.flags & DUAL != 0 {
            Some(copied(common.rest)?)
        } else {
            common.nothing_more()?;
            None
        };
        let params = Self {
            problem: common.problem,
            factor: common.multiplier,
            dual,
        };
        Ok(common.request(params))
    }

    fn compute<L: Lender<Sgd>>(
        request: &SgdRequest<Self>,
        call: &mut Call<'_, L>,
    ) -> Result<(Header, Duration), Fault> {
        let params = request.params.clone().check()?;
        let mut evaluation = SgdEvaluation::new(params, request.features)?;
        call.validate()?;
        let solving = in_slices(call.lender, |arrays, _, units| {
            let data = data(request.features, arrays)?;
            Ok(evaluation.advance(&data, arrays.shared, units)?)
        })?;
        let writing = write_vector(call.lender, request.length, |_, first, out| {
            Ok(evaluation.write(first, out)?)
        })?;
        let outcome = evaluation.finish()?;
        let mut header = header(&outcome.scalars, request.cursor, request.steps);
        header[SIDES..SIDES + 2].copy_from_slice(&outcome.sides);
        Ok((header, solving + writing))
    }
}

impl SgdCall for SearchParams {
    const HAS_VECTOR: bool = false;

    fn decode(control: &[i64], settings: &[f64]) -> Result<SgdRequest<Self>, Fault> {
        let common = Common::decode(control, settings)?;
        if common.rest.len() > MOST_STEP_SIZES {
            return Err(argument!(
                "there are {} candidates for the step size: it must be 1 to {MOST_STEP_SIZES}",
                common.rest.len()
            ));
        }
        let params = Self {
            problem: common.problem,
            schedule: common.schedule,
            candidates: copied(common.rest)?,
            seed: common.seed,
            partition: common.partition,
            budget: common.budget,
            cursor: common.cursor,
            steps: common.steps,
        };
        Ok(common.request(params))
    }

    fn compute<L: Lender<Sgd>>(
        request: &SgdRequest<Self>,
        call: &mut Call<'_, L>,
    ) -> Result<(Header, Duration), Fault> {
        let params = request.params.clone().check()?;
        let mut search = SgdSearch::new(params, request.features)?;
        call.validate()?;
        let solving = in_slices(call.lender, |arrays, _, units| {
            let data = data(request.features, arrays)?;
            Ok(search.advance(&data, arrays.shared, units)?)
        })?;
        let outcome = search.finish()?;
        let mut header = header(&outcome.scalars, request.cursor, request.steps);
        for (slot, objective) in header[OBJECTIVES..].iter_mut().zip(&outcome.objectives) {
            *slot = *objective;
        }
        Ok((header, solving))
    }
}

fn header(scalars: &SgdScalars, cursor: u64, steps: u64) -> Header {
    let mut header = [0.0; HEADER_SLOTS];
    header[..7].copy_from_slice(&[
        scalars.loss_sum,
        scalars.weight_sum,
        scalars.l1_norm,
        scalars.square_norm,
        f64::from(u8::from(scalars.diverged)),
        scalars.rows as f64,
        scalars.nonzeros as f64,
    ]);
    header[CURSOR] = cursor as f64;
    header[STEPS] = steps as f64;
    header
}

#[cfg(test)]
mod tests {
    use dwell_solvers::Loss;

    use super::*;

    /// A good one, with intercept and running average, for the smoothed hinge.
    const CONTROL: [i64; SGD_CONTROL_LENGTH] = [
        SGD_LAYOUT_VERSION,
        -5,
        3,
        -6,
        100,
        3,
        1,
        INTERCEPT | RUNNING,
        50,
        7,
        9,
        2,
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
            loss: SgdLoss::Margin(Loss::SmoothedHinge(0.25)),
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
            running: true,
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

        let mut control = CONTROL;
        control[7] = DUAL;
        let request = EvaluationParams::decode(&control, &settings).unwrap();
        let expected = EvaluationParams {
            problem: SgdProblem {
                intercept: false,
                ..problem
            },
            factor: 0.5,
            dual: Some(vec![0.6, 0.7]),
        };
        assert_eq!(request.params, expected);
        assert_eq!((request.cursor, request.steps), (7, 9));

        control[5] = SgdLoss::SOFTMAX;
        control[6] = 4;
        let request = EvaluationParams::decode(&control, &settings).unwrap();
        assert_eq!(request.length, 404);
        assert_eq!(request.params.problem.loss, SgdLoss::Softmax(4));
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
            (5, SgdLoss::SOFTMAX, "outputs"),
            (6, 0, "control[6]"),
            (6, 2, "outputs"),
            (6, i32::MAX.into(), "no byte[]"),
            (7, 8, "control[7]"),
            (7, -1, "control[7]"),
            (8, -1, "control[8]"),
            (9, -1, "control[9]"),
            (10, -1, "control[10]"),
            (11, 3, "schedule"),
            (11, -1, "schedule"),
        ] {
            let mut control = CONTROL;
            control[slot] = bad;
            refused::<SgdParams>(&control, &SETTINGS, part);
            refused::<SearchParams>(&control, &SETTINGS, part);
            refused::<EvaluationParams>(&control, &SETTINGS, part);
        }
        refused::<SgdParams>(&CONTROL[..11], &SETTINGS, "control has length 11");
        refused::<SgdParams>(&CONTROL, &SETTINGS[..6], "settings has length 6");
        let longer = [&SETTINGS[..], &[0.1; 25]].concat();
        refused::<SgdParams>(&CONTROL, &longer, "25 numbers more");
        refused::<EvaluationParams>(&CONTROL, &longer, "25 numbers more");
        refused::<SearchParams>(&CONTROL, &longer, "25 candidates");
        let mut settings = SETTINGS;
        settings[0] = 0.0;
        refused::<SgdParams>(&CONTROL, &settings, "gamma");
    }
}
