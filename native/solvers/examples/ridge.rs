//! Ridge regression on a file of lines `label,feature,feature,...`: `cargo run --example ridge [FILE]`.

use std::{env, error::Error, fs};

use dwell_solvers::{
    Loss, MatrixView, RowLoss, Values,
    newton::Factor,
    pass::{PassLoss, PassParams, RowPass},
};

/// The coefficients and the intercept that minimise the mean of half the squared errors plus `l2` times half the squared coefficients.
pub fn train(path: &str, l2: f64) -> Result<Vec<f64>, Box<dyn Error>> {
    let (mut labels, mut values) = (vec![], vec![]);
    for line in fs::read_to_string(path)?.lines() {
        let mut numbers = line.split(',').map(str::parse::<f64>);
        labels.extend(numbers.next().transpose()?);
        values.extend(numbers.collect::<Result<Vec<_>, _>>()?);
    }
    let p = values.len() / labels.len().max(1);
    let squared = PassLoss::Row(RowLoss::Margin(Loss::Squared));
    let mut params = PassParams::at_zero(squared, true, p);
    (params.gradient, params.hessian) = (true, true);
    let mut pass = RowPass::new(params)?;
    let rows = MatrixView::dense(labels.len(), p, Values::F64(&values))?;
    pass.add(rows, (&labels).into(), None)?;
    let mut sums = vec![0.0; pass.length()];
    pass.write(&mut sums)?;
    let squares = [vec![l2 * labels.len() as f64; p], vec![0.0]].concat();
    let factor = Factor::new(&sums[3 * p + 1..], &squares, &vec![false; p + 1])?;
    Ok(factor.solve(&sums[..=p]).iter().map(|x| -x).collect())
}

#[allow(dead_code, reason = "a test trains as well")]
fn main() -> Result<(), Box<dyn Error>> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/ridge.csv");
    let file = env::args().nth(1).unwrap_or_else(|| file.into());
    println!("{:.4?}", train(&file, 0.01)?);
    Ok(())
}
