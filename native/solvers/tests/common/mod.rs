//! Small problems for tests, kept as plainly as possible: dense columns, and partitions made from them.

pub mod dense;
pub mod golden;
pub mod lda;
pub mod matrix;
pub mod properties;
pub mod rows;
pub mod sgd;

use dwell_solvers::{
    ColumnMoments, ElasticNet, ElasticNetParams, Loss, PrimalData, PrimalParams, PrimalRound,
    RoundOutcome, Values, Views, cd::SubproblemParams, order::SplitMix64,
};

/// Rounding in sums of a few hundred terms of size one.
pub const ROUNDING: f64 = 1e-10;

/// Random numbers of a seed.
pub struct Random(SplitMix64);

impl Random {
    /// The numbers of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::for_epoch(seed, 0, 0))
    }

    /// In [-1, 1).
    pub fn number(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// The points at which rounds of tests sample the objective.
pub const POINTS: [[f64; 2]; 3] = [[1.0, 0.0], [0.5, 0.25], [1.5, -0.5]];

/// A problem of least squares or another smooth loss, with dense columns.
#[derive(Debug, Clone)]
pub struct Problem {
    /// One vector for each column, with zeros.
    pub columns: Vec<Vec<f64>>,
    pub labels: Vec<f64>,
    pub weights: Option<Vec<f64>>,
    /// A smooth loss: rounds see least squares with its curvature bound.
    pub loss: Loss,
    pub penalty: ElasticNetParams,
    pub centred: bool,
    /// Whether partitions are dense.
    pub dense: bool,
}

/// The columns of one partition, as the solver takes them.
#[derive(Debug, Clone)]
pub struct Partition {
    pub rows: usize,
    pub offsets: Vec<i32>,
    pub indices: Option<Vec<i32>>,
    pub values: Vec<f64>,
    pub mean: Vec<f64>,
    pub variance: Vec<f64>,
    pub deviation: Vec<f64>,
    pub weights: Option<Vec<f64>>,
}

impl Partition {
    /// The arrays, with `f64` values.
    pub fn data(&self) -> PrimalData<'_> {
        self.data_with(Values::F64(&self.values))
    }

    /// The arrays, with these values.
    pub fn data_with<'a>(&'a self, values: Values<'a>) -> PrimalData<'a> {
        let columns = matrix::columns(self.rows, &self.offsets, self.indices.as_deref(), values);
        let moments = ColumnMoments::new(&self.mean, &self.variance, &self.deviation).unwrap();
        PrimalData::new(columns, moments, self.weights.as_deref()).unwrap()
    }
}

impl Problem {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// s of a row.
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |s| s[row])
    }

    /// S.
    pub fn total_weight(&self) -> f64 {
        (0..self.rows()).map(|j| self.weight(j)).sum()
    }

    /// Weighted mean of one value for each row.
    pub fn mean(&self, values: &[f64]) -> f64 {
        let sum: f64 = (0..self.rows()).map(|j| self.weight(j) * values[j]).sum();
        sum / self.total_weight()
    }

    /// Weighted population variance of one value for each row.
    pub fn variance(&self, values: &[f64]) -> f64 {
        let mean = self.mean(values);
        let squares: Vec<f64> = values.iter().map(|v| (v - mean).powi(2)).collect();
        self.mean(&squares)
    }

    /// A partition of the columns with these numbers.
    pub fn partition(&self, members: &[usize]) -> Partition {
        let (offsets, indices, values) =
            matrix::stored(members.iter().map(|&i| &self.columns[i]), self.dense);
        let variance: Vec<f64> = members
            .iter()
            .map(|&i| self.variance(&self.columns[i]))
            .collect();
        Partition {
            rows: self.rows(),
            offsets,
            indices,
            values,
            mean: members
                .iter()
                .map(|&i| self.mean(&self.columns[i]))
                .collect(),
            deviation: variance.iter().map(|v| v.sqrt()).collect(),
            variance,
            weights: self.weights.clone(),
        }
    }

    /// `K` partitions: column i in partition i mod K.
    pub fn partitions(&self, count: usize) -> Vec<Vec<usize>> {
        (0..count)
            .map(|k| (k..self.columns.len()).step_by(count).collect())
            .collect()
    }

    /// The labels, about their mean if `centred`.
    pub fn centred_labels(&self) -> Vec<f64> {
        let mean = if self.centred {
            self.mean(&self.labels)
        } else {
            0.0
        };
        self.labels.iter().map(|y| y - mean).collect()
    }

    /// Predictions without intercept.
    fn product(&self, alpha: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.rows()];
        for (column, a) in self.columns.iter().zip(alpha) {
            for (z, c) in product.iter_mut().zip(column) {
                *z += a * c;
            }
        }
        product
    }

    fn best_intercept_of(&self, product: &[f64]) -> f64 {
        if self.centred {
            best_intercept(self.loss, product, &self.labels, self.weights.as_deref())
        } else {
            0.0
        }
    }

    /// The best intercept of these coefficients; 0 unless `centred`.
    pub fn best_intercept(&self, alpha: &[f64]) -> f64 {
        self.best_intercept_of(&self.product(alpha))
    }

    /// Predictions at the best intercept.
    pub fn margins(&self, alpha: &[f64]) -> Vec<f64> {
        let mut margins = self.product(alpha);
        let b = self.best_intercept_of(&margins);
        for z in &mut margins {
            *z += b;
        }
        margins
    }

    /// The dual variables at these margins.
    fn slopes(&self, margins: &[f64]) -> Vec<f64> {
        margins
            .iter()
            .zip(&self.labels)
            .map(|(&z, &y)| -self.loss.derivative(z, y))
            .collect()
    }

    /// The residual that a round takes: least squares with it and the curvature bound lie above the loss.
    pub fn residual(&self, alpha: &[f64]) -> Vec<f64> {
        self.residual_of(&self.margins(alpha))
    }

    fn residual_of(&self, margins: &[f64]) -> Vec<f64> {
        let mut residual = self.slopes(margins);
        for r in &mut residual {
            *r /= self.curvature();
        }
        residual
    }

    fn curvature(&self) -> f64 {
        self.loss.curvature().unwrap()
    }

    /// `l1` and `l2` of a column.
    pub fn penalty_of(&self, i: usize) -> (f64, f64) {
        let ElasticNetParams {
            l1,
            l2,
            scale_factor,
        } = self.penalty;
        let variance = self.variance(&self.columns[i]);
        if scale_factor > 0.0 {
            (
                l1 * scale_factor.sqrt() * variance.sqrt(),
                l2 * scale_factor * variance,
            )
        } else {
            (l1, l2)
        }
    }

    /// The mean loss at these margins.
    pub fn losses(&self, margins: &[f64]) -> f64 {
        let values: Vec<f64> = margins
            .iter()
            .zip(&self.labels)
            .map(|(&z, &y)| self.loss.value(z, y))
            .collect();
        self.mean(&values)
    }

    /// The objective at the best intercept.
    pub fn objective(&self, alpha: &[f64]) -> f64 {
        let penalty: f64 = alpha
            .iter()
            .enumerate()
            .map(|(i, a)| {
                let (l1, l2) = self.penalty_of(i);
                l1 * a.abs() + l2 * a * a / 2.0
            })
            .sum();
        self.losses(&self.margins(alpha)) + penalty
    }

    /// Parameters of the local subproblem.
    pub fn subproblem(&self, sigma_prime: f64) -> SubproblemParams {
        let ElasticNetParams {
            l1,
            l2,
            scale_factor,
        } = self.penalty;
        SubproblemParams {
            penalty: ElasticNetParams {
                l1: l1 / self.curvature(),
                l2: l2 / self.curvature(),
                scale_factor,
            },
            sigma_prime,
            total_weight: self.total_weight(),
            centred: self.centred,
        }
    }

    /// Parameters of a round with certificate.
    pub fn round(&self, sigma_prime: f64, partition: u32, budget: u64) -> PrimalParams {
        PrimalParams {
            subproblem: self.subproblem(sigma_prime),
            seed: 5,
            partition,
            budget,
            certificate: true,
            points: POINTS.to_vec(),
            threads: 1,
        }
    }
}

/// Checks numbers up to an absolute error.
#[track_caller]
pub fn assert_close(actual: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    for (a, e) in actual.iter().zip(expected) {
        assert!((a - e).abs() <= tolerance, "{what}: {a}, expected {e}");
    }
}

/// The entries of a sparse row or column: those that are not 0.
pub fn entries(row: &[f64]) -> Vec<(usize, f64)> {
    let all = row.iter().copied().enumerate();
    all.filter(|(_, x)| *x != 0.0).collect()
}

/// The product of entries with a vector in the order of the kernels: four sums, and then the last entries.
pub fn product_by_four(entries: &[(usize, f64)], vector: &[f64]) -> f64 {
    let whole = entries.len() / 4 * 4;
    let mut sums = [0.0; 4];
    for (k, &(j, x)) in entries[..whole].iter().enumerate() {
        sums[k % 4] += x * vector[j];
    }
    let first = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    let last = entries[whole..].iter();
    last.fold(first, |sum, &(j, x)| sum + x * vector[j])
}

/// Doubles as little-endian bytes.
pub fn bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// Little-endian bytes as doubles.
pub fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes
        .as_chunks::<8>()
        .0
        .iter()
        .map(|b| f64::from_le_bytes(*b))
        .collect()
}

/// The intercept with the lowest loss, up to 100: there the slope of the loss, which never falls, crosses 0.
pub fn best_intercept(loss: Loss, margins: &[f64], labels: &[f64], weights: Option<&[f64]>) -> f64 {
    let sum = |term: &dyn Fn(usize) -> f64| -> f64 {
        (0..labels.len())
            .map(|i| weights.map_or(1.0, |s| s[i]) * term(i))
            .sum()
    };
    let slope = |b: f64| sum(&|i| loss.derivative(margins[i] + b, labels[i]));
    if loss == Loss::Squared {
        return -slope(0.0) / sum(&|_| 1.0);
    }
    let (mut low, mut high) = (-100.0, 100.0);
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if slope(middle) > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    0.5 * (low + high)
}

/// A change that a commit may have added before a round of a test.
pub fn previous(alpha: &[f64]) -> Vec<f64> {
    (0..alpha.len()).map(|i| (i as f64).cos() * 0.1).collect()
}

/// Runs a round on blocks of columns; returns its outcome and the update vector.
pub fn run_round(
    params: &PrimalParams,
    blocks: &[PrimalData<'_>],
    alpha: &[f64],
    cursor: u64,
    residual: &[f64],
    pool: Option<&rayon::ThreadPool>,
) -> (RoundOutcome, Vec<f64>) {
    let round = PrimalRound::run(
        params.check().unwrap(),
        residual.to_vec(),
        alpha,
        &previous(alpha),
        cursor,
        &mut Views::<ElasticNet>::new(blocks).unwrap(),
        pool,
    )
    .unwrap();
    let residual = bytes(residual);
    let mut update = vec![0; residual.len()];
    round
        .write_update(&blocks[0], 0, &residual, &mut update)
        .unwrap();
    (round.finish(alpha).unwrap(), doubles(&update))
}

/// Distributed rounds by adding: gamma = 1, sigma' = K. They never raise the objective.
pub struct Cluster<'a> {
    pub problem: &'a Problem,
    pub members: Vec<Vec<usize>>,
    pub partitions: Vec<Partition>,
    pub alpha: Vec<f64>,
    cursors: Vec<u64>,
    /// Objective at the start of the last round, as the workers reported it.
    pub objective: f64,
    /// Dual objective at the start of the last round, its residual scaled to be feasible.
    pub dual: f64,
}

impl<'a> Cluster<'a> {
    /// Partitions of the columns with these numbers, at coefficients of 0.
    pub fn new(problem: &'a Problem, members: Vec<Vec<usize>>) -> Self {
        Self {
            problem,
            partitions: members.iter().map(|m| problem.partition(m)).collect(),
            cursors: vec![0; members.len()],
            alpha: vec![0.0; problem.columns.len()],
            members,
            objective: f64::NAN,
            dual: f64::NAN,
        }
    }

    /// One round of `epochs` epochs in every partition.
    pub fn round(&mut self, epochs: u64) {
        let problem = self.problem;
        let margins = problem.margins(&self.alpha);
        let residual = problem.residual_of(&margins);
        let curvature = problem.curvature();
        let sigma_prime = self.members.len() as f64;
        let (mut penalty, mut conjugate, mut ratio) = (0.0, 0.0, 0.0f64);
        for (k, members) in self.members.iter().enumerate() {
            let local: Vec<f64> = members.iter().map(|&i| self.alpha[i]).collect();
            let budget = (epochs * members.len() as u64).max(1);
            let params = problem.round(sigma_prime, k as u32, budget);
            let data = self.partitions[k].data();
            let (outcome, _) =
                run_round(&params, &[data], &local, self.cursors[k], &residual, None);
            self.cursors[k] = outcome.cursor;
            penalty += outcome.scalars.value_before;
            conjugate += outcome.scalars.conjugate;
            ratio = ratio.max(outcome.scalars.ratio);
            for (&i, delta) in members.iter().zip(outcome.delta) {
                self.alpha[i] += delta;
            }
        }
        let (penalty, conjugate) = (curvature * penalty, curvature * conjugate);
        self.objective = problem.losses(&margins) + penalty;
        // Without an L2 part the conjugate is bounded only for |x_i| <= l1_i: scaling the dual point by t ensures it.
        let (t, conjugate) = if conjugate.is_finite() {
            (1.0, conjugate)
        } else {
            (1.0 / ratio.max(1.0), 0.0)
        };
        let conjugates: Vec<f64> = problem
            .slopes(&margins)
            .iter()
            .zip(&problem.labels)
            .map(|(a, &y)| problem.loss.conjugate(t * a, y))
            .collect();
        self.dual = -problem.mean(&conjugates) - conjugate;
    }
}
