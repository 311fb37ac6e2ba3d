//! Sums by their definitions.

use super::*;
use crate::problem::labels::Labels;

impl Case {
    /// Sums by their definitions.
    pub(super) fn expected(&self, params: &PassParams) -> (Vec<f64>, PassOutcome) {
        let (p, n) = (self.p, params.entries());
        let outputs = params.loss.outputs();
        let triangle = n * (n + 1) / 2;
        let mut vector = vec![0.0; outputs * n + 2 * p + params.pairs() * triangle];
        let mut outcome = PassOutcome {
            losses: vec![0.0; 2],
            rows: self.rows.len() as u64,
            ..PassOutcome::default()
        };
        for ((row, &label), &s) in self.rows.iter().zip(&self.labels).zip(&self.weights) {
            let mut x: Vec<f64> = row.iter().zip(&params.centre).map(|(x, c)| x - c).collect();
            if params.intercept {
                x.push(1.0);
            }
            let products = |w: &[f64]| -> Vec<f64> {
                let product = |c: usize| x.iter().zip(&w[c * n..]).map(|(x, w)| x * w).sum();
                (0..outputs).map(product).collect()
            };
            let y = if params.loss.labels() == Labels::Signed {
                2.0 * label - 1.0
            } else {
                label
            };
            let (z, along) = (products(&params.model), products(&params.direction));
            let scale = |w: &[f64]| {
                if params.loss.scales() > 0 {
                    w[n - 1]
                } else {
                    0.0
                }
            };
            let (sigma, towards) = (scale(&params.model), scale(&params.direction));
            let (l, first, mut second) = derivatives(params.loss, &z, y, sigma);
            outcome.loss += s * l;
            if params.loss.labels() == Labels::Signed {
                outcome.slopes[label as usize] += s * first[0].abs();
                outcome.slope_squares[label as usize] += s * first[0] * first[0];
            }
            for (sum, step) in outcome.losses.iter_mut().zip(&params.steps) {
                let moved: Vec<f64> = z.iter().zip(&along).map(|(z, d)| z + step * d).collect();
                *sum += s * derivatives(params.loss, &moved, y, sigma + step * towards).0;
            }
            // The scale: its entry, and its derivative.
            if params.loss.scales() > 0 {
                let ratio = -first[0];
                let is_replaced = params.majorise && second[0] == 0.0;
                if is_replaced {
                    second[0] = ratio / (y - z[0]);
                }
                x.push(if is_replaced { 0.0 } else { ratio });
                // Below, the entry adds its product with the slope.
                vector[n - 1] += 0.5 * s * (1.0 - ratio * ratio) - s * first[0] * x[n - 1];
            }
            let absolute: Vec<f64> = x.iter().map(|x| x.abs()).collect();
            let mut reaches: Vec<f64> = (0..outputs)
                .map(|c| {
                    absolute
                        .iter()
                        .zip(&params.reach[c * n..])
                        .map(|(x, r)| x * r)
                        .sum()
                })
                .collect();
            reaches.sort_by(|a, b| b.total_cmp(a));
            outcome.reach = outcome.reach.max(reaches.iter().take(2).sum());
            for i in 0..n {
                for c in 0..outputs {
                    vector[c * n + i] += s * first[c] * x[i];
                }
                if i < p {
                    vector[outputs * n + i] += s * x[i];
                    vector[outputs * n + p + i] += s * x[i] * x[i];
                }
                for j in 0..=i {
                    for (pair, second) in second.iter().enumerate() {
                        let at = outputs * n + 2 * p + pair * triangle + i * (i + 1) / 2 + j;
                        vector[at] += s * second * x[i] * x[j];
                    }
                }
            }
        }
        (vector, outcome)
    }
}

/// Value, first derivatives, and second ones by pairs of outputs.
fn derivatives(loss: PassLoss, z: &[f64], y: f64, sigma: f64) -> (f64, Vec<f64>, Vec<f64>) {
    match loss {
        PassLoss::Scaled(Huber { epsilon }) => {
            let (r, side) = (y - z[0], (y - z[0]).signum());
            if r.abs() <= epsilon * sigma {
                let value = 0.5 * (sigma + r * r / sigma);
                (value, vec![-r / sigma], vec![1.0 / sigma])
            } else {
                let value = 0.5 * (sigma + 2.0 * epsilon * r.abs() - epsilon * epsilon * sigma);
                (value, vec![-epsilon * side], vec![0.0])
            }
        }
        PassLoss::Row(RowLoss::Margin(loss)) => {
            let (l, first, second) = loss.all(z[0], y);
            (l, vec![first], vec![second])
        }
        PassLoss::Row(RowLoss::Softmax(outputs)) => {
            let total: f64 = z.iter().map(|z| z.exp()).sum();
            let q: Vec<f64> = z.iter().map(|z| z.exp() / total).collect();
            let is = |a: usize, b: usize| f64::from(u8::from(a == b));
            let first = (0..outputs).map(|c| q[c] - is(c, y as usize)).collect();
            let second = (0..outputs)
                .flat_map(|a| (0..=a).map(move |b| (a, b)))
                .map(|(a, b)| q[a] * (is(a, b) - q[b]))
                .collect();
            (total.ln() - z[y as usize], first, second)
        }
    }
}

/// A row's conjugate and dual variables.
pub(super) fn dual_variables(loss: RowLoss, dual: &[f64], z: &[f64], y: f64) -> (f64, Vec<f64>) {
    let (_, slopes, _) = derivatives(PassLoss::Row(loss), z, y, f64::NAN);
    match loss {
        RowLoss::Margin(loss) => {
            let a = match loss {
                Loss::Squared => y - z[0] - dual[0],
                _ => -slopes[0] * dual[usize::from(y > 0.0)],
            };
            (loss.conjugate(a, y), vec![a])
        }
        RowLoss::Softmax(_) => {
            let own = |c: usize| f64::from(u8::from(c == y as usize));
            let k = dual[dual.len() - 1];
            let mixed = |c: usize| (1.0 - dual[0]) * (slopes[c] + own(c)) + dual[0] * dual[1 + c];
            let moved = |c: usize| k * mixed(c) + (1.0 - k) * own(c);
            let q: Vec<f64> = (0..z.len()).map(moved).collect();
            let conjugate = q.iter().filter(|q| **q > 0.0).map(|q| q * q.ln()).sum();
            (
                conjugate,
                q.iter().enumerate().map(|(c, q)| own(c) - q).collect(),
            )
        }
    }
}
