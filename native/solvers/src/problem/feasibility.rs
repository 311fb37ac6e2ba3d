//! From a model to a dual point: the duality gap at a model that no dual method made.
//!
//! Minus the derivative of the loss of a row is a dual variable in its domain. An intercept asks, beside, for `sum_i s_i a_i = 0`.
//! The leader finds a few **dual numbers** with which the dual variables satisfy it and stay in their domain.

use crate::base::{
    checks::{finite, fraction},
    error::SolverError,
};

/// How the dual numbers of a margin loss change minus its derivative, `-loss'(z)`, into the dual variable a of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feasibility {
    /// One number, finite: `a = -loss'(z) - delta`. For losses whose domain is all numbers.
    Shift,
    /// Two numbers, 0 to 1, for labels -1 and 1: `a = f_y (-loss'(z))`. For losses with labels of -1 and 1 whose domain, in p, has
    /// every number between 0 and any number that it has.
    Factors,
}

impl Feasibility {
    /// The dual numbers that there are.
    pub(crate) fn numbers(self) -> DualNumbers {
        match self {
            Self::Shift => DualNumbers {
                count: 1,
                fractions: false,
            },
            Self::Factors => DualNumbers {
                count: 2,
                fractions: true,
            },
        }
    }

    /// The dual variable of a row with label `y`.
    #[inline(always)]
    pub(crate) fn variable(self, numbers: &[f64], y: f64, derivative: f64) -> f64 {
        match self {
            Self::Shift => -derivative - numbers[0],
            Self::Factors => numbers[usize::from(y > 0.0)] * -derivative,
        }
    }

    /// Adds what the leader finds the dual numbers from, apart from the derivatives themselves. Factors: `s p` of the row to the first
    /// sum if the label is 1, to the second if it is -1, where `p = -y loss'(z)`.
    #[inline(always)]
    pub(crate) fn add_side(self, weight: f64, y: f64, derivative: f64, sides: &mut [f64; 2]) {
        match self {
            Self::Shift => {}
            Self::Factors => sides[usize::from(y < 0.0)] += weight * (-y * derivative),
        }
    }
}

/// How many dual numbers a loss takes, and whether they are 0 to 1 rather than any finite numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DualNumbers {
    pub count: usize,
    pub fractions: bool,
}

impl DualNumbers {
    /// Refuses other numbers.
    ///
    /// # Errors
    /// `Shape` for a wrong number of them, `InvalidParam` for one out of range.
    pub fn check(self, numbers: &[f64]) -> Result<(), SolverError> {
        if numbers.len() != self.count {
            return Err(SolverError::Shape(format!(
                "there are {} dual numbers, expected {} with this loss",
                numbers.len(),
                self.count
            )));
        }
        let check = if self.fractions { fraction } else { finite };
        numbers.iter().try_for_each(|&x| check("a dual number", x))
    }
}
