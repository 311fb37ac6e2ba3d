//! Bad input gives an error that names the place; arrays that change behind the solver's back give at worst a panic.

use crate::common::{doubles, matrix, sgd::search_of};
use dwell_solvers::{
    ColumnMoments, Columns, DualData, DualParams, DualProduct, DualRound, DualSubproblemParams,
    ElasticNet, ElasticNetParams, LabelledRows, Loss, MatrixView, PrimalData, PrimalParams,
    PrimalProduct, PrimalRound, RowLoss, Samples, Schedule, ScheduleKind, SearchOutcome, SgdData,
    SgdParams, SgdProblem, SgdRound, SolverError, Values, Views,
    cd::{ConjugateLoss, LocalDualSubproblem, LocalSubproblem, SubproblemParams},
    pass::{PassLoss, PassParams, RowPass},
    search_step_size,
};
use proptest::prelude::*;
use sprs::{CompressedStorage::CSC, CsMatViewI};

fn message<T>(result: Result<T, SolverError>) -> String {
    let refused = result.map(|_| ()).expect_err("must be refused");
    refused.to_string()
}

/// Sparse columns whose entries are all 1.
fn ones<'a>(rows: usize, offsets: &'a [i32], indices: &'a [i32]) -> Columns<'a> {
    matrix::columns(rows, offsets, Some(indices), Values::Ones)
}

/// A dual round of one epoch at most, in a partition of `total_weight` rows.
fn dual(loss: Loss, total_weight: f64) -> DualParams {
    DualParams {
        subproblem: DualSubproblemParams {
            loss,
            sigma_prime: 1.0,
            l2: 0.1,
            total_weight,
            intercept: 0.0,
            offset: 0.0,
        },
        seed: 1,
        partition: 0,
        budget: total_weight as u64,
        certificate: Vec::new(),
        points: Vec::new(),
        threads: 1,
    }
}

/// Columns of 3 rows and 4 entries, all 1, whose arrays have changed since `sprs` checked them.
fn changed<'a>(offsets: &'a [i32], indices: &'a [i32]) -> MatrixView<'a> {
    let shape = (3, offsets.len() - 1);
    // SAFETY: no function that trusts the structure of a view sees this one: the readers of the solvers check bounds, which is tested here.
    MatrixView::Ones(unsafe { CsMatViewI::new_unchecked(CSC, shape, offsets, indices, &[(); 4]) })
}

#[test]
fn columns_name_the_place() {
    let ok = ones(3, &[0, 2, 2, 3], &[0, 2, 1]);
    assert_eq!((ok.len(), ok.rows(), ok.nonzeros()), (3, 3, 3));
    assert_eq!(ones(0, &[0], &[]).len(), 0);

    let bad = |offsets: &[i32], indices: &[i32]| {
        message(MatrixView::sparse(3, offsets, indices, Values::Ones).and_then(Columns::new))
    };
    assert!(bad(&[], &[]).contains("offsets is empty"));
    assert!(bad(&[1, 2], &[0, 1]).contains("offsets[0] = 1"));
    assert!(bad(&[0, 3], &[0]).contains("last offset is 3"));
    assert!(bad(&[0, -1], &[]).contains("last offset is -1"));
    assert!(bad(&[0, 2, 1, 2], &[0, 1]).contains("column 1 has offsets 2 and 1"));
    assert!(bad(&[0, 9, 2], &[0, 1]).contains("column 0 has offsets 0 and 9"));
    assert!(bad(&[0, i32::MIN, 1], &[0]).contains("column 0 has offsets 0 and -2147483648"));
    assert!(bad(&[0, 1, 2], &[0, 3]).contains("column 1 has an entry in row 3"));
    assert!(bad(&[0, 2], &[-1, 1]).contains("column 0 has an entry in row -1"));
    assert!(bad(&[0, 1, 3], &[0, 1, 1]).contains("column 1 has row 1 after row 1"));
    assert!(bad(&[0, 2], &[2, 1]).contains("row 1 after row 2"));

    let values = |values: Values<'_>| {
        message(MatrixView::sparse(3, &[0, 1, 3], &[1, 0, 2], values).and_then(Columns::new))
    };
    assert!(values(Values::F64(&[1.0])).contains("length 1, expected 3"));
    assert!(values(Values::F64(&[1.0, 2.0, f64::NAN])).contains("column 1, row 2"));
    assert!(values(Values::F32(&[f32::INFINITY, 2.0, 1.0])).contains("column 0, row 1"));
    assert!(
        message(MatrixView::sparse(usize::MAX, &[0], &[], Values::Ones).and_then(Columns::new))
            .contains("rows")
    );
}

#[test]
fn dense_matrices_of_wrong_shape() {
    let columns = |columns: usize, rows: usize, values: &[f64]| {
        message(MatrixView::dense(columns, rows, Values::F64(values)).and_then(Columns::new))
    };
    let ok = MatrixView::dense(3, 2, Values::F32(&[1.0; 6]))
        .and_then(Columns::new)
        .unwrap();
    assert_eq!((ok.len(), ok.rows(), ok.nonzeros()), (3, 2, 6));
    assert!(MatrixView::dense(1, 0, Values::F64(&[])).is_ok());
    for count in [5, 7] {
        let text = columns(3, 2, &[1.0; 7][..count]);
        assert!(
            text.contains(&format!("there are {count} values, expected 6")),
            "{text}"
        );
    }
    let ones = message(MatrixView::dense(1, 2, Values::Ones));
    assert!(ones.contains("neither indices nor values"), "{ones}");
    for bad in [f64::NAN, f64::INFINITY] {
        let text = columns(3, 2, &[1.0, 1.0, 1.0, bad, 1.0, 1.0]);
        assert!(text.contains("column 1, row 1"), "{text}");
    }
    assert!(columns(0, 1 << 31, &[]).contains("2147483648 rows"));
    assert!(columns(usize::MAX, usize::MAX, &[]).contains("expected"));
    let documents = message(dwell_solvers::lda::Documents::validated_before(ok));
    assert!(documents.contains("dense"), "{documents}");
}

#[test]
fn moments_weights_and_parameters() {
    assert!(ColumnMoments::new(&[1.0], &[1.0, 2.0], &[1.0]).is_err());
    assert!(ColumnMoments::new(&[f64::NAN], &[1.0], &[1.0]).is_err());
    assert!(ColumnMoments::new(&[0.0], &[-1.0], &[1.0]).is_err());
    let moments = ColumnMoments::new(&[0.0], &[1.0], &[1.0]).unwrap();
    let columns = ones(2, &[0, 1], &[0]);
    for weights in [
        &[1.0][..],
        &[1.0, 0.0],
        &[1.0, -1.0],
        &[1.0, f64::NAN],
        &[1.0, f64::INFINITY],
    ] {
        assert!(
            PrimalData::new(columns, moments, Some(weights)).is_err(),
            "{weights:?}"
        );
    }
    assert!(PrimalData::new(ones(2, &[0, 1, 1], &[0]), moments, None).is_err());

    let good = PrimalParams {
        subproblem: SubproblemParams {
            penalty: ElasticNetParams {
                l1: 0.1,
                l2: 0.1,
                scale_factor: 1.0,
            },
            sigma_prime: 1.0,
            total_weight: 1.0,
            centred: true,
        },
        seed: 1,
        partition: 0,
        budget: 1,
        certificate: true,
        points: vec![[1.0, 0.0]],
        threads: 1,
    };
    assert!(good.check().is_ok());
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        for field in 0..5 {
            let mut params = good.clone();
            let subproblem = &mut params.subproblem;
            *[
                &mut subproblem.penalty.l1,
                &mut subproblem.penalty.l2,
                &mut subproblem.penalty.scale_factor,
                &mut subproblem.sigma_prime,
                &mut subproblem.total_weight,
            ][field] = bad;
            assert!(
                matches!(params.check(), Err(SolverError::InvalidParam { .. })),
                "{field} {bad}"
            );
        }
    }
    for zero in 0..3 {
        let mut params = good.clone();
        match zero {
            0 => params.subproblem.sigma_prime = 0.0,
            1 => params.subproblem.total_weight = 0.0,
            _ => params.budget = 0,
        }
        assert!(params.check().is_err());
    }

    let data = PrimalData::new(columns, moments, None).unwrap();
    let valid = || good.check().unwrap();
    let run = |shared: &[f64], alpha: &[f64], previous: &[f64]| {
        let blocks = [data];
        let mut blocks = Views::<ElasticNet>::new(&blocks).unwrap();
        PrimalRound::run(
            valid(),
            shared.to_vec(),
            alpha,
            previous,
            0,
            &mut blocks,
            None,
        )
    };
    assert!(run(&[0.0; 2], &[f64::NAN], &[0.0]).is_err());
    assert!(run(&[0.0; 2], &[0.0], &[]).is_err());
    assert!(run(&[0.0; 3], &[0.0], &[0.0]).is_err());
    assert!(run(&[0.0; 2], &[], &[]).is_err());
    assert!(matches!(
        run(&[1.0, f64::INFINITY], &[0.0], &[0.0]),
        Err(SolverError::NonFinite(_))
    ));
    assert!(Views::<ElasticNet>::new(&[]).is_err());

    let done = run(&[0.0; 2], &[0.0], &[0.0]).unwrap();
    for (start, length) in [(0, 17), (0, 24), (2, 8), (usize::MAX, 8)] {
        let mut out = vec![0; length];
        let shared = out.clone();
        assert!(done.write_update(&data, start, &shared, &mut out).is_err());
    }
    assert!(done.write_update(&data, 0, &[0; 8], &mut [0; 16]).is_err());
    assert!(done.finish(&[]).is_err());
    let penalty = good.subproblem.penalty.check().unwrap();
    let product = |rows: usize, alpha: &[f64]| {
        let blocks = [data];
        let mut blocks = Views::<ElasticNet>::new(&blocks).unwrap();
        PrimalProduct::run(penalty, true, rows, alpha, &mut blocks)
    };
    assert!(product(2, &[]).is_err());
    assert!(product(3, &[0.0]).is_err());
    let huge = product(usize::MAX / 4, &[0.0]);
    assert!(matches!(huge, Err(SolverError::OutOfMemory { .. })));
    let subproblem = good.subproblem.check().unwrap();
    assert!(LocalSubproblem::new(subproblem, vec![0.0; 2], Some(&[1.0]), &[0.0]).is_err());
    let mut local = LocalSubproblem::new(subproblem, vec![0.0; 2], None, &[0.0]).unwrap();
    assert!(local.descend(&data, 0, 0..2, 1).is_err());
    assert!(local.descend(&data, 1, 0..1, 1).is_err());
}

#[test]
fn samples_scale_and_parameters_of_rows() {
    let columns = || ones(2, &[0, 1, 3], &[0, 0, 1]);
    let samples = |labels: &[f64], weights: Option<&[f64]>, norms: &[f64], e: Option<&[f64]>| {
        message(Samples::new(labels, weights, norms, e))
    };
    let one = &[1.0, 1.0][..];
    assert!(samples(&[1.0], None, one, None).contains("norms has length 2, expected 1"));
    assert!(samples(one, Some(&[1.0]), one, None).contains("weights has length 1, expected 2"));
    assert!(samples(one, None, one, Some(&[1.0])).contains("projections has length 1"));
    assert!(samples(&[1.0, f64::NAN], None, one, None).contains("label of row 1"));
    assert!(samples(one, None, &[f64::INFINITY, 1.0], None).contains("norm of row 0"));
    assert!(samples(one, None, &[1.0, -1.0], None).contains("norm of row 1 is -1"));
    assert!(samples(one, None, one, Some(&[f64::NAN, 1.0])).contains("projection of row 0"));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(samples(one, Some(&[1.0, bad]), one, None).contains("weight of row 1"));
    }
    let good = Samples::new(one, None, one, None).unwrap();
    assert_eq!((good.len(), good.is_empty()), (2, false));
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let refused = message(DualData::new(columns(), good, Some(&[1.0, bad])));
        assert!(refused.contains("scale of feature 1"));
    }
    assert!(DualData::new(columns(), good, Some(&[1.0])).is_err());
    let three = &[1.0; 3][..];
    let many = Samples::new(three, None, three, None).unwrap();
    assert!(DualData::new(columns(), many, None).is_err());

    let params = DualParams {
        certificate: vec![0.0; 16],
        points: vec![[1.0, 0.0]; 24],
        ..dual(Loss::Hinge, 2.0)
    };
    assert!(params.check().is_ok());
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        for field in 0..5 {
            let mut params = params.clone();
            params.subproblem.loss = Loss::SmoothedHinge(1.0);
            let s = &mut params.subproblem;
            match field {
                0 => s.sigma_prime = bad,
                1 => s.l2 = bad,
                2 => s.total_weight = bad,
                3 => s.intercept = bad,
                _ => s.loss = Loss::SmoothedHinge(bad),
            }
            assert!(
                matches!(params.check(), Err(SolverError::InvalidParam { .. })),
                "{field} {bad}"
            );
        }
    }
    let refused = |change: &dyn Fn(&mut DualParams)| {
        let mut params = params.clone();
        change(&mut params);
        params.check().is_err()
    };
    assert!(refused(&|p| p.subproblem.offset = f64::NAN));
    assert!(refused(&|p| p.subproblem.l2 = 0.0));
    assert!(refused(
        &|p| (p.subproblem.l2, p.subproblem.total_weight) = (1e-200, 1e-200)
    ));
    assert!(refused(&|p| p.budget = 0));
    assert!(refused(&|p| p.threads = 0));
    assert!(refused(&|p| p.threads = 257));
    assert!(refused(&|p| p.certificate.push(0.0)));
    assert!(refused(&|p| p.certificate[3] = f64::NAN));
    assert!(refused(&|p| p.points.push([0.0; 2])));
    assert!(refused(&|p| p.points[3][1] = f64::INFINITY));

    let data = DualData::new(columns(), good, None).unwrap();
    let run = |params: &DualParams,
               data: DualData<'_>,
               shared: &[f64],
               alpha: &[f64],
               previous: &[f64]| {
        let (params, blocks) = (params.check().unwrap(), [data]);
        let mut blocks = Views::<ConjugateLoss>::new(&blocks).unwrap();
        DualRound::run(
            params,
            shared.to_vec(),
            alpha,
            previous,
            0,
            &mut blocks,
            None,
        )
    };
    let two = [0.0; 2];
    assert!(run(&params, data, &two, &[0.0, f64::NAN], &two).is_err());
    assert!(run(&params, data, &two, &two, &[f64::NAN, 0.0]).is_err());
    assert!(run(&params, data, &two, &two, &[0.0]).is_err());
    assert!(run(&params, data, &[0.0; 3], &two, &two).is_err());
    let error = message(run(&params, data, &[0.0, f64::NAN], &two, &two));
    assert!(error.contains("coefficients of feature 1"), "{error}");
    for threads in [1, 2] {
        let mut params = params.clone();
        params.threads = threads;
        let labels = Samples::new(&[1.0, 0.0], None, one, None).unwrap();
        let data = |samples| DualData::new(columns(), samples, None).unwrap();
        let error = message(run(&params, data(labels), &two, &two, &two));
        assert!(error.contains("label of row 1 is 0"), "{error}");
        assert!(run(&params, data(labels.of_classes()), &two, &two, &two).is_ok());
        let classes = Samples::new(&[1.0, -1.0], None, one, None).unwrap();
        let error = message(run(&params, data(classes.of_classes()), &two, &two, &two));
        assert!(error.contains("label of row 1 is -1"), "{error}");
        params.subproblem.loss = Loss::Squared;
        assert!(run(&params, data(labels), &two, &two, &two).is_ok());
        // An intercept needs projections.
        params.subproblem.intercept = 1.0;
        assert!(run(&params, data(labels), &two, &two, &two).is_err());
    }
    let nothing = DualData::new(
        ones(2, &[0], &[]),
        Samples::new(&[], None, &[], None).unwrap(),
        None,
    )
    .unwrap();
    assert!(run(&params, nothing, &two, &two, &two).is_err());
    let idle = run(&params, nothing, &two, &[], &[]).unwrap();
    assert_eq!(idle.finish(&[]).unwrap().cursor, 0);

    let subproblem = params.subproblem.check().unwrap();
    let blocks = [data];
    let mut blocks = Views::<ConjugateLoss>::new(&blocks).unwrap();
    assert!(DualProduct::run(subproblem, 3, &two, &mut blocks).is_err());
    let mut local = LocalDualSubproblem::new(subproblem, vec![0.0; 2], None, &two).unwrap();
    assert!(local.descend(&data, 0, 0..3, 1).is_err());
}

/// Dual variables outside of the domain show: the value is infinite, and a step brings them back.
#[test]
fn infeasible_variables_come_back() {
    let samples = Samples::new(&[1.0], None, &[1.0], None).unwrap();
    let data = DualData::new(ones(1, &[0, 1], &[0]), samples, None).unwrap();
    for loss in [
        Loss::Logistic,
        Loss::Hinge,
        Loss::SmoothedHinge(1.0),
        Loss::SquaredHinge,
    ] {
        let params = DualParams {
            points: vec![[0.0, 0.0], [1.0, 0.0]],
            ..dual(loss, 1.0)
        };
        let blocks = [data];
        let mut blocks = Views::<ConjugateLoss>::new(&blocks).unwrap();
        let params = params.check().unwrap();
        let round =
            DualRound::run(params, vec![-30.0], &[-3.0], &[0.0], 0, &mut blocks, None).unwrap();
        let outcome = round.finish(&[-3.0]).unwrap();
        assert_eq!(outcome.scalars.value_before, f64::INFINITY);
        assert!(outcome.scalars.value_after.is_finite(), "{loss:?}");
        assert_eq!(outcome.scalars.samples[0], f64::INFINITY);
    }
}

/// Steps too large for a double are reported, not returned.
#[test]
fn overflow_is_an_error() {
    let columns = matrix::columns(1, &[0, 1], Some(&[0]), Values::F64(&[1e-300]));
    let moments = ColumnMoments::new(&[1e-300], &[0.0], &[0.0]).unwrap();
    let data = PrimalData::new(columns, moments, None).unwrap();
    let blocks = [data];
    let mut blocks = Views::<ElasticNet>::new(&blocks).unwrap();
    let penalty = NO_PENALTY.check().unwrap();
    let product = PrimalProduct::run(penalty, false, 1, &[f64::INFINITY], &mut blocks).unwrap();
    assert!(matches!(
        product.write(0, &mut [0; 8]),
        Err(SolverError::NonFinite(_))
    ));
}

const NO_PENALTY: ElasticNetParams = ElasticNetParams {
    l1: 0.0,
    l2: 0.0,
    scale_factor: 0.0,
};

const SGD: SgdParams = SgdParams {
    problem: SgdProblem {
        loss: RowLoss::Margin(Loss::SmoothedHinge(0.5)),
        l1: 0.1,
        l2: 0.1,
        intercept: true,
        weight_factor: 1.0,
    },
    schedule: Schedule {
        kind: ScheduleKind::Inverse,
        eta0: 0.5,
        rate: 0.1,
    },
    seed: 1,
    partition: 0,
    budget: 3,
    cursor: 0,
    steps: 0,
    share: 0.5,
    threads: 1,
};

fn sgd(change: impl Fn(&mut SgdParams)) -> SgdParams {
    let mut params = SGD;
    change(&mut params);
    params
}

fn with_loss(loss: RowLoss) -> SgdParams {
    sgd(|p| p.problem.loss = loss)
}

/// A pass over rows of 3 features, at a model of zeros.
fn pass_of(loss: RowLoss, dual: &[f64]) -> Result<RowPass, SolverError> {
    RowPass::new(PassParams {
        gradient: true,
        dual: dual.to_vec(),
        ..PassParams::at_zero(PassLoss::Row(loss), true, 3)
    })
}

#[test]
fn rows_of_sgd_name_the_place() {
    let rows = ones(2, &[0, 1, 3], &[0, 0, 1]);
    let refused = |labels: &[f64], weights: Option<&[f64]>, scale: Option<&[f64]>| {
        message(SgdData::new(rows, labels, weights, scale))
    };
    let one = &[1.0, 1.0][..];
    assert!(refused(&[1.0], None, None).contains("labels has length 1, expected 2"));
    assert!(refused(one, Some(&[1.0; 3]), None).contains("weights has length 3, expected 2"));
    assert!(refused(one, None, Some(&[1.0])).contains("scale has length 1, expected 2"));
    assert!(refused(&[1.0, f64::INFINITY], None, None).contains("label of row 1"));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(one, Some(&[1.0, bad]), None).contains("weight of row 1"));
    }
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(one, None, Some(&[1.0, bad])).contains("scale of feature 1"));
    }
    assert!(SgdData::new(rows, one, Some(one), Some(&[0.0, 1.0])).is_ok());
}

#[test]
fn parameters_of_sgd() {
    let named = |params: SgdParams, expected: &str| match params.check() {
        Err(SolverError::InvalidParam { name, .. }) => assert_eq!(name, expected),
        other => panic!("{expected}: {other:?}"),
    };
    assert!(SGD.check().is_ok());
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        named(sgd(|p| p.problem.l1 = bad), "l1");
        named(sgd(|p| p.problem.l2 = bad), "l2");
        named(sgd(|p| p.problem.weight_factor = bad), "weight_factor");
        let loss = RowLoss::Margin(Loss::SmoothedHinge(bad));
        named(sgd(|p| p.problem.loss = loss), "gamma");
        named(sgd(|p| p.schedule.eta0 = bad), "eta0");
        named(sgd(|p| p.schedule.rate = bad), "rate");
        named(sgd(|p| p.share = bad), "share");
    }
    named(sgd(|p| p.share = 1.5), "share");
    for threads in [0, 257] {
        named(sgd(|p| p.threads = threads), "threads");
    }
    named(sgd(|p| p.budget = 0), "budget");
    let eta = |eta0: f64| sgd(|p| p.schedule.eta0 = eta0);
    named(eta(0.0), "eta0");
    // A step size of 1 / l2 or more would flip the signs of coefficients.
    named(eta(10.0), "eta0");
    named(eta(1e300), "eta0");
    assert!(eta(9.999).check().is_ok());
    named(with_loss(RowLoss::Softmax(0)), "outputs");
    named(with_loss(RowLoss::Softmax(1)), "outputs");

    assert!(RowLoss::from_code(1, 0.0, 1).is_ok());
    assert_eq!(RowLoss::from_code(5, 0.0, 4), Ok(RowLoss::Softmax(4)));
    for (code, gamma, outputs) in [
        (-1, 1.0, 1),
        (6, 1.0, 1),
        (1, 0.0, 2),
        (1, 0.0, 0),
        (5, 0.0, 1),
        (3, 0.0, 1),
    ] {
        assert!(RowLoss::from_code(code, gamma, outputs).is_err());
    }
    for code in [-1, 3, i64::MAX] {
        assert!(ScheduleKind::from_code(code).is_err());
    }

    let refused = |params: &SgdParams, candidates: Vec<f64>| {
        assert!(search_of(params, candidates).check().is_err());
    };
    let many = vec![0.1; 25];
    for candidates in [vec![], many, vec![0.1, f64::NAN], vec![0.0], vec![10.0]] {
        refused(&SGD, candidates);
    }
    assert!(search_of(&SGD, vec![0.1; 24]).check().is_ok());
    refused(&sgd(|p| p.budget = 0), vec![0.1]);
    refused(&sgd(|p| p.schedule.rate = -1.0), vec![0.1]);
}

#[test]
fn dual_numbers_of_a_pass() {
    let dual = |loss, numbers: &[f64]| pass_of(loss, numbers).is_ok();
    let squared = RowLoss::Margin(Loss::Squared);
    let hinge = RowLoss::Margin(Loss::Hinge);
    assert!(
        dual(squared, &[-7.0])
            && dual(hinge, &[0.0, 1.0])
            && dual(RowLoss::Softmax(2), &[0.5, 0.5, 0.5, 1.0])
    );
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(!dual(squared, &[bad]));
    }
    for bad in [f64::NAN, -0.1, 1.1] {
        assert!(!dual(hinge, &[1.0, bad]));
        assert!(!dual(RowLoss::Softmax(2), &[0.5, 0.5, 0.5, bad]));
    }
    assert!(
        !dual(squared, &[0.0; 2]) && !dual(hinge, &[1.0]) && !dual(RowLoss::Softmax(2), &[0.5; 3])
    );
}

#[test]
fn calls_of_sgd_refuse_what_does_not_fit() {
    let rows = ones(2, &[0, 1, 3], &[0, 0, 1]);
    let data = SgdData::new(rows, &[1.0, -1.0], None, None).unwrap();
    let refused = |params: SgdParams, blocks: &[SgdData<'_>], shared: &[f64], part: &str| {
        let (round, search) = sgd_calls(params, blocks, shared);
        for error in [round.map(|_| ()), search.map(|_| ())] {
            let error = error.expect_err(part).to_string();
            assert!(error.contains(part), "{error}");
        }
    };
    let all = |blocks: &[SgdData<'_>], shared: &[f64], part: &str| {
        refused(SGD, blocks, shared, part);
    };
    let wider = SgdData::new(ones(3, &[0], &[]), &[], None, None).unwrap();
    all(&[data, wider], &[0.0; 3], "a row has length 3, expected 2");
    all(
        &[data],
        &[0.0; 2],
        "the shared model has length 2, expected 3",
    );
    let bad = [1.0, f64::NAN, 0.0];
    all(&[data], &bad, "number 1 of the shared model is NaN");
    all(&[data], &[1.0, 0.0, f64::INFINITY], "number 2");
    let labels = SgdData::new(rows, &[1.0, 0.5], None, None).unwrap();
    all(&[data, labels], &[0.0; 3], "label of row 1 is 0.5");
    let classes = SgdData::new(rows, &[0.0, 1.0], None, None).unwrap();
    let softmax_of_two = with_loss(RowLoss::Softmax(2));
    all(&[data.of_classes()], &[0.0; 3], "label of row 1 is -1");
    assert!(sgd_calls(SGD, &[classes.of_classes()], &[0.0; 3]).0.is_ok());
    assert!(sgd_calls(softmax_of_two, &[classes], &[0.0; 6]).0.is_ok());
    refused(
        softmax_of_two,
        &[classes.of_classes()],
        &[0.0; 6],
        "-1 and 1",
    );

    let softmax = |labels: &[f64]| {
        let data = SgdData::new(rows, labels, None, None).unwrap();
        sgd_calls(with_loss(RowLoss::Softmax(3)), &[data], &[0.0; 9]).0
    };
    assert!(softmax(&[2.0, 0.0]).is_ok());
    for bad in [3.0, -1.0, 0.5, 1e300, -0.5] {
        let error = softmax(&[0.0, bad]).unwrap_err().to_string();
        assert!(
            error.contains("label of row 1") && error.contains("0 to 2"),
            "{error}"
        );
    }

    // Models with more numbers than an i32 counts.
    let huge = with_loss(RowLoss::Softmax(usize::MAX / 2));
    let many = SgdData::new(ones(i32::MAX as usize, &[0], &[]), &[], None, None).unwrap();
    refused(huge, &[wider], &[], "outputs: a model has at most");
    refused(
        SGD,
        &[many],
        &[],
        "features and 1 outputs: a model has at most",
    );
}

/// A round and a search.
fn sgd_calls(
    params: SgdParams,
    blocks: &[SgdData<'_>],
    shared: &[f64],
) -> (
    Result<SgdRound, SolverError>,
    Result<SearchOutcome, SolverError>,
) {
    let mut blocks = Views::<LabelledRows>::new(blocks).unwrap();
    let round = SgdRound::run(params.check().unwrap(), shared, &mut blocks, None);
    let candidates = search_of(&params, vec![params.schedule.eta0]);
    let search = search_step_size(&candidates.check().unwrap(), shared, &mut blocks);
    (round, search)
}

/// Thresholds, scales and steps at the limits of a double: a report or a number, never an error or a panic.
#[test]
fn extremes_of_sgd_are_reported() {
    let values = Values::F64(&[1e150, -1e-300, 3.0]);
    let rows = matrix::columns(3, &[0, 2, 3, 3], Some(&[0, 1, 0]), values);
    let weights = Some(&[1e-300, 1e300, 1.0][..]);
    let scale = Some(&[1e300, 1e-300, 0.0][..]);
    let data = SgdData::new(rows, &[1.0, -1.0, 1.0], weights, scale).unwrap();
    let shared = [1e300, -1e-300, 5.0, -1e300];
    for loss in [
        Loss::Squared,
        Loss::Logistic,
        Loss::Hinge,
        Loss::SmoothedHinge(1e-300),
        Loss::SquaredHinge,
    ] {
        for (l1, l2, eta0) in [
            (0.0, 0.0, 1e300),
            (1e300, 0.0, 1e300),
            (1e300, 1e-300, 1e299),
            (1e-300, 1e300, 1e-301),
        ] {
            let params = sgd(|p| {
                (p.problem.loss, p.problem.l1, p.problem.l2) = (RowLoss::Margin(loss), l1, l2);
                (p.schedule.eta0, p.schedule.rate, p.budget) = (eta0, 1e300, 9);
            });
            let (round, search) = sgd_calls(params, &[data], &shared);
            let mut out = vec![0; 32];
            let same = shared.map(f64::to_le_bytes).concat();
            round.unwrap().write_update(0, &same, &mut out).unwrap();
            let numbers = doubles(&out);
            assert!(numbers.iter().all(|x| x.is_finite()), "{params:?}");
            assert!(!search.unwrap().objectives[0].is_nan());
        }
    }
}

proptest! {
    /// Rows changed after their validation: a number, an error or a panic, and nothing else.
    #[test]
    fn changed_rows_of_sgd_stay_in_bounds(
        middle in any::<[i32; 2]>(),
        indices in any::<[i32; 4]>(),
        numbers in any::<[f64; 3]>(),
        code in 0i64..6,
        scaled in any::<bool>(),
        l1 in prop_oneof![Just(0.0), Just(0.1)],
    ) {
        let offsets = [0, middle[0], middle[1], 4];
        let rows = Columns::validated_before(changed(&offsets, &indices)).unwrap();
        let scale = scaled.then_some(&numbers[..]);
        // The labels pass the check; the other arrays have changed since theirs.
        let outputs = if code == 5 { 3 } else { 1 };
        let data = SgdData::validated_before(rows, &[1.0; 3], Some(&numbers), scale).unwrap();
        let loss = RowLoss::from_code(code, 1.0, outputs).unwrap();
        let params = sgd(|p| (p.problem.loss, p.problem.l1) = (loss, l1));
        let shared = vec![0.0; 4 * outputs];
        let blocks = [data];
        let _ = std::panic::catch_unwind(|| {
            let mut blocks = Views::<LabelledRows>::new(&blocks).unwrap();
            SgdRound::run(params.check().unwrap(), &shared, &mut blocks, None).map(|round| round.finish())
        });
        let _ = std::panic::catch_unwind(|| {
            let mut pass = pass_of(params.problem.loss, &[]).unwrap();
            pass.add(changed(&offsets, &indices), (&[1.0; 3]).into(), Some((&numbers).into()))
        });
        let _ = std::panic::catch_unwind(|| {
            let mut blocks = Views::<LabelledRows>::new(&blocks).unwrap();
            search_step_size(&search_of(&params, vec![0.1]).check().unwrap(), &shared, &mut blocks)
        });
    }
}

proptest! {
    /// The full check copes with any arrays, and those that it accepts never cause a panic afterwards.
    #[test]
    fn any_arrays(
        rows in 0usize..6,
        offsets in prop::collection::vec(-2i32..8, 0..6),
        indices in prop::collection::vec(-2i32..7, 0..8),
        stored in prop::collection::vec(prop_oneof![Just(1.0), Just(f64::NAN), Just(-2.0)], 0..8),
        ones in any::<bool>(),
    ) {
        let values = if ones { Values::Ones } else { Values::F64(&stored) };
        if let Ok(columns) = MatrixView::sparse(rows, &offsets, &indices, values).and_then(Columns::new) {
            let zero = vec![0.0; columns.len()];
            let one = vec![1.0; columns.len()];
            let data = PrimalData::new(columns, ColumnMoments::new(&zero, &one, &one).unwrap(), None).unwrap();
            let blocks = [data];
            let mut blocks = Views::<ElasticNet>::new(&blocks).unwrap();
            PrimalProduct::run(NO_PENALTY.check().unwrap(), true, rows, &one, &mut blocks).unwrap();
        }
    }

    /// The same for rows.
    #[test]
    fn changed_rows_stay_in_bounds(
        middle in any::<[i32; 2]>(),
        indices in any::<[i32; 4]>(),
        numbers in any::<[f64; 3]>(),
        code in 0i64..5,
        threads in 1usize..3,
    ) {
        let offsets = [0, middle[0], middle[1], 4];
        let columns = Columns::validated_before(changed(&offsets, &indices)).unwrap();
        let samples = Samples::validated_before(&numbers, Some(&numbers), &numbers, Some(&numbers)).unwrap();
        let data = DualData::validated_before(columns, samples, Some(&numbers)).unwrap();
        let _ = std::panic::catch_unwind(|| {
            let mut params = dual(Loss::from_code(code, 1.0).unwrap(), 3.0);
            params.subproblem.intercept = 1.0;
            (params.certificate, params.points, params.threads) = (vec![0.0], vec![[1.0, 1.0]], threads);
            let (params, zero, blocks) = (params.check().unwrap(), [0.0; 3], [data]);
            let mut blocks = Views::<ConjugateLoss>::new(&blocks).unwrap();
            DualRound::run(params, vec![1.0; 3], &zero, &zero, 0, &mut blocks, None)
        });
    }

    /// Arrays changed after their validation: a number, an error or a panic, and nothing else.
    #[test]
    fn changed_arrays_stay_in_bounds(
        middle in any::<[i32; 2]>(),
        indices in any::<[i32; 4]>(),
    ) {
        let offsets = [0, middle[0], middle[1], 4];
        let columns = Columns::validated_before(changed(&offsets, &indices)).unwrap();
        let one = [1.0; 3];
        let data = PrimalData::validated_before(
            columns,
            ColumnMoments::validated_before(&one, &one, &one).unwrap(),
            None,
        ).unwrap();
        let _ = std::panic::catch_unwind(|| {
            let params = SubproblemParams {
                penalty: NO_PENALTY,
                sigma_prime: 1.0,
                total_weight: 3.0,
                centred: true,
            };
            let params = params.check().unwrap();
            let mut subproblem = LocalSubproblem::new(params, vec![1.0; 3], None, &one).unwrap();
            subproblem.descend(&data, 0, 0..3, usize::MAX)
        });
    }
}
