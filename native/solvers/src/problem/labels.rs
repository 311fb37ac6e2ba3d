//! The labels that a loss takes.

use std::ops::Range;

use crate::base::error::SolverError;

/// The numbers that a row may have as its label y.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    /// Any finite number.
    Real,
    /// -1 or 1.
    Signed,
    /// A whole number from 0 to C - 1, where C is this number of classes.
    Classes(usize),
}

impl Labels {
    fn contains(self, y: f64) -> bool {
        match self {
            Self::Real => y.is_finite(),
            Self::Signed => y.abs() == 1.0,
            Self::Classes(count) => y >= 0.0 && y < count as f64 && y.fract() == 0.0,
        }
    }

    /// The legal labels, for messages.
    fn expected(self) -> String {
        match self {
            Self::Real => "labels must be finite".into(),
            Self::Signed => "labels of a classification must be -1 or 1".into(),
            Self::Classes(count) => format!("classes are 0 to {}", count - 1),
        }
    }

    /// Refuses a row of `rows` that has another label.
    ///
    /// # Errors
    /// `Shape` names the row at fault.
    ///
    /// # Panics
    /// If `rows` goes beyond the last label.
    pub(crate) fn check(self, labels: &[f64], rows: Range<usize>) -> Result<(), SolverError> {
        let first = rows.start;
        let labels = &labels[rows];
        match labels.iter().position(|&y| !self.contains(y)) {
            None => Ok(()),
            Some(k) => Err(SolverError::Shape(format!(
                "label of row {} is {}: {}",
                first + k,
                labels[k],
                self.expected()
            ))),
        }
    }
}
