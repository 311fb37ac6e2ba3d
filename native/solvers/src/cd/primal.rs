//! Columns as coordinates (primal): least squares with an elastic net.

use std::ops::Range;

use super::{
    data::PrimalData,
    steps::{Descent, Rule, Span},
    subproblem::{Addends, Certificate, Separable, Subproblem},
    sums::Sums,
};
use crate::{
    base::{
        checks::positive, entries::Entries, error::SolverError, matrix::Columns,
        moments::ColumnMoments,
    },
    problem::penalty::{ElasticNet, ElasticNetParams},
};

/// Unchecked parameters of the local subproblem.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `penalty` | elastic net | see [`ElasticNetParams`] |
/// | `sigma_prime` | weight of the quadratic term | finite, > 0 |
/// | `total_weight` | S, sum of the weights of all rows | finite, > 0 |
/// | `centred` | solve for columns minus their means | |
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the table names every field")]
pub struct SubproblemParams {
    pub penalty: ElasticNetParams,
    pub sigma_prime: f64,
    pub total_weight: f64,
    pub centred: bool,
}

impl SubproblemParams {
    /// Checks the ranges of the table above.
    ///
    /// # Errors
    /// `InvalidParam` names the first parameter out of range.
    pub fn check(self) -> Result<ValidSubproblemParams, SolverError> {
        positive("sigma_prime", self.sigma_prime)?;
        positive("total_weight", self.total_weight)?;
        Ok(ValidSubproblemParams {
            penalty: self.penalty.check()?,
            sigma_prime: self.sigma_prime,
            total_weight: self.total_weight,
            inverse_weight: 1.0 / self.total_weight,
            centred: self.centred,
        })
    }
}

/// Checked [`SubproblemParams`]: the local subproblem (10) of CoCoA for the squared loss, in residual form:
///
/// ```text
/// min over a'   sum_i g_i(a'_i) - x^T (a' - a) + sigma'/(2S) | sum_i (a'_i - a_i) c_i |_s^2,     x_i = c_i^T (s r) / S
/// ```
///
/// Its vector is `w = s (r - sigma' sum_i (a'_i - a_i) c_i)`, so that the derivative along a column is one dot product. With `centred`
/// columns one number gives the part of that sum along the vector of ones: `kappa = sum_i (a'_i - a_i) mean_i`.
#[derive(Debug, Clone, Copy)]
pub struct ValidSubproblemParams {
    penalty: ElasticNet,
    sigma_prime: f64,
    total_weight: f64,
    inverse_weight: f64,
    centred: bool,
}

impl ValidSubproblemParams {
    /// Centring adds this, times the mean of the column, to a dot product.
    #[inline(always)]
    fn shift(&self, running: &PrimalRunning) -> f64 {
        (self.sigma_prime * running.kappa) * self.total_weight - running.residual_sum
    }
}

/// The sums that go with the vector.
#[derive(Debug, Clone, Copy, Default)]
pub struct PrimalRunning {
    /// Sum of `w` before the first step.
    residual_sum: f64,
    kappa: f64,
}

/// Second derivative of the local model along a column: `sigma'` times its mean square, about the mean if `centred`.
#[inline(always)]
fn curvature(sigma_prime: f64, centred: bool, mean: f64, variance: f64) -> f64 {
    sigma_prime
        * if centred {
            variance
        } else {
            variance + mean * mean
        }
}

impl Separable for ElasticNet {
    type Data<'a> = PrimalData<'a>;

    const COORDINATE: &'static str = "column";
    const ENTRY: &'static str = "row";
    const VARIABLE: &'static str = "coefficient";
    const SHARED: &'static str = "residual";

    fn columns<'a>(data: &'a PrimalData<'_>) -> Columns<'a> {
        data.columns
    }

    #[inline(always)]
    fn value(&self, data: &PrimalData<'_>, i: usize, a: f64) -> f64 {
        self.of_column(&data.moments, i).value(a)
    }

    #[inline(always)]
    fn quadratic(&self, data: &PrimalData<'_>, i: usize, a: f64) -> (f64, f64) {
        let l2 = self.of_column(&data.moments, i).l2;
        (l2 * a, l2)
    }

    fn sample(
        &self,
        data: &PrimalData<'_>,
        i: usize,
        a: f64,
        [delta, previous]: [f64; 2],
        points: &[[f64; 2]],
        samples: &mut [f64],
    ) {
        let l1 = self.of_column(&data.moments, i).l1;
        if l1 == 0.0 {
            return;
        }
        for ([g1, g2], sample) in points.iter().zip(samples) {
            *sample += l1 * ((a + (g1 * delta + g2 * previous)).abs() - a.abs());
        }
    }
}

impl Subproblem for ValidSubproblemParams {
    type Objective = ElasticNet;
    type Running = PrimalRunning;

    fn objective(&self) -> &ElasticNet {
        &self.penalty
    }

    fn entry_weights<'a>(data: &'a PrimalData<'_>) -> Option<&'a [f64]> {
        data.weights
    }

    fn load_weights<'a>(data: &'a PrimalData<'_>) -> Option<&'a [f64]> {
        data.weights
    }

    fn suits(&self, _: &PrimalData<'_>) -> Result<(), SolverError> {
        Ok(())
    }

    fn check(&self, _: &PrimalData<'_>, _: Range<usize>) -> Result<(), SolverError> {
        Ok(())
    }

    #[inline(always)]
    fn loaded(running: &mut PrimalRunning, w: f64) {
        running.residual_sum += w;
    }

    #[inline(always)]
    fn descend<E: Entries, const WEIGHTED: bool>(
        &self,
        data: &PrimalData<'_>,
        threads: f64,
        running: &mut PrimalRunning,
        span: Span<'_, E>,
    ) -> Descent {
        // Compiled for both cases, so that the loop does not test.
        if self.centred {
            let (rule, descent) =
                span.descend::<_, WEIGHTED>(self.rule::<true>(data, threads, running));
            *running = rule.running;
            descent
        } else {
            span.descend::<_, WEIGHTED>(self.rule::<false>(data, threads, running))
                .1
        }
    }

    fn merge(
        total: &mut PrimalRunning,
        before: &PrimalRunning,
        after: &PrimalRunning,
        threads: f64,
    ) {
        total.kappa += (after.kappa - before.kappa) / threads;
    }

    #[inline(always)]
    fn certify(
        &self,
        data: &PrimalData<'_>,
        start: &Certificate<'_, PrimalRunning>,
        i: usize,
        a: f64,
        mut dot: f64,
        sums: &mut Sums,
    ) {
        let (mean, variance) = (data.moments.mean[i], data.moments.variance[i]);
        if self.centred {
            dot += mean * -start.running.residual_sum;
        }
        let x = dot * self.inverse_weight;
        let penalty = self.penalty.of_column(&data.moments, i);
        sums.value += penalty.value(a);
        sums.conjugate += penalty.conjugate(x);
        sums.ratio = sums.ratio.max(quotient(x.abs(), penalty.l1));
        let q = curvature(self.sigma_prime, self.centred, mean, variance);
        sums.correlation = sums
            .correlation
            .max(quotient(x.abs(), (q / self.sigma_prime).sqrt()));
    }

    fn penalty_side(sums: &Sums) -> [f64; 3] {
        [sums.conjugate, sums.ratio, sums.correlation]
    }

    #[inline(always)]
    fn update(&self, running: &PrimalRunning, before: f64, after: f64, weight: Option<f64>) -> f64 {
        let mut u = (before - after) / self.sigma_prime;
        if let Some(weight) = weight {
            u /= weight;
        }
        u - if self.centred { running.kappa } else { 0.0 }
    }

    fn kappa(&self, running: &PrimalRunning) -> f64 {
        running.kappa
    }
}

/// `x / scale`, where 0 / 0 is 0.
fn quotient(x: f64, scale: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x / scale }
}

impl ValidSubproblemParams {
    fn rule<'a, const CENTRED: bool>(
        &self,
        data: &PrimalData<'a>,
        threads: f64,
        running: &PrimalRunning,
    ) -> ColumnRule<'a, CENTRED> {
        ColumnRule {
            moments: data.moments,
            subproblem: *self,
            threads,
            step: self.sigma_prime * threads,
            running: *running,
            shift: self.shift(running),
        }
    }
}

/// Minimises along a column: soft threshold of the least squares step.
#[derive(Clone)]
struct ColumnRule<'a, const CENTRED: bool> {
    moments: ColumnMoments<'a>,
    subproblem: ValidSubproblemParams,
    threads: f64,
    /// `sigma'`, times the number of copies of the vector.
    step: f64,
    /// Its kappa counts a step once for each copy of the vector, as the vector itself does.
    running: PrimalRunning,
    shift: f64,
}

impl<const CENTRED: bool> Rule for ColumnRule<'_, CENTRED> {
    #[inline(always)]
    fn minimise(&mut self, i: usize, alpha: &mut f64, mut dot: f64) -> Option<f64> {
        let (mean, variance) = (self.moments.mean[i], self.moments.variance[i]);
        if CENTRED {
            dot += mean * self.shift;
        }
        let before = *alpha;
        let after = self
            .subproblem
            .penalty
            .of_column(&self.moments, i)
            .minimise(
                curvature(self.step, CENTRED, mean, variance),
                before,
                dot * self.subproblem.inverse_weight,
            );
        let delta = after - before;
        if delta == 0.0 {
            return None;
        }
        *alpha = after;
        if CENTRED {
            self.running.kappa += self.threads * (delta * mean);
            self.shift = self.subproblem.shift(&self.running);
        }
        Some(self.step * delta)
    }
}

/// The addends `a_i c_i` of a product with the columns.
#[derive(Debug, Clone, Copy)]
pub struct ColumnAddends {
    /// Penalty of the columns.
    pub penalty: ElasticNet,
    /// Whether the columns are centred.
    pub centred: bool,
}

impl Addends for ColumnAddends {
    type Objective = ElasticNet;

    fn objective(&self) -> &ElasticNet {
        &self.penalty
    }

    fn weights<'a>(_: &'a PrimalData<'_>) -> Option<&'a [f64]> {
        None
    }

    #[inline(always)]
    fn factor(&self, data: &PrimalData<'_>, i: usize, a: f64) -> (f64, f64) {
        let kappa = if self.centred {
            a * data.moments.mean[i]
        } else {
            0.0
        };
        (a, kappa)
    }

    fn entry(sum: f64, kappa: f64) -> f64 {
        sum - kappa
    }
}
