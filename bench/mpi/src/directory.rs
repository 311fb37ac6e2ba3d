//! The directory of a problem: `problem.json`, `labels.f64`, and for partition k files `part-<k>.*`, all little endian.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use bytemuck::Pod;
use dwell_solvers::{
    ColumnMoments, Columns, ElasticNetParams, MatrixView, PrimalData, SolverError, Values, cd::SubproblemParams,
};
use serde_json::Value;

use crate::failure::Failure;

#[cfg(target_endian = "big")]
compile_error!("arrays are read and exchanged as little endian bytes");

/// `problem.json`: the objective and the shape of every partition.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// m.
    pub rows: usize,
    /// Weights of `|a|` and of `a^2 / 2`, in units of the objective.
    pub l1: f64,
    pub l2: f64,
    /// S.
    pub total_weight: f64,
    /// sigma'.
    pub sigma_prime: f64,
    /// Seed of the order of the columns.
    pub seed: u64,
    /// One for each partition.
    pub parts: Vec<Part>,
}

/// The shape of a partition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    pub columns: usize,
    /// Stored entries.
    pub nonzeros: usize,
    pub values: ValueType,
}

/// How the values of a partition are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueType {
    /// Not stored: every value is 1.
    Ones,
    F32,
    F64,
}

impl Problem {
    /// Reads `problem.json` in `directory`.
    ///
    /// # Errors
    /// Names the file, and the field that is missing, has the wrong type or range, or contradicts the others.
    pub fn read(directory: &Path) -> Result<Self, Failure> {
        let path = directory.join("problem.json");
        let wrong = |reason: String| Failure::new(path.display(), reason);
        let json = read_json(&path)?;
        let problem = Self::of(&json).map_err(wrong)?;
        let columns: usize = problem.parts.iter().map(|part| part.columns).sum();
        for (name, expected, unit) in [
            ("partitions", problem.parts.len(), "entries in parts"),
            ("features", columns, "columns in all parts"),
        ] {
            let count = field(&json, name, count).map_err(wrong)?;
            if count != expected {
                return Err(wrong(format!(
                    "{name} is {count}, but there are {expected} {unit}"
                )));
            }
        }
        problem
            .subproblem()
            .check()
            .map_err(|error| wrong(error.to_string()))?;
        Ok(problem)
    }

    /// The parameters of the local subproblem of a round.
    pub fn subproblem(&self) -> SubproblemParams {
        SubproblemParams {
            penalty: ElasticNetParams {
                l1: self.l1,
                l2: self.l2,
                scale_factor: 0.0,
            },
            sigma_prime: self.sigma_prime,
            total_weight: self.total_weight,
            centred: false,
        }
    }

    fn of(json: &Value) -> Result<Self, String> {
        let parts = field(json, "parts", Value::as_array)?;
        Ok(Self {
            rows: field(json, "rows", count)?,
            l1: field(json, "l1", Value::as_f64)?,
            l2: field(json, "l2", Value::as_f64)?,
            total_weight: field(json, "totalWeight", Value::as_f64)?,
            sigma_prime: field(json, "sigmaPrime", Value::as_f64)?,
            seed: field(json, "seed", Value::as_i64)?.cast_unsigned(),
            parts: parts
                .iter()
                .map(|part| Part::of(part, "columns"))
                .collect::<Result<_, _>>()?,
        })
    }
}

impl Part {
    /// `unit`: what the file calls the columns.
    pub(crate) fn of(json: &Value, unit: &str) -> Result<Self, String> {
        Ok(Self {
            columns: field(json, unit, count)?,
            nonzeros: field(json, "nonzeros", count)?,
            values: field(json, "values", ValueType::of)?,
        })
    }
}

impl ValueType {
    /// The type with the name that `json` gives.
    pub(crate) fn of(json: &Value) -> Option<Self> {
        match json.as_str()? {
            "ones" => Some(Self::Ones),
            "float32" => Some(Self::F32),
            "float64" => Some(Self::F64),
            _ => None,
        }
    }
}

/// A file of JSON.
pub(crate) fn read_json(path: &Path) -> Result<Value, Failure> {
    let wrong = |error: &dyn std::error::Error| Failure::new(path.display(), error);
    let text = fs::read(path).map_err(|error| wrong(&error))?;
    serde_json::from_slice(&text).map_err(|error| wrong(&error))
}

/// A whole number of at least 0.
pub(crate) fn count(json: &Value) -> Option<usize> {
    json.as_u64()?.try_into().ok()
}

/// The field `name`, as `read` gives it. The error says whether it is missing or wrong.
pub(crate) fn field<'a, T>(
    json: &'a Value,
    name: &str,
    read: impl FnOnce(&'a Value) -> Option<T>,
) -> Result<T, String> {
    let value = json
        .get(name)
        .ok_or_else(|| format!("{name} is missing in {json}"))?;
    read(value).ok_or_else(|| format!("{name} is {value}, which is of the wrong type or range"))
}

/// `labels.f64`: `rows` finite numbers.
///
/// # Errors
/// Names the file that cannot be read, has the wrong size, or has a label that is not finite.
pub fn read_labels(directory: &Path, rows: usize) -> Result<Vec<f64>, Failure> {
    let path = directory.join("labels.f64");
    let labels: Vec<f64> = read_array(&path, rows, "row")?;
    match labels.iter().position(|y| !y.is_finite()) {
        None => Ok(labels),
        Some(row) => Err(Failure::new(
            path.display(),
            format!("label of row {row} is {}: it must be finite", labels[row]),
        )),
    }
}

/// The arrays of one partition, validated.
#[derive(Debug)]
pub struct Partition {
    rows: usize,
    offsets: Vec<i32>,
    indices: Vec<i32>,
    values: StoredValues,
    mean: Vec<f64>,
    variance: Vec<f64>,
    deviation: Vec<f64>,
}

/// The values of a partition; no array if all are 1.
#[derive(Debug)]
pub(crate) enum StoredValues {
    Ones,
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Partition {
    /// Reads and validates partition `k` of `problem`, which must have one.
    ///
    /// # Errors
    /// Names the file that cannot be read or has the wrong size; names the files and the column if the arrays are no matrix.
    pub fn read(directory: &Path, problem: &Problem, k: usize) -> Result<Self, Failure> {
        let Part {
            columns,
            nonzeros,
            values,
        } = problem.parts[k];
        let path = |name: &str| directory.join(format!("part-{k}.{name}"));
        let moments = |name: &str| read_array(&path(name), columns, "column");
        let partition = Self {
            rows: problem.rows,
            offsets: read_array(
                &path("offsets.i32"),
                columns.saturating_add(1),
                "column and one more",
            )?,
            indices: read_array(&path("indices.i32"), nonzeros, "stored entry")?,
            values: StoredValues::read(values, nonzeros, path)?,
            mean: moments("mean.f64")?,
            variance: moments("variance.f64")?,
            deviation: moments("deviation.f64")?,
        };
        partition
            .data()
            .map_err(|error| Failure::new(path("*").display(), error))?;
        Ok(partition)
    }

    /// The arrays as the solver takes them, checked.
    ///
    /// # Errors
    /// Names the array and the place at fault; none after reading, which has checked the same.
    pub fn data(&self) -> Result<PrimalData<'_>, SolverError> {
        let values = self.values.borrowed();
        let matrix = MatrixView::sparse(self.rows, &self.offsets, &self.indices, values)?;
        let moments = ColumnMoments::new(&self.mean, &self.variance, &self.deviation)?;
        PrimalData::new(Columns::new(matrix)?, moments, None)
    }
}

impl StoredValues {
    /// Reads the file of values of this type, which holds one for each stored entry.
    pub(crate) fn read(
        stored: ValueType,
        nonzeros: usize,
        path: impl Fn(&str) -> PathBuf,
    ) -> Result<Self, Failure> {
        Ok(match stored {
            ValueType::Ones => Self::Ones,
            ValueType::F32 => Self::F32(read_array(&path("values.f32"), nonzeros, "stored entry")?),
            ValueType::F64 => Self::F64(read_array(&path("values.f64"), nonzeros, "stored entry")?),
        })
    }

    /// The values as the solver takes them.
    pub(crate) fn borrowed(&self) -> Values<'_> {
        match self {
            Self::Ones => Values::Ones,
            Self::F32(values) => Values::F32(values),
            Self::F64(values) => Values::F64(values),
        }
    }
}

/// A file of exactly `count` numbers, one for each `unit`.
pub(crate) fn read_array<T: Pod>(path: &Path, count: usize, unit: &str) -> Result<Vec<T>, Failure> {
    let failed = |error: std::io::Error| Failure::new(path.display(), error);
    let mut file = File::open(path).map_err(failed)?;
    // Checks the size before it allocates: memory may be too small for a wrong count.
    let bytes = file.metadata().map_err(failed)?.len();
    let expected = count.saturating_mul(size_of::<T>());
    if bytes != expected as u64 {
        return Err(Failure::new(
            path.display(),
            format!(
                "{bytes} bytes, expected {expected}: {} for each {unit}",
                size_of::<T>()
            ),
        ));
    }
    let mut numbers = vec![T::zeroed(); count];
    file.read_exact(bytemuck::cast_slice_mut(&mut numbers))
        .map_err(failed)?;
    Ok(numbers)
}
