//! Proximal passes: the hinge as the proximal point method on its dual variables sees it.
//!
//! The hinge is `max_a a (1 - yz)` over `0 <= a <= 1`. The method keeps a near `a'`, the variable that the row had before:
//!
//! ```text
//! loss(z) = max_a a (1 - yz) - gamma (a - a')^2 / 2,     a = clip(a' + (1 - yz) / gamma)
//! ```
//!
//! It has a derivative, -ya, and a curvature, 1 / gamma where a is inside of its bounds. (At a = 1 it is the one for larger yz.) The variables begin at 0 and follow from the
//! earlier models and their gammas one after the other, so that a pass needs no state: `a_k = clip(a_{k-1} + (1 - y z_k) / gamma_k)`.
//!
//! Source: Rockafellar, "Augmented Lagrangians and applications of the proximal point algorithm in convex programming", Mathematics
//! of Operations Research 1, 1976.

use crate::base::{
    checks::{ensure, finite, positive},
    error::SolverError,
};

/// The earlier models of a pass, whose rows have so many entries, each with its gamma.
pub(super) fn models(earlier: &[f64], entries: usize) -> impl Iterator<Item = (&[f64], f64)> {
    earlier
        .chunks_exact(entries + 1)
        .filter_map(|model| model.split_last())
        .map(|(&gamma, weights)| (weights, gamma))
}

pub(super) fn check(earlier: &[f64], entries: usize) -> Result<(), SolverError> {
    let whole = earlier.len().is_multiple_of(entries + 1);
    let expected = "must hold whole models, each with its gamma";
    ensure("earlier", earlier.len() as f64, whole, expected)?;
    for (weights, gamma) in models(earlier, entries) {
        for &weight in weights {
            finite("earlier", weight)?;
        }
        positive("gamma", gamma)?;
    }
    Ok(())
}

/// The loss at a distance `1 - yz`.
pub(super) struct Proximal {
    pub(super) value: f64,
    /// a
    pub(super) variable: f64,
    pub(super) curve: f64,
}

impl Proximal {
    /// `before` is a'.
    #[inline(always)]
    pub(super) fn at(before: f64, distance: f64, gamma: f64) -> Self {
        let free = before + distance / gamma;
        let variable = free.clamp(0.0, 1.0);
        let moved = variable - before;
        Self {
            value: variable * distance - 0.5 * gamma * (moved * moved),
            variable,
            curve: if free > 0.0 && free <= 1.0 {
                1.0 / gamma
            } else {
                0.0
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The maximum over a grid of dual variables, and the best of them.
    fn by_search(before: f64, distance: f64, gamma: f64) -> (f64, f64) {
        (0..=200_000)
            .map(|k| f64::from(k) / 200_000.0)
            .map(|a| (a * distance - 0.5 * gamma * (a - before) * (a - before), a))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap()
    }

    #[test]
    fn the_loss_is_its_maximum_over_dual_variables() {
        for (before, distance, gamma) in [
            (0.0, 0.3, 0.5),
            (0.0, -0.2, 0.5),
            (0.0, 2.0, 0.5),
            (0.4, 0.1, 1.0),
            (0.4, -3.0, 1.0),
            (1.0, -0.25, 0.5),
            (0.7, 0.0, 0.1),
        ] {
            let found = Proximal::at(before, distance, gamma);
            let (expected, best) = by_search(before, distance, gamma);
            assert!(
                (found.value - expected).abs() < 1e-9,
                "{}, expected {expected}",
                found.value
            );
            assert!(
                (found.variable - best).abs() < 1e-5,
                "{}, expected {best}",
                found.variable
            );
            assert_eq!(found.curve > 0.0, best > 1e-4 && best < 1.0 - 1e-4);
        }
    }
}
