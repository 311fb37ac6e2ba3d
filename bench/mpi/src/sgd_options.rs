//! The command line of MA-SGD.

use std::{ffi::OsString, path::PathBuf};

use crate::{
    failure::Failure,
    options::{given, pairs},
};

/// The options of the program.
#[derive(Debug, Clone, PartialEq)]
pub struct SgdOptions {
    /// `--data`: directory of the partitions.
    pub data: PathBuf,
    /// `--step`: eta0, finite and positive.
    pub step: f64,
    /// `--steps`: rounds after which to keep the model, at least 1, rising; the last is the number of rounds.
    pub steps: Vec<usize>,
    /// `--output`: directory for `history.json` and the models.
    pub output: PathBuf,
}

impl SgdOptions {
    /// `arguments`: pairs of a name and a value, each once, in any order.
    ///
    /// # Errors
    /// Names the option that is unknown, missing, given twice or out of range.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, Failure> {
        let names = ["--data", "--step", "--steps", "--output"];
        let [data, step, steps, output] = pairs(names, arguments)?;
        Ok(Self {
            data: given("--data", data)?.into(),
            step: step_of(&given("--step", step)?.to_string_lossy())?,
            steps: steps_of(&given("--steps", steps)?.to_string_lossy())?,
            output: given("--output", output)?.into(),
        })
    }
}

fn step_of(text: &str) -> Result<f64, Failure> {
    match text.parse() {
        Ok(step) if f64::is_finite(step) && step > 0.0 => Ok(step),
        _ => Err(Failure::new(
            "--step",
            format!("{text:?} must be a finite and positive number"),
        )),
    }
}

/// Whole numbers, which may look like `3.0`: other programs count passes and fractions of passes.
fn steps_of(text: &str) -> Result<Vec<usize>, Failure> {
    let wrong = |reason: String| Failure::new("--steps", reason);
    let steps = text
        .split(',')
        .map(|part| match part.parse::<f64>() {
            Ok(step) if (1.0..=f64::from(u32::MAX)).contains(&step) && step.fract() == 0.0 => {
                Ok(step as usize)
            }
            _ => Err(wrong(format!(
                "{part:?} in {text:?} must be a whole number of at least 1"
            ))),
        })
        .collect::<Result<Vec<_>, _>>()?;
    if steps.is_sorted_by(|a, b| a < b) {
        Ok(steps)
    } else {
        Err(wrong(format!("{text:?} must rise")))
    }
}
