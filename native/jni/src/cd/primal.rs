//! Rounds on the columns of the data.

use dwell_solvers::{
    ColumnMoments, Columns, ElasticNetParams, PrimalData, PrimalParams, PrimalProduct, PrimalRound,
    Progress, RoundOutcome, SolverError, Verdict, cd::SubproblemParams,
};
use rayon::ThreadPool;

use crate::{
    boundary::{
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
        orientation::{Orientation, ProductScalars, RoundStart},
    },
};

/// Coordinates are columns; the shared vector has a number for each row.
#[derive(Debug)]
pub enum Primal {}

/// Moments of the columns, and weights of the rows.
#[derive(Debug, Clone, Copy)]
pub struct Moments<A> {
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

    type Fields<A: Copy> = Moments<A>;
    type Data<'a> = PrimalData<'a>;

    fn try_map<A: Copy, B: Copy, E>(
        fields: Moments<A>,
        mut f: impl FnMut(&'static str, A) -> Result<B, E>,
    ) -> Result<Moments<B>, E> {
        Ok(Moments {
            mean: f("mean", fields.mean)?,
            variance: f("variance", fields.variance)?,
            deviation: f("deviation", fields.deviation)?,
            weights: fields.weights.map(|w| f("weights", w)).transpose()?,
        })
    }

    fn check(columns: Columns<'_>, fields: Moments<&[f64]>) -> Result<(), SolverError> {
        let moments = ColumnMoments::new(fields.mean, fields.variance, fields.deviation)?;
        PrimalData::new(columns, moments, fields.weights)?;
        Ok(())
    }

    fn data<'a>(
        columns: Columns<'a>,
        fields: Moments<&'a [f64]>,
    ) -> Result<PrimalData<'a>, SolverError> {
        let moments =
            ColumnMoments::validated_before(fields.mean, fields.variance, fields.deviation)?;
        PrimalData::validated_before(columns, moments, fields.weights)
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

    fn round(
        params: &PrimalParams,
        rows: usize,
        start: RoundStart<'_>,
    ) -> Result<PrimalRound, SolverError> {
        PrimalRound::new(
            params.check()?,
            rows,
            start.alpha,
            start.previous,
            start.cursor,
        )
    }

    fn advance(
        round: &mut PrimalRound,
        data: &PrimalData<'_>,
        residual: &[u8],
        units: usize,
        pool: Option<&ThreadPool>,
    ) -> Result<Progress, SolverError> {
        round.advance(data, residual, units, pool)
    }

    fn write_update(
        round: &PrimalRound,
        data: &PrimalData<'_>,
        residual: &[u8],
        first: usize,
        out: &mut [u8],
    ) -> Result<(), SolverError> {
        round.write_update(data, residual, first, out)
    }

    fn finish(round: PrimalRound, alpha: &[f64]) -> Result<RoundOutcome, SolverError> {
        round.finish(alpha)
    }

    fn product(
        params: &PrimalParams,
        rows: usize,
        alpha: &[f64],
    ) -> Result<PrimalProduct, SolverError> {
        let subproblem = &params.subproblem;
        params.check()?;
        PrimalProduct::new(subproblem.penalty.check()?, subproblem.centred, rows, alpha)
    }

    fn advance_product(
        product: &mut PrimalProduct,
        data: &PrimalData<'_>,
        units: usize,
    ) -> Result<Progress, SolverError> {
        product.advance(data, units)
    }

    fn write_product(
        product: &PrimalProduct,
        first: usize,
        out: &mut [u8],
    ) -> Result<(), SolverError> {
        product.write(first, out)
    }

    fn product_scalars(product: &PrimalProduct) -> Result<ProductScalars, SolverError> {
        Ok(ProductScalars {
            value: product.value()?,
            kappa: product.kappa()?,
            nonzeros: product.nonzeros()?,
        })
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
            (0, 1, "control[0]"),
            (0, 3, "control[0]"),
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
