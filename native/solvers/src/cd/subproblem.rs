//! What differs between columns as coordinates (primal) and rows as coordinates (dual): all other files of the room serve both.

use std::{fmt::Debug, ops::Range};

use super::{
    steps::{Descent, Span},
    sums::Sums,
};
use crate::base::{
    entries::Entries,
    error::{SolverError, same_length},
    matrix::Columns,
    views::Kind,
};

/// The separable part of an objective, `sum_i h_i(a_i)`, and the words for its coordinates in messages.
pub trait Separable: Copy + Debug + Send + Sync {
    /// Arrays of a partition, lent.
    type Data<'a>: Copy + Send + Sync;

    /// A coordinate, in messages: "column" or "row".
    const COORDINATE: &'static str;
    /// The owner of a number of the shared vector, in messages: "row" or "feature".
    const ENTRY: &'static str;
    /// A variable, in messages.
    const VARIABLE: &'static str;
    /// The shared vector, in messages.
    const SHARED: &'static str;

    /// The matrix; its columns are the coordinates.
    fn columns<'a>(data: &'a Self::Data<'_>) -> Columns<'a>;

    /// `h_i(a)`, in units of the objective.
    fn value(&self, data: &Self::Data<'_>, i: usize, a: f64) -> f64;

    /// Slope at `a`, and curvature, of the quadratic terms of `h_i`.
    fn quadratic(&self, data: &Self::Data<'_>, i: usize, a: f64) -> (f64, f64);

    /// For each `[g1, g2]` of `points`, adds to the sample of the same index how much `h_i`, without its quadratic terms, changes between
    /// `a` and `a + g1 delta + g2 previous`, where `steps` is `[delta, previous]`.
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

impl<S: Separable> Kind for S {
    type Data<'a> = <S as Separable>::Data<'a>;

    fn count(data: &<S as Separable>::Data<'_>) -> usize {
        S::columns(data).len()
    }
}

/// Refuses data with another number of coordinates, or another `length` of `vector`.
pub(super) fn same_shape<S: Separable>(
    data: &S::Data<'_>,
    coordinates: usize,
    vector: &str,
    length: usize,
) -> Result<(), SolverError> {
    let columns = S::columns(data);
    same_length("alpha", coordinates, columns.len(), S::COORDINATE)?;
    same_length(vector, length, columns.rows(), S::ENTRY)
}

/// Data of the objective of `P`.
pub type DataOf<'a, P> = <<P as Subproblem>::Objective as Separable>::Data<'a>;

/// The local subproblem of a round.
pub trait Subproblem: Copy + Debug + Send + Sync {
    /// The separable part.
    type Objective: Separable;

    /// The sums that the steps update along with the vector.
    type Running: Copy + Debug + Default + Send + Sync;

    /// The separable part of the objective.
    fn objective(&self) -> &Self::Objective;

    /// Weights of the entries of the vector, if its changes are weighted.
    fn entry_weights<'a>(data: &'a DataOf<'_, Self>) -> Option<&'a [f64]>;

    /// Numbers that multiply the entries of the shared vector when it is loaded, and divide the entries of its update.
    fn load_weights<'a>(data: &'a DataOf<'_, Self>) -> Option<&'a [f64]>;

    /// Refuses data that do not suit the problem: O(1).
    fn suits(&self, data: &DataOf<'_, Self>) -> Result<(), SolverError>;

    /// Refuses a coordinate of `range` that does not suit the problem.
    fn check(&self, data: &DataOf<'_, Self>, range: Range<usize>) -> Result<(), SolverError>;

    /// Counts an entry `w` of the vector as it is loaded.
    fn loaded(running: &mut Self::Running, w: f64);

    /// Visits the coordinates of `span` on one of `threads` copies of the vector.
    fn descend<E: Entries, const WEIGHTED: bool>(
        &self,
        data: &DataOf<'_, Self>,
        threads: f64,
        running: &mut Self::Running,
        span: Span<'_, E>,
    ) -> Descent;

    /// Adds to `total` the part of one of `threads` copies, which started at `before` and is at `after`.
    fn merge(
        total: &mut Self::Running,
        before: &Self::Running,
        after: &Self::Running,
        threads: f64,
    );

    /// Adds coordinate `i` to the sums of the certificate, `h_i(a)` among them. `dot` is the dot product of its entries with the vector
    /// before the first step.
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

    /// Change of kappa, as in [`RoundScalars`](super::RoundScalars).
    fn kappa(&self, running: &Self::Running) -> f64;
}

/// The inputs of the certificate at the start of a round.
#[derive(Debug, Clone, Copy)]
pub struct Certificate<'a, R> {
    /// The sums of the vector.
    pub running: R,
    /// The vector.
    pub vector: &'a [f64],
    /// Intercepts to try: dual only.
    pub candidates: &'a [f64],
}

/// The addends of a product of the matrix with the variables.
pub trait Addends: Copy + Debug {
    /// The separable part of the objective; the product reports its value, too.
    type Objective: Separable;

    /// The separable part of the objective.
    fn objective(&self) -> &Self::Objective;

    /// Weights of the entries of the product.
    fn weights<'a>(data: &'a <Self::Objective as Separable>::Data<'_>) -> Option<&'a [f64]>;

    /// The factor of the entries of coordinate `i`, and its addend to kappa, if its variable is `a`.
    fn factor(
        &self,
        data: &<Self::Objective as Separable>::Data<'_>,
        i: usize,
        a: f64,
    ) -> (f64, f64);

    /// An entry of the product, from the sum of the entries and kappa.
    fn entry(sum: f64, kappa: f64) -> f64;
}
