//! Problems for local SGD, and the same steps written as plainly as possible: on all coefficients at once.

use std::ops::Range;

use dwell_solvers::{
    LabelledRows, Labels, Loss, MatrixView, RowLoss, Schedule, SearchOutcome, SearchParams,
    SgdData, SgdOutcome, SgdParams, SgdProblem, SgdRound, Values, Views,
    order::{BucketOrder, bucket_size},
    pass::{PassLoss, PassOutcome, PassParams, RowPass},
    search_step_size,
};

use rayon::ThreadPool;

use super::{Random, bytes, doubles, matrix};

pub const LOSSES: [RowLoss; 6] = [
    RowLoss::Margin(Loss::Squared),
    RowLoss::Margin(Loss::Logistic),
    RowLoss::Margin(Loss::Hinge),
    RowLoss::Margin(Loss::SmoothedHinge(0.5)),
    RowLoss::Margin(Loss::SquaredHinge),
    RowLoss::Softmax(3),
];

/// The rows of one partition, as the solver takes them.
#[derive(Debug, Clone)]
pub struct Rows {
    pub features: usize,
    pub offsets: Vec<i32>,
    pub indices: Option<Vec<i32>>,
    pub values: Vec<f64>,
    pub labels: Vec<f64>,
    pub weights: Option<Vec<f64>>,
    pub scale: Option<Vec<f64>>,
}

impl Rows {
    /// Sparse rows without weights and scale.
    pub fn of(
        features: usize,
        offsets: Vec<i32>,
        indices: Vec<i32>,
        values: Vec<f64>,
        labels: Vec<f64>,
    ) -> Self {
        Self {
            features,
            offsets,
            indices: Some(indices),
            values,
            labels,
            weights: None,
            scale: None,
        }
    }

    /// Random rows, some of them empty; features with a scale of 0 have no entries. All values fit an `f32`.
    pub fn random(
        random: &mut Random,
        loss: RowLoss,
        rows: usize,
        features: usize,
        weighted: bool,
        scaled: bool,
    ) -> Self {
        let scale: Option<Vec<f64>> = scaled.then(|| {
            (0..features)
                .map(|j| {
                    if j % 5 == 3 {
                        0.0
                    } else {
                        1.25 + random.number()
                    }
                })
                .collect()
        });
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..rows {
            for j in 0..features {
                let varies = scale.as_ref().is_none_or(|scale| scale[j] > 0.0);
                if random.number() < -0.1 && varies && i % 7 != 5 {
                    indices.push(j as i32);
                    values.push(f64::from((2.0 * random.number()) as f32));
                }
            }
            offsets.push(indices.len() as i32);
        }
        let labels = (0..rows)
            .map(|_| match loss {
                RowLoss::Margin(Loss::Squared) => 2.0 * random.number(),
                RowLoss::Margin(_) => 1.0f64.copysign(random.number() + 0.2),
                RowLoss::Softmax(classes) => {
                    ((random.number() + 1.0) / 2.0 * classes as f64).floor()
                }
            })
            .collect();
        Self {
            features,
            offsets,
            indices: Some(indices),
            values,
            labels,
            weights: weighted.then(|| (0..rows).map(|_| 1.5 + random.number()).collect()),
            scale,
        }
    }

    /// The same rows in the dense form.
    pub fn dense(self) -> Self {
        let vectors: Vec<Vec<f64>> = (0..self.len())
            .map(|i| {
                let mut vector = vec![0.0; self.features];
                self.row(i).for_each(|(j, x)| vector[j] = x);
                vector
            })
            .collect();
        let (offsets, indices, values) = matrix::stored(vectors.iter(), true);
        Self {
            offsets,
            indices,
            values,
            ..self
        }
    }

    /// The arrays, with `f64` values.
    pub fn data(&self) -> SgdData<'_> {
        self.data_with(Values::F64(&self.values))
    }

    /// The arrays, with these values.
    pub fn data_with<'a>(&'a self, values: Values<'a>) -> SgdData<'a> {
        let rows = matrix::columns(
            self.features,
            &self.offsets,
            self.indices.as_deref(),
            values,
        );
        SgdData::new(
            rows,
            &self.labels,
            self.weights.as_deref(),
            self.scale.as_deref(),
        )
        .unwrap()
    }

    /// The rows in blocks that end before these rows, and at the end.
    pub fn cut(&self, ends: &[usize]) -> Vec<Self> {
        let mut start = 0;
        let ends = ends.iter().copied().chain([self.len()]);
        ends.map(|end| {
            let rows = start..end;
            start = end;
            let entries = self.offsets[rows.start] as usize..self.offsets[rows.end] as usize;
            let offsets = self.offsets[rows.start..=rows.end].iter();
            Self {
                features: self.features,
                offsets: offsets.map(|at| at - entries.start as i32).collect(),
                indices: self
                    .indices
                    .as_ref()
                    .map(|own| own[entries.clone()].to_vec()),
                values: self.values[entries].to_vec(),
                labels: self.labels[rows.clone()].to_vec(),
                weights: self.weights.as_ref().map(|own| own[rows].to_vec()),
                scale: self.scale.clone(),
            }
        })
        .collect()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// s of row i.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }

    /// The scale of feature j.
    pub fn scale(&self, j: usize) -> f64 {
        self.scale.as_ref().map_or(1.0, |scale| scale[j])
    }

    /// Features and values of a row.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.offsets[i] as usize..self.offsets[i + 1] as usize;
        let index = move |at: usize| match &self.indices {
            Some(indices) => indices[at] as usize,
            None => at % self.features,
        };
        range.map(move |at| (index(at), self.values[at]))
    }

    /// The predictions of a row.
    pub fn predictions(&self, i: usize, outputs: usize, model: &[f64]) -> Vec<f64> {
        (0..outputs)
            .map(|c| {
                let products = self.row(i).map(|(j, x)| x * model[j * outputs + c]);
                products.sum::<f64>() + model[self.features * outputs + c]
            })
            .collect()
    }

    /// A random model. Coefficients of features with a scale of 0 are 0, and so are intercepts unless `intercept`.
    pub fn model(&self, random: &mut Random, outputs: usize, intercept: bool) -> Vec<f64> {
        (0..(self.features + 1) * outputs)
            .map(|p| {
                let j = p / outputs;
                let number = 0.5 * random.number();
                let is_free = if j == self.features {
                    intercept
                } else {
                    self.scale(j) > 0.0
                };
                if is_free { number } else { 0.0 }
            })
            .collect()
    }
}

/// The loss, and its derivatives, from the definition.
pub fn differentiate(loss: RowLoss, z: &[f64], y: f64) -> (f64, Vec<f64>) {
    match loss {
        RowLoss::Margin(loss) => (loss.value(z[0], y), vec![loss.derivative(z[0], y)]),
        RowLoss::Softmax(_) => {
            let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = z.iter().map(|z| (z - top).exp()).sum();
            let class = y as usize;
            let slopes = z
                .iter()
                .enumerate()
                .map(|(c, z)| (z - top).exp() / total - f64::from(u8::from(c == class)));
            (total.ln() + top - z[class], slopes.collect())
        }
    }
}

/// The result of [`eager`].
pub struct Eager {
    pub vector: Vec<f64>,
    pub loss_sum: f64,
    pub rows: u64,
}

/// The steps of a round on all coefficients, one after the other.
pub fn eager(rows: &Rows, params: &SgdParams, shared: &[f64]) -> Eager {
    eager_on(rows, params, shared, &buckets(rows, params), 1)
}

/// The same on copies of the model, on each a contiguous share of the buckets, and the mean of the copies by the weights of their rows.
pub fn eager_together(rows: &Rows, params: &SgdParams, shared: &[f64]) -> Eager {
    let buckets = buckets(rows, params);
    let copies = params.threads.min(rows.len());
    let mut mean = Eager {
        vector: vec![0.0; shared.len()],
        loss_sum: 0.0,
        rows: 0,
    };
    let total: f64 = buckets
        .iter()
        .cloned()
        .flatten()
        .map(|i| rows.weight(i))
        .sum();
    for k in 0..copies {
        let share = &buckets[k * buckets.len() / copies..(k + 1) * buckets.len() / copies];
        let weight: f64 = share
            .iter()
            .cloned()
            .flatten()
            .map(|i| rows.weight(i))
            .sum();
        let copy = eager_on(rows, params, shared, share, copies as u64);
        for (sum, w) in mean.vector.iter_mut().zip(&copy.vector) {
            *sum += weight / total * w;
        }
        mean.loss_sum += copy.loss_sum;
        mean.rows += copy.rows;
    }
    mean
}

/// The buckets of a round.
fn buckets(rows: &Rows, params: &SgdParams) -> Vec<Range<usize>> {
    let size = bucket_size(rows.len());
    let mut order = BucketOrder::new(rows.len(), size, params.seed, params.partition).unwrap();
    let (mut buckets, mut visited) = (Vec::new(), 0);
    while visited < params.budget && rows.len() > 0 {
        let bucket = order.at(params.cursor + buckets.len() as u64);
        visited += bucket.len() as u64;
        buckets.push(bucket);
    }
    buckets
}

/// The steps on the rows of these buckets, when so many copies make steps at a time.
fn eager_on(
    rows: &Rows,
    params: &SgdParams,
    shared: &[f64],
    buckets: &[Range<usize>],
    copies: u64,
) -> Eager {
    let SgdProblem {
        loss,
        l1,
        l2,
        intercept,
        weight_factor,
    } = params.problem;
    let outputs = loss.outputs();
    let mut model = shared.to_vec();
    let (mut visited, mut loss_sum) = (0, 0.0);
    for bucket in buckets {
        for i in bucket.clone() {
            let eta = params.schedule.at(params.steps + copies * visited);
            let z = rows.predictions(i, outputs, &model);
            let (value, slopes) = differentiate(loss, &z, rows.labels[i]);
            loss_sum += rows.weight(i) * value;
            let g: Vec<f64> = slopes
                .iter()
                .map(|slope| rows.weight(i) * weight_factor * slope)
                .collect();
            let coefficients = rows.features * outputs;
            for w in &mut model[..coefficients] {
                *w *= 1.0 - eta * l2;
            }
            for (j, x) in rows.row(i) {
                for c in 0..outputs {
                    model[j * outputs + c] -= eta * g[c] * rows.scale(j) * x;
                }
            }
            for (p, w) in model[..coefficients].iter_mut().enumerate() {
                let threshold = eta * l1 * rows.scale(p / outputs).sqrt();
                *w = (w.abs() - threshold).max(0.0).copysign(*w);
            }
            if intercept {
                for c in 0..outputs {
                    model[coefficients + c] -= eta * g[c];
                }
            }
            visited += 1;
        }
    }
    Eager {
        vector: model.iter().map(|w| params.share * w).collect(),
        loss_sum,
        rows: visited,
    }
}

/// Runs a round; returns its outcome and its vector, written in pieces.
pub fn descend(
    params: &SgdParams,
    blocks: &[SgdData<'_>],
    shared: &[f64],
) -> (SgdOutcome, Vec<f64>) {
    descend_by(None, params, blocks, shared)
}

/// As [`descend`], by the threads of a pool if there is one.
pub fn descend_by(
    pool: Option<&ThreadPool>,
    params: &SgdParams,
    blocks: &[SgdData<'_>],
    shared: &[f64],
) -> (SgdOutcome, Vec<f64>) {
    let mut blocks = Views::<LabelledRows>::new(blocks).unwrap();
    let round = SgdRound::run(params.check().unwrap(), shared, &mut blocks, pool).unwrap();
    let shared = bytes(shared);
    let mut vector = vec![0; shared.len()];
    for (k, part) in vector.chunks_mut(8 * 7).enumerate() {
        let start = 7 * k;
        let same = &shared[8 * start..][..part.len()];
        round.write_update(start, same, part).unwrap();
    }
    (round.finish(), doubles(&vector))
}

/// Runs a search.
pub fn search(params: &SearchParams, blocks: &[SgdData<'_>], shared: &[f64]) -> SearchOutcome {
    let mut blocks = Views::<LabelledRows>::new(blocks).unwrap();
    search_step_size(&params.clone().check().unwrap(), shared, &mut blocks).unwrap()
}

/// Runs a pass over the rows at a model, or for a dual point with dual numbers. Its vector has the layout of a model.
pub fn evaluate(
    rows: &Rows,
    loss: RowLoss,
    dual: &[f64],
    model: &[f64],
) -> (PassOutcome, Vec<f64>) {
    // In a pass the numbers of an output stand together, and labels of two classes are 0 and 1.
    let (n, outputs) = (rows.features + 1, loss.outputs());
    let labels: Vec<f64> = match loss.labels() {
        Labels::Signed => rows.labels.iter().map(|y| (y + 1.0) / 2.0).collect(),
        Labels::Real | Labels::Classes(_) => rows.labels.clone(),
    };
    let params = PassParams {
        model: transposed(model, n, outputs),
        gradient: true,
        dual: dual.to_vec(),
        ..PassParams::at_zero(PassLoss::Row(loss), true, rows.features)
    };
    let values = Values::F64(&rows.values);
    let block = match &rows.indices {
        Some(indices) => MatrixView::sparse(rows.features, &rows.offsets, indices, values),
        None => MatrixView::dense(rows.len(), rows.features, values),
    }
    .unwrap();
    let mut pass = RowPass::new(params).unwrap();
    let weights = rows.weights.as_ref().map(Into::into);
    pass.add(block, (&labels).into(), weights).unwrap();
    let mut vector = vec![f64::NAN; pass.length()];
    pass.write(&mut vector).unwrap();
    (pass.outcome().clone(), transposed(&vector, outputs, n))
}

/// The rows of a matrix as columns.
fn transposed(numbers: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    (0..rows * columns)
        .map(|at| numbers[at % rows * columns + at / rows])
        .collect()
}

/// The search of a round's first step size.
pub fn search_of(params: &SgdParams, candidates: Vec<f64>) -> SearchParams {
    SearchParams {
        problem: params.problem,
        schedule: params.schedule,
        candidates,
        seed: params.seed,
        partition: params.partition,
        budget: params.budget,
        cursor: params.cursor,
        steps: params.steps,
    }
}

/// A problem with this loss and these penalties.
pub fn problem(loss: RowLoss, l1: f64, l2: f64) -> SgdProblem {
    SgdProblem {
        loss,
        l1,
        l2,
        intercept: true,
        weight_factor: 1.0,
    }
}

/// A round of one epoch from the start of a fit.
pub fn epoch(problem: SgdProblem, schedule: Schedule, rows: usize) -> SgdParams {
    SgdParams {
        problem,
        schedule,
        seed: 5,
        partition: 1,
        budget: rows.max(1) as u64,
        cursor: 0,
        steps: 0,
        share: 1.0,
        threads: 1,
    }
}
