//! Sums of features against plain ones.

use super::{FeatureSums, SUMS, sums::WIDTH};
use crate::base::{
    error::SolverError,
    matrix::{MatrixView, Values},
    order::SplitMix64,
};

const FEATURES: usize = 37;

/// Rows of which about a third is 0, with a constant feature and one that never occurs.
struct Data {
    dense: Vec<f64>,
    labels: Vec<f64>,
    weights: Vec<f64>,
}

impl Data {
    fn new(rows: usize, value: impl Fn(f64) -> f64) -> Self {
        let mut random = SplitMix64::for_epoch(7, 0, 0);
        let mut uniform = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let mut dense = vec![0.0; rows * FEATURES];
        for row in dense.chunks_mut(FEATURES) {
            for x in row.iter_mut() {
                *x = if uniform() < 0.3 {
                    0.0
                } else {
                    value(uniform())
                };
            }
            row[3] = 0.1;
            row[4] = 0.0;
        }
        Self {
            dense,
            labels: (0..rows).map(|i| f64::from(i % 3 == 0)).collect(),
            weights: (0..rows).map(|_| 0.5 + uniform()).collect(),
        }
    }

    fn rows(&self) -> usize {
        self.labels.len()
    }

    fn sparse(&self) -> (Vec<i32>, Vec<i32>, Vec<f64>) {
        let (mut offsets, mut indices, mut values) = (vec![0], vec![], vec![]);
        for row in self.dense.chunks(FEATURES) {
            for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                indices.push(j as i32);
                values.push(x);
            }
            offsets.push(indices.len() as i32);
        }
        (offsets, indices, values)
    }

    /// Count, weight, mean of the nonzeros, their squared differences from it, the sum over rows with a positive label.
    fn expected(&self, feature: usize, weighted: bool) -> [f64; 5] {
        let nonzeros = || {
            let column = self.dense.iter().skip(feature).step_by(FEATURES);
            let rows = column.enumerate().filter(|(_, x)| **x != 0.0);
            rows.map(|(i, &x)| (x, if weighted { self.weights[i] } else { 1.0 }, i))
        };
        let weight: f64 = nonzeros().map(|(_, s, _)| s).sum();
        let mean = nonzeros().map(|(x, s, _)| s * x).sum::<f64>() / weight;
        let positive = nonzeros().filter(|&(.., i)| self.labels[i] > 0.0);
        [
            nonzeros().count() as f64,
            weight,
            mean,
            nonzeros().map(|(x, s, _)| s * (x - mean).powi(2)).sum(),
            positive.map(|(x, s, _)| s * x).sum(),
        ]
    }
}

/// The sums of each feature after `parts` equal parts of the rows.
fn sums(
    matrix: MatrixView<'_>,
    data: &Data,
    weighted: bool,
    parts: usize,
) -> Vec<Option<[f64; SUMS]>> {
    let mut ones = vec![0; 2 * FEATURES];
    let mut positions = vec![0; FEATURES];
    let mut sums = vec![0.0; SUMS * FEATURES];
    let mut used = 0;
    let weights = weighted.then_some(&data.weights[..]);
    for part in 0..parts {
        let range = part * data.rows() / parts..(part + 1) * data.rows() / parts;
        let mut all = FeatureSums::new(&mut ones, &mut positions, &mut sums, used).unwrap();
        all.add(matrix, &data.labels, weights, range).unwrap();
        used = all.used();
    }
    let (sums, _) = sums.as_chunks();
    let found = positions
        .iter()
        .map(|&p| (p > 0).then(|| sums[p as usize - 1]));
    found.collect()
}

fn check(data: &Data, matrix: MatrixView<'_>, weighted: bool, parts: usize, width: f64) {
    let found = sums(matrix, data, weighted, parts);
    for (feature, found) in found.into_iter().enumerate() {
        let expected = data.expected(feature, weighted);
        let Some([count, weight, first, differences, squares, positive, wide]) = found else {
            assert_eq!(expected[0], 0.0, "feature {feature}");
            continue;
        };
        let mean = first + differences / weight;
        let about_mean = squares - differences * (differences / weight);
        let found = [count, weight, mean, about_mean, positive];
        for (number, (found, expected)) in found.into_iter().zip(expected).enumerate() {
            let scale = expected.abs().max(1e-3 * count);
            assert!(
                (found - expected).abs() <= 1e-13 * scale,
                "feature {feature}, number {number}: {found} and {expected}"
            );
        }
        if feature == 3 && width > 0.0 {
            assert_eq!((differences, squares), (0.0, 0.0), "a constant feature");
        } else {
            assert_eq!(wide, width, "feature {feature}");
        }
    }
}

#[test]
fn sums_are_those_of_two_visits() {
    let data = Data::new(500, |u| 7.0 * u - 2.0);
    let (offsets, indices, values) = data.sparse();
    let sparse = MatrixView::sparse(FEATURES, &offsets, &indices, Values::F64(&values)).unwrap();
    let dense = MatrixView::dense(500, FEATURES, Values::F64(&data.dense)).unwrap();
    for (weighted, parts) in [(false, 1), (true, 1), (false, 7), (true, 7)] {
        check(&data, sparse, weighted, parts, 2.0);
        check(&data, dense, weighted, parts, 2.0);
    }
}

#[test]
fn floats_and_ones_are_told_apart() {
    let halves = Data::new(100, |u| (3.0 + 6.0 * u).floor() / 2.0);
    let floats: Vec<f32> = halves.dense.iter().map(|&x| x as f32).collect();
    let dense = MatrixView::dense(100, FEATURES, Values::F32(&floats)).unwrap();
    let (offsets, indices, values) = halves.sparse();
    let sparse = MatrixView::sparse(FEATURES, &offsets, &indices, Values::F64(&values)).unwrap();
    let width =
        |matrix, data, feature: usize| sums(matrix, data, false, 1)[feature].unwrap()[WIDTH];
    assert_eq!(
        (width(dense, &halves, 0), width(sparse, &halves, 0)),
        (1.0, 1.0)
    );
    assert_eq!(width(sparse, &halves, 3), 2.0, "0.1 is no float");

    let mut ones = Data::new(100, |_| 1.0);
    ones.dense
        .iter_mut()
        .filter(|x| **x != 0.0)
        .for_each(|x| *x = 1.0);
    let (offsets, indices, _) = ones.sparse();
    let sparse = MatrixView::sparse(FEATURES, &offsets, &indices, Values::Ones).unwrap();
    let dense = MatrixView::dense(100, FEATURES, Values::F64(&ones.dense)).unwrap();
    check(&ones, sparse, true, 3, 0.0);
    check(&ones, dense, true, 3, 0.0);
    check(&ones, dense, false, 3, 0.0);
}

#[test]
fn ones_of_weight_one_are_counted() {
    let mut data = Data::new(100, |_| 1.0);
    data.dense
        .iter_mut()
        .filter(|x| **x != 0.0)
        .for_each(|x| *x = 1.0);
    let (offsets, indices, _) = data.sparse();
    let matrix = MatrixView::sparse(FEATURES, &offsets, &indices, Values::Ones).unwrap();
    let (mut ones, mut positions) = (vec![0; 2 * FEATURES], vec![0; FEATURES]);
    for range in [0..41, 41..100] {
        let mut all = FeatureSums::new(&mut ones, &mut positions, &mut [], 0).unwrap();
        all.add(matrix, &data.labels, None, range).unwrap();
        assert_eq!(all.used(), 0);
    }
    assert!(positions.iter().all(|&position| position == 0));
    let mut sums = vec![0.0; SUMS * FEATURES];
    let mut all = FeatureSums::new(&mut [], &mut positions, &mut sums, 0).unwrap();
    all.add(matrix, &data.labels, None, 0..100).unwrap();
    assert_eq!(all.used(), FEATURES - 1, "without counts ones have sums");
    for (feature, counts) in ones.chunks(2).enumerate() {
        let [count, .., positive] = data.expected(feature, false);
        assert_eq!(
            counts,
            [(count - positive) as i64, positive as i64],
            "feature {feature}"
        );
    }
}

#[test]
fn lengths_that_disagree_are_refused() {
    let values = [1.0, 2.0, 3.0, 4.0];
    let matrix = MatrixView::dense(2, 2, Values::F64(&values)).unwrap();
    let add = |features: usize, room: usize, labels: &[f64], weights| {
        let (mut ones, mut positions) = (vec![0; 2 * features], vec![0; features]);
        let mut sums = vec![0.0; SUMS * room];
        FeatureSums::new(&mut ones, &mut positions, &mut sums, 0)?.add(
            matrix,
            labels,
            weights,
            0..2,
        )
    };
    assert_eq!(add(2, 2, &[0.0, 1.0], None), Ok(()));
    let shape = |result: Result<(), SolverError>| matches!(result, Err(SolverError::Shape(_)));
    assert!(shape(add(3, 3, &[0.0, 1.0], None)));
    assert!(shape(add(2, 1, &[0.0, 1.0], None)));
    assert!(shape(add(2, 2, &[0.0], None)));
    assert!(shape(add(2, 2, &[0.0, 1.0], Some(&[1.0]))));
    assert!(FeatureSums::new(&mut [0; 4], &mut [0; 2], &mut [0.0; SUMS], 2).is_err());
    assert!(FeatureSums::new(&mut [0; 3], &mut [0; 2], &mut [0.0; SUMS], 1).is_err());
}
