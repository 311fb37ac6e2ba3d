//! The command line.

use std::{ffi::OsString, path::PathBuf};

use crate::failure::Failure;

/// The options of the program.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// `--data`: directory of the partitions.
    pub data: PathBuf,
    /// `--local-work`: epochs of every worker in a round, finite and positive; each number gets a fit.
    pub local_work: Vec<f64>,
    /// `--rounds`: rounds of a fit, at least 1.
    pub rounds: usize,
    /// `--output`: file for the results.
    pub output: PathBuf,
    /// `--certificates`, optional, `yes` or `no`: whether to measure the parts of the duality gap in the rounds in which Dwell does.
    pub certificates: bool,
}

impl Options {
    /// `arguments`: pairs of a name and a value, each at most once, in any order.
    ///
    /// # Errors
    /// Names the option that is unknown, missing, given twice or out of range.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, Failure> {
        let names = [
            "--data",
            "--local-work",
            "--rounds",
            "--output",
            "--certificates",
        ];
        let [data, local_work, rounds, output, certificates] = pairs(names, arguments)?;
        Ok(Self {
            data: given("--data", data)?.into(),
            local_work: local_work_of(&given("--local-work", local_work)?.to_string_lossy())?,
            rounds: rounds_of(&given("--rounds", rounds)?.to_string_lossy())?,
            output: given("--output", output)?.into(),
            certificates: match certificates {
                Some(text) => yes_or_no(&text.to_string_lossy())?,
                None => false,
            },
        })
    }
}

/// The values of options, from pairs of a name and a value, each at most once, in any order.
pub(crate) fn pairs<const N: usize>(
    names: [&str; N],
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<[Option<OsString>; N], Failure> {
    let mut values = [const { None }; N];
    let mut arguments = arguments.into_iter();
    while let Some(name) = arguments.next() {
        let name = name.to_string_lossy();
        let Some(k) = names.iter().position(|known| *known == name) else {
            return Err(Failure::new(
                name,
                format!("there is no such option: they are {}", names.join(", ")),
            ));
        };
        let Some(value) = arguments.next() else {
            return Err(Failure::new(name, "a value is missing"));
        };
        if values[k].replace(value).is_some() {
            return Err(Failure::new(name, "given twice"));
        }
    }
    Ok(values)
}

/// The value of a required option.
pub(crate) fn given(name: &str, value: Option<OsString>) -> Result<OsString, Failure> {
    value.ok_or_else(|| Failure::new(name, "this option is missing"))
}

fn local_work_of(text: &str) -> Result<Vec<f64>, Failure> {
    text.split(',')
        .map(|part| match part.parse() {
            Ok(epochs) if f64::is_finite(epochs) && epochs > 0.0 => Ok(epochs),
            _ => Err(Failure::new(
                "--local-work",
                format!("{part:?} in {text:?} must be a finite and positive number"),
            )),
        })
        .collect()
}

fn rounds_of(text: &str) -> Result<usize, Failure> {
    match text.parse() {
        Ok(rounds) if rounds > 0 => Ok(rounds),
        _ => Err(Failure::new(
            "--rounds",
            format!("{text:?} must be a whole number of at least 1"),
        )),
    }
}

fn yes_or_no(text: &str) -> Result<bool, Failure> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(Failure::new(
            "--certificates",
            format!("{text:?} must be yes or no"),
        )),
    }
}
