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
//! One row of the table in `Loss::properties` says everything that other files ask about a loss, and one type has its
//! [`Formulas`]. A new loss is a member of [`Loss`], a row there and a type. No other file changes, unless none of [`Labels`] or
//! [`Feasibility`] suits.
//!
//! Every formula is a fixed order of correctly rounded operations, except for the exponentials in the dual step of the logistic loss.
//!
//! Source: Shalev-Shwartz, Zhang, "Stochastic Dual Coordinate Ascent Methods for Regularized Loss Minimization", JMLR 14, 2013: section 6 and
//! the conjugates of its table.

use once_cell::sync::Lazy;

use super::{feasibility::Feasibility, labels::Labels};
use crate::base::{
    checks::positive,
    elementary::{exp, ln, ln_1p},
    error::SolverError,
};

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
    /// Whether `loss*(-a)` consists of quadratic terms alone, at every a.
    quadratic: bool,
    feasibility: Feasibility,
}

/// The formulas of one loss. Loops over rows are compiled for each loss; without branches they take several rows at a time.
pub(crate) trait Formulas: Copy + Send + Sync {
    /// `loss(z; y)` and its first and second derivative by `z`; at a corner those of the side where the loss is smaller.
    fn all(self, z: f64, y: f64) -> (f64, f64, f64);

    /// Slope at 0 and curvature of the quadratic terms of `loss*(-a)`.
    fn quadratic(self, y: f64) -> (f64, f64);

    /// The other terms of `loss*(-a)`, if there are any; infinite outside the domain.
    #[inline(always)]
    fn not_quadratic(self, _: f64, _: f64) -> f64 {
        0.0
    }

    /// See [`Loss::dual_step`].
    fn dual_step(self, a: f64, z: f64, y: f64, q: f64) -> f64;

    /// `loss*(-a)`; infinite outside the domain.
    #[inline(always)]
    fn conjugate(self, a: f64, y: f64) -> f64 {
        let (slope, curvature) = self.quadratic(y);
        let terms = 0.5 * (curvature * (a * a)) + slope * a;
        let rest = self.not_quadratic(a, y);
        // Far out the quadratic terms may be NaN.
        if rest == f64::INFINITY {
            rest
        } else {
            terms + rest
        }
    }
}

/// Work that is compiled once for each loss.
pub(crate) trait WithFormulas {
    type Output;
    fn run<F: Formulas>(self, formulas: F) -> Self::Output;
}

/// The value of an expression with the formulas of a loss. No other place says which loss has which formulas.
#[rustfmt::skip]
macro_rules! with_formulas {
    ($loss:expr, $formulas:ident => $value:expr) => {
        match $loss {
            Loss::Squared => { let $formulas = Squared; $value }
            Loss::Logistic => { let $formulas = Logistic; $value }
            Loss::Hinge => { let $formulas = SmoothedHinge { gamma: 0.0 }; $value }
            Loss::SmoothedHinge(gamma) => { let $formulas = SmoothedHinge { gamma }; $value }
            Loss::SquaredHinge => { let $formulas = SquaredHinge; $value }
        }
    };
}

impl Loss {
    /// The table of the losses. Code outside this file asks for a property and does not match on the loss.
    #[rustfmt::skip]
    #[inline(always)]
    const fn properties(self) -> Properties {
        use Feasibility::*;
        use Labels::*;
        let (code, name, labels, curvature, quadratic, feasibility) = match self {
            //                         code name              labels  curvature          quadratic feasibility
            Self::Squared              => (0, "squared",        Real,   Some(1.0),         true,  Shift),
            Self::Logistic             => (1, "logistic",       Signed, Some(0.25),        false, Factors),
            Self::Hinge                => (2, "hinge",          Signed, None,              false, Factors),
            Self::SmoothedHinge(gamma) => (3, "smoothed hinge", Signed, Some(1.0 / gamma), false, Factors),
            Self::SquaredHinge         => (4, "squared hinge",  Signed, Some(2.0),         false, Factors),
        };
        Properties { code, name, labels, curvature, quadratic, feasibility }
    }

    /// The width of the parabola in the place of the hinge's corner; None for other losses.
    pub const fn corner(self) -> Option<f64> {
        if let Self::SmoothedHinge(gamma) = self {
            Some(gamma)
        } else {
            None
        }
    }

    /// Every loss; `gamma` is that of the smoothed hinge.
    const fn every(gamma: f64) -> [Self; 5] {
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
        static CODES: Lazy<String> = Lazy::new(|| expected_codes(None));
        Self::with_code(code, gamma, &CODES)
    }

    /// As [`Loss::from_code`]; `expected` lists the legal codes.
    pub(super) fn with_code(
        code: i64,
        gamma: f64,
        expected: &'static str,
    ) -> Result<Self, SolverError> {
        let loss = Self::every(gamma)
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
        self.properties().quadratic
    }

    /// Runs `work` with the formulas of the loss.
    #[inline(always)]
    pub(crate) fn with<W: WithFormulas>(self, work: W) -> W::Output {
        with_formulas!(self, formulas => work.run(formulas))
    }

    /// `loss(z; y)` and its first and second derivative by `z`.
    #[inline(always)]
    pub(crate) fn all(self, z: f64, y: f64) -> (f64, f64, f64) {
        with_formulas!(self, formulas => formulas.all(z, y))
    }

    /// `loss(z; y)`.
    #[inline]
    pub fn value(self, z: f64, y: f64) -> f64 {
        self.all(z, y).0
    }

    /// The derivative by `z`; at the corner of the hinge the subgradient 0.
    #[inline]
    pub fn derivative(self, z: f64, y: f64) -> f64 {
        self.all(z, y).1
    }

    /// `loss*(-a) = sup_z -a z - loss(z; y)`; infinite outside the domain.
    #[inline]
    pub fn conjugate(self, a: f64, y: f64) -> f64 {
        with_formulas!(self, formulas => formulas.conjugate(a, y))
    }

    /// The minimiser over `a'` of `loss*(-a') + z (a' - a) + q (a' - a)^2 / 2`, with curvature `q >= 0`.
    ///
    /// Without curvature (a row without entries, and no intercept) it is the limit as `q` goes to 0.
    #[inline(always)]
    pub fn dual_step(self, a: f64, z: f64, y: f64, q: f64) -> f64 {
        with_formulas!(self, formulas => formulas.dual_step(a, z, y, q))
    }

    /// Slope at `a` and curvature of the quadratic terms of `loss*(-a)`.
    #[inline(always)]
    pub(crate) fn quadratic(self, a: f64, y: f64) -> (f64, f64) {
        let (slope, curvature) = with_formulas!(self, formulas => formulas.quadratic(y));
        (curvature * a + slope, curvature)
    }

    /// The terms of `loss*(-a)` that are not quadratic; infinite outside the domain.
    #[inline(always)]
    pub(crate) fn not_quadratic(self, a: f64, y: f64) -> f64 {
        with_formulas!(self, formulas => formulas.not_quadratic(a, y))
    }
}

/// Lists the legal codes, for messages: those of the losses above, and `more`.
pub(super) fn expected_codes(more: Option<(i64, &str)>) -> String {
    let losses = Loss::every(1.0).map(Loss::properties);
    let codes = losses.iter().map(|loss| (loss.code, loss.name)).chain(more);
    let mut codes: Vec<_> = codes
        .map(|(code, name)| format!("{code} ({name})"))
        .collect();
    let last = codes.pop().unwrap_or_default();
    format!("must be {} or {last}", codes.join(", "))
}

/// See [`Loss::Squared`].
#[derive(Clone, Copy)]
struct Squared;

impl Formulas for Squared {
    #[inline(always)]
    fn all(self, z: f64, y: f64) -> (f64, f64, f64) {
        let residual = z - y;
        (0.5 * (residual * residual), residual, 1.0)
    }

    #[inline(always)]
    fn quadratic(self, y: f64) -> (f64, f64) {
        (-y, 1.0)
    }

    #[inline(always)]
    fn dual_step(self, a: f64, z: f64, y: f64, q: f64) -> f64 {
        a + ((y - z) - a) / (1.0 + q)
    }
}

/// See [`Loss::Logistic`].
#[derive(Clone, Copy)]
struct Logistic;

impl Formulas for Logistic {
    #[inline(always)]
    fn all(self, z: f64, y: f64) -> (f64, f64, f64) {
        let margin = y * z;
        // An exponent that is never positive cannot overflow, and a small loss keeps its digits.
        let e = exp(-margin.abs());
        let larger = 1.0 / (1.0 + e);
        // p = 1 / (1 + exp(margin)) is minus the slope times the label.
        let p = larger * if margin >= 0.0 { e } else { 1.0 };
        // A margin that is NaN goes on here: its logarithm may be a number.
        let short = if margin >= 0.0 { 0.0 } else { -margin };
        (short + ln_1p(e), -y * p, larger * (e * larger))
    }

    #[inline(always)]
    fn quadratic(self, _: f64) -> (f64, f64) {
        (0.0, 0.0)
    }

    /// `p log p + (1 - p) log(1 - p)`
    #[inline(always)]
    fn not_quadratic(self, a: f64, y: f64) -> f64 {
        let p = y * a;
        // The logarithms of 0 are finite, so that 0 log 0 is 0.
        if_fraction(p, p * ln(p) + (1.0 - p) * ln_1p(-p))
    }

    #[inline(always)]
    fn dual_step(self, a: f64, z: f64, y: f64, q: f64) -> f64 {
        y * logistic_root(y * a, y * z, q)
    }
}

/// See [`Loss::SmoothedHinge`]. With `gamma` 0, [`Loss::Hinge`].
#[derive(Clone, Copy)]
struct SmoothedHinge {
    gamma: f64,
}

impl Formulas for SmoothedHinge {
    #[inline(always)]
    fn all(self, z: f64, y: f64) -> (f64, f64, f64) {
        let Self { gamma } = self;
        let distance = 1.0 - y * z;
        let (value, p, curve) = if distance <= 0.0 {
            (0.0, 0.0, 0.0)
        } else if distance > gamma {
            (distance - 0.5 * gamma, 1.0, 0.0)
        } else {
            let p = distance / gamma;
            (0.5 * (distance * p), p, 1.0 / gamma)
        };
        (value, -y * p, curve)
    }

    #[inline(always)]
    fn quadratic(self, y: f64) -> (f64, f64) {
        (-y, self.gamma)
    }

    #[inline(always)]
    fn not_quadratic(self, a: f64, y: f64) -> f64 {
        if_fraction(y * a, 0.0)
    }

    #[inline(always)]
    fn dual_step(self, a: f64, z: f64, y: f64, q: f64) -> f64 {
        let p = y * a;
        let slope = (1.0 - y * z) - self.gamma * p;
        // At the corner of the hinge and without curvature every p is a minimiser: p stays, and 0 / 0 is never computed.
        let step = if slope == 0.0 {
            0.0
        } else {
            slope / (q + self.gamma)
        };
        y * (p + step).clamp(0.0, 1.0)
    }
}

/// See [`Loss::SquaredHinge`].
#[derive(Clone, Copy)]
struct SquaredHinge;

impl Formulas for SquaredHinge {
    #[inline(always)]
    fn all(self, z: f64, y: f64) -> (f64, f64, f64) {
        let distance = (1.0 - y * z).max(0.0);
        let curve = if distance > 0.0 { 2.0 } else { 0.0 };
        (distance * distance, -2.0 * y * distance, curve)
    }

    #[inline(always)]
    fn quadratic(self, y: f64) -> (f64, f64) {
        (-y, 0.5)
    }

    #[inline(always)]
    fn not_quadratic(self, a: f64, y: f64) -> f64 {
        if y * a >= 0.0 { 0.0 } else { f64::INFINITY }
    }

    #[inline(always)]
    fn dual_step(self, a: f64, z: f64, y: f64, q: f64) -> f64 {
        y * (((1.0 - y * z) + q * (y * a)) / (q + 0.5)).max(0.0)
    }
}

/// `value`, or infinity unless `0 <= p <= 1`.
#[inline(always)]
fn if_fraction(p: f64, value: f64) -> f64 {
    if (0.0..=1.0).contains(&p) {
        value
    } else {
        f64::INFINITY
    }
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
///
/// Its iterations wait for each other, so it has one exponential at a time and takes that of the standard library.
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
    let e = (-t.abs()).exp();
    if t >= 0.0 {
        1.0 / (1.0 + e)
    } else {
        e / (1.0 + e)
    }
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

    /// The least and the largest `p = y a` of the domain.
    fn domain(loss: Loss) -> (f64, f64) {
        match loss {
            Loss::Squared => (f64::NEG_INFINITY, f64::INFINITY),
            Loss::Logistic | Loss::Hinge | Loss::SmoothedHinge(_) => (0.0, 1.0),
            Loss::SquaredHinge => (0.0, f64::INFINITY),
        }
    }

    /// Whether `a` is in the domain of `loss*(-a)`.
    fn contains(loss: Loss, a: f64, y: f64) -> bool {
        loss.not_quadratic(a, y) < f64::INFINITY
    }

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
            let (low, high) = domain(loss);
            y * match self.0.next_u64() % 6 {
                0 => low.max(-4.0),
                1 => high.min(4.0),
                _ => self.between(low.max(-4.0), high.min(4.0)),
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
                let (_, derivative, curve) = loss.all(z, y);
                let [low, high] = [z - step, z + step].map(|z| loss.all(z, y));
                let slopes = [high.0 - low.0, high.1 - low.1].map(|change| change / (2.0 * step));
                // No corner is between the two.
                if (high.2 - low.2).abs() < 1e-5 && (1.0 - y * z).abs() > 2.0 * step {
                    let errors = [slopes[0] - derivative, slopes[1] - curve];
                    assert!(
                        errors.iter().all(|e| e.abs() < 1e-7),
                        "{loss:?} z {z} y {y}"
                    );
                }
                assert!(curve <= loss.curvature().unwrap_or(0.0));
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
                assert!(contains(loss, step, y), "{loss:?} {step}");
                let (low, high) = domain(loss);
                let sign = y.signum();
                let other =
                    sign * golden_section(low.max(-20.0), high.min(20.0), |p| objective(sign * p));
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
            // The exponential is exp(-708) at least.
            assert_eq!(Loss::Logistic.value(1e4 * y, y), exp(-708.0));
            assert_eq!(Loss::Logistic.value(700.0 * y, y), exp(-700.0));
            assert_eq!(Loss::Logistic.derivative(-1e4 * y, y), -y);
            assert_eq!(Loss::Logistic.derivative(1e4 * y, y), -y * exp(-708.0));
            let (value, derivative, _) = Loss::Logistic.all(f64::NAN, y);
            assert!(value.is_nan() && derivative.is_nan());
            assert_eq!(Loss::Logistic.conjugate(0.0, y), 0.0);
            assert_eq!(Loss::Logistic.conjugate(y, y), 0.0);
            for loss in LOSSES {
                let (low, high) = domain(loss);
                for p in [-1e100, -1e-9, 0.0, 1.0, 1.0 + 1e-9, 1e100] {
                    let inside = (low..=high).contains(&p);
                    let conjugate = loss.conjugate(p * y, y);
                    assert_eq!(contains(loss, p * y, y), inside, "{loss:?} {p}");
                    assert_eq!(conjugate.is_finite(), inside, "{loss:?} {p}");
                }
                if high == 1.0 {
                    assert_eq!(loss.conjugate(f64::INFINITY * y, y), f64::INFINITY);
                }
                assert_eq!(contains(loss, f64::NAN, y), loss.is_quadratic(), "{loss:?}");
            }
        }
    }

    /// Quadratic terms at `a` continue to the conjugate elsewhere in the domain; a loss without other terms says so in the table.
    #[test]
    fn conjugates_are_quadratic_terms_and_the_rest() {
        let mut random = Random::new(5);
        for loss in LOSSES {
            for _ in 0..500 {
                let y = random.label(loss);
                let (a, b) = (random.dual(loss, y), random.dual(loss, y));
                let (slope, curvature) = loss.quadratic(a, y);
                let rest = loss.not_quadratic(b, y) - loss.not_quadratic(a, y);
                let change = (slope + 0.5 * curvature * (b - a)) * (b - a) + rest;
                let error = change - (loss.conjugate(b, y) - loss.conjugate(a, y));
                assert!(error.abs() <= 1e-13, "{loss:?} y {y} a {a} b {b}");
                assert!(!loss.is_quadratic() || rest == 0.0);
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
                    loss.feasibility().variable(numbers, derivative)
                };
                assert_eq!(variable(&none), -derivative);
                assert!(contains(loss, variable(&some), y), "{loss:?} z {z} y {y}");
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
