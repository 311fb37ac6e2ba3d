//! The rows of a block of a partition, which their owner lends.

use crate::{
    base::{
        checks::{finite_rows, positive_weights, usable_scale},
        error::{SolverError, same_length},
        matrix::Columns,
        views::Kind,
    },
    problem::{labels::Labels, softmax::RowLoss},
};

/// Rows with their labels and weights, and the scale of the features. Lengths fit one another.
///
/// | array | shape | meaning |
/// |---|---|---|
/// | rows | m rows of n features | the matrix: a "column" of it is a row of the data, its "rows" are features |
/// | labels | m | y: of the kind that the loss takes |
/// | weights | m, or none for all 1 | s |
/// | scale | n, or none for all 1 | at least 0: the penalty is on `w / sqrt(scale)`; with 0 no step changes the coefficients of the feature |
#[derive(Debug, Clone, Copy)]
pub struct SgdData<'a> {
    pub(crate) rows: Columns<'a>,
    labels: &'a [f64],
    /// Whether labels are classes.
    classes: bool,
    weights: Option<&'a [f64]>,
    pub(crate) scale: Option<&'a [f64]>,
}

impl<'a> SgdData<'a> {
    /// Checks that lengths agree, and all numbers, see [`SgdData::check`]: O(rows + features). The calls check that labels suit the loss.
    ///
    /// # Errors
    /// `Shape` for unequal lengths; `NonFinite` names the row or feature at fault.
    pub fn new(
        rows: Columns<'a>,
        labels: &'a [f64],
        weights: Option<&'a [f64]>,
        scale: Option<&'a [f64]>,
    ) -> Result<Self, SolverError> {
        let data = Self::validated_before(rows, labels, weights, scale)?;
        Self::check(labels, weights, scale)?;
        Ok(data)
    }

    /// Checks that labels are finite, weights positive and finite, and the scale finite and not negative: O(rows + features).
    ///
    /// # Errors
    /// `NonFinite` or `Shape` names the row or feature at fault.
    pub fn check(
        labels: &[f64],
        weights: Option<&[f64]>,
        scale: Option<&[f64]>,
    ) -> Result<(), SolverError> {
        finite_rows("label", labels)?;
        positive_weights(weights)?;
        usable_scale(scale)
    }

    /// For arrays that [`SgdData::new`] has accepted: compares lengths, O(1).
    ///
    /// # Errors
    /// `Shape` for unequal lengths.
    pub fn validated_before(
        rows: Columns<'a>,
        labels: &'a [f64],
        weights: Option<&'a [f64]>,
        scale: Option<&'a [f64]>,
    ) -> Result<Self, SolverError> {
        same_length("labels", labels.len(), rows.len(), "row")?;
        if let Some(weights) = weights {
            same_length("weights", weights.len(), rows.len(), "row")?;
        }
        if let Some(scale) = scale {
            same_length("scale", scale.len(), rows.rows(), "feature")?;
        }
        Ok(Self {
            rows,
            labels,
            classes: false,
            weights,
            scale,
        })
    }

    /// The same rows, whose labels are classes 0 and 1 that stand for -1 and 1. The softmax loss takes the classes themselves.
    pub fn of_classes(self) -> Self {
        Self {
            classes: true,
            ..self
        }
    }

    /// The matrix: its columns are the rows of the data.
    pub fn rows(&self) -> &Columns<'a> {
        &self.rows
    }

    /// y of each row, as it is stored.
    pub(crate) fn labels(&self) -> &'a [f64] {
        self.labels
    }

    /// s of each row, or none for all 1.
    pub(crate) fn weights(&self) -> Option<&'a [f64]> {
        self.weights
    }

    /// Refuses a label that the loss does not take.
    pub(crate) fn check_labels(&self, loss: RowLoss) -> Result<(), SolverError> {
        let expected = match loss.labels() {
            Labels::Classes(_) if self.classes => {
                return Err(SolverError::Shape(
                    "classes stand for -1 and 1 with the loss of a margin alone".into(),
                ));
            }
            _ if self.classes => Labels::Classes(2),
            expected => expected,
        };
        expected.check(self.labels, 0..self.labels.len())
    }

    /// y of row `i`.
    #[inline(always)]
    pub(crate) fn label(&self, i: usize) -> f64 {
        let label = self.labels[i];
        if self.classes {
            2.0 * label - 1.0
        } else {
            label
        }
    }

    /// s of row `i`.
    #[inline(always)]
    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }
}

/// Blocks of rows with labels.
#[derive(Debug)]
pub enum LabelledRows {}

impl Kind for LabelledRows {
    type Data<'a> = SgdData<'a>;

    fn count(data: &SgdData<'_>) -> usize {
        data.rows.len()
    }
}
