//! The work on a batch of rows. Dense products are faer's.
//!
//! Numbers of units and rows lie row after row. The order of additions is fixed by the rows of the batch.

use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};

use super::layers::{Affine, Layers};
use crate::{
    base::{
        elementary::{exp, ln_1p},
        error::{SolverError, reserve_in},
        instructions::vectorised,
    },
    pass::chunk::{CHUNK, Chunk},
};

/// Numbers of the widest layer of a batch: about as many as the second level of cache holds.
const ROOM: usize = 1 << 16;

/// Fewer rows would visit all weights too often.
const LEAST_ROWS: usize = 64;

/// The most rows to work on at once.
pub(super) fn most_rows(layers: &Layers, is_dense: bool) -> usize {
    let inputs = if is_dense { layers.features() } else { 1 };
    (ROOM / layers.widest().max(inputs)).clamp(LEAST_ROWS, CHUNK)
}

/// Room for the numbers of a batch.
#[derive(Default)]
pub(super) struct Batch {
    /// For each affine layer what comes out of it; of the last one the derivatives of the losses by it.
    outputs: Vec<Vec<f64>>,
    deltas: Vec<f64>,
    spare: Vec<f64>,
}

impl Batch {
    /// The numbers that it holds, about.
    pub(super) fn numbers(&self) -> usize {
        let outputs: usize = self.outputs.iter().map(Vec::capacity).sum();
        outputs + self.deltas.capacity() + self.spare.capacity()
    }

    /// Sums the weighted losses of some rows, and adds their gradient to `gradient`.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub(super) fn add(
        &mut self,
        layers: &Layers,
        weights: &[f64],
        rows: &Chunk,
        gradient: &mut [f64],
    ) -> Result<f64, SolverError> {
        self.reserve(layers, rows.rows)?;
        self.forward(layers, weights, rows);
        let top = self
            .outputs
            .last_mut()
            .map_or(&mut [][..], |top| &mut top[..]);
        let mut loss = 0.0;
        let labelled = rows.labels.iter().zip(&rows.weights);
        for (z, (&label, &weight)) in top.chunks_exact_mut(layers.classes()).zip(labelled) {
            loss += weight * cross_entropy(z, label as usize);
            z.iter_mut().for_each(|z| *z *= weight);
        }
        self.backward(layers, weights, rows, gradient);
        Ok(loss)
    }

    fn reserve(&mut self, layers: &Layers, rows: usize) -> Result<(), SolverError> {
        self.outputs.resize(layers.affine().len(), Vec::new());
        for (outputs, layer) in self.outputs.iter_mut().zip(layers.affine()) {
            zeros(outputs, layer.outputs * rows)?;
        }
        zeros(&mut self.deltas, layers.widest() * rows)?;
        zeros(&mut self.spare, layers.widest() * rows)
    }

    fn forward(&mut self, layers: &Layers, weights: &[f64], rows: &Chunk) {
        let count = layers.affine().len();
        for (l, layer) in layers.affine().iter().enumerate() {
            let (below, above) = self.outputs.split_at_mut(l);
            let z = &mut above[0][..];
            for z in z.chunks_exact_mut(layer.outputs) {
                z.copy_from_slice(&weights[layer.bias.clone()]);
            }
            let matrix = &weights[layer.matrix.clone()];
            match below.last() {
                None if rows.is_sparse => vectorised(|| add_sparse(layer, matrix, rows, z)),
                inputs => {
                    let inputs = inputs.map_or(&rows.values[..], |inputs| &inputs[..]);
                    let w = MatRef::from_column_major_slice(matrix, layer.outputs, layer.inputs);
                    let a = MatRef::from_column_major_slice(inputs, layer.inputs, rows.rows);
                    let z = MatMut::from_column_major_slice_mut(z, layer.outputs, rows.rows);
                    matmul(z, Accum::Add, w, a, 1.0, Par::Seq);
                }
            }
            if l + 1 < count {
                vectorised(|| z.iter_mut().for_each(|z| *z = sigmoid(*z)));
            }
        }
    }

    /// Takes the derivatives of the losses by what comes out of the last layer as its outputs.
    fn backward(&mut self, layers: &Layers, weights: &[f64], rows: &Chunk, gradient: &mut [f64]) {
        let Some(top) = self.outputs.last() else {
            return;
        };
        self.deltas[..top.len()].copy_from_slice(top);
        for (l, layer) in layers.affine().iter().enumerate().rev() {
            let deltas = &self.deltas[..layer.outputs * rows.rows];
            let d = MatRef::from_column_major_slice(deltas, layer.outputs, rows.rows);
            let bias = &mut gradient[layer.bias.clone()];
            for deltas in deltas.chunks_exact(layer.outputs) {
                bias.iter_mut().zip(deltas).for_each(|(sum, d)| *sum += d);
            }
            let matrix = &mut gradient[layer.matrix.clone()];
            if l == 0 && rows.is_sparse {
                vectorised(|| add_outer(layer, deltas, rows, matrix));
                return;
            }
            let inputs = if l == 0 {
                &rows.values
            } else {
                &self.outputs[l - 1]
            };
            let a = MatRef::from_row_major_slice(inputs, rows.rows, layer.inputs);
            let dw = MatMut::from_column_major_slice_mut(matrix, layer.outputs, layer.inputs);
            matmul(dw, Accum::Add, d, a, 1.0, Par::Seq);
            if l == 0 {
                return;
            }
            let matrix = &weights[layer.matrix.clone()];
            let w = MatRef::from_row_major_slice(matrix, layer.inputs, layer.outputs);
            let below = &mut self.spare[..layer.inputs * rows.rows];
            let down = MatMut::from_column_major_slice_mut(below, layer.inputs, rows.rows);
            matmul(down, Accum::Replace, w, d, 1.0, Par::Seq);
            below
                .iter_mut()
                .zip(inputs)
                .for_each(|(d, a)| *d *= a * (1.0 - a));
            std::mem::swap(&mut self.deltas, &mut self.spare);
        }
    }
}

/// Makes `numbers` that many zeros.
fn zeros(numbers: &mut Vec<f64>, length: usize) -> Result<(), SolverError> {
    *numbers = reserve_in(std::mem::take(numbers), length, "a batch of a network")?;
    numbers.resize(length, 0.0);
    Ok(())
}

/// Adds `W x` of sparse rows, entry by entry.
#[inline(always)]
fn add_sparse(layer: &Affine, matrix: &[f64], rows: &Chunk, z: &mut [f64]) {
    for (i, z) in z.chunks_exact_mut(layer.outputs).enumerate() {
        let (indices, values) = rows.row(i);
        for (&k, x) in indices.iter().zip(values) {
            let column = &matrix[k as usize * layer.outputs..][..layer.outputs];
            z.iter_mut().zip(column).for_each(|(z, w)| *z += w * x);
        }
    }
}

/// Adds `d x^T` of sparse rows, entry by entry.
#[inline(always)]
fn add_outer(layer: &Affine, deltas: &[f64], rows: &Chunk, matrix: &mut [f64]) {
    for (i, deltas) in deltas.chunks_exact(layer.outputs).enumerate() {
        let (indices, values) = rows.row(i);
        for (&k, x) in indices.iter().zip(values) {
            let column = &mut matrix[k as usize * layer.outputs..][..layer.outputs];
            column
                .iter_mut()
                .zip(deltas)
                .for_each(|(sum, d)| *sum += d * x);
        }
    }
}

#[inline(always)]
fn sigmoid(z: f64) -> f64 {
    let e = exp(-z.abs());
    let larger = 1.0 / (1.0 + e);
    if z < 0.0 { e * larger } else { larger }
}

/// `-log softmax(z)_y`, and its derivative in the place of z. No exponent is positive, and a small loss keeps its digits.
fn cross_entropy(z: &mut [f64], y: usize) -> f64 {
    let top = (1..z.len()).fold(0, |top, c| if z[c] > z[top] { c } else { top });
    let (largest, own) = (z[top], z[y]);
    let mut others = 0.0;
    for (c, z) in z.iter_mut().enumerate() {
        *z = exp(*z - largest);
        others += if c == top { 0.0 } else { *z };
    }
    z.iter_mut().for_each(|z| *z /= 1.0 + others);
    z[y] -= 1.0;
    // The logarithm of NaN is a number, and would hide it.
    (largest - own) + (ln_1p(others) + 0.0 * others)
}
