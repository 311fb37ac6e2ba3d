//! A partition's part of the shared vector. The leader asks for it when it rebuilds that vector.

use super::{
    data::{DualData, PrimalData},
    dual::ValidDualSubproblemParams,
    local::write_entries,
    pass::{Value, total},
    primal::ColumnAddends,
    subproblem::{Addends, Separable, same_shape},
};
use crate::{
    base::{
        blocks::{Blocks, LOAN},
        entries::{Column, Entries, TOGETHER},
        error::{SolverError, reserve, same_length},
        kernel::{WithEntries, with_entries},
    },
    problem::penalty::ElasticNet,
};

/// The product of the matrix with the variables, and the separable part of the objective. Like a round, it borrows the data.
#[derive(Debug)]
pub struct Product<A: Addends> {
    addends: A,
    /// The product of the entries.
    sum: Vec<f64>,
    value: f64,
    kappa: f64,
    nonzeros: u64,
}

/// `sum_i a_i c_i` (of centred columns if `centred`), one number for each row.
pub type PrimalProduct = Product<ColumnAddends>;

/// `U_j = sum_i t_i a_i scale_j x_ij` with `t_i = s_i / (S l2)`, one number for each feature.
pub type DualProduct = Product<ValidDualSubproblemParams>;

impl PrimalProduct {
    /// The product with `alpha` (one coefficient for each column), of data with `rows` rows.
    ///
    /// # Errors
    /// `Shape` if the data do not fit, `OutOfMemory`, errors of the owner of the blocks.
    pub fn run<B>(
        penalty: ElasticNet,
        centred: bool,
        rows: usize,
        alpha: &[f64],
        blocks: &mut B,
    ) -> Result<Self, B::Error>
    where
        B: for<'a> Blocks<Block<'a> = PrimalData<'a>>,
    {
        Self::of(ColumnAddends { penalty, centred }, rows, alpha, blocks)
    }
}

impl DualProduct {
    /// The product with `alpha` (one dual variable for each row), of data with `features` features.
    ///
    /// # Errors
    /// `Shape` if the data do not fit, `OutOfMemory`, errors of the owner of the blocks.
    pub fn run<B>(
        params: ValidDualSubproblemParams,
        features: usize,
        alpha: &[f64],
        blocks: &mut B,
    ) -> Result<Self, B::Error>
    where
        B: for<'a> Blocks<Block<'a> = DualData<'a>>,
    {
        Self::of(params, features, alpha, blocks)
    }
}

impl<A: Addends> Product<A> {
    fn of<B>(addends: A, length: usize, alpha: &[f64], blocks: &mut B) -> Result<Self, B::Error>
    where
        B: for<'a> Blocks<Block<'a> = <A::Objective as Separable>::Data<'a>>,
    {
        same_length("alpha", alpha.len(), blocks.len(), A::Objective::COORDINATE)?;
        let mut sum = reserve(length, "a product")?;
        sum.resize(length, 0.0);
        let value = Value {
            objective: addends.objective(),
            alpha,
        };
        let mut product = Self {
            addends,
            sum,
            value: total(blocks, length, &value, None)?.value,
            kappa: 0.0,
            nonzeros: 0,
        };
        for block in 0..blocks.count() {
            let alpha = &alpha[blocks.coordinates(block)];
            let mut next = 0;
            while next < alpha.len() {
                next = blocks.lend(|loan| {
                    let data = loan.block(block)?;
                    same_shape::<A::Objective>(&data, alpha.len(), "product", length)?;
                    Ok(with_entries(
                        &A::Objective::columns(&data),
                        Accumulate {
                            product: &mut product,
                            data: &data,
                            alpha,
                            next,
                        },
                    ))
                })?;
            }
        }
        Ok(product)
    }

    /// Writes entries of the product from `start` on, as many as `out` has room for, little endian.
    ///
    /// # Errors
    /// `Shape` for a wrong length, `NonFinite` if the product overflowed.
    pub fn write(&self, start: usize, out: &mut [u8]) -> Result<(), SolverError> {
        write_entries::<A::Objective>("product", start, out, self.sum.len(), |entry| {
            A::entry(self.sum[entry], self.kappa)
        })
    }

    /// The separable part of the objective, in its units: penalty of columns, conjugate losses of rows.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Columns: `sum_i mean_i a_i`, 0 if not centred. Rows: `sum_i t_i a_i`.
    pub fn kappa(&self) -> f64 {
        self.kappa
    }

    /// Entries of the coordinates whose variable is not 0.
    pub fn nonzeros(&self) -> u64 {
        self.nonzeros
    }
}

/// A part of a product, of one block, compiled once for each kind of entries. It returns the next coordinate of the block.
struct Accumulate<'a, 'd, A: Addends> {
    product: &'a mut Product<A>,
    data: &'a <A::Objective as Separable>::Data<'d>,
    alpha: &'a [f64],
    next: usize,
}

impl<A: Addends> WithEntries for Accumulate<'_, '_, A> {
    type Output = usize;

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) -> usize {
        let Self {
            product,
            data,
            alpha,
            mut next,
        } = self;
        let weights = A::weights(data);
        let mut spent = 0;
        while next < alpha.len() && spent < LOAN {
            let wanted = entries.together(LOAN - spent);
            let mut steps = [(0, 0.0); TOGETHER];
            let mut count = 0;
            while next < alpha.len() && spent < LOAN && count < wanted {
                let i = next;
                let a = alpha[i];
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
                next += 1;
            }
            entries.subtract_all(&steps[..count], weights, &mut product.sum);
        }
        next
    }
}
