//! What differs between the orientations: columns as coordinates (primal) and rows as coordinates (dual). Everything else is written once.

use std::{fmt::Debug, ops::Range};

use super::{
    steps::{Descent, Span},
    sums::Sums,
};
use crate::base::{columns::Columns, error::SolverError, kernel::Entries};

/// The separable part of an objective, `sum_i h_i(a_i)`, and the words for its coordinates in messages.
pub trait Separable: Copy + Debug + Send + Sync {
    /// Arrays of a partition, lent.
    type Data<'a>: Copy + Send + Sync;

    /// What a coordinate is in the data of the user, and what each number of the shared vector belongs to.
    const COORDINATE: &'static str;
    const ENTRY: &'static str;
    /// What a variable and the shared vector are called.
    const VARIABLE: &'static str;
    const SHARED: &'static str;

    /// The matrix; its columns are the coordinates.
    fn columns<'a>(data: &'a Self::Data<'_>) -> Columns<'a>;

    /// `h_i(a)`, in units of the objective.
    fn value(&self, data: &Self::Data<'_>, i: usize, a: f64) -> f64;

    /// Slope at `a`, and curvature, of the quadratic terms of `h_i`.
    fn quadratic(&self, data: &Self::Data<'_>, i: usize, a: f64) -> (f64, f64);

    /// Adds to each of `samples` what all but the quadratic terms of `h_i` change between `a` and `a + g1 delta + g2 previous`, one
    /// `[g1, g2]` of `points` each.
    fn sample(
        &self,
        data: &Self::Data<'_>,
        i: usize,
        a: f64,
        steps: [f64; 2],
        points: &[[f64; 2]],
        samples: &mut [f64],
    );
}

/// Data of the objective of `P`.
pub type DataOf<'a, P> = <<P as Subproblem>::Objective as Separable>::Data<'a>;

/// The local subproblem of a round.
pub trait Subproblem: Copy + Debug + Send + Sync {
    /// The separable part.
    type Objective: Separable;

    /// Sums that the steps keep beside the vector.
    type Running: Copy + Debug + Default + Send + Sync;

    fn objective(&self) -> &Self::Objective;

    /// Weights of the entries of the vector, if its changes are weighted.
    fn entry_weights<'a>(data: &'a DataOf<'_, Self>) -> Option<&'a [f64]>;

    /// What each entry of the shared vector is multiplied by when it is loaded, and divided by when its update is written.
    fn load_weights<'a>(data: &'a DataOf<'_, Self>) -> Option<&'a [f64]>;

    /// Refuses data that do not suit the problem: O(1).
    fn suits(&self, data: &DataOf<'_, Self>) -> Result<(), SolverError>;

    /// Refuses coordinates that do not suit the problem.
    fn check(&self, data: &DataOf<'_, Self>, range: Range<usize>) -> Result<(), SolverError>;

    /// Accounts for a loaded entry of the vector.
    fn loaded(running: &mut Self::Running, w: f64);

    /// Visits the coordinates of `span` on one of `threads` copies of the vector.
    fn descend<E: Entries, const WEIGHTED: bool>(
        &self,
        data: &DataOf<'_, Self>,
        threads: f64,
        running: &mut Self::Running,
        span: Span<'_, E, Self::Running>,
    ) -> Descent;

    /// Adds to `total` the part of one of `threads` copies, which started at `before` and is at `after`.
    fn merge(
        total: &mut Self::Running,
        before: &Self::Running,
        after: &Self::Running,
        threads: f64,
    );

    /// `h_i(a)` and what the certificate needs of coordinate `i`, given the dot product of its entries with the vector before the first
    /// step.
    fn certify(
        &self,
        data: &DataOf<'_, Self>,
        start: &Certificate<'_, Self::Running>,
        i: usize,
        a: f64,
        dot: f64,
        sums: &mut Sums,
    );

    /// Conjugate, ratio and correlation of the certificate; NaN where they have no meaning.
    fn penalty_side(sums: &Sums) -> [f64; 3];

    /// An entry of the update, from the vector before and after the steps.
    fn update(&self, running: &Self::Running, before: f64, after: f64, weight: Option<f64>) -> f64;

    /// What the steps add to the sum of the variables times their means.
    fn kappa(&self, running: &Self::Running) -> f64;
}

/// What the certificate at the start of a round needs.
#[derive(Debug, Clone, Copy)]
pub struct Certificate<'a, R> {
    pub running: R,
    pub vector: &'a [f64],
    /// Intercepts to try: dual only.
    pub candidates: &'a [f64],
}

/// How a product adds up.
pub trait Addends: Copy + Debug {
    /// What is summed over the coordinates beside.
    type Objective: Separable;

    fn objective(&self) -> &Self::Objective;

    /// Weights of the entries of the product.
    fn weights<'a>(data: &'a <Self::Objective as Separable>::Data<'_>) -> Option<&'a [f64]>;

    /// What the entries of coordinate `i` are multiplied by where its variable is `a`, and what this adds to kappa.
    fn factor(
        &self,
        data: &<Self::Objective as Separable>::Data<'_>,
        i: usize,
        a: f64,
    ) -> (f64, f64);

    /// An entry of the product, from the sum of the entries and kappa.
    fn entry(sum: f64, kappa: f64) -> f64;
}
