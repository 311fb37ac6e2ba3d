//! Local SGD of networks: against gradients of other code and steps unit by unit, averages, and properties that must hold for all data.

use crate::common;

use common::{
    bytes, doubles,
    golden::{golden, integers, numbers, table},
};
use dwell_solvers::{
    Columns, LabelledRows, MatrixView, SgdData, SolverError, Values, Views,
    network::{DescentOutcome, DescentParams, Layers, NetworkDescent, NetworkPass},
    order::{BucketOrder, SplitMix64},
};
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;

/// Sums of a few hundred terms of size 1, in another order.
const ROUNDING: f64 = 1e-11;

const SIZES: [usize; 4] = [4, 5, 3, 3];

/// Rows of four features and three classes.
struct Rows {
    values: Vec<f64>,
    labels: Vec<f64>,
    weights: Vec<f64>,
}

impl Rows {
    /// Quarters between -2 and 2, of which every third is 0.
    fn drawn(count: usize, seed: u64) -> Self {
        let mut random = SplitMix64::for_epoch(seed, 0, 0);
        let mut drawn = |below: u64| (random.next_u64() % below) as f64;
        let values = (0..SIZES[0] * count).map(|k| {
            let quarters = drawn(17) / 4.0 - 2.0;
            if k % 3 == 0 { 0.0 } else { quarters }
        });
        Self {
            values: values.collect(),
            labels: (0..count).map(|i| (i % 3) as f64).collect(),
            weights: (0..count).map(|i| 1.0 + (i % 4) as f64 / 2.0).collect(),
        }
    }

    fn len(&self) -> usize {
        self.labels.len()
    }

    /// A round over these rows, in blocks that end before the rows `cuts`; sparse where `is_sparse` says so.
    fn descend(
        &self,
        params: &DescentParams,
        shared: &[f64],
        cuts: &[usize],
        is_sparse: impl Fn(usize) -> bool,
        pool: usize,
    ) -> Result<NetworkDescent, SolverError> {
        let p = SIZES[0];
        let bounds = [&[0], cuts, &[self.len()]].concat();
        let stored: Vec<_> = (bounds.windows(2).enumerate())
            .map(|(b, pair)| (pair[0]..pair[1], Stored::new(self, pair, is_sparse(b))))
            .collect();
        let blocks: Vec<_> = stored
            .iter()
            .map(|(rows, block)| {
                let view = match &block.offsets {
                    None => MatrixView::dense(rows.len(), p, Values::F64(&block.values)),
                    Some(offsets) => {
                        MatrixView::sparse(p, offsets, &block.indices, Values::F64(&block.values))
                    }
                };
                let columns = Columns::new(view.unwrap()).unwrap();
                let (labels, weights) = (&self.labels[rows.clone()], &self.weights[rows.clone()]);
                SgdData::new(columns, labels, Some(weights), None).unwrap()
            })
            .collect();
        let mut blocks = Views::<LabelledRows>::new(&blocks).unwrap();
        let pool = (pool > 0).then(|| ThreadPoolBuilder::new().num_threads(pool).build().unwrap());
        NetworkDescent::run(params, shared, &mut blocks, pool.as_ref())
    }

    fn whole(&self, params: &DescentParams, shared: &[f64]) -> NetworkDescent {
        self.descend(params, shared, &[], |_| false, 0).unwrap()
    }
}

/// The arrays of a block.
struct Stored {
    offsets: Option<Vec<i32>>,
    indices: Vec<i32>,
    values: Vec<f64>,
}

impl Stored {
    fn new(rows: &Rows, bounds: &[usize], is_sparse: bool) -> Self {
        let values = &rows.values[SIZES[0] * bounds[0]..SIZES[0] * bounds[1]];
        if !is_sparse {
            return Self {
                offsets: None,
                indices: vec![],
                values: values.to_vec(),
            };
        }
        let (mut offsets, mut indices, mut stored) = (vec![0], vec![], vec![]);
        for row in values.chunks(SIZES[0]) {
            for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                indices.push(j as i32);
                stored.push(x);
            }
            offsets.push(indices.len() as i32);
        }
        Self {
            offsets: Some(offsets),
            indices,
            values: stored,
        }
    }
}

fn params(rows: usize) -> DescentParams {
    DescentParams {
        layers: Layers::new(&SIZES).unwrap(),
        seed: 9,
        partition: 2,
        budget: rows as u64,
        cursor: 0,
        batch: 7,
        step: 0.4,
        share: 1.0,
        threads: 1,
    }
}

fn drawn_weights() -> Vec<f64> {
    let mut random = SplitMix64::for_epoch(5, 0, 0);
    (0..Layers::new(&SIZES).unwrap().weights())
        .map(|_| (random.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
        .collect()
}

fn update(round: &NetworkDescent, shared: &[f64]) -> Vec<f64> {
    let mut out = vec![0; 8 * shared.len()];
    round.write_update(0, &bytes(shared), &mut out).unwrap();
    doubles(&out)
}

fn assert_close(actual: &[f64], expected: &[f64], what: &str) {
    assert_eq!(actual.len(), expected.len());
    for (k, (a, e)) in actual.iter().zip(expected).enumerate() {
        assert!(
            (a - e).abs() <= ROUNDING,
            "{what}, weight {k}: {a}, not {e}"
        );
    }
}

/// The loss of a row, whose gradient goes to `gradient`, unit by unit.
fn of_row(weights: &[f64], x: &[f64], class: usize, s: f64, gradient: &mut [f64]) -> f64 {
    let (mut inputs, mut starts, mut at) = (vec![x.to_vec()], vec![], 0);
    for l in 1..SIZES.len() {
        let (n, m) = (SIZES[l - 1], SIZES[l]);
        let z = (0..m).map(|i| {
            let sum: f64 = (0..n)
                .map(|j| weights[at + j * m + i] * inputs[l - 1][j])
                .sum();
            let z = sum + weights[at + n * m + i];
            if l + 1 < SIZES.len() {
                1.0 / (1.0 + (-z).exp())
            } else {
                z
            }
        });
        let z = z.collect();
        inputs.push(z);
        starts.push(at);
        at += (n + 1) * m;
    }
    let top = &inputs[SIZES.len() - 1];
    let total: f64 = top.iter().map(|z| z.exp()).sum();
    let loss = s * (total.ln() - top[class]);
    let mut delta: Vec<f64> = (top.iter().enumerate())
        .map(|(c, z)| s * (z.exp() / total - f64::from(u8::from(c == class))))
        .collect();
    for l in (1..SIZES.len()).rev() {
        let (n, m, at) = (SIZES[l - 1], SIZES[l], starts[l - 1]);
        let a = &inputs[l - 1];
        for i in 0..m {
            (0..n).for_each(|j| gradient[at + j * m + i] += delta[i] * a[j]);
            gradient[at + n * m + i] += delta[i];
        }
        let below = (0..n).map(|j| {
            let sum: f64 = (0..m).map(|i| weights[at + j * m + i] * delta[i]).sum();
            sum * a[j] * (1.0 - a[j])
        });
        delta = below.collect();
    }
    loss
}

#[test]
fn one_step_on_golden_numbers() {
    let golden = golden("network");
    let sizes: Vec<usize> = (integers(&golden["layers"]).iter())
        .map(|&n| n as usize)
        .collect();
    let (labels, weights) = (numbers(&golden["labels"]), numbers(&golden["weights"]));
    let values = table(&golden["rows"]).concat();
    let view = MatrixView::dense(labels.len(), sizes[0], Values::F64(&values)).unwrap();
    let data = [SgdData::new(Columns::new(view).unwrap(), &labels, None, None).unwrap()];
    let params = DescentParams {
        layers: Layers::new(&sizes).unwrap(),
        batch: 1000,
        ..params(labels.len())
    };
    let mut blocks = Views::<LabelledRows>::new(&data).unwrap();
    let round = NetworkDescent::run(&params, &weights, &mut blocks, None).unwrap();
    let mean = numbers(&golden["gradient"])
        .into_iter()
        .map(|g| g / labels.len() as f64);
    let expected: Vec<f64> = (weights.iter().zip(mean))
        .map(|(w, g)| w - 0.4 * g)
        .collect();
    assert_close(&update(&round, &weights), &expected, "a step");
    let loss = golden["loss"].as_f64().unwrap();
    assert!((round.outcome().loss_sum - loss).abs() <= ROUNDING);
}

#[test]
fn steps_are_those_of_rows_in_their_order() {
    let (rows, shared) = (Rows::drawn(38, 1), drawn_weights());
    let params = DescentParams {
        budget: 50,
        cursor: 11,
        ..params(38)
    };
    let round = rows.whole(&params, &shared);
    // A bucket of so few rows has one, and a round stops in mid-epoch.
    let mut order = BucketOrder::new(38, 1, params.seed, params.partition).unwrap();
    let visited: Vec<usize> = (11..61).map(|cursor| order.at(cursor).start).collect();
    let (mut weights, mut loss) = (shared.clone(), 0.0);
    for batch in visited.chunks(params.batch) {
        let mut gradient = vec![0.0; weights.len()];
        for &i in batch {
            let x = &rows.values[SIZES[0] * i..][..SIZES[0]];
            let (class, s) = (rows.labels[i] as usize, rows.weights[i]);
            loss += of_row(&weights, x, class, s, &mut gradient);
        }
        // The last batch has one row, and makes a seventh of a step.
        let step = params.step / params.batch as f64;
        weights
            .iter_mut()
            .zip(&gradient)
            .for_each(|(w, g)| *w -= step * g);
    }
    assert_close(&update(&round, &shared), &weights, "eight steps");
    let outcome = round.outcome();
    assert!((outcome.loss_sum - loss).abs() <= ROUNDING);
    let weight: f64 = visited.iter().map(|&i| rows.weights[i]).sum();
    let expected = DescentOutcome {
        loss_sum: outcome.loss_sum,
        weight_sum: weight,
        rows: 50,
        nonzeros: 200,
        cursor: 61,
        diverged: false,
    };
    assert_eq!(outcome, expected);
}

#[test]
fn updates_of_two_workers_sum_to_their_average() {
    let shared = drawn_weights();
    let reached = |seed: u64, share: f64| {
        let params = DescentParams {
            share,
            ..params(40)
        };
        update(&Rows::drawn(40, seed).whole(&params, &shared), &shared)
    };
    let (one, two) = (reached(1, 1.0), reached(2, 1.0));
    assert_ne!(one, two);
    let average: Vec<f64> = one
        .iter()
        .zip(&two)
        .map(|(a, b)| 0.25 * a + 0.75 * b)
        .collect();
    let (one, two) = (reached(1, 0.25), reached(2, 0.75));
    let sum: Vec<f64> = one.iter().zip(&two).map(|(a, b)| a + b).collect();
    assert_eq!(sum, average);
}

#[test]
fn a_part_of_an_update_is_what_the_whole_has_there() {
    let shared = drawn_weights();
    let round = Rows::drawn(40, 1).whole(&params(40), &shared);
    let mut out = vec![0; 24];
    round
        .write_update(5, &bytes(&shared[5..8]), &mut out)
        .unwrap();
    assert_eq!(doubles(&out), update(&round, &shared)[5..8]);
    let refused = round.write_update(shared.len() - 2, &bytes(&shared[..3]), &mut out);
    assert!(refused.unwrap_err().to_string().contains("of a model"));
}

#[test]
fn what_diverges_leaves_the_shared_weights() {
    let (rows, shared) = (Rows::drawn(40, 1), drawn_weights());
    let params = DescentParams {
        step: f64::MAX,
        share: 0.5,
        ..params(400)
    };
    let round = rows.whole(&params, &shared);
    assert!(round.outcome().diverged && round.outcome().loss_sum == f64::INFINITY);
    let half: Vec<f64> = shared.iter().map(|w| 0.5 * w).collect();
    assert_eq!(update(&round, &shared), half);
}

#[test]
fn parameters_and_rows_that_do_not_fit_are_refused() {
    let (rows, shared) = (Rows::drawn(9, 1), drawn_weights());
    let refused = |params: &DescentParams, shared: &[f64]| {
        let round = rows.descend(params, shared, &[], |_| false, 0);
        round.err().unwrap().to_string()
    };
    let good = || params(9);
    assert!(
        refused(
            &DescentParams {
                budget: 0,
                ..good()
            },
            &shared
        )
        .contains("budget")
    );
    assert!(refused(&DescentParams { batch: 0, ..good() }, &shared).contains("batch"));
    for step in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(refused(&DescentParams { step, ..good() }, &shared).contains("step"));
    }
    assert!(
        refused(
            &DescentParams {
                share: 1.5,
                ..good()
            },
            &shared
        )
        .contains("share")
    );
    assert!(
        refused(
            &DescentParams {
                threads: 0,
                ..good()
            },
            &shared
        )
        .contains("threads")
    );
    assert!(refused(&good(), &shared[1..]).contains("the shared model has length"));
    let spoiled: Vec<f64> = shared.iter().map(|w| w / 0.0).collect();
    assert!(refused(&good(), &spoiled).contains("must be finite"));
    let wide = DescentParams {
        layers: Layers::new(&[5, 3]).unwrap(),
        ..good()
    };
    assert!(refused(&wide, &[0.0; 18]).contains("a row has length 4, expected 5"));
    let two = DescentParams {
        layers: Layers::new(&[4, 2]).unwrap(),
        ..good()
    };
    assert!(refused(&two, &[0.0; 10]).contains("there are 2 classes"));
}

proptest! {
    /// Cuts into blocks and the threads of the pool change no bit; the form of the rows and the members change the rounding alone.
    #[test]
    fn only_parameters_and_rows_decide(
        count in 1_usize..60, first in 0_usize..60, second in 0_usize..60, batch in 1_usize..80,
        threads in 1_usize..5, budget in 1_u64..150, seed in 0_u64..1000,
    ) {
        let (rows, shared) = (Rows::drawn(count, seed), drawn_weights());
        let params = DescentParams { seed, batch, threads, budget, ..params(count) };
        let cuts = [first.min(second).min(count), first.max(second).min(count)];
        let whole = rows.whole(&params, &shared);
        let expected = update(&whole, &shared);
        for pool in [0, 2] {
            let cut = rows.descend(&params, &shared, &cuts, |_| false, pool).unwrap();
            prop_assert_eq!(&update(&cut, &shared), &expected);
            prop_assert_eq!(cut.outcome(), whole.outcome());
        }
        let alone = rows.whole(&DescentParams { threads: 1, ..params.clone() }, &shared);
        let mixed = rows.descend(&params, &shared, &cuts, |b| b != 1, 0).unwrap();
        for other in [alone, mixed] {
            assert_close(&update(&other, &shared), &expected, "another rounding");
            prop_assert_eq!(other.outcome().cursor, whole.outcome().cursor);
            prop_assert_eq!(other.outcome().weight_sum, whole.outcome().weight_sum);
        }
    }

    /// An epoch without steps measures every row once, wherever it begins.
    #[test]
    fn an_epoch_visits_every_row_once(
        count in 1_usize..600, batch in 1_usize..300, threads in 1_usize..4, seed in 0_u64..1000,
    ) {
        let (rows, shared) = (Rows::drawn(count, seed), drawn_weights());
        let params = DescentParams { seed, batch, threads, step: 0.0, ..params(count) };
        let round = rows.whole(&params, &shared);
        let mut pass = NetworkPass::new(Layers::new(&SIZES).unwrap(), shared.clone()).unwrap();
        let view = MatrixView::dense(count, SIZES[0], Values::F64(&rows.values)).unwrap();
        let mut next = 0;
        while next < count {
            next = pass.take(view, rows.labels[..].into(), Some(rows.weights[..].into()), next).unwrap();
            pass.work().unwrap();
        }
        let (outcome, loss) = (round.outcome(), pass.outcome().loss);
        prop_assert_eq!(outcome.rows, count as u64);
        prop_assert_eq!(outcome.weight_sum, rows.weights.iter().sum::<f64>());
        prop_assert!((outcome.loss_sum - loss).abs() <= ROUNDING * loss);
        prop_assert_eq!(update(&round, &shared), shared);
    }
}
