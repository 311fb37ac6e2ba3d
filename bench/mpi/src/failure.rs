//! The reason why the program cannot continue.

use std::fmt::{self, Display, Formatter};

use dwell_solvers::SolverError;

/// The place of a failure (an option, a file or a part of the work) and its reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    place: String,
    reason: String,
}

impl Failure {
    /// `reason` says what is wrong with `place`, and what is expected.
    pub fn new(place: impl Display, reason: impl Display) -> Self {
        Self {
            place: place.to_string(),
            reason: reason.to_string(),
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

impl std::error::Error for Failure {}

impl From<SolverError> for Failure {
    fn from(error: SolverError) -> Self {
        Self::new("solver", error)
    }
}
