//! Symmetric sums of weighted outer products of rows, `sum_k weight_k x_k x_k^T`: the lower triangle. Products of dense rows are faer's.
//!
//! The order of additions is fixed by the calls and their rows.

use faer::{
    Accum, MatMut, MatRef, Par,
    linalg::matmul::triangular::{BlockStructure, matmul},
};

use crate::base::error::{SolverError, reserve, reserve_in};

/// Sums `sum_k weight_k x_k x_k^T` of rows with `n` entries.
#[derive(Debug)]
pub(crate) struct Gram {
    n: usize,
    /// A matrix row by row, of which the lower triangle is used.
    sums: Vec<f64>,
}

impl Gram {
    /// The sums of no rows; `n` is at least 1.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub(crate) fn zeros(n: usize) -> Result<Self, SolverError> {
        let mut sums = reserve(n * n, "the sums of products")?;
        sums.resize(n * n, 0.0);
        Ok(Self { n, sums })
    }

    /// Adds rows that lie one after the other in `rows`. `room` is for the rows times their weights.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub(crate) fn add(
        &mut self,
        rows: &[f64],
        weights: &[f64],
        room: &mut Vec<f64>,
    ) -> Result<(), SolverError> {
        let (n, k) = (self.n, weights.len());
        assert_eq!(rows.len(), n * k);
        *room = reserve_in(std::mem::take(room), rows.len(), "weighted rows")?;
        for (row, weight) in rows.chunks(n).zip(weights) {
            room.extend(row.iter().map(|x| weight * x));
        }
        matmul(
            MatMut::from_row_major_slice_mut(&mut self.sums, n, n),
            BlockStructure::TriangularLower,
            Accum::Add,
            MatRef::from_column_major_slice(room, n, k),
            BlockStructure::Rectangular,
            MatRef::from_row_major_slice(rows, k, n),
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
        Ok(())
    }

    /// Adds one sparse row, whose `indices` ascend.
    pub(crate) fn add_sparse(&mut self, indices: &[i32], values: &[f64], weight: f64) {
        assert_eq!(indices.len(), values.len());
        debug_assert!(indices.is_sorted());
        for (last, (&i, &value)) in indices.iter().zip(values).enumerate() {
            let i = i as usize;
            let value = weight * value;
            let row = &mut self.sums[i * self.n..][..=i];
            for (&j, other) in indices[..=last].iter().zip(values) {
                row[j as usize] += value * other;
            }
        }
    }

    /// Adds the sums of other rows with as many entries.
    pub(crate) fn join(&mut self, other: &Self) {
        assert_eq!(self.n, other.n);
        for i in 0..self.n {
            let row = i * self.n..i * self.n + i + 1;
            add(&mut self.sums[row.clone()], &other.sums[row]);
        }
    }

    /// Writes the lower triangle, packed row by row: entry (i, j) at `i (i + 1) / 2 + j`.
    pub(crate) fn write(&self, out: &mut [f64]) {
        assert_eq!(out.len(), self.n * (self.n + 1) / 2);
        let mut rest = out;
        for i in 0..self.n {
            let (row, after) = rest.split_at_mut(i + 1);
            rest = after;
            row.copy_from_slice(&self.sums[i * self.n..][..=i]);
        }
    }
}

/// Adds numbers to as many others.
pub(crate) fn add(sums: &mut [f64], more: &[f64]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::order::SplitMix64;

    const SIZES: [usize; 6] = [1, 2, 7, 29, 65, 130];

    /// Numbers between -1 and 1.
    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut random = SplitMix64::for_epoch(seed, 0, 0);
        (0..count)
            .map(|_| (random.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
            .collect()
    }

    fn naive(n: usize, rows: &[f64], weights: &[f64]) -> Vec<f64> {
        let mut sums = Vec::new();
        for i in 0..n {
            for j in 0..=i {
                let terms = rows.chunks(n).zip(weights);
                sums.push(terms.map(|(x, weight)| weight * x[i] * x[j]).sum());
            }
        }
        sums
    }

    fn written(gram: &Gram) -> Vec<f64> {
        let mut out = vec![f64::NAN; gram.n * (gram.n + 1) / 2];
        gram.write(&mut out);
        out
    }

    fn assert_close(actual: &[f64], expected: &[f64], what: &str) {
        assert_eq!(actual.len(), expected.len());
        for (place, (a, e)) in actual.iter().zip(expected).enumerate() {
            assert!((a - e).abs() < 1e-12, "{what}, place {place}: {a}, not {e}");
        }
    }

    fn bits(numbers: &[f64]) -> Vec<u64> {
        numbers.iter().map(|x| x.to_bits()).collect()
    }

    /// Some weights are zero, some negative.
    fn weights(count: usize) -> Vec<f64> {
        let mut weights = numbers(count, 2);
        weights.iter_mut().step_by(5).for_each(|w| *w = 0.0);
        weights
    }

    #[test]
    fn sums_are_those_of_a_plain_loop() {
        for n in SIZES {
            for k in [0, 1, 63, 200] {
                let (rows, weights) = (numbers(n * k, 1), weights(k));
                let mut gram = Gram::zeros(n).unwrap();
                gram.add(&rows, &weights, &mut Vec::new()).unwrap();
                let what = format!("n = {n}, k = {k}");
                assert_close(&written(&gram), &naive(n, &rows, &weights), &what);
            }
        }
    }

    #[test]
    fn calls_add_up_and_equal_calls_give_equal_bits() {
        for n in SIZES {
            let (rows, weights) = (numbers(n * 90, 3), weights(90));
            let run = |shift: usize| {
                // Elsewhere in memory.
                let mut moved = vec![0.0; shift];
                moved.extend(&rows);
                let rows = &moved[shift..];
                let mut gram = Gram::zeros(n).unwrap();
                let mut room = Vec::new();
                let mut add = |rows, weights| gram.add(rows, weights, &mut room).unwrap();
                add(&rows[..n * 64], &weights[..64]);
                add(&[], &[]);
                add(&rows[n * 64..], &weights[64..]);
                written(&gram)
            };
            let once = run(0);
            assert_close(&once, &naive(n, &rows, &weights), &format!("n = {n}"));
            assert_eq!(bits(&once), bits(&run(3)), "n = {n}");
        }
    }

    #[test]
    fn sparse_rows_count_as_dense_ones() {
        for n in SIZES {
            let rows = numbers(n * 40, 4);
            let weights = weights(40);
            let mut gram = Gram::zeros(n).unwrap();
            let mut dense = vec![0.0; n * 40];
            for (at, (row, &weight)) in rows.chunks(n).zip(&weights).enumerate() {
                let indices: Vec<i32> = (0..n as i32)
                    .filter(|j| (j * 7 + at as i32) % 3 == 0)
                    .collect();
                let values: Vec<f64> = indices.iter().map(|&j| row[j as usize]).collect();
                for (&j, &value) in indices.iter().zip(&values) {
                    dense[at * n + j as usize] = value;
                }
                gram.add_sparse(&indices, &values, weight);
            }
            // Dense rows after sparse ones.
            gram.add(&rows, &weights, &mut Vec::new()).unwrap();
            let mut expected = naive(n, &dense, &weights);
            for (sum, more) in expected.iter_mut().zip(naive(n, &rows, &weights)) {
                *sum += more;
            }
            assert_close(&written(&gram), &expected, &format!("n = {n}"));
        }
    }

    #[test]
    fn what_is_not_finite_stays_in_its_row_and_column() {
        for bad in [f64::NAN, f64::INFINITY] {
            let (n, k) = (30, 5);
            let mut rows = numbers(n * k, 5);
            rows[2 * n + 11] = bad;
            let mut gram = Gram::zeros(n).unwrap();
            gram.add(&rows, &vec![1.0; k], &mut Vec::new()).unwrap();
            let sums = written(&gram);
            for i in 0..n {
                for j in 0..=i {
                    let finite = sums[i * (i + 1) / 2 + j].is_finite();
                    assert_eq!(finite, i != 11 && j != 11, "({i}, {j})");
                }
            }
        }
    }
}
