//! Dense algebra of Newton's method: the sums of the rows' products with themselves beside faer's, and the leader's factorisation, which is
//! faer's, for the forecasts.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use dwell_solvers::{
    Loss, MatrixView, RowLoss, Values,
    newton::Factor,
    pass::{PassLoss, PassParams, RowPass},
};
use faer::{
    Accum, Mat, MatRef, Par,
    linalg::matmul::triangular::{BlockStructure, matmul},
};

use crate::thread_time::ThreadTime;

/// Rows that a pass works on at a time.
const ROWS: usize = 256;

/// An element is a product: of two features of a row, or of two entries of the factor.
pub fn run(criterion: &mut Criterion<ThreadTime>) {
    let mut group = criterion.benchmark_group("dense");
    for n in [11, 29, 50, 100, 200, 400, 1000, 2000] {
        let rows: Vec<f64> = (0..ROWS * n)
            .map(|i| ((i * i) as f64 * 0.7).sin())
            .collect();
        let weights: Vec<f64> = (0..ROWS).map(|i| 0.5 + (i % 3) as f64).collect();
        let labels = vec![1.0; ROWS];
        group.throughput(Throughput::Elements((ROWS * n * n / 2) as u64));
        group.bench_function(format!("sums/{n}/dwell"), |b| {
            let mut pass = RowPass::new(params(n)).unwrap();
            b.iter(|| {
                let dense = MatrixView::dense(ROWS, n, Values::F64(&rows)).unwrap();
                pass.add(dense, (&labels).into(), Some((&weights).into()))
                    .unwrap();
            });
        });
        group.bench_function(format!("sums/{n}/faer"), |b| {
            let mut sums = Mat::<f64>::zeros(n, n);
            let mut weighted = vec![0.0; rows.len()];
            b.iter(|| {
                for ((to, from), weight) in
                    (weighted.chunks_mut(n)).zip(rows.chunks(n)).zip(&weights)
                {
                    for (to, from) in to.iter_mut().zip(from) {
                        *to = weight * from;
                    }
                }
                matmul(
                    sums.as_mut(),
                    BlockStructure::TriangularLower,
                    Accum::Add,
                    MatRef::from_column_major_slice(&weighted, n, ROWS),
                    BlockStructure::Rectangular,
                    MatRef::from_row_major_slice(&rows, ROWS, n),
                    BlockStructure::Rectangular,
                    1.0,
                    Par::Seq,
                );
                black_box(&sums);
            });
        });
        group.throughput(Throughput::Elements((n * n * n / 3) as u64));
        group.sample_size(10);
        group.bench_function(format!("factor/{n}"), |b| {
            let triangle: Vec<f64> = (0..n)
                .flat_map(|i| {
                    (0..=i).map(move |j| {
                        if i == j {
                            1.0
                        } else {
                            0.5 / (1 + i - j) as f64
                        }
                    })
                })
                .collect();
            let (more, all) = (vec![1.0; n], vec![false; n]);
            b.iter(|| Factor::new(black_box(&triangle), &more, &all).unwrap());
        });
    }
    group.finish();
}

/// The Hessian alone, of the squared loss.
fn params(features: usize) -> PassParams {
    PassParams {
        hessian: true,
        ..PassParams::at_zero(
            PassLoss::Row(RowLoss::Margin(Loss::Squared)),
            false,
            features,
        )
    }
}
