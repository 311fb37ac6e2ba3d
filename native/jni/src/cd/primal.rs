//! Rounds on the columns of the data.

use std::ops::Range;

use dwell_solvers::{
    Blocks, ColumnMoments, Columns, ElasticNetParams, PrimalData, PrimalParams, PrimalProduct,
    PrimalRound, RoundOutcome, RowNorms, SolverError, Verdict, cd::SubproblemParams,
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
            CENTRED, CERTIFICATE, CONTROL_LOSS, PRIMAL_L1, PRIMAL_L2, PRIMAL_PENDING_FACTOR,
            PRIMAL_POINTS, PRIMAL_PREVIOUS_FACTOR, PRIMAL_SCALE_FACTOR, PRIMAL_SIGMA_PRIME,
            PRIMAL_TOTAL_WEIGHT,
        },
        numbers::{Control, points, verdict},
        orientation::{Orientation, RoundStart, WorkerFacts},
    },
};

/// Coordinates are columns; the shared vector has a number for each row.
#[derive(Debug, Clone, Copy)]
pub enum Primal {}

/// Moments of the columns, and weights of the rows.
#[derive(Debug, Clone, Copy)]
pub struct PrimalFields<A> {
    /// Weighted mean of each column.
    pub mean: A,
    /// Weighted variance of each column.
    pub variance: A,
    /// Square root of the variance of each column.
    pub deviation: A,
    /// Weight of each row; absent if all are 1.
    pub weights: Option<A>,
}

impl Partition for Primal {
    const INDICES: &'static str = "rows";
    const DENSE: bool = true;

    type Fields<A: Copy> = PrimalFields<A>;
    type Data<'a> = PrimalData<'a>;

    fn try_map<A: Copy, B: Copy, E>(
        fields: PrimalFields<A>,
        mut f: impl FnMut(&'static str, A) -> Result<B, E>,
    ) -> Result<PrimalFields<B>, E> {
        Ok(PrimalFields {
            mean: f("mean", fields.mean)?,
            variance: f("variance", fields.variance)?,
            deviation: f("deviation", fields.deviation)?,
            weights: fields.weights.map(|w| f("weights", w)).transpose()?,
        })
    }

    fn present<A: Copy>(fields: PrimalFields<Option<A>>) -> Result<PrimalFields<A>, &'static str> {
        Ok(PrimalFields {
            mean: fields.mean.ok_or("mean")?,
            variance: fields.variance.ok_or("variance")?,
            deviation: fields.deviation.ok_or("deviation")?,
            weights: fields.weights.flatten(),
        })
    }
}

impl Orientation for Primal {
    const VECTOR: &'static str = "the rows";
    const FLAGS: i64 = CERTIFICATE | CENTRED;

    type Params = PrimalParams;
    type Round = PrimalRound;
    type Product = PrimalProduct;

    fn decode(control: &Control, settings: &[f64]) -> Result<(PrimalParams, Verdict), Fault> {
        let settings = SettingSlots::new(settings, PRIMAL_POINTS)?;
        if control.loss != 0 {
            return Err(argument!(
                "control[{CONTROL_LOSS}], the loss, is {}: it must be 0, since the residual has all that a primal round needs of the loss",
                control.loss
            ));
        }
        let params = PrimalParams {
            subproblem: SubproblemParams {
                penalty: ElasticNetParams {
                    l1: settings.get(PRIMAL_L1),
                    l2: settings.get(PRIMAL_L2),
                    scale_factor: settings.get(PRIMAL_SCALE_FACTOR),
                },
                sigma_prime: settings.get(PRIMAL_SIGMA_PRIME),
                total_weight: settings.get(PRIMAL_TOTAL_WEIGHT),
                centred: control.centred(),
            },
            seed: control.seed,
            partition: control.partition(),
            budget: control.budget,
            certificate: control.certificate(),
            points: points(settings.rest())?,
            threads: control.threads,
        };
        let verdict = verdict(&settings, PRIMAL_PENDING_FACTOR, PRIMAL_PREVIOUS_FACTOR)?;
        Ok((params, verdict))
    }

    fn check(fields: PrimalFields<&[f64]>) -> Result<(), Fault> {
        ColumnMoments::new(fields.mean, fields.variance, fields.deviation)?;
        Ok(PrimalData::check_weights(fields.weights)?)
    }

    fn norms<C: Caller<Self>>(_: &mut C, _: usize) -> Result<Option<RowNorms>, Fault> {
        Ok(None)
    }

    fn data<'a>(
        columns: Columns<'a>,
        fields: PrimalFields<&'a [f64]>,
        _: Range<usize>,
        _: &'a WorkerFacts,
    ) -> Result<PrimalData<'a>, SolverError> {
        let moments =
            ColumnMoments::validated_before(fields.mean, fields.variance, fields.deviation)?;
        PrimalData::validated_before(columns, moments, fields.weights)
    }

    fn round<B>(
        params: &PrimalParams,
        residual: Vec<f64>,
        start: RoundStart<'_>,
        blocks: &mut B,
        pool: Option<&ThreadPool>,
    ) -> Result<PrimalRound, Fault>
    where
        B: for<'a> Blocks<Block<'a> = PrimalData<'a>, Error = Fault>,
    {
        let (
            params,
            RoundStart {
                alpha,
                previous,
                cursor,
            },
        ) = (params.check()?, start);
        PrimalRound::run(params, residual, alpha, previous, cursor, blocks, pool)
    }

    fn write_update(
        round: &PrimalRound,
        data: &PrimalData<'_>,
        first: usize,
        residual: &[u8],
        out: &mut [u8],
    ) -> Result<(), SolverError> {
        round.write_update(data, first, residual, out)
    }

    fn finish(round: PrimalRound, alpha: &[f64]) -> Result<RoundOutcome, SolverError> {
        round.finish(alpha)
    }

    fn product<B>(
        params: &PrimalParams,
        rows: usize,
        alpha: &[f64],
        blocks: &mut B,
    ) -> Result<PrimalProduct, Fault>
    where
        B: for<'a> Blocks<Block<'a> = PrimalData<'a>, Error = Fault>,
    {
        let subproblem = &params.subproblem;
        params.check()?;
        let penalty = subproblem.penalty.check()?;
        PrimalProduct::run(penalty, subproblem.centred, rows, alpha, blocks)
    }

    fn write_product(
        product: &PrimalProduct,
        first: usize,
        out: &mut [u8],
    ) -> Result<(), SolverError> {
        product.write(first, out)
    }

    fn product_scalars(product: &PrimalProduct) -> (f64, f64, u64) {
        (product.value(), product.kappa(), product.nonzeros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cd::{
        layout::MAX_POINTS,
        request::{
            Request,
            tests::{CONTROL, refused},
        },
    };

    fn request(control: &[i64], settings: &[f64]) -> Request<Primal> {
        Request::decode(control, settings).unwrap()
    }

    /// One point.
    const SETTINGS: [f64; 9] = [2.0, 0.5, 0.25, 30.0, 1.5, 1.0, 0.5, 0.1, 0.2];

    #[test]
    fn numbers_find_their_names() {
        let request = request(&CONTROL, &SETTINGS);
        assert_eq!((request.control.length, request.control.threads), (100, 2));
        assert_eq!(
            (request.verdict.pending, request.verdict.previous),
            (1.0, 0.5)
        );
        let expected = PrimalParams {
            subproblem: SubproblemParams {
                penalty: ElasticNetParams {
                    l1: 0.5,
                    l2: 0.25,
                    scale_factor: 1.5,
                },
                sigma_prime: 2.0,
                total_weight: 30.0,
                centred: true,
            },
            seed: -6_i64 as u64,
            partition: 3,
            budget: 50,
            certificate: true,
            points: vec![[0.1, 0.2]],
            threads: 2,
        };
        assert_eq!(request.params, expected);
    }

    #[test]
    fn bad_numbers_are_named() {
        for (slot, bad, part) in [
            (5, f64::NAN, "settings[5]"),
            (6, f64::INFINITY, "settings[6]"),
            (7, f64::NAN, "points[0]"),
        ] {
            let mut settings = SETTINGS;
            settings[slot] = bad;
            refused::<Primal>(&CONTROL, &settings, part);
        }
        refused::<Primal>(&CONTROL, &SETTINGS[..6], "settings has length 6");
        refused::<Primal>(&CONTROL, &SETTINGS[..8], "points");
        let most = [0.0; 7 + 2 * MAX_POINTS];
        assert_eq!(request(&CONTROL, &most).params.points.len(), MAX_POINTS);
        refused::<Primal>(&CONTROL, &[0.0; 7 + 2 * MAX_POINTS + 2], "points");
        for (slot, bad, part) in [
            (0, 2, "control[0]"),
            (0, 4, "control[0]"),
            (2, -1, "control[2]"),
            (2, 1 << 31, "control[2]"),
            (3, -1, "control[3]"),
            (3, i64::MAX, "control[3]"),
            (5, 0, "control[5]"),
            (6, 8, "control[6]"),
            (7, 0, "control[7]"),
            (8, -1, "control[8], the rows"),
            (8, 1 << 31, "control[8]"),
            (9, -1, "control[9]"),
            (10, 1, "control[10]"),
        ] {
            let mut control = CONTROL;
            control[slot] = bad;
            refused::<Primal>(&control, &SETTINGS, part);
        }
        refused::<Primal>(&CONTROL[..10], &SETTINGS, "control has length 10");
    }
}
