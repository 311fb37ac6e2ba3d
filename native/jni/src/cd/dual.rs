//! Rounds on the rows of the data.

use std::ops::Range;

use dwell_solvers::{
    Blocks, Columns, DualData, DualParams, DualProduct, DualRound, DualSubproblemParams, Loss,
    RoundOutcome, RowNorms, Samples, SolverError, Verdict,
};
use rayon::ThreadPool;

use crate::{
    boundary::{
        blocks::Caller,
        fault::{Fault, argument},
        numbers::SettingSlots,
        partition::Partition,
    },
    cd::{
        layout::{
            CERTIFICATE, CLASSES, CONTROL_FLAGS, DUAL_CANDIDATE_COUNT, DUAL_CANDIDATES, DUAL_GAMMA,
            DUAL_INTERCEPT, DUAL_L2, DUAL_OFFSET, DUAL_PENDING_FACTOR, DUAL_PREVIOUS_FACTOR,
            DUAL_SIGMA_PRIME, DUAL_TOTAL_WEIGHT, MAX_CANDIDATES,
        },
        numbers::{Control, candidates, points, verdict},
        orientation::{Orientation, RoundStart, WorkerFacts},
    },
};

/// Coordinates are rows; the shared vector has a number for each feature.
#[derive(Debug, Clone, Copy)]
pub enum Dual {}

/// The numbers of the rows, and the scale and the mean of the features.
#[derive(Debug, Clone, Copy)]
pub struct DualFields<A> {
    /// Label of each row.
    pub labels: A,
    /// Weight of each row; absent if all are 1.
    pub weights: Option<A>,
    /// Scale of each feature; absent if all are 1.
    pub scale: Option<A>,
    /// Mean of each feature; absent without intercept.
    pub mean: Option<A>,
}

impl Partition for Dual {
    const INDICES: &'static str = "features";
    const DENSE: bool = true;

    type Fields<A: Copy> = DualFields<A>;
    type Data<'a> = DualData<'a>;

    fn try_map<A: Copy, B: Copy, E>(
        fields: DualFields<A>,
        mut f: impl FnMut(&'static str, A) -> Result<B, E>,
    ) -> Result<DualFields<B>, E> {
        Ok(DualFields {
            labels: f("labels", fields.labels)?,
            weights: fields.weights.map(|w| f("weights", w)).transpose()?,
            scale: fields.scale.map(|s| f("scale", s)).transpose()?,
            mean: fields.mean.map(|m| f("mean", m)).transpose()?,
        })
    }

    fn present<A: Copy>(fields: DualFields<Option<A>>) -> Result<DualFields<A>, &'static str> {
        Ok(DualFields {
            labels: fields.labels.ok_or("labels")?,
            weights: fields.weights.flatten(),
            scale: fields.scale.flatten(),
            mean: fields.mean.flatten(),
        })
    }
}

impl Orientation for Dual {
    const VECTOR: &'static str = "the features";
    const FLAGS: i64 = CERTIFICATE | CLASSES;

    type Params = DualParams;
    type Round = DualRound;
    type Product = DualProduct;

    fn decode(control: &Control, settings: &[f64]) -> Result<(DualParams, Verdict), Fault> {
        let settings = SettingSlots::new(settings, DUAL_CANDIDATES)?;
        let count = settings.get(DUAL_CANDIDATE_COUNT);
        let (given, rest) = split_candidates(count, settings.rest())?;
        let candidates = candidates(given)?;
        if control.certificate() && candidates.is_empty() {
            return Err(argument!(
                "settings[{DUAL_CANDIDATE_COUNT}], the number of candidates for the intercept, is 0, but control[{CONTROL_FLAGS}] has the flag of the certificate: pass 1 to {MAX_CANDIDATES}, or leave out the flag"
            ));
        }
        let params = DualParams {
            subproblem: DualSubproblemParams {
                loss: Loss::from_code(control.loss, settings.get(DUAL_GAMMA))?,
                sigma_prime: settings.get(DUAL_SIGMA_PRIME),
                l2: settings.get(DUAL_L2),
                total_weight: settings.get(DUAL_TOTAL_WEIGHT),
                intercept: settings.get(DUAL_INTERCEPT),
                offset: settings.get(DUAL_OFFSET),
            },
            seed: control.seed,
            partition: control.partition(),
            budget: control.budget,
            certificate: if control.certificate() {
                candidates
            } else {
                Vec::new()
            },
            points: points(rest)?,
            threads: control.threads,
        };
        let verdict = verdict(&settings, DUAL_PENDING_FACTOR, DUAL_PREVIOUS_FACTOR)?;
        Ok((params, verdict))
    }

    fn check(fields: DualFields<&[f64]>) -> Result<(), Fault> {
        Samples::check(fields.labels, fields.weights)?;
        Ok(DualData::check_features(fields.scale, fields.mean)?)
    }

    fn norms<C: Caller<Self>>(caller: &mut C, length: usize) -> Result<Option<RowNorms>, Fault> {
        let mut norms = None;
        for block in 0..caller.count() {
            let rows = caller.len();
            caller.lend(|loan| {
                let block = loan.block(block)?;
                let DualFields { scale, mean, .. } = block.fields;
                let norms = match &mut norms {
                    Some(norms) => norms,
                    None => norms.insert(RowNorms::with_room(rows, mean.is_some())?),
                };
                Ok(norms.add(&block.columns(length)?, scale, mean)?)
            })?;
        }
        Ok(norms)
    }

    fn data<'a>(
        columns: Columns<'a>,
        fields: DualFields<&'a [f64]>,
        coordinates: Range<usize>,
        known: &'a WorkerFacts,
    ) -> Result<DualData<'a>, SolverError> {
        let missing = || SolverError::Shape("the rows have no norms".into());
        let (norms, projections) = known.norms.as_ref().ok_or_else(missing)?.of(coordinates)?;
        let samples = Samples::validated_before(fields.labels, fields.weights, norms, projections)?;
        let samples = if known.classes {
            samples.of_classes()
        } else {
            samples
        };
        DualData::validated_before(columns, samples, fields.scale)
    }

    fn round<B>(
        params: &DualParams,
        coefficients: Vec<f64>,
        start: RoundStart<'_>,
        blocks: &mut B,
        pool: Option<&ThreadPool>,
    ) -> Result<DualRound, Fault>
    where
        B: for<'a> Blocks<Block<'a> = DualData<'a>, Error = Fault>,
    {
        let (
            params,
            RoundStart {
                alpha,
                previous,
                cursor,
            },
        ) = (params.check()?, start);
        DualRound::run(params, coefficients, alpha, previous, cursor, blocks, pool)
    }

    fn write_update(
        round: &DualRound,
        data: &DualData<'_>,
        first: usize,
        coefficients: &[u8],
        out: &mut [u8],
    ) -> Result<(), SolverError> {
        round.write_update(data, first, coefficients, out)
    }

    fn finish(round: DualRound, alpha: &[f64]) -> Result<RoundOutcome, SolverError> {
        round.finish(alpha)
    }

    fn product<B>(
        params: &DualParams,
        features: usize,
        alpha: &[f64],
        blocks: &mut B,
    ) -> Result<DualProduct, Fault>
    where
        B: for<'a> Blocks<Block<'a> = DualData<'a>, Error = Fault>,
    {
        params.check()?;
        DualProduct::run(params.subproblem.check()?, features, alpha, blocks)
    }

    fn write_product(
        product: &DualProduct,
        first: usize,
        out: &mut [u8],
    ) -> Result<(), SolverError> {
        product.write(first, out)
    }

    fn product_scalars(product: &DualProduct) -> (f64, f64, u64) {
        (product.value(), product.kappa(), product.nonzeros())
    }
}

/// Splits `numbers` into the `count` candidates and the rest.
fn split_candidates(count: f64, numbers: &[f64]) -> Result<(&[f64], &[f64]), Fault> {
    let whole = count as usize;
    match numbers.split_at_checked(whole) {
        Some(parts) if whole as f64 == count => Ok(parts),
        _ => Err(argument!(
            "settings[{DUAL_CANDIDATE_COUNT}], the number of candidates for the intercept, is {count}: it must be 0 to {MAX_CANDIDATES}, and so many must follow it, but {} numbers do",
            numbers.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cd::request::{
        Request,
        tests::{CONTROL, refused},
    };

    fn request(control: &[i64], settings: &[f64]) -> Request<Dual> {
        Request::decode(control, settings).unwrap()
    }

    /// Two candidates and one point.
    const SETTINGS: [f64; 13] = [
        2.0, 0.5, 30.0, 0.25, 1.5, -1.0, 1.0, 0.5, 2.0, 7.0, 8.0, 0.1, 0.2,
    ];

    #[test]
    fn numbers_find_their_names() {
        let mut control = CONTROL;
        control[6] = CERTIFICATE;
        control[10] = 3;
        let request = request(&control, &SETTINGS);
        assert_eq!(request.control.key, (-5, 3));
        assert_eq!((request.control.round, request.control.stamp), (4, 12));
        assert_eq!((request.control.length, request.control.threads), (100, 2));
        assert_eq!(
            request.verdict,
            Verdict {
                pending: 1.0,
                previous: 0.5
            }
        );
        let expected = DualParams {
            subproblem: DualSubproblemParams {
                loss: Loss::SmoothedHinge(0.25),
                sigma_prime: 2.0,
                l2: 0.5,
                total_weight: 30.0,
                intercept: 1.5,
                offset: -1.0,
            },
            seed: -6_i64 as u64,
            partition: 3,
            budget: 50,
            certificate: vec![7.0, 8.0],
            points: vec![[0.1, 0.2]],
            threads: 2,
        };
        assert_eq!(request.params, expected);
    }

    #[test]
    fn candidates_count_with_the_flag_only() {
        let mut control = CONTROL;
        control[6] = 0;
        let request = request(&control, &SETTINGS);
        assert!(request.params.certificate.is_empty());
        assert_eq!(request.params.points, [[0.1, 0.2]]);
    }

    #[test]
    fn bad_numbers_are_named() {
        let mut good = CONTROL;
        good[6] = CERTIFICATE;
        for (slot, bad, part) in [
            (6, f64::NAN, "settings[6]"),
            (7, f64::INFINITY, "settings[7]"),
            (8, -1.0, "settings[8]"),
            (8, 0.0, "settings[8]"),
            (8, 1.5, "settings[8]"),
            (8, 5.0, "settings[8]"),
            (8, f64::NAN, "settings[8]"),
            (8, f64::MAX, "settings[8]"),
            (8, 1.0, "points"),
            (10, f64::NAN, "candidates[1]"),
            (12, f64::NAN, "points[1]"),
        ] {
            let mut settings = SETTINGS;
            settings[slot] = bad;
            refused::<Dual>(&good, &settings, part);
        }
        refused::<Dual>(&good, &SETTINGS[..8], "settings has length 8");
        refused::<Dual>(&good, &SETTINGS[..12], "points");
        let mut many = vec![0.0; 9 + 17];
        many[8] = 17.0;
        refused::<Dual>(&good, &many, "17 candidates");
        for (slot, bad, part) in [(6, 2, "control[6]"), (10, 5, "loss"), (10, -1, "loss")] {
            let mut control = good;
            control[slot] = bad;
            refused::<Dual>(&control, &SETTINGS, part);
        }
    }
}
