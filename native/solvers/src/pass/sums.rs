//! What a pass sums, and how it is written.

use super::{
    params::PassParams,
    plan::{Plan, transpose},
};
use crate::base::{
    error::{SolverError, reserve},
    gram::{Gram, add},
};

/// The numbers of a pass, apart from its vector.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PassOutcome {
    /// `sum_i s_i loss(z_i)`
    pub loss: f64,
    /// The losses at each of the steps.
    pub losses: Vec<f64>,
    /// The largest `sum_k reach_k |x~_ik|` of a row, with several outputs the sum of the two largest ones; 0 without `reach`.
    pub reach: f64,
    /// Of losses of two classes: for labels -1 and 1, `sum_i s_i |loss'(z_i)|`.
    pub slopes: [f64; 2],
    /// The same of the squares.
    pub slope_squares: [f64; 2],
    /// Of a proximal pass: `sum_i s_i hinge(z_i)`, with its corner where it is.
    pub hinge: f64,
    /// Rows visited.
    pub rows: u64,
    /// Stored entries visited.
    pub entries: u64,
}

impl PassOutcome {
    pub(crate) fn join(&mut self, other: &Self) {
        self.loss += other.loss;
        add(&mut self.losses, &other.losses);
        self.reach = self.reach.max(other.reach);
        add(&mut self.slopes, &other.slopes);
        add(&mut self.slope_squares, &other.slope_squares);
        self.hinge += other.hinge;
        self.rows += other.rows;
        self.entries += other.entries;
    }
}

/// Sums over rows: centred where rows are dense, about 0 where they are sparse.
pub(super) struct Sums {
    /// In the order of a model; of sparse rows in the order of [`Plan::cells`].
    pub(super) gradient: Vec<f64>,
    pub(super) first: Vec<f64>,
    pub(super) second: Vec<f64>,
    /// For each pair of outputs (a, b) with b <= a, in the order of a triangle.
    pub(super) hessian: Vec<Gram>,
    pub(super) weight: f64,
}

impl Sums {
    pub(super) fn new(params: &PassParams) -> Result<Self, SolverError> {
        let zeros = |length: usize| -> Result<Vec<f64>, SolverError> {
            let mut numbers = reserve(length, "the sums of a pass")?;
            numbers.resize(length, 0.0);
            Ok(numbers)
        };
        let moments = usize::from(params.moments) * params.features;
        Ok(Self {
            gradient: zeros(usize::from(params.gradient) * params.model.len())?,
            first: zeros(moments)?,
            second: zeros(moments)?,
            hessian: if params.hessian && !params.model.is_empty() {
                (0..params.summed())
                    .map(|_| Gram::zeros(params.entries()))
                    .collect::<Result<_, _>>()?
            } else {
                Vec::new()
            },
            weight: 0.0,
        })
    }

    /// Numbers that the sums hold, with `n` entries of a row.
    pub(super) fn numbers(&self, n: usize) -> usize {
        self.gradient.len() + 2 * self.first.len() + self.hessian.len() * n * n
    }

    pub(super) fn join(&mut self, other: &Self) {
        add(&mut self.gradient, &other.gradient);
        add(&mut self.first, &other.first);
        add(&mut self.second, &other.second);
        for (gram, other) in self.hessian.iter_mut().zip(&other.hessian) {
            gram.join(other);
        }
        self.weight += other.weight;
    }
}

/// Writes sums over an empty vector.
pub(super) fn write_sums(sums: &Sums, params: &PassParams, is_sparse: bool, out: &mut [f64]) {
    let (p, n) = (params.features, params.entries());
    let (gradient, rest) = out.split_at_mut(params.model.len());
    let outputs = params.loss.outputs();
    if is_sparse && outputs > 1 && !sums.gradient.is_empty() {
        transpose(&sums.gradient, n, gradient);
    } else if !sums.gradient.is_empty() {
        gradient.copy_from_slice(&sums.gradient);
    }
    if !params.is_whole() {
        return;
    }
    let (first, rest) = rest.split_at_mut(p);
    let (second, triangles) = rest.split_at_mut(p);
    for (to, from) in [(first, &sums.first), (second, &sums.second)] {
        if !from.is_empty() {
            to.copy_from_slice(from);
        }
    }
    if n > 0 {
        let length = n * (n + 1) / 2;
        for (gram, triangle) in sums.hessian.iter().zip(triangles.chunks_mut(length)) {
            gram.write(triangle);
        }
        if params.summed() < params.pairs() && !sums.hessian.is_empty() {
            last_output(outputs - 1, length, triangles);
        }
    }
}

/// The triangles of the pairs of the last output, so that the triangles of each output have the sum 0.
fn last_output(last: usize, length: usize, triangles: &mut [f64]) {
    let pair = |a: usize, b: usize| (a.max(b) * (a.max(b) + 1) / 2 + a.min(b)) * length;
    for b in 0..=last {
        let (summed, own) = triangles.split_at_mut(pair(last, b));
        for a in 0..last {
            for (x, y) in own[..length].iter_mut().zip(&summed[pair(a, b)..]) {
                *x -= y;
            }
        }
    }
}

/// Turns sums of rows about 0 into sums of centred rows. The sums of the last entry, 1, are the weights.
pub(super) fn centre(plan: &Plan, weight: f64, sums: &mut [f64]) {
    let (params, c) = (&plan.params, &plan.centre);
    if !params.intercept || c.is_empty() {
        return;
    }
    let (p, n) = (params.features, params.entries());
    let (gradients, rest) = sums.split_at_mut(params.model.len());
    for gradient in gradients.chunks_mut(n) {
        let slope = gradient[p];
        for i in 0..p {
            gradient[i] -= c[i] * slope;
        }
    }
    if !params.is_whole() {
        return;
    }
    let (first, rest) = rest.split_at_mut(p);
    let (second, triangles) = rest.split_at_mut(p);
    for i in 0..p {
        second[i] += c[i] * (c[i] * weight - 2.0 * first[i]);
        first[i] -= c[i] * weight;
    }
    for triangle in triangles.chunks_mut(n * (n + 1) / 2) {
        let (upper, rest) = triangle.split_at_mut(p * (p + 1) / 2);
        let (last, scale) = rest.split_at_mut(p + 1);
        let curve = last[p];
        for i in 0..p {
            let row = &mut upper[i * (i + 1) / 2..][..=i];
            for (j, entry) in row.iter_mut().enumerate() {
                *entry += c[i] * (c[j] * curve - last[j]) - last[i] * c[j];
            }
        }
        for i in 0..p {
            last[i] -= c[i] * curve;
            if let Some(&with_one) = scale.get(p) {
                scale[i] -= c[i] * with_one;
            }
        }
    }
}
