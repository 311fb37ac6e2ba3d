//! The directory of a problem by rows: `problem.json`, and for partition k files `part-<k>.*`, all little endian. `RowFiles.scala` writes it.

use std::path::Path;

use dwell_solvers::{Columns, Loss, MatrixView, RowLoss, SgdData, SgdProblem, SolverError};
use serde_json::Value;

use crate::{
    directory::{Part, StoredValues, count, field, read_array, read_json},
    failure::Failure,
};

/// `problem.json`: the objective and the shape of every partition.
#[derive(Debug, Clone, PartialEq)]
pub struct RowProblem {
    /// n.
    pub features: usize,
    pub sgd: SgdProblem,
    /// Seed of the order of the rows.
    pub seed: u64,
    /// The shape of each partition, whose columns are rows of the data.
    pub parts: Vec<Part>,
}

impl RowProblem {
    /// Reads `problem.json` in `directory`.
    ///
    /// # Errors
    /// Names the file, and the field that is missing, has the wrong type or range, or contradicts the others.
    pub fn read(directory: &Path) -> Result<Self, Failure> {
        let path = directory.join("problem.json");
        let wrong = |reason: String| Failure::new(path.display(), reason);
        let json = read_json(&path)?;
        let problem = Self::of(&json).map_err(wrong)?;
        let rows = field(&json, "rows", count).map_err(wrong)?;
        if rows == problem.rows() {
            Ok(problem)
        } else {
            Err(wrong(format!(
                "rows is {rows}, but there are {} in all parts",
                problem.rows()
            )))
        }
    }

    /// m.
    pub fn rows(&self) -> usize {
        self.parts.iter().map(|part| part.columns).sum()
    }

    fn of(json: &Value) -> Result<Self, String> {
        let parts = field(json, "parts", Value::as_array)?;
        Ok(Self {
            features: field(json, "features", count)?,
            sgd: SgdProblem {
                loss: RowLoss::Margin(field(json, "loss", loss)?),
                l1: 0.0,
                l2: field(json, "l2", Value::as_f64)?,
                intercept: false,
                weight_factor: 1.0,
            },
            seed: field(json, "seed", Value::as_i64)?.cast_unsigned(),
            parts: parts
                .iter()
                .map(|part| Part::of(part, "rows"))
                .collect::<Result<_, _>>()?,
        })
    }
}

fn loss(json: &Value) -> Option<Loss> {
    match json.as_str()? {
        "logistic" => Some(Loss::Logistic),
        "hinge" => Some(Loss::Hinge),
        _ => None,
    }
}

/// The arrays of one partition, validated.
#[derive(Debug)]
pub struct RowPartition {
    features: usize,
    offsets: Vec<i32>,
    indices: Vec<i32>,
    values: StoredValues,
    labels: Vec<f64>,
}

impl RowPartition {
    /// Reads and validates partition `k` of `problem`, which must have one.
    ///
    /// # Errors
    /// Names the file that cannot be read or has the wrong size; names the files if the arrays are no matrix or no labels.
    pub fn read(directory: &Path, problem: &RowProblem, k: usize) -> Result<Self, Failure> {
        let Part {
            columns: rows,
            nonzeros,
            values,
        } = problem.parts[k];
        let path = |name: &str| directory.join(format!("part-{k}.{name}"));
        let partition = Self {
            features: problem.features,
            offsets: read_array(
                &path("offsets.i32"),
                rows.saturating_add(1),
                "row and one more",
            )?,
            indices: read_array(&path("indices.i32"), nonzeros, "stored entry")?,
            values: StoredValues::read(values, nonzeros, path)?,
            labels: read_array(&path("labels.f64"), rows, "row")?,
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
    pub fn data(&self) -> Result<SgdData<'_>, SolverError> {
        let values = self.values.borrowed();
        let matrix = MatrixView::sparse(self.features, &self.offsets, &self.indices, values)?;
        SgdData::new(Columns::new(matrix)?, &self.labels, None, None)
    }
}
