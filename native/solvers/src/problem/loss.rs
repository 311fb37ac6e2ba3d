//! The losses of one prediction, their conjugates, and the step of dual coordinate descent for each.
//!
//! `z` is the prediction and `y` the label. A dual variable `a` is minus a derivative of the loss; where labels are -1 and 1, `a = y p`.
//!
//! | loss | labels | value | `loss*(-a)` | domain |
//! |---|---|---|---|---|
//! | squared | real | `(z - y)^2 / 2` | `a^2 / 2 - a y` | all |
//! | logistic | -1, 1 | `log(1 + exp(-y z))` | `p log p + (1 - p) log(1 - p)` | `0 <= p <= 1` |
//! | hinge | -1, 1 | `max(0, 1 - y z)` | `-p` | `0 <= p <= 1` |
//! | smoothed hinge | -1, 1 | hinge with a parabola of width `gamma` at its corner | `gamma p^2 / 2 - p` | `0 <= p <= 1` |
//! | squared hinge | -1, 1 | `max(0, 1 - y z)^2` | `p^2 / 4 - p` | `p >= 0` |
//!
//! Apart from the formulas, one row of the table in `Loss::properties` says everything that other files ask about a loss. A new loss needs
//! a row there, its formulas, and a member of [`Labels`] or [`Feasibility`] if none of them suits.
//!
//! Every formula is a fixed order of correctly rounded operations, except for the exponentials and logarithms of the logistic loss.
//!
//! Source: Shalev-Shwartz, Zhang, "Stochastic Dual Coordinate Ascent Methods for Regularized Loss Minimization", JMLR 14, 2013: section 6 and
//! the conjugates of its table.

use std::sync::LazyLock;

use super::{feasibility::Feasibility, labels::Labels};
use crate::base::{checks::positive, error::SolverError};

/// A loss; see the table of the module.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    /// `(z - y)^2 / 2`
    Squared,
    /// `log(1 + exp(-y z))`
    Logistic,
    /// `max(0, 1 - y z)`
    Hinge,
    /// The hinge with a parabola of width `gamma`, finite and positive, at its corner.
    SmoothedHinge(f64),
    /// `max(0, 1 - y z)^2`
    SquaredHinge,
}

/// The properties of a loss, apart from its formulas.
#[derive(Debug, Clone, Copy)]
struct Properties {
    code: i64,
    name: &'static str,
    labels: Labels,
    /// The largest second derivative; `None` where there is no bound.
    curvature: Option<f64>,
    domain: Domain,
    rest: Rest,
    feasibility: Feasibility,
}

/// The dual variables at which `loss*(-a)` is finite, where `p = y a`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Domain {
    All,
    /// `0 <= p <= 1`
    Fractions,
    /// `p >= 0`
    AtLeastZero,
}

/// The terms of `loss*(-a)` that are not quadratic.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rest {
    Nothing,
    /// `p log p + (1 - p) log(1 - p)`
    Entropy,
}

impl Loss {
    /// The table of the losses. Code outside this file asks for a property and does not match on the loss.
    #[rustfmt::skip]
    #[inline(always)]
    const fn properties(self) -> Properties {
        use Domain::*;
        use Feasibility::*;
        use Labels::*;
        use Rest::*;
        let (code, name, labels, curvature, domain, rest, feasibility) = match self {
            //                            code name        labels  curvature          domain       rest     feasibility
            Self::Squared              => (0, "squared",        Real,   Some(1.0),         All,         Nothing, Shift),
            Self::Logistic             => (1, "logistic",       Signed, Some(0.25),        Fractions,   Entropy, Factors),
            Self::Hinge                => (2, "hinge",          Signed, None,              Fractions,   Nothing, Factors),
            Self::SmoothedHinge(gamma) => (3, "smoothed hinge", Signed, Some(1.0 / gamma), Fractions,   Nothing, Factors),
            Self::SquaredHinge         => (4, "squared hinge",  Signed, Some(2.0),         AtLeastZero, Nothing, Factors),
        };
        Properties { code, name, labels, curvature, domain, rest, feasibility }
    }

    /// Every loss; `gamma` is that of the smoothed hinge.
    const fn all(gamma: f64) -> [Self; 5] {
        [
            Self::Squared,
            Self::Logistic,
            Self::Hinge,
            Self::SmoothedHinge(gamma),
            Self::SquaredHinge,
        ]
    }

    /// The loss with this code. `gamma` is read for the smoothed hinge only.
    ///
    /// # Errors
    /// `InvalidParam` for an unknown code, or a `gamma` that is not positive and finite.
    pub fn from_code(code: i64, gamma: f64) -> Result<Self, SolverError> {
        static CODES: LazyLock<String> = LazyLock::new(|| expected_codes(None));
        Self::with_code(code, gamma, &CODES)
    }

    /// As [`Loss::from_code`]; `expected` lists the legal codes.
    pub(super) fn with_code(
        code: i64,
        gamma: f64,
        expected: &'static str,
    ) -> Result<Self, SolverError> {
        let loss = Self::all(gamma)
            .into_iter()
            .find(|loss| loss.properties().code == code);
        match loss {
            Some(loss) => loss.check(),
            None => Err(SolverError::InvalidParam {
                name: "loss",
                value: code as f64,
                expected,
            }),
        }
    }

    /// The loss itself, if its `gamma` is legal.
    ///
    /// # Errors
    /// `InvalidParam` for a `gamma` that is not positive and finite.
    pub fn check(self) -> Result<Self, SolverError> {
        match self {
            Self::SmoothedHinge(gamma) => positive("gamma", gamma)?,
            Self::Squared | Self::Logistic | Self::Hinge | Self::SquaredHinge => {}
        }
        Ok(self)
    }

    /// The labels that the loss takes.
    pub fn labels(self) -> Labels {
        self.properties().labels
    }

    /// The largest second derivative; `None` where there is no bound.
    pub fn curvature(self) -> Option<f64> {
        self.properties().curvature
    }

    /// How minus the derivative becomes a dual variable that satisfies the constraint of an intercept.
    #[inline(always)]
    pub fn feasibility(self) -> Feasibility {
        self.properties().feasibility
    }

    /// Whether `loss*(-a)` consists of quadratic terms alone, at every a.
    #[inline(always)]
    pub(crate) fn is_quadratic(self) -> bool {
        let Properties { domain, rest, .. } = self.properties();
        domain == Domain::All && rest == Rest::Nothing
    }

    /// `loss(z; y)`.
    pub fn value(self, z: f64, y: f64) -> f64 {
        let distance = 1.0 - y * z;
        match self {
            Self::Squared => {
                let residual = z - y;
                0.5 * (residual * residual)
            }
            // An exponent that is never positive cannot overflow, and a small loss keeps its digits.
            Self::Logistic => {
                let margin = y * z;
                (-margin).max(0.0) + (-margin.abs()).exp().ln_1p()
            }
            Self::Hinge => distance.max(0.0),
            Self::SmoothedHinge(gamma) => {
                if distance <= 0.0 {
                    0.0
                } else if distance >= gamma {
                    distance - 0.5 * gamma
                } else {
                    (distance * distance) / (2.0 * gamma)
                }
            }
            Self::SquaredHinge => {
                let distance = distance.max(0.0);
                distance * distance
            }
        }
    }

    /// The derivative by `z`; at the corner of the hinge the subgradient 0.
    pub fn derivative(self, z: f64, y: f64) -> f64 {
        let distance = 1.0 - y * z;
        match self {
            Self::Squared => z - y,
            Self::Logistic => -y * sigmoid(-y * z),
            Self::Hinge => {
                if distance > 0.0 {
                    -y
                } else {
                    0.0
                }
            }
            Self::SmoothedHinge(gamma) => -y * (distance / gamma).clamp(0.0, 1.0),
            Self::SquaredHinge => -2.0 * y * distance.max(0.0),
        }
    }

    /// `value` and `derivative`, to the bit. The logistic loss computes one exponential for both.
    #[inline(always)]
    pub(crate) fn value_and_derivative(self, z: f64, y: f64) -> (f64, f64) {
        match self {
            Self::Logistic => {
                let margin = y * z;
                let e = (-margin.abs()).exp();
                let value = (-margin).max(0.0) + e.ln_1p();
                (value, -y * sigmoid_of(-margin, e))
            }
            Self::Squared | Self::Hinge | Self::SmoothedHinge(_) | Self::SquaredHinge => {
                (self.value(z, y), self.derivative(z, y))
            }
        }
    }

    /// `loss*(-a) = sup_z -a z - loss(z; y)`; infinite outside the domain.
    pub fn conjugate(self, a: f64, y: f64) -> f64 {
        if !self.contains(a, y) {
            return f64::INFINITY;
        }
        let p = y * a;
        match self {
            Self::Squared => 0.5 * (a * a) - a * y,
            Self::Logistic => negative_entropy(p),
            Self::Hinge => -p,
            Self::SmoothedHinge(gamma) => 0.5 * (gamma * (p * p)) - p,
            Self::SquaredHinge => 0.25 * (p * p) - p,
        }
    }

    /// Whether `a` is in the domain of `loss*(-a)`.
    #[inline(always)]
    pub fn contains(self, a: f64, y: f64) -> bool {
        let p = y * a;
        match self.properties().domain {
            Domain::All => true,
            Domain::Fractions => (0.0..=1.0).contains(&p),
            Domain::AtLeastZero => p >= 0.0,
        }
    }

    /// The minimiser over `a'` of `loss*(-a') + z (a' - a) + q (a' - a)^2 / 2`, with curvature `q >= 0`.
    ///
    /// Without curvature (a row without entries, and no intercept) it is the limit as `q` goes to 0.
    #[inline(always)]
    pub fn dual_step(self, a: f64, z: f64, y: f64, q: f64) -> f64 {
        let p = y * a;
        let distance = 1.0 - y * z;
        match self {
            Self::Squared => a + ((y - z) - a) / (1.0 + q),
            Self::Logistic => y * logistic_root(p, y * z, q),
            Self::Hinge => {
                // At the corner and without curvature every p is a minimiser: p stays, and 0 / 0 is never computed.
                let step = if distance == 0.0 { 0.0 } else { distance / q };
                y * (p + step).clamp(0.0, 1.0)
            }
            Self::SmoothedHinge(gamma) => y * ((distance + q * p) / (q + gamma)).clamp(0.0, 1.0),
            Self::SquaredHinge => y * ((distance + q * p) / (q + 0.5)).max(0.0),
        }
    }

    /// Slope at `a` and curvature of the quadratic terms of `loss*(-a)`.
    #[inline(always)]
    pub(crate) fn quadratic(self, a: f64, y: f64) -> (f64, f64) {
        match self {
            Self::Squared => (a - y, 1.0),
            Self::Logistic => (0.0, 0.0),
            Self::Hinge => (-y, 0.0),
            Self::SmoothedHinge(gamma) => (gamma * a - y, gamma),
            Self::SquaredHinge => (0.5 * a - y, 0.5),
        }
    }

    /// The terms of `loss*(-a)` that are not quadratic, at an `a` of the domain.
    #[inline(always)]
    pub(crate) fn not_quadratic(self, a: f64, y: f64) -> f64 {
        match self.properties().rest {
            Rest::Nothing => 0.0,
            Rest::Entropy => negative_entropy(y * a),
        }
    }
}

/// Lists the legal codes, for messages: those of the losses above, and `more`.
pub(super) fn expected_codes(more: Option<(i64, &str)>) -> String {
    let losses = Loss::all(1.0).map(Loss::properties);
    let codes = losses.iter().map(|loss| (loss.code, loss.name)).chain(more);
    let mut codes: Vec<_> = codes
        .map(|(code, name)| format!("{code} ({name})"))
        .collect();
    let last = codes.pop().unwrap_or_default();
    format!("must be {} or {last}", codes.join(", "))
}

/// `1 / (1 + exp(-t))`, with an exponent that is never positive.
fn sigmoid(t: f64) -> f64 {
    sigmoid_of(t, (-t.abs()).exp())
}

/// The same, where `e` is `exp(-|t|)`.
#[inline(always)]
fn sigmoid_of(t: f64, e: f64) -> f64 {
    if t >= 0.0 {
        1.0 / (1.0 + e)
    } else {
        e / (1.0 + e)
    }
}

/// `p log p + (1 - p) log(1 - p)`, where 0 log 0 is 0.
fn negative_entropy(p: f64) -> f64 {
    let first = if p == 0.0 { 0.0 } else { p * p.ln() };
    let rest = 1.0 - p;
    let second = if rest == 0.0 {
        0.0
    } else {
        rest * (-p).ln_1p()
    };
    first + second
}

/// A step of Newton's method this small is the last: the error after it is of the order of its square.
const ROOT_STEP: f64 = 1e-9;

/// Far more than needed: 15 suffice at q = 1e6. Even bisection alone would need fewer.
const ROOT_ITERATIONS: usize = 100;

/// The root in `(0, 1)` of `log(p' / (1 - p')) + m + q (p' - p) = 0`.
///
/// Newton's method in the logit `t` of `p'`, where the function is `q (sigmoid(t) - p) + m + t`: increasing, with slope 1 to `1 + q/4`.
/// The steps start at its point of inflection, 0, moved into the bracket that holds the root: from there they stay on one side of the
/// root. Bisection replaces a step that leaves the bracket.
fn logistic_root(p: f64, m: f64, q: f64) -> f64 {
    let mut low = -m - q * (1.0 - p);
    let mut high = -m + q * p;
    let mut t = 0.0f64.max(low).min(high);
    for _ in 0..ROOT_ITERATIONS {
        let e = (-t.abs()).exp();
        let inverse = 1.0 / (1.0 + e);
        let s = if t >= 0.0 { inverse } else { e * inverse };
        let height = q * (s - p) + (m + t);
        let step = height / (1.0 + q * (e * inverse * inverse));
        // Tested before the bracket: a root that is found exactly becomes an end of the bracket, which refuses the next step.
        if step.abs() <= ROOT_STEP * t.abs().max(1.0) {
            t -= step;
            break;
        }
        if height > 0.0 {
            high = t;
        } else {
            low = t;
        }
        let next = t - step;
        t = if low < next && next < high {
            next
        } else {
            0.5 * low + 0.5 * high
        };
    }
    sigmoid(t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::order::SplitMix64;

    const LOSSES: [Loss; 6] = [
        Loss::Squared,
        Loss::Logistic,
        Loss::Hinge,
        Loss::SmoothedHinge(0.5),
        Loss::SmoothedHinge(3.0),
        Loss::SquaredHinge,
    ];

    struct Random(SplitMix64);

    impl Random {
        fn new(seed: u64) -> Self {
            Self(SplitMix64::for_epoch(seed, 0, 0))
        }

        /// In [0, 1).
        fn unit(&mut self) -> f64 {
            (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
        }

        fn between(&mut self, low: f64, high: f64) -> f64 {
            low + (high - low) * self.unit()
        }

        fn label(&mut self, loss: Loss) -> f64 {
            match loss.labels() {
                Labels::Real => self.between(-3.0, 3.0),
                Labels::Signed if self.unit() < 0.5 => -1.0,
                Labels::Signed => 1.0,
                Labels::Classes(_) => unreachable!("a margin has no classes"),
            }
        }

        /// In the domain, at its ends every third time.
        fn dual(&mut self, loss: Loss, y: f64) -> f64 {
            let (p, end) = match loss.properties().domain {
                Domain::All => return self.between(-4.0, 4.0),
                Domain::Fractions => (self.unit(), Some(1.0)),
                Domain::AtLeastZero => (self.between(0.0, 5.0), None),
            };
            y * match self.0.next_u64() % 6 {
                0 => 0.0,
                1 => end.unwrap_or(p),
                _ => p,
            }
        }
    }

    #[test]
    fn conjugates_bound_and_meet() {
        let mut random = Random::new(1);
        for loss in LOSSES {
            for _ in 0..2000 {
                let y = random.label(loss);
                let z = random.between(-6.0, 6.0);
                let a = random.dual(loss, y);
                let gap = loss.value(z, y) + loss.conjugate(a, y) + a * z;
                assert!(gap >= -1e-13, "{loss:?} z {z} y {y} a {a}: {gap}");
                let best = -loss.derivative(z, y);
                let gap = loss.value(z, y) + loss.conjugate(best, y) + best * z;
                assert!(gap.abs() <= 1e-13, "{loss:?} z {z} y {y}: {gap}");
            }
        }
    }

    #[test]
    fn derivatives_are_those_of_the_values() {
        let mut random = Random::new(2);
        for loss in LOSSES {
            for _ in 0..500 {
                let y = random.label(loss);
                let (z, step) = (random.between(-6.0, 6.0), 1e-6);
                let slope = (loss.value(z + step, y) - loss.value(z - step, y)) / (2.0 * step);
                if (1.0 - y * z).abs() > 2.0 * step {
                    assert!(
                        (slope - loss.derivative(z, y)).abs() < 1e-7,
                        "{loss:?} z {z} y {y}"
                    );
                }
                let other = random.between(-6.0, 6.0);
                let change = (loss.derivative(z, y) - loss.derivative(other, y)).abs();
                if let Some(curvature) = loss.curvature() {
                    assert!(change <= curvature * (z - other).abs() + 1e-12);
                }
            }
        }
    }

    /// The minimum over the domain by golden section, accurate to the square root of the rounding error.
    fn golden_section(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
        let ratio = (5.0f64.sqrt() - 1.0) / 2.0;
        for _ in 0..200 {
            let (left, right) = (high - ratio * (high - low), low + ratio * (high - low));
            if f(left) <= f(right) {
                high = right;
            } else {
                low = left;
            }
        }
        0.5 * (low + high)
    }

    #[test]
    fn steps_minimise() {
        let mut random = Random::new(3);
        for loss in LOSSES {
            for draw in 0..600 {
                let y = random.label(loss);
                let (a, z) = (random.dual(loss, y), random.between(-6.0, 6.0));
                let q = [0.0, 1.0, 10.0][draw % 3] * random.unit();
                let objective =
                    |b: f64| loss.conjugate(b, y) + z * (b - a) + 0.5 * q * (b - a) * (b - a);
                let step = loss.dual_step(a, z, y, q);
                assert!(loss.contains(step, y), "{loss:?} {step}");
                let (low, high) = match loss.properties().domain {
                    Domain::All => (-20.0, 20.0),
                    Domain::Fractions => (0.0f64.min(y), 0.0f64.max(y)),
                    Domain::AtLeastZero => (0.0f64.min(20.0 * y), 0.0f64.max(20.0 * y)),
                };
                let other = golden_section(low, high, objective);
                assert!(
                    objective(step) <= objective(other) + 1e-12,
                    "{loss:?} a {a} z {z} y {y} q {q}: {step}, golden section {other}"
                );
            }
        }
    }

    #[test]
    fn logistic_root_at_any_curvature() {
        let mut random = Random::new(4);
        for draw in 0..20_000 {
            let q = 10.0f64.powf(random.between(-6.0, 6.0));
            let m = random.between(-1.0, 1.0) * [1.0, 30.0, 1000.0, q][draw % 4];
            let p = match draw % 5 {
                0 => 0.0,
                1 => 1.0,
                _ => random.unit(),
            };
            let new = logistic_root(p, m, q);
            assert!((0.0..=1.0).contains(&new), "q {q} m {m} p {p}: {new}");
            // The function of the logit changes sign within the rounding error of its terms, which includes that of a p near 1.
            if new > 1e-300 && new < 1.0 {
                let logit = new.ln() - (-new).ln_1p();
                let height = q * (new - p) + m + logit;
                let slope = 1.0 + q * new * (1.0 - new);
                let rounding =
                    1e-14 * (q + m.abs() + logit.abs() + 1.0) + f64::EPSILON / (1.0 - new);
                assert!(
                    height.abs() <= rounding + 1e-10 * slope,
                    "q {q} m {m} p {p}: {new} leaves {height}"
                );
            }
        }
        assert_eq!(logistic_root(0.0, 0.0, 0.0), 0.5);
    }

    #[test]
    fn without_curvature_steps_are_limits() {
        for y in [-1.0, 1.0] {
            for p in [0.0, 0.3, 1.0] {
                let step = |loss: Loss| loss.dual_step(y * p, 0.0, y, 0.0);
                assert_eq!(step(Loss::Hinge), y);
                assert_eq!(step(Loss::SmoothedHinge(4.0)), y * 0.25);
                assert_eq!(step(Loss::SmoothedHinge(0.5)), y);
                assert_eq!(step(Loss::SquaredHinge), y * 2.0);
                assert_eq!(step(Loss::Logistic), y * 0.5);
                assert_eq!(Loss::Squared.dual_step(0.0, 0.5, 2.0, 0.0), 1.5);
                assert_eq!(Loss::Hinge.dual_step(y * p, y, y, 0.0), y * p);
            }
        }
    }

    #[test]
    fn far_out_nothing_overflows() {
        for y in [-1.0, 1.0] {
            assert_eq!(Loss::Logistic.value(-1e4 * y, y), 1e4);
            assert_eq!(Loss::Logistic.value(1e4 * y, y), 0.0);
            assert_eq!(Loss::Logistic.value(700.0 * y, y), (-700.0f64).exp());
            assert_eq!(Loss::Logistic.derivative(-1e4 * y, y), -y);
            assert_eq!(Loss::Logistic.derivative(1e4 * y, y), 0.0);
            assert_eq!(Loss::Logistic.conjugate(0.0, y), 0.0);
            assert_eq!(Loss::Logistic.conjugate(y, y), 0.0);
            for loss in LOSSES {
                let below = loss.conjugate(-1e-9 * y, y).is_infinite();
                let above = loss.conjugate((1.0 + 1e-9) * y, y).is_infinite();
                let expected = match loss.properties().domain {
                    Domain::All => (false, false),
                    Domain::Fractions => (true, true),
                    Domain::AtLeastZero => (true, false),
                };
                assert_eq!((below, above), expected, "{loss:?}");
            }
        }
    }

    /// The conjugate is the sum of its quadratic terms and of the rest that the table names.
    #[test]
    fn conjugates_are_quadratic_terms_and_the_rest() {
        let mut random = Random::new(5);
        for loss in LOSSES {
            for _ in 0..500 {
                let y = random.label(loss);
                let a = random.dual(loss, y);
                let (slope, curvature) = loss.quadratic(0.0, y);
                let terms = (slope + 0.5 * curvature * a) * a + loss.not_quadratic(a, y);
                let conjugate = loss.conjugate(a, y);
                assert!((terms - conjugate).abs() <= 1e-13, "{loss:?} y {y} a {a}");
            }
        }
    }

    /// Dual numbers keep a dual point in the domain. The neutral ones, 0 or 1, give minus the derivative.
    #[test]
    fn dual_numbers_keep_the_domain() {
        let mut random = Random::new(6);
        for loss in LOSSES {
            for _ in 0..500 {
                let (y, z) = (random.label(loss), random.between(-6.0, 6.0));
                let derivative = loss.derivative(z, y);
                let (none, some) = match loss.feasibility() {
                    Feasibility::Shift => (vec![0.0], vec![random.between(-4.0, 4.0)]),
                    Feasibility::Factors => (vec![1.0; 2], vec![random.unit(), random.unit()]),
                };
                let variable = |numbers: &[f64]| {
                    assert_eq!(loss.feasibility().numbers().check(numbers), Ok(()));
                    loss.feasibility().variable(numbers, y, derivative)
                };
                assert_eq!(variable(&none), -derivative);
                assert!(loss.contains(variable(&some), y), "{loss:?} z {z} y {y}");
            }
        }
    }

    #[test]
    fn codes() {
        for (code, loss) in (0..).zip([
            Loss::Squared,
            Loss::Logistic,
            Loss::Hinge,
            Loss::SmoothedHinge(0.25),
            Loss::SquaredHinge,
        ]) {
            assert_eq!(Loss::from_code(code, 0.25), Ok(loss));
        }
        for code in [-1, 5, i64::MAX] {
            let error = Loss::from_code(code, 1.0).unwrap_err().to_string();
            let codes = "must be 0 (squared), 1 (logistic), 2 (hinge), 3 (smoothed hinge) or 4 (squared hinge)";
            assert!(error.ends_with(codes), "{error}");
        }
        for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Loss::from_code(3, gamma).is_err());
            assert_eq!(Loss::from_code(2, gamma), Ok(Loss::Hinge));
        }
    }
}
