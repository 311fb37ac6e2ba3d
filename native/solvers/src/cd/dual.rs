//! Rows as coordinates (dual): any loss, with an L2 penalty.

use std::ops::Range;

use super::{
    data::{DualData, Samples},
    steps::{Descent, Rule, Span},
    subproblem::{Addends, Certificate, Separable, Subproblem},
    sums::Sums,
};
use crate::{
    base::{
        checks::{at_least_zero, ensure, finite, positive},
        entries::Entries,
        error::SolverError,
        matrix::Columns,
    },
    problem::loss::Loss,
};

/// Unchecked parameters of the local subproblem.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `loss` | the loss | its `gamma` finite, > 0 |
/// | `sigma_prime` | weight of the quadratic term | finite, > 0 |
/// | `l2` | weight of the squares: feature j has `l2 / scale_j` | finite, > 0 |
/// | `total_weight` | S, sum of the weights of all rows of all partitions | finite, > 0 |
/// | `intercept` | h: `sum_j scale_j mean_j^2` and the weight of the intercept; 0 without intercept | finite, >= 0 |
/// | `offset` | intercept at the start of the round | finite |
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the table names every field")]
pub struct DualSubproblemParams {
    pub loss: Loss,
    pub sigma_prime: f64,
    pub l2: f64,
    pub total_weight: f64,
    pub intercept: f64,
    pub offset: f64,
}

impl DualSubproblemParams {
    /// Checks the ranges of the table above.
    ///
    /// # Errors
    /// `InvalidParam` names the first parameter out of range.
    pub fn check(self) -> Result<ValidDualSubproblemParams, SolverError> {
        let loss = self.loss.check()?;
        positive("sigma_prime", self.sigma_prime)?;
        positive("l2", self.l2)?;
        positive("total_weight", self.total_weight)?;
        positive("total_weight times l2", self.total_weight * self.l2)?;
        at_least_zero("intercept", self.intercept)?;
        finite("offset", self.offset)?;
        Ok(ValidDualSubproblemParams {
            objective: ConjugateLoss {
                loss,
                total_weight: self.total_weight,
            },
            sigma_prime: self.sigma_prime,
            total_l2: self.total_weight * self.l2,
            intercept: self.intercept,
            offset: self.offset,
        })
    }
}

/// Checked [`DualSubproblemParams`]: the local subproblem (10) of CoCoA for the dual problem,
///
/// ```text
/// min over a'   sum_i (s_i/S) loss*(-a'_i) + w^T v l2 + sigma' l2/2 |v|^2,     v = sum_i t_i (a'_i - a_i) x_i,   t_i = s_i / (S l2)
/// ```
///
/// (for `scale` 1 and without intercept). Its vector is `u = w + sigma' v`, so that the prediction of a row is one dot product.
///
/// With an intercept, features are centred, and one more feature of value 1 and scale nu has the intercept as its coefficient. Two numbers
/// give what both add to a prediction: `C = sigma' sum_i t_i (a'_i - a_i)` and `T = sigma' sum_i t_i (a'_i - a_i) e_i`.
#[derive(Debug, Clone, Copy)]
pub struct ValidDualSubproblemParams {
    objective: ConjugateLoss,
    sigma_prime: f64,
    /// `S l2`, in units of row weight times `l2`: the penalty that belongs to the sum, rather than the mean, of the losses.
    total_l2: f64,
    intercept: f64,
    offset: f64,
}

/// `h_i(a) = (s_i/S) loss*(-a)`.
#[derive(Debug, Clone, Copy)]
pub struct ConjugateLoss {
    loss: Loss,
    total_weight: f64,
}

/// `s_i / denominator`.
#[inline(always)]
fn share(samples: &Samples<'_>, i: usize, denominator: f64) -> f64 {
    samples.weights.map_or(1.0, |s| s[i]) / denominator
}

impl Separable for ConjugateLoss {
    type Data<'a> = DualData<'a>;

    const COORDINATE: &'static str = "row";
    const ENTRY: &'static str = "feature";
    const VARIABLE: &'static str = "dual variable";
    const SHARED: &'static str = "coefficients";

    fn columns<'a>(data: &'a DualData<'_>) -> Columns<'a> {
        data.columns
    }

    #[inline(always)]
    fn value(&self, data: &DualData<'_>, i: usize, a: f64) -> f64 {
        share(&data.samples, i, self.total_weight) * self.loss.conjugate(a, data.samples.label(i))
    }

    #[inline(always)]
    fn quadratic(&self, data: &DualData<'_>, i: usize, a: f64) -> (f64, f64) {
        let share = share(&data.samples, i, self.total_weight);
        let (slope, curvature) = self.loss.quadratic(a, data.samples.label(i));
        (share * slope, share * curvature)
    }

    fn sample(
        &self,
        data: &DualData<'_>,
        i: usize,
        a: f64,
        [delta, previous]: [f64; 2],
        points: &[[f64; 2]],
        samples: &mut [f64],
    ) {
        if self.loss.is_quadratic() {
            return;
        }
        let y = data.samples.label(i);
        let share = share(&data.samples, i, self.total_weight);
        let before = self.loss.not_quadratic(a, y);
        for ([g1, g2], sample) in points.iter().zip(samples) {
            let there = a + (g1 * delta + g2 * previous);
            let rest = self.loss.not_quadratic(there, y);
            // A weight of 0 does not make an infinite conjugate legal.
            *sample += if rest == f64::INFINITY {
                rest
            } else {
                share * (rest - before)
            };
        }
    }
}

/// The sums that go with the vector.
#[derive(Debug, Clone, Copy, Default)]
pub struct DualRunning {
    /// C.
    steps: f64,
    /// T.
    projected: f64,
}

impl ValidDualSubproblemParams {
    /// What the intercept and the means of the features add to every prediction: `offset + C h - T`.
    #[inline(always)]
    fn shift(&self, running: &DualRunning) -> f64 {
        (self.offset + running.steps * self.intercept) - running.projected
    }
}

impl Subproblem for ValidDualSubproblemParams {
    type Objective = ConjugateLoss;
    type Running = DualRunning;

    fn objective(&self) -> &ConjugateLoss {
        &self.objective
    }

    fn entry_weights<'a>(data: &'a DualData<'_>) -> Option<&'a [f64]> {
        data.scale
    }

    fn load_weights<'a>(_: &'a DualData<'_>) -> Option<&'a [f64]> {
        None
    }

    fn suits(&self, data: &DualData<'_>) -> Result<(), SolverError> {
        ensure(
            "intercept",
            self.intercept,
            self.intercept == 0.0 || data.samples.projections.is_some(),
            "must be 0 where rows have no projections",
        )
    }

    fn check(&self, data: &DualData<'_>, range: Range<usize>) -> Result<(), SolverError> {
        data.samples
            .check_labels(self.objective.loss.labels(), range)
    }

    #[inline(always)]
    fn loaded(_: &mut DualRunning, _: f64) {}

    #[inline(always)]
    fn descend<E: Entries, const WEIGHTED: bool>(
        &self,
        data: &DualData<'_>,
        threads: f64,
        running: &mut DualRunning,
        span: Span<'_, E>,
    ) -> Descent {
        let (rule, descent) = span.descend::<_, WEIGHTED>(RowRule {
            samples: data.samples,
            subproblem: *self,
            step: self.sigma_prime * threads,
            running: *running,
            shift: self.shift(running),
        });
        *running = rule.running;
        descent
    }

    fn merge(total: &mut DualRunning, before: &DualRunning, after: &DualRunning, threads: f64) {
        total.steps += (after.steps - before.steps) / threads;
        total.projected += (after.projected - before.projected) / threads;
    }

    #[inline(always)]
    fn certify(
        &self,
        data: &DualData<'_>,
        start: &Certificate<'_, DualRunning>,
        i: usize,
        a: f64,
        dot: f64,
        sums: &mut Sums,
    ) {
        let ConjugateLoss { loss, total_weight } = self.objective;
        let y = data.samples.label(i);
        let share = share(&data.samples, i, total_weight);
        sums.value += share * loss.conjugate(a, y);
        for (candidate, sum) in start.candidates.iter().zip(&mut sums.losses) {
            *sum += share * loss.value(dot + candidate, y);
        }
    }

    fn penalty_side(_: &Sums) -> [f64; 3] {
        // The penalty is a function of the shared vector: the leader computes it.
        [f64::NAN; 3]
    }

    #[inline(always)]
    fn update(&self, _: &DualRunning, before: f64, after: f64, _: Option<f64>) -> f64 {
        (after - before) / self.sigma_prime
    }

    fn kappa(&self, running: &DualRunning) -> f64 {
        running.steps / self.sigma_prime
    }
}

/// Minimises along a row: the dual step of the loss.
struct RowRule<'a> {
    samples: Samples<'a>,
    subproblem: ValidDualSubproblemParams,
    /// `sigma'`, times the number of copies of the vector.
    step: f64,
    running: DualRunning,
    shift: f64,
}

impl Rule for RowRule<'_> {
    #[inline(always)]
    fn minimise(&mut self, i: usize, alpha: &mut f64, dot: f64) -> Option<f64> {
        let subproblem = &self.subproblem;
        let step = self.step * share(&self.samples, i, subproblem.total_l2);
        let norm = self.samples.norms[i];
        let (q, z) = match self.samples.projections {
            None => (step * norm, dot + subproblem.offset),
            Some(projections) => {
                let projection = projections[i];
                // Cancellation must not make a square norm negative.
                let norm = ((norm - 2.0 * projection) + subproblem.intercept).max(0.0);
                (
                    step * norm,
                    (dot + self.shift) - self.running.steps * projection,
                )
            }
        };
        let before = *alpha;
        let after = subproblem
            .objective
            .loss
            .dual_step(before, z, self.samples.label(i), q);
        if after == before {
            return None;
        }
        *alpha = after;
        let change = step * (after - before);
        self.running.steps += change;
        if let Some(projections) = self.samples.projections {
            self.running.projected += change * projections[i];
            self.shift = self.subproblem.shift(&self.running);
        }
        Some(-change)
    }
}

/// The addends `t_i a_i scale x_i` of a product with the rows.
impl Addends for ValidDualSubproblemParams {
    type Objective = ConjugateLoss;

    fn objective(&self) -> &ConjugateLoss {
        &self.objective
    }

    fn weights<'a>(data: &'a DualData<'_>) -> Option<&'a [f64]> {
        data.scale
    }

    #[inline(always)]
    fn factor(&self, data: &DualData<'_>, i: usize, a: f64) -> (f64, f64) {
        let factor = share(&data.samples, i, self.total_l2) * a;
        (factor, factor)
    }

    fn entry(sum: f64, _: f64) -> f64 {
        sum
    }
}
