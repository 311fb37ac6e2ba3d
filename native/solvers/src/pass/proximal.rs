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

use super::work::Work;

/// The loss at a distance `1 - yz`.
struct Proximal {
    value: f64,
    /// a
    variable: f64,
    curve: f64,
}

impl Proximal {
    /// `before` is a'.
    #[inline(always)]
    fn at(before: f64, distance: f64, gamma: f64) -> Self {
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

impl Work<'_> {
    /// Values, slopes and curves of the hinge with the corner that the earlier models shift.
    #[inline(always)]
    pub(super) fn proximal(&mut self, gamma: f64) {
        let (plan, params) = (self.plan, self.params);
        let (chunk, outcome) = (&mut *self.chunk, &mut *self.outcome);
        let mut before = vec![0.0; chunk.rows];
        let mut z = Vec::new();
        let cells = plan.cells_earlier.get().filter(|_| chunk.is_sparse);
        if let Some(cells) = cells {
            chunk.products_of_cells(&plan.constants_earlier, cells, &mut z);
        } else {
            for ((weights, _), &constant) in params.earlier_models().zip(&plan.constants_earlier) {
                chunk.products(weights, constant, &mut z);
            }
        }
        for ((_, gamma), z) in params.earlier_models().zip(z.chunks(chunk.rows.max(1))) {
            for ((a, &z), &y) in before.iter_mut().zip(z).zip(&chunk.labels) {
                *a = Proximal::at(*a, 1.0 - y * z, gamma).variable;
            }
        }
        for (total, &step) in outcome.losses.iter_mut().zip(&params.steps) {
            let mut sum = 0.0;
            for (i, &a) in before.iter().enumerate() {
                let z = chunk.predictions[i] + step * chunk.along[i];
                sum += chunk.weights[i] * Proximal::at(a, 1.0 - chunk.labels[i] * z, gamma).value;
            }
            *total += sum;
        }
        chunk.slopes.clear();
        chunk.curves.clear();
        for (i, &a) in before.iter().enumerate() {
            let (s, y) = (chunk.weights[i], chunk.labels[i]);
            let distance = 1.0 - y * chunk.predictions[i];
            let at = Proximal::at(a, distance, gamma);
            outcome.loss += s * at.value;
            outcome.hinge += s * distance.max(0.0);
            chunk.slopes.push(-s * y * at.variable);
            chunk.curves.push(s * at.curve);
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
