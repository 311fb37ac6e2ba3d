//! Ridge regression on a file of lines `label,feature,feature,...`: `cargo run --example ridge [FILE]`.

use std::{env, error::Error, fs};

use dwell_solvers::{
    Loss, MatrixView, RowLoss,
    newton::Quadratic,
    pass::{PassLoss, PassParams, RowPass},
};
use ndarray::{Array2, s};

/// The coefficients and the intercept that minimise the mean of half the squared errors plus `l2` times half the squared coefficients.
pub fn train(path: &str, l2: f64) -> Result<Vec<f64>, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let numbers = text
        .lines()
        .flat_map(|line| line.split(','))
        .map(str::parse);
    let (numbers, count) = (
        numbers.collect::<Result<Vec<f64>, _>>()?,
        text.lines().count(),
    );
    let table = Array2::from_shape_vec((count, numbers.len() / count), numbers)?;
    let (labels, rows) = (
        table.column(0).to_owned(),
        table.slice(s![.., 1..]).to_owned(),
    );
    let (features, n) = (rows.ncols(), table.ncols());

    let loss = PassLoss::Row(RowLoss::Margin(Loss::Squared));
    let mut params = PassParams::at_zero(loss, true, features);
    (params.gradient, params.hessian) = (true, true);
    let mut pass = RowPass::new(params)?;
    let mut next = 0;
    while next < count {
        next = pass.take(MatrixView::Dense64(rows.view()), labels.view(), None, next)?;
        pass.work()?;
    }
    let mut means = vec![0.0; pass.length()];
    pass.write(&mut means)?;
    means.iter_mut().for_each(|sum| *sum /= count as f64);

    let mut squares = vec![l2; n];
    squares[features] = 0.0;
    let model = Quadratic {
        hessian: &means[n + 2 * features..],
        gradient: &means[..n],
        at: &vec![0.0; n],
        l1: &vec![0.0; n],
        l2: &squares,
        fixed: &vec![false; n],
        lower: &vec![f64::NEG_INFINITY; n],
        upper: &vec![f64::INFINITY; n],
        objective: pass.outcome().loss / count as f64,
    };
    Ok(model.minimise()?.step)
}

#[allow(dead_code, reason = "a test trains as well")]
fn main() -> Result<(), Box<dyn Error>> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/ridge.csv");
    let file = env::args().nth(1).unwrap_or_else(|| file.into());
    println!("{:.4?}", train(&file, 0.01)?);
    Ok(())
}
