//! What one epoch of coordinate descent or of SGD costs for each stored entry, beside the two floors: reading the matrix once
//! (`stream`), and gathering from the shared vector for every entry (`gather`). Processor time, as the machine may be shared.
//!
//! Data are generated: a power-law matrix with the shape of the news20 set, its columns by feature number (`by-id`), sorted by length as
//! partitions are (`by-length`), and the same with features numbered at random (`hashed-by-length`). For the dual it is stored by rows
//! (`rows`), and with features numbered at random (`hashed-rows`).
//! `DWELL_BENCH_SCALE` (default 1) scales both its rows and its features, `DWELL_BENCH_SEED` (default 1) seeds it.
//!
//! Then the dense sums of Newton's method beside faer's: see [`dense`]. Then the E-step of LDA, a document at a time, beside a plain one in double precision: see [`e_step`].
//!
//! With `DWELL_BENCH_WRITE=DIRECTORY` nothing is measured: the data of `bench/python/one_thread.py` are written there.

#[allow(dead_code, reason = "benchmarks use the documents alone")]
#[path = "../../native/solvers/tests/common/mod.rs"]
mod common;
#[path = "dense.rs"]
mod dense;
#[path = "e_step.rs"]
mod e_step;
#[path = "planted_topics.rs"]
mod planted_topics;
#[path = "power_law.rs"]
mod power_law;
#[path = "random.rs"]
mod random;
#[path = "thread_time.rs"]
mod thread_time;

use std::{hint::black_box, path::Path, time::Duration};

use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput};
use dwell_solvers::{
    ColumnMoments, Columns, DualData, DualSubproblemParams, ElasticNetParams, LabelledRows, Loss,
    MatrixView, PrimalData, RowLoss, Samples, Schedule, ScheduleKind, SgdData, SgdParams,
    SgdProblem, SgdRound, Values, Views,
    cd::{LocalDualSubproblem, LocalSubproblem, SubproblemParams, ValidSubproblemParams},
    order::BucketOrder,
};
use power_law::{Matrix, PowerLaw};
use thread_time::ThreadTime;

/// Coordinates in a bucket, as the solver has it for partitions of this size.
const BUCKET: usize = 64;

fn main() {
    let scale: f64 = setting("DWELL_BENCH_SCALE", 1.0);
    let seed: u64 = setting("DWELL_BENCH_SEED", 1);
    if let Ok(directory) = std::env::var("DWELL_BENCH_WRITE") {
        return write(Path::new(&directory), scale, seed);
    }
    let shape = PowerLaw::news20(scale);
    let by_id = shape.generate(seed);
    let by_length = by_id.sorted_by_length();
    let hashed = by_id.shuffled(seed).sorted_by_length();
    println!(
        "power-law data, seed {seed}: {} rows, {} columns that are not empty, {} entries",
        by_id.rows,
        by_id.columns(),
        by_id.nonzeros()
    );

    let mut criterion = Criterion::default()
        .with_measurement(ThreadTime)
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    let mut group = criterion.benchmark_group("kernels");
    group.throughput(Throughput::Elements(by_id.nonzeros() as u64));

    for (layout, matrix) in [
        ("by-id", &by_id),
        ("by-length", &by_length),
        ("hashed-by-length", &hashed),
    ] {
        let wide: Vec<f64> = matrix.values.iter().map(|&v| f64::from(v)).collect();
        for (kind, values) in [
            ("ones", Values::Ones),
            ("f32", Values::F32(&matrix.values)),
            ("f64", Values::F64(&wide)),
        ] {
            floors(&mut group, &format!("{layout}/{kind}"), matrix, values);
            let bench = Epoch::new(matrix, values);
            bench.run(
                &mut group,
                &format!("epoch-bucketed/{layout}/{kind}"),
                BUCKET,
                false,
            );
            if kind == "f32" {
                bench.run(
                    &mut group,
                    &format!("epoch-random/{layout}/{kind}"),
                    1,
                    false,
                );
                bench.run(
                    &mut group,
                    &format!("epoch-centred/{layout}/{kind}"),
                    BUCKET,
                    true,
                );
            }
        }
    }
    let rows = by_id.by_rows();
    let wide: Vec<f64> = rows.values.iter().map(|&v| f64::from(v)).collect();
    for (kind, values) in [
        ("ones", Values::Ones),
        ("f32", Values::F32(&rows.values)),
        ("f64", Values::F64(&wide)),
    ] {
        floors(&mut group, &format!("rows/{kind}"), &rows, values);
        DualEpoch::new(&rows, values).run(&mut group, &format!("rows/{kind}"), kind == "f32");
        SgdEpoch::new(&rows, values).run(&mut group, &format!("rows/{kind}"), kind == "f32");
    }
    let scrambled = by_id.shuffled(seed).by_rows();
    let values = Values::F32(&scrambled.values);
    floors(&mut group, "hashed-rows/f32", &scrambled, values);
    DualEpoch::new(&scrambled, values).run(&mut group, "hashed-rows/f32", false);
    SgdEpoch::new(&scrambled, values).run(&mut group, "hashed-rows/f32", false);
    let short = PowerLaw::url(0.2 * scale).generate(seed).by_rows();
    group.throughput(Throughput::Elements(short.nonzeros() as u64));
    let values = Values::F32(&short.values);
    floors(&mut group, "short-rows/f32", &short, values);
    SgdEpoch::new(&short, values).run(&mut group, "short-rows/f32", false);
    group.throughput(Throughput::Elements(by_id.nonzeros() as u64));
    for (name, matrix) in [("rows", &rows), ("columns", &by_length)] {
        let values = Values::F32(&matrix.values);
        group.bench_function(format!("validate/{name}/f32"), |b| {
            b.iter(|| {
                MatrixView::sparse(matrix.rows, &matrix.offsets, &matrix.indices, values)
                    .and_then(Columns::new)
                    .is_ok()
            });
        });
        group.bench_function(format!("norms/{name}/f32"), |b| b.iter(|| matrix.norms()));
    }
    group.finish();
    dense::run(&mut criterion);
    e_step::run(&mut criterion, scale, seed);
    criterion.final_summary();
}

/// The rows of the data sets.
fn write(directory: &Path, scale: f64, seed: u64) {
    for (name, shape) in [
        ("news20-like", PowerLaw::news20(scale)),
        ("url-like", PowerLaw::url(scale)),
    ] {
        let rows = shape.generate(seed).by_rows();
        rows.write(&directory.join(name))
            .unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    }
}

fn setting<T: std::str::FromStr>(name: &str, default: T) -> T {
    match std::env::var(name) {
        Err(_) => default,
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name}={text} is not a number")),
    }
}

/// The floors, on the same arrays.
fn floors(
    group: &mut BenchmarkGroup<'_, ThreadTime>,
    name: &str,
    matrix: &Matrix,
    values: Values<'_>,
) {
    // Any numbers: those that a vector has, one for each row.
    let w: Vec<f64> = matrix
        .labels
        .iter()
        .copied()
        .cycle()
        .take(matrix.rows)
        .collect();
    match values {
        Values::Ones => {
            group.bench_function(format!("stream/{name}"), |b| {
                b.iter(|| stream(&matrix.indices, |_| 0.0));
            });
            group.bench_function(format!("gather/{name}"), |b| {
                b.iter(|| gather(matrix, &w, |_| 1.0));
            });
        }
        Values::F32(v) => {
            group.bench_function(format!("stream/{name}"), |b| {
                b.iter(|| stream(&matrix.indices, |k| f64::from(v[k])));
            });
            group.bench_function(format!("gather/{name}"), |b| {
                b.iter(|| gather(matrix, &w, |k| f64::from(v[k])));
            });
        }
        Values::F64(v) => {
            group.bench_function(format!("stream/{name}"), |b| {
                b.iter(|| stream(&matrix.indices, |k| v[k]));
            });
            group.bench_function(format!("gather/{name}"), |b| {
                b.iter(|| gather(matrix, &w, |k| v[k]));
            });
        }
    }
}

/// Reads every index and value once.
fn stream(indices: &[i32], value: impl Fn(usize) -> f64) -> (i32, f64) {
    let mut index_sums = [0i32; 4];
    let mut value_sums = [0.0; 4];
    for (chunk, four) in indices.as_chunks::<4>().0.iter().enumerate() {
        for k in 0..4 {
            index_sums[k] = index_sums[k].wrapping_add(four[k]);
            value_sums[k] += value(4 * chunk + k);
        }
    }
    (
        black_box(index_sums).iter().sum(),
        black_box(value_sums).iter().sum(),
    )
}

/// The dot product of every column with `w`, column by column.
fn gather(matrix: &Matrix, w: &[f64], value: impl Fn(usize) -> f64) -> f64 {
    let mut total = 0.0;
    for pair in matrix.offsets.windows(2) {
        let (start, end) = (pair[0] as usize, pair[1] as usize);
        let mut sums = [0.0; 4];
        let (fours, rest) = matrix.indices[start..end].as_chunks::<4>();
        for (chunk, four) in fours.iter().enumerate() {
            for k in 0..4 {
                sums[k] += value(start + 4 * chunk + k) * w[four[k] as usize];
            }
        }
        let mut sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        for (k, &row) in rest.iter().enumerate() {
            sum += value(end - rest.len() + k) * w[row as usize];
        }
        total += black_box(sum);
    }
    total
}

/// Epochs of ridge regression from zero.
struct Epoch<'a> {
    matrix: &'a Matrix,
    values: Values<'a>,
    residual: Vec<f64>,
    mean: Vec<f64>,
    variance: Vec<f64>,
    deviation: Vec<f64>,
    alpha: Vec<f64>,
}

impl<'a> Epoch<'a> {
    fn new(matrix: &'a Matrix, values: Values<'a>) -> Self {
        let (mean, variance) = matrix.moments(matches!(values, Values::Ones));
        Self {
            matrix,
            values,
            residual: matrix.labels.clone(),
            deviation: variance.iter().map(|v| v.sqrt()).collect(),
            mean,
            variance,
            alpha: vec![0.0; matrix.columns()],
        }
    }

    fn params(&self, centred: bool) -> ValidSubproblemParams {
        let total_weight = self.matrix.rows as f64;
        SubproblemParams {
            penalty: ElasticNetParams {
                l1: 0.0,
                l2: 1.0 / total_weight,
                scale_factor: 0.0,
            },
            sigma_prime: 1.0,
            total_weight,
            centred,
        }
        .check()
        .expect("parameters are in range")
    }

    fn run(
        &self,
        group: &mut BenchmarkGroup<'_, ThreadTime>,
        name: &str,
        bucket: usize,
        centred: bool,
    ) {
        let columns = MatrixView::sparse(
            self.matrix.rows,
            &self.matrix.offsets,
            &self.matrix.indices,
            self.values,
        )
        .and_then(Columns::new)
        .expect("generated columns are valid");
        let moments = ColumnMoments::new(&self.mean, &self.variance, &self.deviation)
            .expect("moments are valid");
        let data = PrimalData::new(columns, moments, None).expect("shapes fit");
        let params = self.params(centred);
        let fresh = || {
            let residual = self.residual.clone();
            let subproblem =
                LocalSubproblem::new(params, residual, None, &self.alpha).expect("it fits memory");
            let order =
                BucketOrder::new(self.matrix.columns(), bucket, 1, 0).expect("it fits memory");
            (subproblem, order)
        };
        group.bench_function(name, |b| {
            // From zero each time: close to the optimum steps become 0 and updates are left out.
            b.iter_batched(
                fresh,
                |(mut subproblem, mut order)| {
                    for cursor in 0..order.buckets() as u64 {
                        subproblem
                            .descend(&data, 0, order.at(cursor), usize::MAX)
                            .expect("shapes fit");
                    }
                    subproblem
                },
                BatchSize::PerIteration,
            );
        });
    }
}

/// Epochs of dual coordinate descent from zero, lambda 1 for the unnormalised sum of losses.
struct DualEpoch<'a> {
    matrix: &'a Matrix,
    values: Values<'a>,
    signs: Vec<f64>,
    norms: Vec<f64>,
    alpha: Vec<f64>,
}

impl<'a> DualEpoch<'a> {
    fn new(matrix: &'a Matrix, values: Values<'a>) -> Self {
        Self {
            matrix,
            values,
            signs: matrix.labels.iter().map(|y| y.signum()).collect(),
            norms: match values {
                Values::Ones => matrix
                    .offsets
                    .windows(2)
                    .map(|o| f64::from(o[1] - o[0]))
                    .collect(),
                _ => matrix.norms(),
            },
            alpha: vec![0.0; matrix.columns()],
        }
    }

    /// With the hinge, and if `all` with the other losses.
    fn run(&self, group: &mut BenchmarkGroup<'_, ThreadTime>, layout: &str, all: bool) {
        self.run_loss(group, &format!("epoch-dual/{layout}/hinge"), Loss::Hinge);
        if all {
            let name = |loss| format!("epoch-dual/{layout}/{loss}");
            self.run_loss(group, &name("logistic"), Loss::Logistic);
            self.run_loss(group, &name("squared"), Loss::Squared);
        }
    }

    fn run_loss(&self, group: &mut BenchmarkGroup<'_, ThreadTime>, name: &str, loss: Loss) {
        let matrix = self.matrix;
        let rows = MatrixView::sparse(matrix.rows, &matrix.offsets, &matrix.indices, self.values)
            .and_then(Columns::new)
            .expect("generated rows are valid");
        let labels = if loss == Loss::Squared {
            &matrix.labels
        } else {
            &self.signs
        };
        let samples = Samples::new(labels, None, &self.norms, None).expect("labels are finite");
        let data = DualData::new(rows, samples, None).expect("shapes fit");
        let total_weight = matrix.columns() as f64;
        let params = DualSubproblemParams {
            loss,
            sigma_prime: 1.0,
            l2: 1.0 / total_weight,
            total_weight,
            intercept: 0.0,
            offset: 0.0,
        }
        .check()
        .expect("parameters are in range");
        let fresh = || {
            let coefficients = vec![0.0; matrix.rows];
            let subproblem = LocalDualSubproblem::new(params, coefficients, None, &self.alpha)
                .expect("it fits memory");
            let order = BucketOrder::new(matrix.columns(), BUCKET, 1, 0).expect("it fits memory");
            (subproblem, order)
        };
        group.bench_function(name, |b| {
            b.iter_batched(
                fresh,
                |(mut subproblem, mut order)| {
                    for cursor in 0..order.buckets() as u64 {
                        subproblem
                            .descend(&data, 0, order.at(cursor), usize::MAX)
                            .expect("shapes fit");
                    }
                    subproblem
                },
                BatchSize::PerIteration,
            );
        });
    }
}

/// Epochs of SGD from zero.
struct SgdEpoch<'a> {
    matrix: &'a Matrix,
    values: Values<'a>,
    signs: Vec<f64>,
    classes: Vec<f64>,
    scale: Vec<f64>,
}

/// What an epoch is run with.
#[derive(Clone, Copy)]
struct SgdCase {
    name: &'static str,
    loss: RowLoss,
    l1: f64,
    scaled: bool,
}

const CLASSES: usize = 10;

impl<'a> SgdEpoch<'a> {
    fn new(matrix: &'a Matrix, values: Values<'a>) -> Self {
        Self {
            matrix,
            values,
            signs: matrix.labels.iter().map(|y| y.signum()).collect(),
            classes: (0..matrix.columns())
                .map(|i| (i % CLASSES) as f64)
                .collect(),
            scale: (0..matrix.rows).map(|j| 1.0 + (j % 3) as f64).collect(),
        }
    }

    /// With hinge and logistic loss, and if `all` with every kind of cell.
    fn run(&self, group: &mut BenchmarkGroup<'_, ThreadTime>, layout: &str, all: bool) {
        let plain = SgdCase {
            name: "logistic",
            loss: RowLoss::Margin(Loss::Logistic),
            l1: 0.0,
            scaled: false,
        };
        let hinge = SgdCase {
            name: "hinge",
            loss: RowLoss::Margin(Loss::Hinge),
            ..plain
        };
        let mut cases = vec![plain, hinge];
        if all {
            cases.extend([
                SgdCase {
                    name: "logistic-scale",
                    scaled: true,
                    ..plain
                },
                SgdCase {
                    name: "logistic-l1",
                    l1: 1e-7,
                    ..plain
                },
                SgdCase {
                    name: "logistic-l1-scale",
                    l1: 1e-7,
                    scaled: true,
                    ..plain
                },
                SgdCase {
                    name: "softmax-10",
                    loss: RowLoss::Softmax(CLASSES),
                    ..plain
                },
            ]);
        }
        for case in cases {
            self.run_case(group, &format!("epoch-sgd/{layout}/{}", case.name), case);
        }
    }

    fn run_case(&self, group: &mut BenchmarkGroup<'_, ThreadTime>, name: &str, case: SgdCase) {
        let matrix = self.matrix;
        let rows = MatrixView::sparse(matrix.rows, &matrix.offsets, &matrix.indices, self.values)
            .and_then(Columns::new)
            .expect("generated rows are valid");
        let outputs = case.loss.outputs();
        let labels = if outputs > 1 {
            &self.classes
        } else {
            &self.signs
        };
        let scale = case.scaled.then_some(&self.scale[..]);
        let data = SgdData::new(rows, labels, None, scale).expect("labels are finite");
        let (count, features) = (matrix.columns(), matrix.rows);
        let params = SgdParams {
            problem: SgdProblem {
                loss: case.loss,
                l1: case.l1,
                l2: 1.0 / count as f64,
                intercept: true,
                weight_factor: 1.0,
            },
            schedule: Schedule {
                kind: ScheduleKind::InverseSquareRoot,
                eta0: 1.0,
                rate: 1e-3,
            },
            seed: 1,
            partition: 0,
            budget: count as u64,
            cursor: 0,
            steps: 0,
            share: 1.0,
            threads: 1,
        }
        .check()
        .expect("parameters are in range");
        let shared = vec![0.0; outputs * (features + 1)];
        let blocks = [data];
        let mut blocks = Views::<LabelledRows>::new(&blocks).expect("there is a block");
        // With the load of the model and its writing, which an epoch on a worker needs, too.
        group.bench_function(name, |b| {
            b.iter(|| SgdRound::run(params, &shared, &mut blocks, None).expect("shapes fit"));
        });
    }
}
