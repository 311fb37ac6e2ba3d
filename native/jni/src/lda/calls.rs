//! Model averaging of topics (LDA): decode, call, write. Every call is a pure function of its arguments.

use std::time::Duration;

use dwell_solvers::{
    Columns, SolverError,
    lda::{
        Documents, EStepParams, Kernel, LdaParams, LdaSchedule,
        shared::{BoundParams, MAX_FACTORS, SharedBound, SharedRound, vector_bytes},
    },
};

use crate::{
    argument,
    boundary::fault::{Fault, reserve},
    boundary::partition::Partition,
    boundary::slices::{Lender, data, done_if, in_slices, validate, write_vector},
    cd::request::{fixed, within},
    cd::rounds::{HEADER_BYTES, HEADER_SLOTS, Header},
    cd::states::{Key, Registry},
};

/// Version of the layout of `control`, `settings` and results of these calls.
pub const LDA_LAYOUT_VERSION: i64 = 1;

pub const LDA_CONTROL_LENGTH: usize = 15;

/// Flags of `control`.
pub const CONCENTRATION: i64 = 1;
pub const TOPIC_MEAN: i64 = 2;
const FLAGS: i64 = CONCENTRATION | TOPIC_MEAN;

const TOKENS: usize = 0;
const RHO_SUM: usize = 1;
const UPDATES: usize = 2;
const ITERATIONS: usize = 3;
const BOUND: usize = 4;
const DOCUMENTS: usize = 5;
const NONZEROS: usize = 6;
const NANOS: usize = 7;
const CURSOR: usize = 9;
const WORDS: usize = 10;
const BOUND_TOKENS: usize = 11;
const FACTORS: usize = 15;
const FACTOR: usize = 16;

const _: () = assert!(FACTOR + MAX_FACTORS <= HEADER_SLOTS);

/// Documents: the matrix is all there is.
#[derive(Debug)]
pub enum Lda {}

impl Partition for Lda {
    const INDICES: &'static str = "words";

    type Fields<A: Copy> = ();
    type Data<'a> = Documents<'a>;

    fn try_map<A: Copy, B: Copy, E>(
        (): (),
        _: impl FnMut(&'static str, A) -> Result<B, E>,
    ) -> Result<(), E> {
        Ok(())
    }

    /// Counts are checked in slices, when the entries are known to be in order.
    fn check(_: Columns<'_>, (): ()) -> Result<(), SolverError> {
        Ok(())
    }

    fn data<'a>(columns: Columns<'a>, (): ()) -> Result<Documents<'a>, SolverError> {
        Ok(Documents::validated_before(columns))
    }
}

/// A decoded request, with what belongs to its call.
#[derive(Debug, Clone, PartialEq)]
pub struct LdaRequest<P> {
    pub key: Key,
    pub vocabulary: usize,
    /// Length of the shared vector, in units of 8 bytes: two numbers are one.
    pub length: usize,
    eta: f64,
    pub params: P,
}

/// The numbers that both calls have.
struct Common<'a> {
    key: Key,
    seed: u64,
    vocabulary: usize,
    length: usize,
    flags: i64,
    // Of these each call reads its own, and checks them.
    batch: i64,
    budget: i64,
    places: [i64; 2],
    workers: i64,
    corpus: i64,
    sample: i64,
    e_step: EStepParams,
    eta: f64,
    schedule: LdaSchedule,
    share: f64,
    alpha: &'a [f64],
}

impl<'a> Common<'a> {
    fn decode(control: &[i64], settings: &[f64], alpha: &'a [f64]) -> Result<Self, Fault> {
        let &[
            layout,
            fit,
            partition,
            seed,
            words,
            topics,
            batch,
            flags,
            budget,
            from,
            to,
            workers,
            cap,
            corpus,
            sample,
        ] = control
        else {
            return Err(argument!(
                "control has length {}, expected {LDA_CONTROL_LENGTH}",
                control.len()
            ));
        };
        if layout != LDA_LAYOUT_VERSION {
            return Err(argument!(
                "control[0], the layout version, is {layout}, expected {LDA_LAYOUT_VERSION}: use jar and library of one version"
            ));
        }
        let partition = within("control[2], the partition", partition, 0, i32::MAX.into())? as i32;
        let vocabulary = within("control[4], the words", words, 1, i32::MAX.into())? as usize;
        let topics = within("control[5], the topics", topics, 1, i32::MAX.into())? as usize;
        if flags & !FLAGS != 0 {
            return Err(argument!(
                "control[7], the flags, is {flags}: it must be a sum of the flags in {FLAGS}"
            ));
        }
        let cap = within("control[12], the iterations", cap, 1, i32::MAX.into())? as u32;
        // As long as the bytes of a vector, sums behind it and a header can be an array.
        let length = vector_bytes::<f32>(vocabulary.saturating_mul(topics)) / 8;
        if length.saturating_add(topics) > (i32::MAX as usize - HEADER_BYTES) / 8 {
            return Err(argument!(
                "control[4] and control[5], {vocabulary} words and {topics} topics, are a model that no byte[] can hold"
            ));
        }
        if alpha.len() != topics {
            return Err(argument!(
                "alpha has length {}, expected {topics}: one for each topic",
                alpha.len()
            ));
        }
        let (
            &[
                eta,
                tau0,
                kappa,
                base,
                tolerance,
                over_relaxation,
                pruning,
                share,
            ],
            rest,
        ) = fixed(settings)?;
        if !rest.is_empty() {
            return Err(argument!(
                "settings has {} numbers more than this call reads",
                rest.len()
            ));
        }
        Ok(Self {
            key: (fit, partition),
            seed: seed as u64,
            vocabulary,
            length,
            flags,
            batch,
            budget,
            places: [from, to],
            workers,
            corpus,
            sample,
            e_step: EStepParams {
                tolerance,
                cap,
                over_relaxation,
                pruning,
                mean: flags & TOPIC_MEAN != 0,
            },
            eta,
            schedule: LdaSchedule { tau0, kappa, base },
            share,
            alpha,
        })
    }

    fn alpha(&self) -> Result<Vec<f64>, Fault> {
        let mut copy = reserve(self.alpha.len(), "alpha")?;
        copy.extend_from_slice(self.alpha);
        Ok(copy)
    }

    fn request<P>(self, params: P) -> LdaRequest<P> {
        LdaRequest {
            key: self.key,
            vocabulary: self.vocabulary,
            length: self.length,
            eta: self.eta,
            params,
        }
    }
}

/// One of the two calls.
pub trait LdaCall: Sized {
    /// A computation in progress.
    type Work;

    /// Names the numbers of a call.
    ///
    /// # Errors
    /// `Argument` names the number at fault.
    fn decode(control: &[i64], settings: &[f64], alpha: &[f64]) -> Result<LdaRequest<Self>, Fault>;

    /// Length of the result after its header, in units of 8 bytes.
    fn length(request: &LdaRequest<Self>) -> usize;

    /// Begins, with room to work in.
    ///
    /// # Errors
    /// Of the solver.
    fn begin(request: &LdaRequest<Self>, room: Vec<f32>) -> Result<Self::Work, Fault>;

    /// Computes the result on documents that have been checked, and the time that it took.
    ///
    /// # Errors
    /// Of the solver, and of the lender.
    fn run<L: Lender<Lda>>(
        work: &mut Self::Work,
        vocabulary: usize,
        lender: &mut L,
    ) -> Result<(Header, Duration), Fault>;

    /// Room for the next call, whatever became of this one.
    fn into_room(work: Self::Work) -> Vec<f32>;
}

/// Computes a call. The topics are where those of the last call of the partition were, if that has left room.
///
/// # Errors
/// Of the solver, and of the lender.
pub fn compute<P: LdaCall, L: Lender<Lda>>(
    registry: &Registry,
    lender: &mut L,
    request: &LdaRequest<P>,
) -> Result<Header, Fault> {
    let mut work = P::begin(request, registry.take_room(request.key))?;
    let result = checked(request, registry, lender)
        .and_then(|()| P::run(&mut work, request.vocabulary, lender));
    registry.leave_room(request.key, P::into_room(work));
    let (mut header, elapsed) = result?;
    header[NANOS] = elapsed.as_nanos() as f64;
    Ok(header)
}

/// Validates the documents, unless they were before.
fn checked<P, L: Lender<Lda>>(
    request: &LdaRequest<P>,
    registry: &Registry,
    lender: &mut L,
) -> Result<(), Fault> {
    let known = registry.checked(request.key);
    let structure = validate(lender, request.vocabulary, known)?;
    if known != Some(structure) {
        let mut next = 0;
        in_slices(lender, |arrays, _, units| {
            let documents = data(request.vocabulary, arrays)?;
            let (mut end, mut left) = (next, units);
            while end < documents.len() && left > 0 {
                left = left.saturating_sub(1 + documents.length(end));
                end += 1;
            }
            documents.check_counts(next..end)?;
            next = end;
            Ok(done_if(next == documents.len()))
        })?;
    }
    registry.record_check(request.key, structure);
    Ok(())
}

/// A round of the topics.
#[derive(Debug, Clone, PartialEq)]
pub struct TopicsRound {
    params: LdaParams,
    sample: usize,
    share: f64,
}

impl LdaCall for TopicsRound {
    type Work = SharedRound<f32>;

    fn decode(control: &[i64], settings: &[f64], alpha: &[f64]) -> Result<LdaRequest<Self>, Fault> {
        let common = Common::decode(control, settings, alpha)?;
        let batch = within("control[6], the batch", common.batch, 1, i32::MAX.into())?;
        let budget = within("control[8], the documents", common.budget, 1, i64::MAX)?;
        let [cursor, seen] = common.places;
        let cursor = within("control[9], the cursor", cursor, 0, i64::MAX)?;
        let seen = within("control[10], the documents seen", seen, 0, i64::MAX)?;
        let workers = within(
            "control[11], the workers",
            common.workers,
            1,
            i32::MAX.into(),
        )?;
        let corpus = within("control[13], the corpus", common.corpus, 1, i64::MAX)?;
        let sample = within("control[14], the sample", common.sample, 0, i32::MAX.into())?;
        let params = Self {
            params: LdaParams {
                alpha: common.alpha()?,
                e_step: common.e_step,
                schedule: common.schedule,
                corpus: corpus as f64,
                workers: workers as u32,
                batch: batch as usize,
                budget: budget as u64,
                seed: common.seed,
                partition: common.key.1 as u32,
                cursor: cursor as u64,
                seen: seen as u64,
                concentration: common.flags & CONCENTRATION != 0,
            },
            sample: sample as usize,
            share: common.share,
        };
        Ok(common.request(params))
    }

    fn length(request: &LdaRequest<Self>) -> usize {
        let params = &request.params.params;
        let sums = if params.concentration {
            params.alpha.len()
        } else {
            0
        };
        request.length + sums
    }

    fn begin(request: &LdaRequest<Self>, room: Vec<f32>) -> Result<Self::Work, Fault> {
        let Self {
            params,
            sample,
            share,
        } = &request.params;
        Ok(SharedRound::new(
            params.clone().check()?,
            *sample,
            request.eta,
            *share,
            request.vocabulary,
            Kernel::detect(),
            room,
        )?)
    }

    fn run<L: Lender<Lda>>(
        round: &mut Self::Work,
        vocabulary: usize,
        lender: &mut L,
    ) -> Result<(Header, Duration), Fault> {
        let solving = in_slices(lender, |arrays, _, units| {
            let documents = data(vocabulary, arrays)?;
            Ok(round.advance(&documents, arrays.shared, units)?)
        })?;
        let writing = write_vector(lender, round.length() / 8, |arrays, first, out| {
            Ok(round.write_update(arrays.shared, 8 * first, out)?)
        })?;
        let outcome = round.finish()?;
        let mut header = [0.0; HEADER_SLOTS];
        header[TOKENS] = outcome.round.tokens;
        header[RHO_SUM] = outcome.round.rho_sum;
        header[UPDATES] = outcome.round.updates as f64;
        header[ITERATIONS] = outcome.round.iterations as f64;
        header[DOCUMENTS] = outcome.round.documents as f64;
        header[NONZEROS] = outcome.round.nonzeros as f64;
        header[CURSOR] = outcome.round.cursor as f64;
        header[WORDS] = round.lambda().touched() as f64;
        header[BOUND] = outcome.bound.bound;
        header[BOUND_TOKENS] = outcome.bound.tokens;
        header[FACTORS] = outcome.factors.len() as f64;
        for (slot, &factor) in header[FACTOR..].iter_mut().zip(&outcome.factors) {
            *slot = factor.into();
        }
        Ok((header, solving + writing))
    }

    fn into_room(round: Self::Work) -> Vec<f32> {
        round.into_room()
    }
}

impl LdaCall for BoundParams {
    type Work = SharedBound<f32>;

    fn decode(control: &[i64], settings: &[f64], alpha: &[f64]) -> Result<LdaRequest<Self>, Fault> {
        let common = Common::decode(control, settings, alpha)?;
        let [first, last] = common.places;
        let first = within("control[9], the first document", first, 0, i32::MAX.into())?;
        let last = within(
            "control[10], the last document",
            last,
            first,
            i32::MAX.into(),
        )?;
        let params = Self {
            alpha: common.alpha()?,
            e_step: common.e_step,
            first: first as usize,
            last: last as usize,
        };
        Ok(common.request(params))
    }

    fn length(_: &LdaRequest<Self>) -> usize {
        0
    }

    fn begin(request: &LdaRequest<Self>, room: Vec<f32>) -> Result<Self::Work, Fault> {
        Ok(SharedBound::new(
            request.params.clone(),
            request.eta,
            request.vocabulary,
            Kernel::detect(),
            room,
        )?)
    }

    fn run<L: Lender<Lda>>(
        bound: &mut Self::Work,
        vocabulary: usize,
        lender: &mut L,
    ) -> Result<(Header, Duration), Fault> {
        let solving = in_slices(lender, |arrays, _, units| {
            let documents = data(vocabulary, arrays)?;
            Ok(bound.advance(&documents, arrays.shared, units)?)
        })?;
        let outcome = bound.finish()?;
        let mut header = [0.0; HEADER_SLOTS];
        header[BOUND_TOKENS] = outcome.tokens;
        header[ITERATIONS] = outcome.iterations as f64;
        header[BOUND] = outcome.bound;
        header[DOCUMENTS] = outcome.documents as f64;
        header[NONZEROS] = outcome.nonzeros as f64;
        Ok((header, solving))
    }

    fn into_room(bound: Self::Work) -> Vec<f32> {
        bound.into_room()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A good one for a round, and for a bound.
    const CONTROL: [i64; LDA_CONTROL_LENGTH] = [
        LDA_LAYOUT_VERSION,
        -5,
        3,
        -6,
        100,
        2,
        16,
        1,
        50,
        7,
        9,
        4,
        200,
        1000,
        30,
    ];

    const SETTINGS: [f64; 8] = [0.1, 1024.0, 0.51, 1000.0, 1e-3, 0.7, 0.01, 0.5];

    const ALPHA: [f64; 2] = [0.3, 0.4];

    fn refused<P: LdaCall>(control: &[i64], settings: &[f64], alpha: &[f64], part: &str) {
        match P::decode(control, settings, alpha) {
            Err(Fault::Argument(text)) => assert!(text.contains(part), "{text}"),
            Err(fault) => panic!("{fault:?}, not {part}"),
            Ok(_) => panic!("accepted in spite of {part}"),
        }
    }

    #[test]
    fn numbers_find_their_names() {
        let e_step = EStepParams {
            tolerance: 1e-3,
            cap: 200,
            over_relaxation: 0.7,
            pruning: 0.01,
            mean: false,
        };
        let round = TopicsRound::decode(&CONTROL, &SETTINGS, &ALPHA).unwrap();
        let params = LdaParams {
            alpha: ALPHA.to_vec(),
            e_step,
            schedule: LdaSchedule {
                tau0: 1024.0,
                kappa: 0.51,
                base: 1000.0,
            },
            corpus: 1000.0,
            workers: 4,
            batch: 16,
            budget: 50,
            seed: -6_i64 as u64,
            partition: 3,
            cursor: 7,
            seen: 9,
            concentration: true,
        };
        let expected = LdaRequest {
            key: (-5, 3),
            vocabulary: 100,
            length: 100,
            eta: 0.1,
            params: TopicsRound {
                params,
                sample: 30,
                share: 0.5,
            },
        };
        assert_eq!(round, expected);
        assert_eq!(TopicsRound::length(&round), 102);

        let bound = BoundParams::decode(&CONTROL, &SETTINGS, &ALPHA).unwrap();
        let expected = LdaRequest {
            key: (-5, 3),
            vocabulary: 100,
            length: 100,
            eta: 0.1,
            params: BoundParams {
                alpha: ALPHA.to_vec(),
                e_step,
                first: 7,
                last: 9,
            },
        };
        assert_eq!(bound, expected);
        assert_eq!(BoundParams::length(&bound), 0);

        let mut means = CONTROL;
        means[7] = TOPIC_MEAN;
        let round = TopicsRound::decode(&means, &SETTINGS, &ALPHA).unwrap();
        let params = round.params.params;
        assert!(params.e_step.mean && !params.concentration);
    }

    #[test]
    fn bad_numbers_are_named() {
        let changed = |slot: usize, bad| {
            let mut control = CONTROL;
            control[slot] = bad;
            control
        };
        for (slot, bad, part) in [
            (0, 0, "control[0]"),
            (2, -1, "control[2]"),
            (2, 1 << 31, "control[2]"),
            (4, 0, "control[4]"),
            (4, 1 << 31, "control[4]"),
            (4, i32::MAX.into(), "no byte[]"),
            (5, 0, "control[5]"),
            (5, 1 << 31, "control[5]"),
            (5, 3, "alpha has length 2"),
            (7, 4, "control[7]"),
            (7, -1, "control[7]"),
            (9, -1, "control[9]"),
            (10, -1, "control[10]"),
            (12, 0, "control[12]"),
            (12, 1 << 31, "control[12]"),
        ] {
            refused::<TopicsRound>(&changed(slot, bad), &SETTINGS, &ALPHA, part);
            refused::<BoundParams>(&changed(slot, bad), &SETTINGS, &ALPHA, part);
        }
        for (slot, bad) in [
            (6, 0),
            (6, 1 << 31),
            (8, 0),
            (11, 0),
            (11, 1 << 31),
            (13, 0),
            (14, -1),
            (14, 1 << 31),
        ] {
            let control = changed(slot, bad);
            refused::<TopicsRound>(&control, &SETTINGS, &ALPHA, &format!("control[{slot}]"));
            assert!(BoundParams::decode(&control, &SETTINGS, &ALPHA).is_ok());
        }
        refused::<BoundParams>(&changed(10, 6), &SETTINGS, &ALPHA, "control[10]");
        refused::<TopicsRound>(&CONTROL[..14], &SETTINGS, &ALPHA, "control has length 14");
        refused::<TopicsRound>(&CONTROL, &SETTINGS[..7], &ALPHA, "settings has length 7");
        let longer = [&SETTINGS[..], &[0.1]].concat();
        refused::<BoundParams>(&CONTROL, &longer, &ALPHA, "1 numbers more");
        refused::<TopicsRound>(&CONTROL, &SETTINGS, &[0.1; 3], "alpha has length 3");
    }
}
