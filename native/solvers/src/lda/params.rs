//! Parameters of the model, of the E-step and of the steps, and their ranges.

use crate::base::{
    checks::{at_least_one, at_least_zero, ensure, fraction, positive},
    error::SolverError,
};

/// The range of alpha and eta. In `f32`, exp(psi) of smaller numbers is rounding error.
pub(super) const MIN_PRIOR: f64 = 1e-6;
const MAX_PRIOR: f64 = 1e6;

fn in_range(name: &'static str, value: f64) -> Result<(), SolverError> {
    let legal = (MIN_PRIOR..=MAX_PRIOR).contains(&value);
    ensure(name, value, legal, "must be 1e-6 to 1e6")
}

/// Refuses an eta out of range.
pub(super) fn check_eta(eta: f64) -> Result<(), SolverError> {
    in_range("eta", eta)
}

/// Refuses an empty alpha, or a number of it that is out of range.
pub(super) fn check_alpha(alpha: &[f64]) -> Result<(), SolverError> {
    if alpha.is_empty() {
        return Err(SolverError::Shape(
            "alpha is empty: there is one number for each topic, at least 1".into(),
        ));
    }
    alpha.iter().try_for_each(|&a| in_range("alpha", a))
}

/// Unchecked parameters of the E-step.
///
/// | Name | Default | Meaning | Range |
/// |---|---|---|---|
/// | `tolerance` | 1e-3 | the iteration ends when the mean change of gamma over the topics is less | finite, > 0 |
/// | `cap` | 1000 | most iterations of gamma; fewer than 200 raise the perplexity much in the first pass over the documents | >= 1 |
/// | `over_relaxation` | 0.7 | how much beyond the new gamma the next iteration starts, as a part of the change; 0: none | 0 to 1 |
/// | `pruning` | 0.01 | a topic leaves the document if its share is less and does not rise; 0: no topic leaves | 0 to 0.5 |
/// | `mean` | false | whether the factors of words are the means of beta, `lambda_kw / sum_w lambda_kw`, rather than `exp(E[log beta_kw])` | |
///
/// `exp(psi(lambda))` of a small lambda is almost 0, so a topic that has lost a word rarely gets it back. With the mean it does. Steps with the mean are
/// not variational inference, but close to collapsed variational inference of order 0, whose topics often predict better.
///
/// Source of the mean: Asuncion, Welling, Smyth, Teh, "On smoothing and inference for topic models", UAI 2009 (CVB0).
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the table names every field")]
pub struct EStepParams {
    pub tolerance: f64,
    pub cap: u32,
    pub over_relaxation: f64,
    pub pruning: f64,
    pub mean: bool,
}

impl Default for EStepParams {
    fn default() -> Self {
        Self {
            tolerance: 1e-3,
            cap: 1000,
            over_relaxation: 0.7,
            pruning: 0.01,
            mean: false,
        }
    }
}

impl EStepParams {
    /// The defaults without over-relaxation and pruning.
    pub const PLAIN: Self = Self {
        tolerance: 1e-3,
        cap: 1000,
        over_relaxation: 0.0,
        pruning: 0.0,
        mean: false,
    };

    /// Checks the ranges of the table above.
    pub(super) fn check(self) -> Result<Self, SolverError> {
        positive("tolerance", self.tolerance)?;
        at_least_one("cap", self.cap.into())?;
        fraction("over_relaxation", self.over_relaxation)?;
        let legal = (0.0..=0.5).contains(&self.pruning);
        ensure("pruning", self.pruning, legal, "must be 0 to 0.5")?;
        Ok(self)
    }
}

/// Unchecked step sizes. They depend on g, the documents that all workers have seen, so that they need no new tuning for other batches or workers:
///
/// ```text
/// rho(g) = (tau0 + 1 + g / base)^-kappa
/// step of a batch of b documents on one of W workers: 1 - (1 - rho(g))^(W b / base)
/// ```
///
/// With `W b = base` it is the schedule of the source.
///
/// Source: Hoffman, Blei, Bach, "Online learning for latent Dirichlet allocation", NIPS 2010, algorithm 2.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `tau0` | slows the first steps; with 0 the first step forgets the model | finite, >= 0 |
/// | `kappa` | exponent at which steps shrink | finite, >= 0; (0.5, 1] to converge |
/// | `base` | documents in an update of step rho | finite, > 0; usually 1000 |
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the table names every field")]
pub struct LdaSchedule {
    pub tau0: f64,
    pub kappa: f64,
    pub base: f64,
}

impl LdaSchedule {
    /// Checks the ranges of the table above.
    pub(super) fn check(self) -> Result<Self, SolverError> {
        at_least_zero("tau0", self.tau0)?;
        at_least_zero("kappa", self.kappa)?;
        positive("base", self.base)?;
        Ok(self)
    }

    /// The step of a batch of `documents` on each of `workers`, after `seen` documents on all of them: 0 to 1.
    pub fn step(&self, seen: f64, documents: f64, workers: f64) -> f64 {
        let rho = (self.tau0 + 1.0 + seen / self.base).powf(-self.kappa);
        let batches = workers * documents / self.base;
        // 1 - (1 - rho)^batches without cancellation.
        -((-rho).ln_1p() * batches).exp_m1()
    }
}
