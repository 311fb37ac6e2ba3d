//! The two calls of LDA. Every call is a pure function of its arguments.

use dwell_solvers::lda::{
    DocumentBlocks, Kernel, LdaParams,
    shared::{BoundParams, SharedBound, SharedRound},
};
use rayon::ThreadPool;

use crate::{
    boundary::{
        fault::Fault,
        header::{self, Header, NONZEROS},
    },
    lda::{
        layout::{
            BOUND, BOUND_TOKENS, CONTROL_BATCH, CONTROL_BUDGET, CONTROL_CORPUS, CONTROL_CURSOR,
            CONTROL_FIRST, CONTROL_LAST, CONTROL_SAMPLE, CONTROL_SEEN, CONTROL_WORKERS, CURSOR,
            DOCUMENTS, FACTOR, FACTORS, ITERATIONS, RHO_SUM, TOKENS, UPDATES, WORDS,
        },
        request::{Common, LdaRequest},
    },
};

/// One of the two calls, named by its parameters: a round ([`TopicsRound`]) or a bound ([`BoundParams`]).
pub trait LdaCall: Sized {
    /// The computation.
    type Work;

    /// Checks and names the numbers of a call.
    ///
    /// # Errors
    /// `Argument` names the number at fault.
    fn decode(control: &[i64], settings: &[f64], alpha: &[f64]) -> Result<LdaRequest<Self>, Fault>;

    /// Length of the result after its header, in units of 8 bytes.
    fn length(request: &LdaRequest<Self>) -> usize;

    /// Checks the parameters, and takes scratch memory of an earlier call.
    ///
    /// # Errors
    /// Those of the solver.
    fn begin(request: &LdaRequest<Self>, scratch: Vec<f32>) -> Result<Self::Work, Fault>;

    /// Computes the header of the result on valid documents, by the threads of the pool if there is one.
    ///
    /// # Errors
    /// Those of the solver and of the owner of the documents.
    fn run<B: DocumentBlocks<Error = Fault>>(
        work: &mut Self::Work,
        blocks: &mut B,
        shared: &[u8],
        pool: Option<&ThreadPool>,
    ) -> Result<Header, Fault>;

    /// Writes the result after its header from byte `start` on, as much as `out` has room for. Both are multiples of 8.
    ///
    /// # Errors
    /// Those of the solver.
    fn write(work: &Self::Work, shared: &[u8], start: usize, out: &mut [u8]) -> Result<(), Fault>;

    /// The scratch memory, for the next call. A failed call leaves it, too.
    fn into_scratch(work: Self::Work) -> Vec<f32>;
}

/// Parameters of a round of the topics: the parameters of the solver, the documents of the bound, and the factor of the model reached.
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
        let control = &common.control;
        let batch = control.int(CONTROL_BATCH, "the batch", 1)?;
        let budget = control.within(CONTROL_BUDGET, "the documents", 1, i64::MAX)?;
        let cursor = control.within(CONTROL_CURSOR, "the cursor", 0, i64::MAX)?;
        let seen = control.within(CONTROL_SEEN, "the documents seen", 0, i64::MAX)?;
        let workers = control.int(CONTROL_WORKERS, "the workers", 1)?;
        let corpus = control.within(CONTROL_CORPUS, "the corpus", 1, i64::MAX)?;
        let sample = control.int(CONTROL_SAMPLE, "the sample", 0)?;
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
                concentration: common.concentration(),
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

    fn begin(request: &LdaRequest<Self>, scratch: Vec<f32>) -> Result<Self::Work, Fault> {
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
            scratch,
        )?)
    }

    fn run<B: DocumentBlocks<Error = Fault>>(
        round: &mut Self::Work,
        blocks: &mut B,
        shared: &[u8],
        pool: Option<&ThreadPool>,
    ) -> Result<Header, Fault> {
        round.run(blocks, shared, pool)?;
        let outcome = round.finish()?;
        let mut header = header::EMPTY;
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
        Ok(header)
    }

    fn write(round: &Self::Work, shared: &[u8], start: usize, out: &mut [u8]) -> Result<(), Fault> {
        Ok(round.write_update(shared, start, out)?)
    }

    fn into_scratch(round: Self::Work) -> Vec<f32> {
        round.into_room()
    }
}

impl LdaCall for BoundParams {
    type Work = SharedBound<f32>;

    fn decode(control: &[i64], settings: &[f64], alpha: &[f64]) -> Result<LdaRequest<Self>, Fault> {
        let common = Common::decode(control, settings, alpha)?;
        let control = &common.control;
        let first = control.int(CONTROL_FIRST, "the first document", 0)?;
        let last = control.int(CONTROL_LAST, "the last document", first)?;
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

    fn begin(request: &LdaRequest<Self>, scratch: Vec<f32>) -> Result<Self::Work, Fault> {
        Ok(SharedBound::new(
            request.params.clone(),
            request.eta,
            request.vocabulary,
            Kernel::detect(),
            scratch,
        )?)
    }

    fn run<B: DocumentBlocks<Error = Fault>>(
        bound: &mut Self::Work,
        blocks: &mut B,
        shared: &[u8],
        pool: Option<&ThreadPool>,
    ) -> Result<Header, Fault> {
        let outcome = bound.run(blocks, shared, pool)?;
        let mut header = header::EMPTY;
        header[BOUND_TOKENS] = outcome.tokens;
        header[ITERATIONS] = outcome.iterations as f64;
        header[BOUND] = outcome.bound;
        header[DOCUMENTS] = outcome.documents as f64;
        header[NONZEROS] = outcome.nonzeros as f64;
        Ok(header)
    }

    fn write(_: &Self::Work, _: &[u8], _: usize, _: &mut [u8]) -> Result<(), Fault> {
        Ok(())
    }

    fn into_scratch(bound: Self::Work) -> Vec<f32> {
        bound.into_room()
    }
}

#[cfg(test)]
mod tests {
    use dwell_solvers::lda::{EStepParams, LdaSchedule};

    use super::*;
    use crate::lda::layout::{CONTROL_SLOTS, LAYOUT_VERSION, TOPIC_MEAN};

    /// Legal numbers for a round, and for a bound.
    const CONTROL: [i64; CONTROL_SLOTS] = [
        LAYOUT_VERSION,
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
        5,
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
            threads: 5,
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
            threads: 5,
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
            (15, 0, "control[15]"),
            (15, 1 << 31, "control[15]"),
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
        refused::<TopicsRound>(&CONTROL[..15], &SETTINGS, &ALPHA, "control has length 15");
        refused::<TopicsRound>(&CONTROL, &SETTINGS[..7], &ALPHA, "settings has length 7");
        let longer = [&SETTINGS[..], &[0.1]].concat();
        refused::<BoundParams>(&CONTROL, &longer, &ALPHA, "1 numbers more");
        refused::<TopicsRound>(&CONTROL, &SETTINGS, &[0.1; 3], "alpha has length 3");
    }
}
