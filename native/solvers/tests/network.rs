//! Losses and gradients of networks: golden numbers, finite differences, the softmax regression of a pass, and the forms of rows.

use crate::common;

use common::golden::{golden, integers, number, numbers, table};
use dwell_solvers::{
    MatrixView, RowLoss, SolverError, Values,
    network::{Layers, NetworkPass},
    order::SplitMix64,
    pass::{PassLoss, PassParams, RowPass},
};

/// Sums of a few hundred terms of size 1, in another order.
const ROUNDING: f64 = 1e-11;

/// Rows in all forms.
struct Rows {
    features: usize,
    values: Vec<f64>,
    narrow: Vec<f32>,
    labels: Vec<f64>,
}

impl Rows {
    fn new(features: usize, values: Vec<f64>, labels: Vec<f64>) -> Self {
        let narrow = values.iter().map(|&x| x as f32).collect();
        Self {
            features,
            values,
            narrow,
            labels,
        }
    }

    /// Quarters between -2 and 2, of which every third is 0.
    fn drawn(features: usize, classes: usize, count: usize) -> Self {
        let mut random = SplitMix64::for_epoch(3, 0, 0);
        let values = (0..features * count).map(|k| {
            let quarters = (random.next_u64() % 17) as f64 / 4.0 - 2.0;
            if k % 3 == 0 { 0.0 } else { quarters }
        });
        let values = values.collect();
        let labels = (0..count).map(|_| (random.next_u64() % classes as u64) as f64);
        Self::new(features, values, labels.collect())
    }

    /// Adds the rows from `from` to `to` to a pass, as dense or as sparse ones.
    fn add(&self, pass: &mut NetworkPass, from: usize, to: usize, form: &str) {
        let (p, count) = (self.features, to - from);
        let values = &self.values[from * p..to * p];
        let narrow = &self.narrow[from * p..to * p];
        let (mut offsets, mut indices) = (vec![0], Vec::new());
        let (mut stored, mut stored_narrow) = (Vec::new(), Vec::new());
        for row in values.chunks(p) {
            for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                indices.push(j as i32);
                stored.push(x);
                stored_narrow.push(x as f32);
            }
            offsets.push(indices.len() as i32);
        }
        let rows = match form {
            "dense32" => MatrixView::dense(count, p, Values::F32(narrow)),
            "sparse64" => MatrixView::sparse(p, &offsets, &indices, Values::F64(&stored)),
            "sparse32" => MatrixView::sparse(p, &offsets, &indices, Values::F32(&stored_narrow)),
            _ => MatrixView::dense(count, p, Values::F64(values)),
        }
        .unwrap();
        added(pass, rows, &self.labels[from..to], None).unwrap();
    }
}

fn added(
    pass: &mut NetworkPass,
    rows: MatrixView<'_>,
    labels: &[f64],
    weights: Option<&[f64]>,
) -> Result<(), SolverError> {
    let mut next = 0;
    while next < labels.len() {
        next = pass.take(rows, labels.into(), weights.map(Into::into), next)?;
        pass.work()?;
    }
    Ok(())
}

fn pass(sizes: &[usize], weights: Vec<f64>) -> NetworkPass {
    NetworkPass::new(Layers::new(sizes).unwrap(), weights).unwrap()
}

fn drawn_weights(sizes: &[usize]) -> Vec<f64> {
    let mut random = SplitMix64::for_epoch(5, 0, 0);
    (0..Layers::new(sizes).unwrap().weights())
        .map(|_| (random.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
        .collect()
}

fn assert_close(actual: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(actual.len(), expected.len());
    for (k, (a, e)) in actual.iter().zip(expected).enumerate() {
        assert!(
            (a - e).abs() <= tolerance,
            "{what}, weight {k}: {a}, not {e}"
        );
    }
}

#[test]
fn golden_numbers() {
    let golden = golden("network");
    let sizes: Vec<usize> = (integers(&golden["layers"]).iter())
        .map(|&n| n as usize)
        .collect();
    let labels = numbers(&golden["labels"]);
    let count = labels.len();
    let rows = Rows::new(sizes[0], table(&golden["rows"]).concat(), labels);
    for form in ["dense64", "sparse64"] {
        let mut pass = pass(&sizes, numbers(&golden["weights"]));
        rows.add(&mut pass, 0, count, form);
        let loss = pass.outcome().loss;
        assert!((loss - number(&golden["loss"])).abs() <= ROUNDING, "{loss}");
        assert_close(
            pass.gradient(),
            &numbers(&golden["gradient"]),
            ROUNDING,
            form,
        );
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    // The truncation of central differences, with losses whose rounding is 1e-13.
    const STEP: f64 = 1e-5;
    const TOLERANCE: f64 = 1e-6;
    for sizes in [&[6, 3][..], &[6, 5, 3], &[6, 7, 4, 3]] {
        let (rows, weights) = (Rows::drawn(6, 3, 300), drawn_weights(sizes));
        let loss = |weights: Vec<f64>| {
            let mut pass = pass(sizes, weights);
            rows.add(&mut pass, 0, 300, "dense64");
            (pass.outcome().loss, pass.gradient().to_vec())
        };
        let (_, gradient) = loss(weights.clone());
        let slopes: Vec<f64> = (0..weights.len())
            .map(|k| {
                let moved = |by: f64| {
                    let mut moved = weights.clone();
                    moved[k] += by;
                    loss(moved).0
                };
                (moved(STEP) - moved(-STEP)) / (2.0 * STEP)
            })
            .collect();
        assert_close(&gradient, &slopes, TOLERANCE, &format!("{sizes:?}"));
    }
}

#[test]
fn no_hidden_layer_is_softmax_regression() {
    let (p, classes, count) = (4, 3, 90);
    let rows = Rows::drawn(p, classes, count);
    let (weights, of_rows) = (drawn_weights(&[p, classes]), vec![2.5; count]);
    let view = MatrixView::dense(count, p, Values::F64(&rows.values)).unwrap();
    let mut network = pass(&[p, classes], weights.clone());
    added(&mut network, view, &rows.labels, Some(&of_rows)).unwrap();
    // The pass has the numbers of an output side by side.
    let place = |c: usize, j: usize| {
        if j < p {
            j * classes + c
        } else {
            p * classes + c
        }
    };
    let places: Vec<usize> = (0..classes)
        .flat_map(|c| (0..=p).map(move |j| place(c, j)))
        .collect();
    let mut regression = RowPass::new(PassParams {
        model: places.iter().map(|&k| weights[k]).collect(),
        gradient: true,
        ..PassParams::at_zero(PassLoss::Row(RowLoss::Softmax(classes)), true, p)
    })
    .unwrap();
    regression
        .add(view, rows.labels[..].into(), Some(of_rows[..].into()))
        .unwrap();
    let mut expected = vec![0.0; regression.length()];
    regression.write(&mut expected).unwrap();
    let gradient: Vec<f64> = places.iter().map(|&k| network.gradient()[k]).collect();
    assert_close(&gradient, &expected, ROUNDING, "gradient");
    let (own, others) = (network.outcome(), regression.outcome());
    assert!((own.loss - others.loss).abs() <= ROUNDING * others.loss);
    assert_eq!((own.rows, own.entries), (others.rows, others.entries));
}

#[test]
fn forms_and_blocks_of_rows_make_no_difference() {
    let sizes = [6, 7, 4, 3];
    let (rows, weights) = (Rows::drawn(6, 3, 700), drawn_weights(&sizes));
    let mut whole = pass(&sizes, weights.clone());
    rows.add(&mut whole, 0, 700, "dense64");
    for form in ["dense64", "dense32", "sparse64", "sparse32"] {
        let mut first = pass(&sizes, weights.clone());
        let mut second = first.fork().unwrap();
        rows.add(&mut first, 0, 1, form);
        rows.add(&mut second, 1, 400, form);
        rows.add(&mut second, 400, 700, form);
        first.join(&second).unwrap();
        assert_close(first.gradient(), whole.gradient(), ROUNDING, form);
        let (loss, expected) = (first.outcome().loss, whole.outcome().loss);
        assert!(
            (loss - expected).abs() <= ROUNDING * expected,
            "{form}: {loss}"
        );
        assert_eq!(first.outcome().rows, 700);
    }
}

#[test]
fn sparse_ones() {
    let (sizes, offsets, indices) = ([3, 2, 2], [0, 2, 3], [0, 2, 1]);
    let ones = MatrixView::sparse(3, &offsets, &indices, Values::Ones).unwrap();
    let dense = MatrixView::dense(2, 3, Values::F32(&[1.0, 0.0, 1.0, 0.0, 1.0, 0.0])).unwrap();
    let [sparse, dense] = [ones, dense].map(|rows| {
        let mut pass = pass(&sizes, drawn_weights(&sizes));
        added(&mut pass, rows, &[0.0, 1.0], None).unwrap();
        pass.gradient().to_vec()
    });
    assert_close(&sparse, &dense, ROUNDING, "ones");
}

#[test]
fn units_that_are_saturated_keep_their_loss_finite() {
    let sizes = [1, 2, 2];
    let row = MatrixView::dense(1, 1, Values::F64(&[1e6])).unwrap();
    let loss = |scale: f64| {
        let mut pass = pass(
            &sizes,
            vec![scale, -scale, 0.0, 0.0, 1e4, -1e4, 0.0, 0.0, 0.0, 0.0],
        );
        added(&mut pass, row, &[1.0], None).unwrap();
        (pass.outcome().loss, pass.gradient().iter().sum::<f64>())
    };
    // The first unit is 1, the second one 0: the classes differ by 2e4.
    assert_eq!(loss(1e4).0, 2e4);
    assert!(loss(1e4).1.is_finite());
    assert!(loss(f64::NAN).0.is_nan());
}

#[test]
fn what_is_no_network_is_refused() {
    let refused = |sizes: &[usize]| Layers::new(sizes).unwrap_err().to_string();
    assert!(refused(&[3]).contains("at least 2"));
    assert!(refused(&[3, 0, 2]).contains("at least 1"));
    assert!(refused(&[usize::MAX, 2]).contains("too many"));
    let layers = Layers::new(&[3, 2]).unwrap();
    assert_eq!(
        (layers.features(), layers.classes(), layers.weights()),
        (3, 2, 8)
    );
    let short = NetworkPass::new(layers, vec![0.0; 7]).err().unwrap();
    assert!(short.to_string().contains("weights has length 7"));
    let mut own = pass(&[3, 2], vec![0.0; 8]);
    let row = MatrixView::dense(1, 3, Values::F64(&[1.0; 3])).unwrap();
    let error = |pass: &mut NetworkPass, label: f64| added(pass, row, &[label], None).unwrap_err();
    for label in [2.0, -1.0, f64::NAN] {
        assert!(error(&mut own, label).to_string().contains("2 classes"));
    }
    let wide = MatrixView::dense(1, 4, Values::F64(&[1.0; 4])).unwrap();
    let error = added(&mut own, wide, &[0.0], None).unwrap_err();
    assert!(error.to_string().contains("length 4, expected 3"));
    let other = pass(&[3, 2], vec![1.0; 8]);
    assert!(
        own.join(&other)
            .unwrap_err()
            .to_string()
            .contains("other networks")
    );
    assert_eq!(own.outcome().rows, 0);
}
