//! Matrices in both forms: sparse, with the index of each entry, and dense, without.

use dwell_solvers::{Columns, MatrixView, Values};

/// Offsets, indices and values of vectors of one length. In the dense form there are no indices, and zeros are values.
pub fn stored<'a>(
    vectors: impl Iterator<Item = &'a Vec<f64>>,
    dense: bool,
) -> (Vec<i32>, Option<Vec<i32>>, Vec<f64>) {
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for vector in vectors {
        for (j, &value) in vector.iter().enumerate() {
            if dense || value != 0.0 {
                indices.push(j as i32);
                values.push(value);
            }
        }
        offsets.push(values.len() as i32);
    }
    (offsets, (!dense).then_some(indices), values)
}

/// The matrix, checked.
pub fn columns<'a>(
    length: usize,
    offsets: &'a [i32],
    indices: Option<&'a [i32]>,
    values: Values<'a>,
) -> Columns<'a> {
    match indices {
        Some(indices) => {
            MatrixView::sparse(length, offsets, indices, values).and_then(Columns::new)
        }
        None => MatrixView::dense(offsets.len() - 1, length, values).and_then(Columns::new),
    }
    .unwrap()
}
