//! Parameters of a round of local SGD, and their ranges.

use super::layers::Layers;
use crate::base::{
    checks::{at_least_one, at_least_zero, fraction, threads},
    error::SolverError,
};

/// Unchecked parameters of a round of local SGD.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `layers` | the network | |
/// | `seed`, `partition` | determine the order of the rows | |
/// | `budget` | rows to visit: whole buckets until they hold as many | >= 1 |
/// | `cursor` | buckets visited since the start of the fit | |
/// | `batch` | rows of a step; all rows where there are fewer | >= 1 |
/// | `step` | step size, for the mean gradient over a batch; with 0 the round measures losses | finite, >= 0 |
/// | `share` | factor of the result: the weight of this worker in the average | 0 to 1 |
/// | `threads` | parts of a batch whose gradients are summed side by side; the rounding of the result depends on their number | 1 to 256 |
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the table names every field")]
pub struct DescentParams {
    pub layers: Layers,
    pub seed: u64,
    pub partition: u32,
    pub budget: u64,
    pub cursor: u64,
    pub batch: usize,
    pub step: f64,
    pub share: f64,
    pub threads: usize,
}

impl DescentParams {
    pub(super) fn check(&self) -> Result<(), SolverError> {
        at_least_one("budget", self.budget)?;
        at_least_one("batch", self.batch as u64)?;
        at_least_zero("step", self.step)?;
        fraction("share", self.share)?;
        threads(self.threads)
    }
}
