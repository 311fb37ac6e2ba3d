//! Cases of passes: rows with labels, the parameters of a pass over them, and the pass in blocks.

mod expected;
mod refusals;
mod sums;

use proptest::prelude::*;

use super::*;
use crate::{
    base::{
        instructions::Kernel,
        matrix::{MatrixView, Values},
    },
    problem::{huber::Huber, loss::Loss, softmax::RowLoss},
};

const LOSSES: [PassLoss; 5] = [
    PassLoss::Row(RowLoss::Margin(Loss::Squared)),
    PassLoss::Row(RowLoss::Margin(Loss::Logistic)),
    PassLoss::Row(RowLoss::Margin(Loss::SquaredHinge)),
    PassLoss::Row(RowLoss::Softmax(3)),
    PassLoss::Scaled(Huber { epsilon: 1.25 }),
];

/// Rows of `p` features with labels 0 and 1, weights, and a centre.
#[derive(Debug, Clone)]
struct Case {
    p: usize,
    rows: Vec<Vec<f64>>,
    labels: Vec<f64>,
    weights: Vec<f64>,
    numbers: Vec<f64>,
}

fn case() -> impl Strategy<Value = Case> {
    (0_usize..12, 1_usize..400).prop_flat_map(|(p, m)| {
        // Eighths are exact as f32.
        let value = prop_oneof![Just(0.0), (-40_i32..40).prop_map(|x| f64::from(x) / 8.0)];
        let row = proptest::collection::vec(value, p);
        (
            proptest::collection::vec(row, m),
            // A softmax of three classes takes them, too.
            proptest::collection::vec(prop_oneof![Just(0.0), Just(1.0)], m),
            proptest::collection::vec(0.25..3.0, m),
            proptest::collection::vec(-1.0..1.0, 10 * p + 9),
        )
            .prop_map(move |(rows, labels, weights, numbers)| Case {
                p,
                rows,
                labels,
                weights,
                numbers,
            })
    })
}

/// All sums at the model 0, of rows as they are.
fn whole(loss: PassLoss, intercept: bool, features: usize) -> PassParams {
    PassParams {
        gradient: true,
        hessian: true,
        moments: true,
        ..PassParams::at_zero(loss, intercept, features)
    }
}

impl Case {
    fn params(&self, loss: PassLoss, intercept: bool) -> PassParams {
        let p = self.p;
        let n = loss.outputs() * (p + usize::from(intercept) + loss.scales());
        let mut model = self.numbers[p..p + n].to_vec();
        let mut direction: Vec<f64> = model.iter().rev().copied().collect();
        if loss.scales() > 0 {
            // At no step the scale is 0 or less.
            model[n - 1] = model[n - 1].abs() + 0.1;
            direction[n - 1] = 0.25 * model[n - 1];
        }
        PassParams {
            centre: if intercept {
                self.numbers[..p].to_vec()
            } else {
                vec![0.0; p]
            },
            model,
            direction,
            steps: vec![0.5, -2.0],
            reach: self.numbers[p + n..p + 2 * n]
                .iter()
                .map(|x| x.abs())
                .collect(),
            ..whole(loss, intercept, p)
        }
    }

    /// Runs a pass in blocks of `size` rows; dense blocks and sparse blocks in turn where both are given.
    fn run(
        &self,
        params: PassParams,
        kernel: Kernel,
        kinds: &[u8],
        size: usize,
    ) -> (Vec<f64>, PassOutcome) {
        let mut pass = RowPass::with_kernel(params, kernel).unwrap();
        for (k, from) in (0..self.rows.len()).step_by(size).enumerate() {
            let range = from..(from + size).min(self.rows.len());
            let rows = &self.rows[range.clone()];
            let dense: Vec<f64> = rows.concat();
            let narrow: Vec<f32> = dense.iter().map(|&x| x as f32).collect();
            let mut offsets = vec![0];
            let (mut indices, mut values) = (Vec::new(), Vec::new());
            for row in rows {
                for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                    indices.push(j as i32);
                    values.push(x);
                }
                offsets.push(indices.len() as i32);
            }
            let block = match kinds[k % kinds.len()] {
                0 => MatrixView::dense(rows.len(), self.p, Values::F64(&dense)),
                1 => MatrixView::dense(rows.len(), self.p, Values::F32(&narrow)),
                _ => MatrixView::sparse(self.p, &offsets, &indices, Values::F64(&values)),
            }
            .unwrap();
            let weights = Some(self.weights[range.clone()].into());
            pass.add(block, self.labels[range].into(), weights).unwrap();
        }
        read(&pass)
    }
}

fn read(pass: &RowPass) -> (Vec<f64>, PassOutcome) {
    let mut out = vec![f64::NAN; pass.length()];
    pass.write(&mut out).unwrap();
    (out, pass.outcome().clone())
}

/// The same model on rows as they are, with the sums of L-BFGS.
fn gradient_alone(params: PassParams) -> PassParams {
    PassParams {
        centre: vec![],
        direction: vec![],
        steps: vec![],
        reach: vec![],
        hessian: false,
        moments: false,
        ..params
    }
}

fn close(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= 1e-11 * (1.0 + scale)
}
