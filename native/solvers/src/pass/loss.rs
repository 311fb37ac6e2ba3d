//! The losses that a pass takes.

use crate::{
    base::error::SolverError,
    problem::{huber::Huber, labels::Labels, softmax::RowLoss},
};

/// A loss of the predictions, or of the prediction and the scale of the errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PassLoss {
    /// Of the predictions.
    Row(RowLoss),
    /// Of the prediction and the scale, which is the last number of a model.
    Scaled(Huber),
}

impl PassLoss {
    /// The loss with this code; `parameter` is the number of a loss that has one, such as the epsilon of [`Huber`].
    ///
    /// # Errors
    /// `InvalidParam` for an unknown code, or a number that does not suit the loss.
    pub fn from_code(code: i64, parameter: f64, outputs: usize) -> Result<Self, SolverError> {
        let loss = if code == Huber::CODE {
            Self::Scaled(Huber { epsilon: parameter })
        } else {
            Self::Row(RowLoss::from_code(code, parameter, outputs)?)
        };
        loss.check()?;
        Ok(loss)
    }

    pub(super) fn check(self) -> Result<(), SolverError> {
        match self {
            Self::Row(loss) => loss.check().map(|_| ()),
            Self::Scaled(loss) => loss.check().map(|_| ()),
        }
    }

    /// The width of the parabola in the place of a corner; None for a loss without one.
    pub(super) fn corner(self) -> Option<f64> {
        match self {
            Self::Row(RowLoss::Margin(loss)) => loss.corner(),
            Self::Row(RowLoss::Softmax(_)) | Self::Scaled(_) => None,
        }
    }

    pub(super) fn outputs(self) -> usize {
        match self {
            Self::Row(loss) => loss.outputs(),
            Self::Scaled(_) => 1,
        }
    }

    pub(super) fn labels(self) -> Labels {
        match self {
            Self::Row(loss) => loss.labels(),
            Self::Scaled(_) => Labels::Real,
        }
    }

    /// Entries that a row has for the scale.
    pub(super) fn scales(self) -> usize {
        match self {
            Self::Row(_) => 0,
            Self::Scaled(_) => 1,
        }
    }
}
