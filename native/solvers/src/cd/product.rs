//! `A alpha`: the part of a partition in the prediction, when it has to be rebuilt.

use super::{
    Progress,
    data::PrimalData,
    kernel::{Entries, WithEntries, subtract, with_entries},
    pass::ColumnPass,
    subproblem::output,
};
use crate::{
    error::{SolverError, reserve, same_length},
    penalty::ElasticNet,
};

/// The product `sum_i a_i c_i` (of centred columns if `centred`) in progress, and the penalty at `a`.
///
/// Like a round it owns all but the data and can be cut into slices anywhere between two columns.
#[derive(Debug)]
pub struct PrimalProduct {
    penalty: ElasticNet,
    centred: bool,
    alpha: Vec<f64>,
    /// The product of the raw columns.
    sum: Vec<f64>,
    kappa: f64,
    nonzeros: u64,
    next: usize,
    sums: ColumnPass,
}

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
        let mut copy = reserve(alpha.len(), "the coefficients of a product")?;
        copy.extend_from_slice(alpha);
        let mut sum = reserve(rows, "a product")?;
        sum.resize(rows, 0.0);
        Ok(Self {
            penalty,
            centred,
            alpha: copy,
            sum,
            kappa: 0.0,
            nonzeros: 0,
            next: 0,
            sums: ColumnPass::new(alpha.len())?,
        })
    }

    /// Works on for about `budget` units, as [`PrimalRound::advance`](super::PrimalRound::advance) does.
    ///
    /// # Errors
    /// `Shape` if the data do not fit.
    pub fn advance(
        &mut self,
        data: &PrimalData<'_>,
        budget: usize,
    ) -> Result<Progress, SolverError> {
        let columns = data.columns;
        same_length("alpha", self.alpha.len(), columns.len(), "column")?;
        same_length("product", self.sum.len(), columns.rows(), "row")?;
        let mut left = budget.max(1);
        if !self.sums.is_done() {
            let spent = self
                .sums
                .advance(data, &self.penalty, &self.alpha, None, left, None);
            left = left.saturating_sub(spent);
        }
        if self.sums.is_done() && left > 0 {
            with_entries(
                columns.values(),
                columns.nonzeros(),
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
        self.sums.is_done() && self.next == self.alpha.len()
    }

    /// Writes rows of the product from `start` on, as many as `out` has room for, little endian.
    ///
    /// # Errors
    /// `Unfinished`, `Shape` for a wrong length, `NonFinite` if the product overflowed.
    pub fn write(&self, start: usize, out: &mut [u8]) -> Result<(), SolverError> {
        self.finished()?;
        let (out, end) = output(start, out, self.sum.len())?;
        for ((row, slot), sum) in (start..end).zip(out).zip(&self.sum[start..end]) {
            let v = sum - self.kappa;
            if !v.is_finite() {
                return Err(SolverError::NonFinite(format!(
                    "the product of row {row} overflowed: scale the features or the labels down"
                )));
            }
            *slot = v.to_le_bytes();
        }
        Ok(())
    }

    /// `sum_i g_i(a_i)`, in units of the objective.
    ///
    /// # Errors
    /// `Unfinished`.
    pub fn penalty(&self) -> Result<f64, SolverError> {
        self.finished()?;
        Ok(self.sums.sums().penalty)
    }

    /// `sum_i mean_i a_i`; 0 if not centred.
    ///
    /// # Errors
    /// `Unfinished`.
    pub fn kappa(&self) -> Result<f64, SolverError> {
        self.finished()?;
        Ok(self.kappa)
    }

    /// Entries of the columns that have a coefficient other than 0.
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

struct Accumulate<'a> {
    product: &'a mut PrimalProduct,
    data: &'a PrimalData<'a>,
    budget: usize,
}

impl WithEntries for Accumulate<'_> {
    type Output = ();

    fn run<E: Entries>(self, values: E) {
        let Self {
            product,
            data,
            budget,
        } = self;
        let columns = data.columns;
        let mut spent = 0;
        while product.next < product.alpha.len() && spent < budget {
            let i = product.next;
            let a = product.alpha[i];
            if a != 0.0 {
                let entries = columns.entries(i);
                spent += entries.len();
                product.nonzeros += entries.len() as u64;
                let rows = &columns.indices()[entries.clone()];
                subtract(rows, values.part(entries), -a, None, &mut product.sum);
                if product.centred {
                    product.kappa += a * data.moments.mean[i];
                }
            }
            spent += 1;
            product.next += 1;
        }
    }
}
