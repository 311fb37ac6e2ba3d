//! A partition's part of the shared vector. The leader asks for it when it rebuilds that vector.

use super::{
    dual::ValidDualSubproblemParams,
    local::write_entries,
    pass::{Pass, Value},
    primal::ColumnAddends,
    subproblem::{Addends, Separable, same_shape},
};
use crate::{
    base::{
        entries::{Column, Entries, TOGETHER},
        error::{SolverError, reserve},
        kernel::{WithEntries, with_entries},
        progress::Progress,
    },
    problem::penalty::ElasticNet,
};

/// A product of the matrix with the variables in progress, and the separable part of the objective.
///
/// Like a round, it owns everything except the data. It can be cut into slices between any two coordinates.
#[derive(Debug)]
pub struct Product<A: Addends> {
    addends: A,
    alpha: Vec<f64>,
    /// The product of the entries.
    sum: Vec<f64>,
    kappa: f64,
    nonzeros: u64,
    next: usize,
    pass: Pass,
}

/// `sum_i a_i c_i` (of centred columns if `centred`), one number for each row.
pub type PrimalProduct = Product<ColumnAddends>;

/// `U_j = sum_i t_i a_i scale_j x_ij` with `t_i = s_i / (S l2)`, one number for each feature.
pub type DualProduct = Product<ValidDualSubproblemParams>;

impl PrimalProduct {
    /// The product with `alpha` (one coefficient for each column), of data with `rows` rows.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn new(
        penalty: ElasticNet,
        centred: bool,
        rows: usize,
        alpha: &[f64],
    ) -> Result<Self, SolverError> {
        Self::of(ColumnAddends { penalty, centred }, rows, alpha)
    }
}

impl DualProduct {
    /// The product with `alpha` (one dual variable for each row), of data with `features` features.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn new(
        params: ValidDualSubproblemParams,
        features: usize,
        alpha: &[f64],
    ) -> Result<Self, SolverError> {
        Self::of(params, features, alpha)
    }
}

impl<A: Addends> Product<A> {
    fn of(addends: A, length: usize, alpha: &[f64]) -> Result<Self, SolverError> {
        let mut copy = reserve(alpha.len(), "the variables of a product")?;
        copy.extend_from_slice(alpha);
        let mut sum = reserve(length, "a product")?;
        sum.resize(length, 0.0);
        Ok(Self {
            addends,
            alpha: copy,
            sum,
            kappa: 0.0,
            nonzeros: 0,
            next: 0,
            pass: Pass::new(alpha.len())?,
        })
    }

    /// Works for about `budget` units, as [`Round::advance`](super::Round::advance) does.
    ///
    /// # Errors
    /// `Shape` if the data do not fit.
    pub fn advance(
        &mut self,
        data: &<A::Objective as Separable>::Data<'_>,
        budget: usize,
    ) -> Result<Progress, SolverError> {
        same_shape::<A::Objective>(data, self.alpha.len(), "product", self.sum.len())?;
        let mut left = budget.max(1);
        if !self.pass.is_done() {
            let value = Value {
                objective: self.addends.objective(),
                data,
                alpha: &self.alpha,
            };
            let spent = self.pass.advance(&value, left, None);
            left = left.saturating_sub(spent);
        }
        if self.pass.is_done() && left > 0 {
            with_entries(
                &A::Objective::columns(data),
                Accumulate {
                    product: self,
                    data,
                    budget: left,
                },
            );
        }
        Ok(if self.is_done() {
            Progress::Done
        } else {
            Progress::More
        })
    }

    fn is_done(&self) -> bool {
        self.pass.is_done() && self.next == self.alpha.len()
    }

    /// Writes entries of the product from `start` on, as many as `out` has room for, little endian.
    ///
    /// # Errors
    /// `Unfinished`, `Shape` for a wrong length, `NonFinite` if the product overflowed.
    pub fn write(&self, start: usize, out: &mut [u8]) -> Result<(), SolverError> {
        self.finished()?;
        write_entries::<A::Objective>("product", start, out, self.sum.len(), |entry| {
            A::entry(self.sum[entry], self.kappa)
        })
    }

    /// The separable part of the objective, in its units: penalty of columns, conjugate losses of rows.
    ///
    /// # Errors
    /// `Unfinished`.
    pub fn value(&self) -> Result<f64, SolverError> {
        self.finished()?;
        Ok(self.pass.sums().value)
    }

    /// Columns: `sum_i mean_i a_i`, 0 if not centred. Rows: `sum_i t_i a_i`.
    ///
    /// # Errors
    /// `Unfinished`.
    pub fn kappa(&self) -> Result<f64, SolverError> {
        self.finished()?;
        Ok(self.kappa)
    }

    /// Entries of the coordinates whose variable is not 0.
    ///
    /// # Errors
    /// `Unfinished`.
    pub fn nonzeros(&self) -> Result<u64, SolverError> {
        self.finished()?;
        Ok(self.nonzeros)
    }

    fn finished(&self) -> Result<(), SolverError> {
        if self.is_done() {
            Ok(())
        } else {
            Err(SolverError::Unfinished)
        }
    }
}

/// A slice of a product, compiled once for each kind of entries.
struct Accumulate<'a, 'd, A: Addends> {
    product: &'a mut Product<A>,
    data: &'a <A::Objective as Separable>::Data<'d>,
    budget: usize,
}

impl<A: Addends> WithEntries for Accumulate<'_, '_, A> {
    type Output = ();

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) {
        let Self {
            product,
            data,
            budget,
        } = self;
        let weights = A::weights(data);
        let mut spent = 0;
        while product.next < product.alpha.len() && spent < budget {
            let wanted = entries.together(budget - spent);
            let mut steps = [(0, 0.0); TOGETHER];
            let mut count = 0;
            while product.next < product.alpha.len() && spent < budget && count < wanted {
                let i = product.next;
                let a = product.alpha[i];
                if a != 0.0 {
                    let length = entries.column(i).len();
                    spent += length;
                    product.nonzeros += length as u64;
                    let (factor, kappa) = product.addends.factor(data, i, a);
                    steps[count] = (i, -factor);
                    count += 1;
                    product.kappa += kappa;
                }
                spent += 1;
                product.next += 1;
            }
            entries.subtract_all(&steps[..count], weights, &mut product.sum);
        }
    }
}
