//! From a model to a feasible dual point, for the duality gap of methods without dual variables.
//!
//! Minus the derivative of a row's loss is a dual variable in its domain. An intercept adds the constraint `sum_i s_i a_i = 0` to the dual
//! problem. The leader chooses a few **dual numbers** so that the dual variables satisfy it and stay in the domain.

use crate::base::{
    checks::{finite, fraction},
    error::SolverError,
};

/// How a row's dual variable `a` follows from the derivative of a margin loss and the dual numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feasibility {
    /// One number, finite: `a = -loss'(z) - delta`. For losses whose domain is all numbers.
    Shift,
    /// Two numbers from 0 to 1, for negative and for positive variables: `a = -f loss'(z)`. For domains that are intervals with 0.
    Factors,
}

impl Feasibility {
    /// The dual numbers that this rule takes.
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

    /// The dual variable of a row.
    #[inline(always)]
    pub(crate) fn variable(self, numbers: &[f64], derivative: f64) -> f64 {
        match self {
            Self::Shift => -derivative - numbers[0],
            Self::Factors => numbers[usize::from(derivative < 0.0)] * -derivative,
        }
    }
}

/// How many dual numbers a loss takes, and whether they are 0 to 1 (or else any finite numbers).
#[derive(Debug, Clone, Copy)]
pub(crate) struct DualNumbers {
    pub count: usize,
    pub fractions: bool,
}

impl DualNumbers {
    /// Refuses numbers of another count or range.
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
