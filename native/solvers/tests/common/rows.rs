//! Problems and rounds with rows as coordinates.

use super::{ElasticNetParams, POINTS, ROUNDING, Random, best_intercept, bytes, doubles, matrix};
use dwell_solvers::{
    DualData, DualParams, DualRound, DualSubproblemParams, Feasibility, Labels, Loss, RoundOutcome,
    Samples, Values, Views, cd::ConjugateLoss,
};

pub const LOSSES: [Loss; 5] = [
    Loss::Squared,
    Loss::Logistic,
    Loss::Hinge,
    Loss::SmoothedHinge(0.5),
    Loss::SquaredHinge,
];

/// A problem, kept as plainly as possible: dense rows.
#[derive(Debug, Clone)]
pub struct Problem {
    pub rows: Vec<Vec<f64>>,
    pub features: usize,
    pub labels: Vec<f64>,
    pub weights: Option<Vec<f64>>,
    pub loss: Loss,
    pub l2: f64,
    pub scale: Option<Vec<f64>>,
    /// Weight of the intercept, if there is one.
    pub nu: Option<f64>,
    pub threads: usize,
    /// Whether partitions are dense.
    pub dense: bool,
}

/// The rows of one partition, as the solver takes them.
#[derive(Debug, Clone)]
pub struct Partition {
    pub features: usize,
    pub offsets: Vec<i32>,
    pub indices: Option<Vec<i32>>,
    pub values: Vec<f64>,
    pub labels: Vec<f64>,
    pub weights: Option<Vec<f64>>,
    pub norms: Vec<f64>,
    pub projections: Option<Vec<f64>>,
    pub scale: Option<Vec<f64>>,
}

impl Partition {
    /// The arrays, with `f64` values.
    pub fn data(&self) -> DualData<'_> {
        self.data_with(Values::F64(&self.values))
    }

    /// The arrays, with these values.
    pub fn data_with<'a>(&'a self, values: Values<'a>) -> DualData<'a> {
        let columns = matrix::columns(
            self.features,
            &self.offsets,
            self.indices.as_deref(),
            values,
        );
        let samples = Samples::new(
            &self.labels,
            self.weights.as_deref(),
            &self.norms,
            self.projections.as_deref(),
        )
        .unwrap();
        DualData::new(columns, samples, self.scale.as_deref()).unwrap()
    }
}

impl Problem {
    /// Rows of differing density, one of them empty and one duplicated; values fit an `f32`.
    pub fn random(rows: usize, features: usize, loss: Loss, seed: u64) -> Self {
        Self::with_density([0.2, 0.6, 1.0], rows, features, loss, seed)
    }

    /// The same; row i has `density[i mod 3]`.
    pub fn with_density(
        density: [f64; 3],
        rows: usize,
        features: usize,
        loss: Loss,
        seed: u64,
    ) -> Self {
        let mut random = Random::new(seed);
        let mut x: Vec<Vec<f64>> = (0..rows)
            .map(|i| {
                (0..features)
                    .map(|_| {
                        let value = random.number();
                        let keep = random.number().abs() < density[i % 3];
                        if keep {
                            f64::from((value + 0.3) as f32)
                        } else {
                            0.0
                        }
                    })
                    .collect()
            })
            .collect();
        x.push(vec![0.0; features]);
        x.push(x[0].clone());
        let labels = x
            .iter()
            .map(|row| {
                let y = row.iter().sum::<f64>() - 0.5 + random.number();
                match loss.labels() {
                    Labels::Real => 2.0 * y,
                    Labels::Signed => 1.0f64.copysign(y),
                    Labels::Classes(_) => unreachable!("a margin has no classes"),
                }
            })
            .collect();
        Self {
            rows: x,
            features,
            labels,
            weights: None,
            loss,
            l2: 0.1,
            scale: None,
            nu: None,
            threads: 1,
            dense: false,
        }
    }

    /// The same with weights.
    pub fn weighted(mut self) -> Self {
        let mut random = Random::new(99);
        self.weights = Some(self.rows.iter().map(|_| 1.5 + random.number()).collect());
        self
    }

    /// The same with scaled features; the last has a scale of 0.
    pub fn scaled(mut self) -> Self {
        let mut random = Random::new(98);
        let mut scale: Vec<f64> = (0..self.features).map(|_| 1.5 + random.number()).collect();
        scale[self.features - 1] = 0.0;
        self.scale = Some(scale);
        self
    }

    /// The same with an intercept of weight 2.
    pub fn with_intercept(mut self) -> Self {
        self.nu = Some(2.0);
        self
    }

    /// The same rows, labels and weights for rounds on columns.
    pub fn by_columns(&self, penalty: ElasticNetParams) -> super::Problem {
        super::Problem {
            columns: (0..self.features)
                .map(|j| self.rows.iter().map(|row| row[j]).collect())
                .collect(),
            labels: self.labels.clone(),
            weights: self.weights.clone(),
            loss: self.loss,
            penalty,
            centred: self.nu.is_some(),
            dense: self.dense,
        }
    }

    /// s of a row.
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |s| s[row])
    }

    /// S.
    pub fn total_weight(&self) -> f64 {
        (0..self.rows.len()).map(|i| self.weight(i)).sum()
    }

    /// The scale of a feature.
    pub fn scale(&self, feature: usize) -> f64 {
        self.scale.as_ref().map_or(1.0, |scale| scale[feature])
    }

    /// t_i.
    pub fn share(&self, row: usize) -> f64 {
        self.weight(row) / (self.total_weight() * self.l2)
    }

    /// Weighted mean of a feature.
    pub fn mean(&self, feature: usize) -> f64 {
        let sum: f64 = (0..self.rows.len())
            .map(|i| self.weight(i) * self.rows[i][feature])
            .sum();
        sum / self.total_weight()
    }

    /// The origin of a feature: its mean if there is an intercept, else 0.
    pub fn origin(&self, feature: usize) -> f64 {
        if self.nu.is_some() {
            self.mean(feature)
        } else {
            0.0
        }
    }

    /// h.
    pub fn intercept(&self) -> f64 {
        let square: f64 = (0..self.features)
            .map(|j| self.scale(j) * self.origin(j).powi(2))
            .sum();
        self.nu.map_or(0.0, |nu| square + nu)
    }

    /// A partition of the rows with these numbers.
    pub fn partition(&self, members: &[usize]) -> Partition {
        let (offsets, indices, values) =
            matrix::stored(members.iter().map(|&i| &self.rows[i]), self.dense);
        let means: Vec<f64> = (0..self.features).map(|j| self.mean(j)).collect();
        let sum = |i: usize, term: &dyn Fn(usize, f64) -> f64| -> f64 {
            (0..self.features)
                .map(|j| self.scale(j) * term(j, self.rows[i][j]))
                .sum()
        };
        Partition {
            features: self.features,
            offsets,
            indices,
            values,
            labels: members.iter().map(|&i| self.labels[i]).collect(),
            weights: self
                .weights
                .as_ref()
                .map(|s| members.iter().map(|&i| s[i]).collect()),
            norms: members.iter().map(|&i| sum(i, &|_, x| x * x)).collect(),
            projections: self.nu.map(|_| {
                members
                    .iter()
                    .map(|&i| sum(i, &|j, x| means[j] * x))
                    .collect()
            }),
            scale: self.scale.clone(),
        }
    }

    /// `K` partitions: row i in partition i mod K.
    pub fn partitions(&self, count: usize) -> Vec<Vec<usize>> {
        (0..count)
            .map(|k| (k..self.rows.len()).step_by(count).collect())
            .collect()
    }

    /// Parameters of a round.
    pub fn params(&self, sigma_prime: f64, offset: f64, partition: u32, budget: u64) -> DualParams {
        DualParams {
            subproblem: self.subproblem(sigma_prime, offset),
            seed: 5,
            partition,
            budget,
            certificate: vec![offset, 0.25],
            points: POINTS.to_vec(),
            threads: self.threads,
        }
    }

    /// Parameters of the local subproblem.
    pub fn subproblem(&self, sigma_prime: f64, offset: f64) -> DualSubproblemParams {
        DualSubproblemParams {
            loss: self.loss,
            sigma_prime,
            l2: self.l2,
            total_weight: self.total_weight(),
            intercept: self.intercept(),
            offset,
        }
    }

    /// `sum_i t_i a_i`.
    pub fn kappa(&self, alpha: &[f64]) -> f64 {
        alpha
            .iter()
            .enumerate()
            .map(|(i, a)| self.share(i) * a)
            .sum()
    }

    /// The coefficients at these dual variables.
    pub fn coefficients(&self, alpha: &[f64]) -> Vec<f64> {
        let total = self.total_weight();
        (0..self.features)
            .map(|j| {
                let origin = self.origin(j);
                let sum: f64 = alpha
                    .iter()
                    .enumerate()
                    .map(|(i, a)| self.weight(i) * a * (self.rows[i][j] - origin))
                    .sum();
                self.scale(j) * sum / (total * self.l2)
            })
            .collect()
    }

    fn margins(&self, w: &[f64]) -> Vec<f64> {
        self.rows
            .iter()
            .map(|row| row.iter().zip(w).map(|(x, w)| x * w).sum())
            .collect()
    }

    /// The mean loss at coefficients and an intercept.
    pub fn losses(&self, w: &[f64], b: f64) -> f64 {
        let sum: f64 = self
            .margins(w)
            .iter()
            .enumerate()
            .map(|(i, z)| self.weight(i) * self.loss.value(z + b, self.labels[i]))
            .sum();
        sum / self.total_weight()
    }

    /// The best intercept of these coefficients; 0 without intercept.
    pub fn best_intercept(&self, w: &[f64]) -> f64 {
        if self.nu.is_none() {
            return 0.0;
        }
        best_intercept(
            self.loss,
            &self.margins(w),
            &self.labels,
            self.weights.as_deref(),
        )
    }

    /// The penalty of coefficients.
    pub fn penalty(&self, w: &[f64]) -> f64 {
        w.iter()
            .enumerate()
            .filter(|(j, _)| self.scale(*j) > 0.0)
            .map(|(j, w)| 0.5 * self.l2 * w * w / self.scale(j))
            .sum()
    }

    /// The objective at coefficients, at the best intercept if there is one.
    pub fn primal(&self, w: &[f64]) -> f64 {
        self.losses(w, self.best_intercept(w)) + self.penalty(w)
    }

    /// `sum_i h_i(a_i)`.
    pub fn separable(&self, alpha: &[f64]) -> f64 {
        let sum: f64 = alpha
            .iter()
            .enumerate()
            .map(|(i, &a)| self.weight(i) * self.loss.conjugate(a, self.labels[i]))
            .sum();
        sum / self.total_weight()
    }

    /// The dual objective at a feasible point near to `alpha`: with an intercept `sum_i s_i a_i` must be 0.
    pub fn dual(&self, alpha: &[f64]) -> f64 {
        let mut feasible = alpha.to_vec();
        if self.nu.is_some() {
            let sum = |sign: f64| -> f64 {
                (0..alpha.len())
                    .filter(|&i| self.labels[i] == sign)
                    .map(|i| self.weight(i) * alpha[i])
                    .sum::<f64>()
                    .abs()
            };
            match self.loss.feasibility() {
                Feasibility::Shift => {
                    let mean = self.kappa(alpha) * self.l2;
                    for a in &mut feasible {
                        *a -= mean;
                    }
                }
                Feasibility::Factors => {
                    let lighter = sum(1.0).min(sum(-1.0));
                    for sign in [-1.0, 1.0] {
                        let heavy = sum(sign);
                        for i in (0..alpha.len()).filter(|&i| self.labels[i] == sign) {
                            feasible[i] *= if heavy > 0.0 { lighter / heavy } else { 1.0 };
                        }
                    }
                }
            }
        }
        -self.separable(&feasible) - self.penalty(&self.coefficients(&feasible))
    }
}

/// Runs a round on blocks of rows; returns its outcome and the update vector.
pub fn run_round(
    params: &DualParams,
    blocks: &[DualData<'_>],
    (alpha, previous, cursor): (&[f64], &[f64], u64),
    w: &[f64],
    pool: Option<&rayon::ThreadPool>,
) -> (RoundOutcome, Vec<f64>) {
    let round = DualRound::run(
        params.check().unwrap(),
        w.to_vec(),
        alpha,
        previous,
        cursor,
        &mut Views::<ConjugateLoss>::new(blocks).unwrap(),
        pool,
    )
    .unwrap();
    let shared = bytes(w);
    let mut update = vec![0; shared.len()];
    round
        .write_update(&blocks[0], 0, &shared, &mut update)
        .unwrap();
    (round.finish(alpha).unwrap(), doubles(&update))
}

/// Distributed rounds by adding, and the method of multipliers for an intercept.
pub struct Cluster<'a> {
    pub problem: &'a Problem,
    members: Vec<Vec<usize>>,
    partitions: Vec<Partition>,
    pub alpha: Vec<f64>,
    previous: Vec<f64>,
    pub w: Vec<f64>,
    kappa: f64,
    /// The intercept of centred features, without `nu kappa` of the current multiplier.
    multiplier: f64,
    cursors: Vec<u64>,
    /// The primal objective at the start of the last round, at the best intercept, as the workers reported it.
    pub objective: f64,
    /// The dual objective at the same place.
    pub dual: f64,
}

impl<'a> Cluster<'a> {
    /// `count` partitions, at dual variables of 0.
    pub fn new(problem: &'a Problem, count: usize) -> Self {
        let members = problem.partitions(count);
        Self {
            problem,
            partitions: members.iter().map(|m| problem.partition(m)).collect(),
            cursors: vec![0; count],
            alpha: vec![0.0; problem.rows.len()],
            previous: vec![0.0; problem.rows.len()],
            w: vec![0.0; problem.features],
            kappa: 0.0,
            multiplier: 0.0,
            members,
            objective: f64::NAN,
            dual: f64::NAN,
        }
    }

    /// The value that a round must not raise: the separable part, and the penalty of the model, which includes that of the intercept about
    /// the multiplier.
    pub fn augmented(&self) -> f64 {
        let p = self.problem;
        let nu = p.nu.unwrap_or(0.0);
        p.separable(&self.alpha)
            + p.penalty(&self.w)
            + p.l2 * (0.5 * nu * self.kappa * self.kappa + self.multiplier * self.kappa)
    }

    /// One round of `epochs` epochs in every partition, without a new multiplier.
    pub fn round(&mut self, epochs: u64) {
        let p = self.problem;
        let offset = p.nu.map_or(0.0, |nu| {
            let means: f64 = (0..p.features).map(|j| p.mean(j) * self.w[j]).sum();
            self.multiplier + nu * self.kappa - means
        });
        let sigma_prime = self.members.len() as f64;
        let candidates = [offset, p.best_intercept(&self.w)];
        let mut separable = 0.0;
        let mut losses = [0.0; 2];
        let (mut update, mut kappa) = (vec![0.0; p.features], 0.0);
        let before = p.separable(&self.alpha);
        self.dual = p.dual(&self.alpha);
        for (k, members) in self.members.iter().enumerate() {
            let pick = |all: &[f64]| -> Vec<f64> { members.iter().map(|&i| all[i]).collect() };
            let budget = (epochs * members.len() as u64).max(1);
            let mut params = p.params(sigma_prime, offset, k as u32, budget);
            params.certificate = candidates.to_vec();
            let (outcome, u) = run_round(
                &params,
                &[self.partitions[k].data()],
                (&pick(&self.alpha), &pick(&self.previous), self.cursors[k]),
                &self.w,
                None,
            );
            self.cursors[k] = outcome.cursor;
            separable += outcome.scalars.value_before;
            for (sum, loss) in losses.iter_mut().zip(outcome.scalars.losses) {
                *sum += loss;
            }
            kappa += outcome.scalars.kappa;
            for (sum, u) in update.iter_mut().zip(u) {
                *sum += u;
            }
            for (&i, delta) in members.iter().zip(outcome.delta) {
                self.alpha[i] += delta;
                self.previous[i] = delta;
            }
        }
        assert!((separable - before).abs() <= ROUNDING * before.abs().max(1.0));
        for (b, loss) in candidates.into_iter().zip(losses) {
            let expected = p.losses(&self.w, b);
            assert!((loss - expected).abs() <= ROUNDING * expected.max(1.0));
        }
        self.objective = losses[1] + p.penalty(&self.w);
        self.kappa += kappa;
        for (j, u) in update.iter().enumerate() {
            self.w[j] += u - kappa * p.scale(j) * p.origin(j);
        }
        assert!((self.kappa - p.kappa(&self.alpha)).abs() <= ROUNDING * self.kappa.abs().max(1.0));
        for (w, expected) in self.w.iter().zip(p.coefficients(&self.alpha)) {
            assert!((w - expected).abs() <= ROUNDING * expected.abs().max(1.0));
        }
    }

    /// A new multiplier for the intercept.
    pub fn recentre(&mut self) {
        self.multiplier += self.problem.nu.unwrap_or(0.0) * self.kappa;
    }

    /// The duality gap at the current coefficients and dual variables.
    pub fn gap(&self) -> f64 {
        self.problem.primal(&self.w) - self.problem.dual(&self.alpha)
    }

    /// Rounds until the gap is below `tolerance`, at most `rounds`; returns the gap.
    pub fn solve(&mut self, tolerance: f64, rounds: usize) -> f64 {
        for round in 1..=rounds {
            self.round(1);
            self.recentre();
            if round % 20 == 0 && self.gap() <= tolerance {
                break;
            }
        }
        self.gap()
    }
}
