//! Ridge regression on a file of lines `label,feature,feature,...`: `cargo run --example ridge [FILE]`.

use std::{error::Error, fs};

use dwell_solvers::{
    Loss, RowLoss, Values,
    newton::Quadratic,
    pass::{PassLoss, PassParams, PassRows, RowPass},
};

/// The coefficients and the intercept that minimise the mean of half the squared errors plus `l2` times half the squared coefficients.
pub fn train(path: &str, l2: f64) -> Result<Vec<f64>, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let rows: Vec<Vec<f64>> = text
        .lines()
        .map(|line| line.split(',').map(str::parse).collect())
        .collect::<Result<_, _>>()?;
    let labels: Vec<f64> = rows.iter().map(|row| row[0]).collect();
    let values: Vec<f64> = rows.iter().flat_map(|row| row[1..].to_vec()).collect();
    let (features, count) = (rows[0].len() - 1, rows.len() as f64);
    let n = features + 1;

    let loss = PassLoss::Row(RowLoss::Margin(Loss::Squared));
    let at_zero = PassParams::at_zero(loss, true, features);
    let mut pass = RowPass::new(PassParams {
        gradient: true,
        hessian: true,
        ..at_zero
    })?;
    let mut next = 0;
    while next < rows.len() {
        next = pass.take(PassRows::Dense(Values::F64(&values)), &labels, None, next)?;
        pass.work()?;
    }
    let mut sums = vec![0.0; pass.length()];
    pass.write(&mut sums)?;
    sums.iter_mut().for_each(|sum| *sum /= count);

    let (zeros, least, most) = (
        vec![0.0; n],
        vec![f64::NEG_INFINITY; n],
        vec![f64::INFINITY; n],
    );
    let mut squares = vec![l2; n];
    squares[features] = 0.0;
    let (gradient, hessian) = (&sums[..n], &sums[n + 2 * features..]);
    let model = Quadratic {
        hessian,
        gradient,
        at: &zeros,
        l1: &zeros,
        l2: &squares,
        fixed: &vec![false; n],
        lower: &least,
        upper: &most,
        objective: pass.outcome().loss / count,
    };
    Ok(model.minimise()?.step)
}

#[allow(dead_code, reason = "a test trains as well")]
fn main() -> Result<(), Box<dyn Error>> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/ridge.csv");
    println!(
        "{:.4?}",
        train(
            &std::env::args().nth(1).unwrap_or_else(|| file.into()),
            0.01
        )?
    );
    Ok(())
}
