//! Why the program cannot go on.

use std::fmt::{self, Display, Formatter};

use dwell_solvers::SolverError;

/// What is wrong, and where: the name of an option, of a file or of a part of the work.
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
