//! What a row adds to an evaluation.

use super::loss::{SgdLoss, softmax};
use crate::problem::loss::Loss;

/// What a row adds to the vector and to the sums.
#[derive(Clone, Copy)]
pub(super) struct RowRule<'a> {
    pub loss: SgdLoss,
    pub dual: Option<&'a [f64]>,
}

impl RowRule<'_> {
    /// Puts what the entries of a row with `weight` are to be multiplied by in the place of `coefficients`, and adds to `sides`. Returns the
    /// loss, or the conjugate.
    #[inline(always)]
    pub fn coefficients(
        self,
        z: &[f64],
        y: f64,
        weight: f64,
        coefficients: &mut [f64],
        sides: &mut [f64; 2],
    ) -> f64 {
        match self.loss {
            SgdLoss::Margin(loss) => {
                let (value, coefficient) = self.margin(loss, z[0], y, weight, sides);
                coefficients[0] = weight * coefficient;
                value
            }
            SgdLoss::Softmax(_) => {
                let class = y as usize;
                let value = match self.dual {
                    None => {
                        let value = softmax(z, class, coefficients);
                        coefficients[class] -= 1.0;
                        value
                    }
                    Some(numbers) => dual_softmax(numbers, z, class, coefficients),
                };
                for coefficient in coefficients {
                    *coefficient *= weight;
                }
                value
            }
        }
    }

    #[inline(always)]
    fn margin(self, loss: Loss, z: f64, y: f64, weight: f64, sides: &mut [f64; 2]) -> (f64, f64) {
        let (value, derivative) = loss.value_and_derivative(z, y);
        if loss == Loss::Squared {
            return match self.dual {
                None => (value, derivative),
                Some(numbers) => {
                    let a = (y - z) - numbers[0];
                    (loss.conjugate(a, y), a)
                }
            };
        }
        let p = -y * derivative;
        sides[usize::from(y < 0.0)] += weight * p;
        match self.dual {
            None => (value, derivative),
            Some(numbers) => {
                let a = y * (numbers[usize::from(y > 0.0)] * p);
                (loss.conjugate(a, y), a)
            }
        }
    }
}

/// Puts `e_y - q'` in the place of `point`; returns `sum q' log q'`.
fn dual_softmax(numbers: &[f64], z: &[f64], class: usize, point: &mut [f64]) -> f64 {
    let (eps, prior) = (numbers[0], &numbers[1..]);
    softmax(z, class, point);
    let mut conjugate = 0.0;
    for (c, (a, r)) in point.iter_mut().zip(prior).enumerate() {
        let q = (1.0 - eps) * *a + eps * r;
        conjugate += if q == 0.0 { 0.0 } else { q * q.ln() };
        *a = f64::from(u8::from(c == class)) - q;
    }
    conjugate
}
