//! A pass over the rows of a partition, block by block.
//!
//! Features are centred, `x~ = x - centre`, so that the Hessian keeps its digits where means are large. With an intercept every row has one
//! more entry, 1, after its features: `n` entries where there are `p` features. The prediction is `z = x~^T w + b`, one for each of the C
//! outputs of the loss. A model has n numbers for each output, one output after the other.
//!
//! With dual numbers a pass sums the dual point of [`Feasibility`](crate::Feasibility): conjugates replace losses, and dual variables their
//! derivatives.
//!
//! With a loss that has a scale sigma, a row's last entry is a, its clipped error over the scale, and the last number of a model is sigma: see [`Huber`].
//!
//! A pass may replace features by their remainders, combinations of features that nearly explain one another: what sums over the features
//! cannot tell from rounding, sums over remainders can.
//!
//! A proximal pass takes the hinge with a corner that earlier models shift for each row: see [`super::proximal`].

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use super::{
    loss::PassLoss,
    proximal::{self, Proximal},
};
use crate::{
    base::{
        checks::{ensure, finite, positive},
        columns::Values,
        elementary::{exp, ln_1p},
        error::{SolverError, reserve, same_length},
        gram::{Gram, add},
        instructions::{Instructions, Kernel, prefetch},
    },
    problem::{
        feasibility::Feasibility,
        huber::Huber,
        labels::Labels,
        loss::{Formulas, WithFormulas},
        softmax::RowLoss,
    },
};

/// Rows that a pass packs and works on at a time.
const CHUNK: usize = 256;

/// How many entries ahead a sparse row asks for what it needs: with features in any order, each is a cache line of its own.
const AHEAD: usize = 40;

/// Sums of a dot product that are added at the end.
const LANES: usize = 8;

/// Parameters of a pass, unchecked.
///
/// | Name | Meaning | Range |
/// |---|---|---|
/// | `loss` | the loss of a row | |
/// | `intercept` | whether rows have a last entry 1 | |
/// | `features` | p | |
/// | `centre` | p numbers, subtracted from the features; empty for none | finite; 0 without an intercept |
/// | `model` | C n numbers: w, then b of centred features, then sigma | finite; sigma more than 0 |
/// | `direction` | C n numbers, for losses along a line; empty for none | finite |
/// | `steps` | where on the line: `z + step z_direction` | finite |
/// | `reach` | C n numbers, see [`PassOutcome::reach`]; empty for none | finite, at least 0 |
/// | `gradient` | whether to sum the gradient | |
/// | `hessian` | whether to sum the Hessian | |
/// | `moments` | whether to sum features and their squares, too | |
/// | `majorise` | whether rows where a loss with a scale is linear count in the Hessian by the parabola above it | |
/// | `dual` | the dual numbers of the loss, for a dual point; empty for none | see [`RowLoss`]; without steps, Hessian and reach |
/// | `proximal` | whether the pass is a proximal one | with the smoothed hinge, and without dual numbers |
/// | `remainders` | for each feature that is replaced its number, and for each entry of a row its weight in the remainder of centred entries | features in range, once each; weights finite; without a scale and a proximal pass |
/// | `earlier` | for each earlier model of a proximal pass its n numbers, and its gamma | finite; gamma more than 0 |
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the table names every field")]
pub struct PassParams {
    pub loss: PassLoss,
    pub intercept: bool,
    pub features: usize,
    pub centre: Vec<f64>,
    pub model: Vec<f64>,
    pub direction: Vec<f64>,
    pub steps: Vec<f64>,
    pub reach: Vec<f64>,
    pub gradient: bool,
    pub hessian: bool,
    pub moments: bool,
    pub majorise: bool,
    pub dual: Vec<f64>,
    pub proximal: bool,
    pub remainders: Vec<f64>,
    pub earlier: Vec<f64>,
}

impl PassParams {
    /// The entries of a row, n.
    fn entries(&self) -> usize {
        self.unscaled() + self.loss.scales()
    }

    /// The entries of a row that its prediction takes.
    fn unscaled(&self) -> usize {
        self.features + usize::from(self.intercept)
    }

    /// `sum_j centre_j weights_j`
    fn at_centre(&self, weights: &[f64]) -> f64 {
        self.centre.iter().zip(weights).map(|(c, w)| c * w).sum()
    }

    /// Whether a vector has sums of the features beside the gradient.
    fn is_whole(&self) -> bool {
        self.hessian || self.moments
    }

    /// Pairs of outputs, of which each has a triangle of the Hessian.
    fn pairs(&self) -> usize {
        let outputs = self.loss.outputs();
        outputs * (outputs + 1) / 2
    }

    /// Pairs whose triangles are summed. The derivatives of the softmax by all predictions have the sum 0, which gives the last output's.
    fn summed(&self) -> usize {
        match self.loss {
            PassLoss::Row(RowLoss::Softmax(outputs)) => outputs * (outputs - 1) / 2,
            PassLoss::Row(RowLoss::Margin(_)) | PassLoss::Scaled(_) => self.pairs(),
        }
    }

    fn check_remainders(&self) -> Result<(), SolverError> {
        if self.remainders.is_empty() {
            return Ok(());
        }
        let n = self.entries();
        let plain = self.loss.scales() == 0 && !self.proximal;
        let whole = self.remainders.len().is_multiple_of(n + 1);
        let mut is_replaced = vec![false; self.features];
        let named = self.remainders.chunks(n + 1).all(|remainder| {
            let feature = is_replaced.get_mut(remainder[0] as usize);
            let number = remainder[0] >= 0.0 && remainder[0].fract() == 0.0;
            number && feature.is_some_and(|is_replaced| !std::mem::replace(is_replaced, true))
        });
        let finite = self.remainders.iter().all(|x| x.is_finite());
        ensure(
            "remainders",
            self.remainders.len() as f64,
            plain && whole && named && finite,
            "must name a feature each, with a finite weight for each entry, without a scale and a proximal pass",
        )
    }

    fn check(&self) -> Result<(), SolverError> {
        self.loss.check()?;
        let variables = self.loss.outputs() * self.entries();
        if !self.centre.is_empty() {
            same_length("centre", self.centre.len(), self.features, "feature")?;
        }
        same_length(
            "model",
            self.model.len(),
            variables,
            "entry of a row and output",
        )?;
        for (name, numbers) in [("direction", &self.direction), ("reach", &self.reach)] {
            if !numbers.is_empty() {
                same_length(name, numbers.len(), variables, "entry of a row and output")?;
            }
        }
        for numbers in [&self.centre, &self.model, &self.direction, &self.steps] {
            for &number in numbers {
                finite("model", number)?;
            }
        }
        for &number in &self.reach {
            let legal = number.is_finite() && number >= 0.0;
            ensure("reach", number, legal, "must be finite and at least 0")?;
        }
        if let (PassLoss::Scaled(_), Some(&sigma)) = (self.loss, self.model.last()) {
            positive("the scale", sigma)?;
        }
        ensure(
            "steps",
            self.steps.len() as f64,
            self.steps.is_empty() || self.direction.len() == variables,
            "need a direction",
        )?;
        if !self.dual.is_empty() {
            let PassLoss::Row(loss) = self.loss else {
                return Err(SolverError::Shape(
                    "a loss with a scale has no dual numbers".into(),
                ));
            };
            loss.dual_numbers().check(&self.dual)?;
            let alone = self.steps.is_empty() && !self.hessian && self.reach.is_empty();
            let expected = "go without steps, Hessian and reach";
            ensure("dual", self.dual.len() as f64, alone, expected)?;
        }
        self.check_remainders()?;
        if self.proximal {
            if self.loss.corner().is_none() || !self.dual.is_empty() {
                return Err(SolverError::Shape(
                    "a proximal pass takes the smoothed hinge, without dual numbers".into(),
                ));
            }
            proximal::check(&self.earlier, self.entries())?;
        } else {
            let count = self.earlier.len() as f64;
            ensure(
                "earlier",
                count,
                self.earlier.is_empty(),
                "needs a proximal pass",
            )?;
        }
        let centred = self.centre.iter().any(|&c| c != 0.0);
        ensure(
            "centre",
            f64::from(u8::from(centred)),
            self.intercept || !centred,
            "must be 0 without an intercept",
        )
    }
}

/// Rows of a block: row-major dense, or compressed sparse rows.
#[derive(Debug, Clone, Copy)]
pub enum PassRows<'a> {
    /// As many values for each row as there are features.
    Dense(Values<'a>),
    /// Entries of row i are `offsets[i]` until `offsets[i + 1]`, with ascending features.
    Sparse(&'a [i32], &'a [i32], Values<'a>),
}

/// The numbers of a pass, apart from its vector.
#[derive(Debug, Clone, PartialEq)]
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

/// Parameters of a pass, and what follows from them alone.
struct Plan {
    params: PassParams,
    /// For each output, what the predictions of all sparse rows have: the intercept less the prediction at the centre.
    constants: Vec<f64>,
    /// The same of the direction.
    constants_along: Vec<f64>,
    /// For each output, what the reach of all sparse rows has: they are at most their entries and the centre away.
    constants_of_reach: Vec<f64>,
    /// The same as `constants`, of each earlier model.
    constants_earlier: Vec<f64>,
    /// The model entry by entry, with the numbers of all outputs side by side. Made for sparse rows and several outputs only.
    cells: OnceLock<Vec<f64>>,
    /// What sums over sparse rows are centred by: remainders are centred as they are.
    centre: Vec<f64>,
    remainders: Vec<Remainder>,
}

/// The remainder that replaces a feature.
struct Remainder {
    feature: usize,
    /// Of each entry of a row.
    weights: Vec<f64>,
    /// What the remainders of all sparse rows have.
    constant: f64,
}

impl Plan {
    fn new(params: PassParams) -> Self {
        let (p, n) = (params.features, params.entries());
        let outputs = params.loss.outputs();
        let mut centre = params.centre.clone();
        let remainders: Vec<Remainder> = (params.remainders.chunks(n + 1))
            .map(|numbers| {
                let (feature, weights) = (numbers[0] as usize, numbers[1..].to_vec());
                if let Some(centre) = centre.get_mut(feature) {
                    *centre = 0.0;
                }
                let intercept = if params.intercept { weights[p] } else { 0.0 };
                let constant = intercept - params.at_centre(&weights);
                Remainder {
                    feature,
                    weights,
                    constant,
                }
            })
            .collect();
        let at_centre =
            |weights: &[f64]| centre.iter().zip(weights).map(|(c, w)| c * w).sum::<f64>();
        let constants = |weights: &[f64], constant: &dyn Fn(&[f64]) -> f64| {
            if weights.is_empty() {
                vec![0.0; outputs]
            } else {
                weights.chunks(n).map(constant).collect()
            }
        };
        let predicted = |weights: &[f64]| {
            let intercept = if params.intercept { weights[p] } else { 0.0 };
            intercept - at_centre(weights)
        };
        let reached = |reach: &[f64]| {
            let of_centre = centre.iter().zip(reach).map(|(c, r)| c.abs() * r);
            of_centre.sum::<f64>() + reach[p..params.unscaled()].iter().sum::<f64>()
        };
        Self {
            constants: constants(&params.model, &predicted),
            constants_along: constants(&params.direction, &predicted),
            constants_of_reach: constants(&params.reach, &reached),
            constants_earlier: proximal::models(&params.earlier, n)
                .map(|(weights, _)| predicted(weights))
                .collect(),
            cells: OnceLock::new(),
            centre,
            remainders,
            params,
        }
    }

    /// Makes `cells`.
    fn prepare_sparse(&self) -> Result<(), SolverError> {
        let outputs = self.params.loss.outputs();
        if outputs > 1 && self.cells.get().is_none() {
            let mut cells = reserve(self.params.model.len(), "the model of a pass")?;
            cells.resize(self.params.model.len(), 0.0);
            transpose(&self.params.model, outputs, &mut cells);
            // If another pass was faster, its cells are the same.
            let _ = self.cells.set(cells);
        }
        Ok(())
    }
}

/// Turns `rows` rows after one another into columns.
fn transpose(from: &[f64], rows: usize, to: &mut [f64]) {
    if from.is_empty() {
        return;
    }
    for (r, from) in from.chunks(from.len() / rows).enumerate() {
        for (to, x) in to[r..].iter_mut().step_by(rows).zip(from) {
            *to = *x;
        }
    }
}

/// Sums over rows: centred where rows are dense, about 0 where they are sparse.
struct Sums {
    /// In the order of a model; of sparse rows in the order of [`Plan::cells`].
    gradient: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    /// For each pair of outputs (a, b) with b <= a, in the order of a triangle.
    hessian: Vec<Gram>,
    weight: f64,
}

impl Sums {
    fn new(params: &PassParams) -> Result<Self, SolverError> {
        let zeros = |length: usize| -> Result<Vec<f64>, SolverError> {
            let mut numbers = reserve(length, "the sums of a pass")?;
            numbers.resize(length, 0.0);
            Ok(numbers)
        };
        let moments = if params.moments { params.features } else { 0 };
        Ok(Self {
            gradient: zeros(if params.gradient {
                params.model.len()
            } else {
                0
            })?,
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
}

impl Sums {
    fn join(&mut self, other: &Self) {
        add(&mut self.gradient, &other.gradient);
        add(&mut self.first, &other.first);
        add(&mut self.second, &other.second);
        for (gram, other) in self.hessian.iter_mut().zip(&other.hessian) {
            gram.join(other);
        }
        self.weight += other.weight;
    }
}

/// A pass in progress. The caller lends a block's rows by [`RowPass::take`], a chunk at a time, and then lets the pass [`RowPass::work`].
pub struct RowPass {
    plan: Arc<Plan>,
    kernel: Kernel,
    dense: Option<Sums>,
    sparse: Option<Sums>,
    chunk: Chunk,
    outcome: PassOutcome,
}

/// Copies of some rows, and their numbers.
#[derive(Default)]
struct Chunk {
    rows: usize,
    is_sparse: bool,
    /// Dense: the rows with centre subtracted, n entries each. Sparse: the values.
    values: Vec<f64>,
    offsets: Vec<usize>,
    indices: Vec<i32>,
    labels: Vec<f64>,
    weights: Vec<f64>,
    /// For each output the rows; so are `along` and `slopes`, and `curves` for each pair of outputs.
    predictions: Vec<f64>,
    along: Vec<f64>,
    slopes: Vec<f64>,
    curves: Vec<f64>,
    /// The last entry of each row, with a scale.
    ratios: Vec<f64>,
    /// The rows that have a curvature, where many have none, and their curves.
    packed: Vec<f64>,
    packed_curves: Vec<f64>,
    /// Dense rows times their curves.
    weighted: Vec<f64>,
}

impl RowPass {
    /// A pass before its first row.
    ///
    /// # Errors
    /// `InvalidParam` or `Shape` names the parameter at fault.
    pub fn new(params: PassParams) -> Result<Self, SolverError> {
        Self::with_kernel(params, Kernel::detect())
    }

    /// The same on a given kernel.
    ///
    /// # Errors
    /// As [`RowPass::new`].
    pub fn with_kernel(params: PassParams, kernel: Kernel) -> Result<Self, SolverError> {
        params.check()?;
        Ok(Self::of(Arc::new(Plan::new(params)), kernel))
    }

    /// Another pass with the same parameters, before its first row. They share the parameters.
    pub fn fork(&self) -> Self {
        Self::of(Arc::clone(&self.plan), self.kernel)
    }

    fn of(plan: Arc<Plan>, kernel: Kernel) -> Self {
        let outcome = PassOutcome {
            loss: 0.0,
            losses: vec![0.0; plan.params.steps.len()],
            reach: 0.0,
            slopes: [0.0; 2],
            slope_squares: [0.0; 2],
            hinge: 0.0,
            rows: 0,
            entries: 0,
        };
        Self {
            plan,
            kernel,
            dense: None,
            sparse: None,
            chunk: Chunk::default(),
            outcome,
        }
    }

    /// The features, p.
    pub fn features(&self) -> usize {
        self.plan.params.features
    }

    /// The bytes that the pass holds, about, apart from the parameters.
    pub fn bytes(&self) -> usize {
        let params = &self.plan.params;
        let sums = usize::from(self.dense.is_some()) + usize::from(self.sparse.is_some());
        let chunk = &self.chunk;
        let copies = chunk.values.capacity()
            + chunk.curves.capacity()
            + chunk.packed.capacity()
            + chunk.weighted.capacity()
            + chunk.indices.capacity() / 2;
        let gradient = if params.gradient {
            params.model.len()
        } else {
            0
        };
        let moments = if params.moments {
            2 * params.features
        } else {
            0
        };
        let n = params.entries();
        let triangles = if params.hessian {
            params.summed() * n * n
        } else {
            0
        };
        8 * (sums * (triangles + gradient + moments) + copies)
    }

    /// Whether the pass sums vectors, and not only losses.
    pub fn has_vector(&self) -> bool {
        self.plan.params.gradient || self.plan.params.is_whole()
    }

    /// The length of [`RowPass::write`]'s vector: `C n` numbers of a gradient alone; otherwise 2 p more, and `n (n + 1) / 2` for each pair
    /// of outputs.
    pub fn length(&self) -> usize {
        let params = &self.plan.params;
        let n = params.entries();
        let gradient = params.model.len();
        if params.is_whole() {
            gradient + 2 * params.features + params.pairs() * (n * (n + 1) / 2)
        } else {
            gradient
        }
    }

    /// Copies the rows of a block from number `from` on, as many as a chunk holds, and returns the number of the first row that it leaves.
    /// Signed losses take labels 0 and 1.
    ///
    /// # Errors
    /// `Shape` if lengths disagree, or an index is out of range.
    pub fn take(
        &mut self,
        rows: PassRows<'_>,
        labels: &[f64],
        weights: Option<&[f64]>,
        from: usize,
    ) -> Result<usize, SolverError> {
        let count = labels.len();
        if let Some(weights) = weights {
            same_length("weights", weights.len(), count, "row")?;
        }
        let range = from.min(count)..(from + CHUNK).min(count);
        let chunk = &mut self.chunk;
        chunk.rows = 0;
        match rows {
            PassRows::Dense(values) => {
                chunk.pack_dense(&self.plan.params, values, count, &range)?
            }
            PassRows::Sparse(offsets, indices, values) => {
                same_length("offsets", offsets.len(), count + 1, "row, and one")?;
                chunk.pack_sparse(self.plan.params.features, offsets, indices, values, &range)?;
            }
        }
        if !self.plan.remainders.is_empty() {
            chunk.replace(&self.plan, range.len());
        }
        chunk.labels.clear();
        let labels = &labels[range.clone()];
        match self.plan.params.loss.labels() {
            Labels::Signed => {
                let signed = labels.iter().map(|&y| if y > 0.5 { 1.0 } else { -1.0 });
                chunk.labels.extend(signed);
            }
            Labels::Real => chunk.labels.extend_from_slice(labels),
            Labels::Classes(classes) => {
                if let Some(label) = labels.iter().find(|&&y| !(y >= 0.0 && y < classes as f64)) {
                    return Err(SolverError::Shape(format!(
                        "a label is {label}: there are {classes} classes"
                    )));
                }
                chunk.labels.extend_from_slice(labels);
            }
        }
        chunk.weights.clear();
        match weights {
            Some(weights) => chunk.weights.extend_from_slice(&weights[range.clone()]),
            None => chunk.weights.resize(range.len(), 1.0),
        }
        chunk.rows = range.len();
        Ok(range.end)
    }

    /// Adds the rows that [`RowPass::take`] has copied.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn work(&mut self) -> Result<(), SolverError> {
        if self.chunk.rows == 0 {
            return Ok(());
        }
        let params = &self.plan.params;
        let sums = if self.chunk.is_sparse {
            self.plan.prepare_sparse()?;
            &mut self.sparse
        } else {
            &mut self.dense
        };
        let sums = match sums {
            Some(sums) => sums,
            None => sums.insert(Sums::new(params)?),
        };
        let work = Work {
            plan: &self.plan,
            params,
            chunk: &mut self.chunk,
            sums,
            outcome: &mut self.outcome,
        };
        match self.kernel.0 {
            Instructions::Portable => work.run(),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(token) => token.vectorize(On(work)),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(token) => token.vectorize(On(work)),
        }
        if params.hessian {
            self.chunk.add_curved(params, &mut sums.hessian)?;
        }
        let chunk = &self.chunk;
        self.outcome.rows += chunk.rows as u64;
        self.outcome.entries += if chunk.is_sparse {
            chunk.values.len()
        } else {
            chunk.rows * params.features
        } as u64;
        self.chunk.rows = 0;
        Ok(())
    }

    /// Adds the sums of a pass over other rows, with the same parameters.
    ///
    /// # Errors
    /// `Shape` if the parameters differ.
    pub fn join(&mut self, other: Self) -> Result<(), SolverError> {
        if !Arc::ptr_eq(&self.plan, &other.plan) && self.plan.params != other.plan.params {
            return Err(SolverError::Shape(
                "two passes with other parameters cannot be joined".into(),
            ));
        }
        for (own, others) in [
            (&mut self.dense, other.dense),
            (&mut self.sparse, other.sparse),
        ] {
            match (own, others) {
                (Some(own), Some(others)) => own.join(&others),
                (own @ None, others) => *own = others,
                (Some(_), None) => {}
            }
        }
        let (own, others) = (&mut self.outcome, other.outcome);
        own.loss += others.loss;
        add(&mut own.losses, &others.losses);
        own.reach = own.reach.max(others.reach);
        add(&mut own.slopes, &others.slopes);
        add(&mut own.slope_squares, &others.slope_squares);
        own.hinge += others.hinge;
        own.rows += others.rows;
        own.entries += others.entries;
        Ok(())
    }

    /// Writes the vector of the pass: the gradient (n numbers for each output), and, if more was asked for, the sums of `s x~` and of `s x~^2`
    /// (p each), and for each pair of outputs (a, b) with b <= a, in the order of a triangle, the lower triangle of the sum of the second
    /// derivative by `z_a` and `z_b` times `x~ x~^T`, row by row. What was not asked for is 0.
    ///
    /// # Errors
    /// `Shape` unless `out` has [`RowPass::length`] numbers, `OutOfMemory`.
    pub fn write(&self, out: &mut [f64]) -> Result<(), SolverError> {
        same_length("out", out.len(), self.length(), "sum")?;
        let params = &self.plan.params;
        out.fill(0.0);
        if let Some(sums) = &self.sparse {
            write_sums(sums, params, true, out);
            centre(&self.plan, sums.weight, out);
        }
        if let Some(sums) = &self.dense {
            if self.sparse.is_none() {
                write_sums(sums, params, false, out);
                return Ok(());
            }
            let mut own = reserve(out.len(), "the sums of dense rows")?;
            own.resize(out.len(), 0.0);
            write_sums(sums, params, false, &mut own);
            for (total, number) in out.iter_mut().zip(&own) {
                *total += number;
            }
        }
        Ok(())
    }

    /// The numbers of the pass so far.
    pub fn outcome(&self) -> &PassOutcome {
        &self.outcome
    }
}

/// Writes sums over an empty vector.
fn write_sums(sums: &Sums, params: &PassParams, is_sparse: bool, out: &mut [f64]) {
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
        for (gram, triangle) in sums
            .hessian
            .iter()
            .zip(triangles.chunks_mut(n * (n + 1) / 2))
        {
            gram.write(triangle);
        }
        if params.summed() < params.pairs() && !sums.hessian.is_empty() {
            last_output(params.loss.outputs() - 1, n * (n + 1) / 2, triangles);
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
fn centre(plan: &Plan, weight: f64, sums: &mut [f64]) {
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

impl Chunk {
    fn pack_dense(
        &mut self,
        params: &PassParams,
        values: Values<'_>,
        count: usize,
        range: &Range<usize>,
    ) -> Result<(), SolverError> {
        let p = params.features;
        self.is_sparse = false;
        self.values.resize(range.len() * params.entries(), 0.0);
        let entries = range.start * p..range.end * p;
        match values {
            Values::Ones => Err(SolverError::Shape(
                "values are missing: dense rows need them".into(),
            )),
            Values::F32(values) => {
                same_length("values32", values.len(), count * p, "entry")?;
                pack(params, &values[entries], &mut self.values);
                Ok(())
            }
            Values::F64(values) => {
                same_length("values64", values.len(), count * p, "entry")?;
                pack(params, &values[entries], &mut self.values);
                Ok(())
            }
        }
    }

    fn pack_sparse(
        &mut self,
        features: usize,
        offsets: &[i32],
        indices: &[i32],
        values: Values<'_>,
        range: &Range<usize>,
    ) -> Result<(), SolverError> {
        self.is_sparse = true;
        let wrong =
            || SolverError::Shape("offsets are not ascending, or beyond the entries".into());
        let first = usize::try_from(offsets[range.start]).map_err(|_| wrong())?;
        let end = usize::try_from(offsets[range.end]).map_err(|_| wrong())?;
        self.offsets.clear();
        let mut last = 0;
        for &offset in &offsets[range.start..=range.end] {
            let at = (offset as usize).wrapping_sub(first);
            if at < last || at > end.wrapping_sub(first) {
                return Err(wrong());
            }
            self.offsets.push(at);
            last = at;
        }
        let entries = first..end;
        self.indices.clear();
        self.indices
            .extend_from_slice(indices.get(entries.clone()).ok_or_else(wrong)?);
        if self
            .indices
            .iter()
            .any(|&i| i < 0 || i as usize >= features)
        {
            return Err(SolverError::Shape(format!(
                "a feature of a sparse row is out of range: there are {features}"
            )));
        }
        self.indices.resize(entries.len() + AHEAD, 0);
        self.values.clear();
        match values {
            Values::Ones => self.values.resize(entries.len(), 1.0),
            Values::F32(values) => {
                let values = values.get(entries).ok_or_else(wrong)?;
                self.values.extend(values.iter().map(|&x| f64::from(x)));
            }
            Values::F64(values) => {
                let values = values.get(entries).ok_or_else(wrong)?;
                self.values.extend_from_slice(values);
            }
        }
        Ok(())
    }

    /// Puts the remainders in the place of the features that they replace.
    fn replace(&mut self, plan: &Plan, rows: usize) {
        if self.is_sparse {
            self.replace_sparse(plan, rows);
            return;
        }
        let n = plan.params.entries();
        let mut found = vec![0.0; plan.remainders.len()];
        for row in self.values.chunks_exact_mut(n) {
            for (found, remainder) in found.iter_mut().zip(&plan.remainders) {
                *found = dot(row, &remainder.weights);
            }
            for (found, remainder) in found.iter().zip(&plan.remainders) {
                row[remainder.feature] = *found;
            }
        }
    }

    fn replace_sparse(&mut self, plan: &Plan, rows: usize) {
        let features = plan.params.features;
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        let mut offsets = vec![0];
        let mut found = vec![None; features];
        for i in 0..rows {
            for remainder in &plan.remainders {
                let weights = &remainder.weights;
                let entries = self.entries(i);
                let sum: f64 = entries.map(|(k, x, _)| x * weights[k]).sum();
                found[remainder.feature] = Some(remainder.constant + sum);
            }
            let (own, numbers) = self.row(i);
            let kept = (own.iter().zip(numbers)).filter(|(k, _)| found[**k as usize].is_none());
            let mut merged: Vec<(i32, f64)> = kept.map(|(k, x)| (*k, *x)).collect();
            for remainder in &plan.remainders {
                let value = found[remainder.feature].take().unwrap_or(0.0);
                merged.push((remainder.feature as i32, value));
            }
            merged.sort_unstable_by_key(|(k, _)| *k);
            indices.extend(merged.iter().map(|(k, _)| *k));
            values.extend(merged.iter().map(|(_, x)| *x));
            offsets.push(values.len());
        }
        indices.resize(values.len() + AHEAD, 0);
        (self.indices, self.values, self.offsets) = (indices, values, offsets);
    }

    /// Feature and value of each entry of a sparse row, and the feature of the entry [`AHEAD`] entries later.
    #[inline(always)]
    fn entries(&self, i: usize) -> impl Iterator<Item = (usize, f64, usize)> {
        let (from, to) = (self.offsets[i], self.offsets[i + 1]);
        (self.indices[from..to].iter())
            .zip(&self.values[from..to])
            .zip(&self.indices[from + AHEAD..to + AHEAD])
            .map(|((&k, &x), &next)| (k as usize, x, next as usize))
    }

    fn row(&self, i: usize) -> (&[i32], &[f64]) {
        let entries = self.offsets[i]..self.offsets[i + 1];
        (&self.indices[entries.clone()], &self.values[entries])
    }

    /// Appends the product of each row with `weights`, and of sparse rows the constant.
    #[inline(always)]
    fn products(&self, weights: &[f64], constant: f64, out: &mut Vec<f64>) {
        let n = weights.len();
        for i in 0..self.rows {
            out.push(if self.is_sparse {
                let mut z = constant;
                for (k, x, next) in self.entries(i) {
                    prefetch(weights, next);
                    z += x * weights[k];
                }
                z
            } else {
                dot(&self.values[i * n..][..n], weights)
            });
        }
    }

    /// Predictions of sparse rows by the numbers of all outputs side by side.
    #[inline(always)]
    fn predict_cells(&mut self, constants: &[f64], cells: &[f64]) {
        let (rows, outputs) = (self.rows, constants.len());
        self.predictions.resize(outputs * rows, 0.0);
        let mut z = constants.to_vec();
        for i in 0..rows {
            z.copy_from_slice(constants);
            for (k, x, next) in self.entries(i) {
                prefetch(cells, next * outputs);
                prefetch(cells, next * outputs + outputs - 1);
                let cell = &cells[k * outputs..][..outputs];
                for (z, w) in z.iter_mut().zip(cell) {
                    *z += x * w;
                }
            }
            for (prediction, z) in self.predictions[i..].iter_mut().step_by(rows).zip(&z) {
                *prediction = *z;
            }
        }
    }

    /// Adds sparse rows, times their slopes, to sums with the numbers of all outputs side by side.
    #[inline(always)]
    fn add_cells(&self, intercept: bool, sums: &mut [f64]) {
        let outputs = self.slopes.len() / self.rows;
        let mut slopes = vec![0.0; outputs];
        for i in 0..self.rows {
            for (to, slope) in slopes
                .iter_mut()
                .zip(self.slopes[i..].iter().step_by(self.rows))
            {
                *to = *slope;
            }
            for (k, x, next) in self.entries(i) {
                prefetch(sums, next * outputs);
                prefetch(sums, next * outputs + outputs - 1);
                let cell = &mut sums[k * outputs..][..outputs];
                for (sum, slope) in cell.iter_mut().zip(&slopes) {
                    *sum += slope * x;
                }
            }
            if intercept {
                let last = sums.len() - outputs;
                for (sum, slope) in sums[last..].iter_mut().zip(&slopes) {
                    *sum += slope;
                }
            }
        }
    }

    /// Adds the rows to the Hessian.
    fn add_curved(&mut self, params: &PassParams, hessian: &mut [Gram]) -> Result<(), SolverError> {
        let rows = self.rows;
        if self.is_sparse {
            for (gram, curves) in hessian.iter_mut().zip(self.curves.chunks(rows)) {
                self.add_sparse(gram, curves, params);
            }
        } else if let ([gram], true) = (&mut *hessian, self.is_partly_curved()) {
            self.pack_curved(params.entries());
            gram.add(&self.packed, &self.packed_curves, &mut self.weighted)?;
        } else {
            for (gram, curves) in hessian.iter_mut().zip(self.curves.chunks(rows)) {
                gram.add(&self.values, curves, &mut self.weighted)?;
            }
        }
        Ok(())
    }

    /// Whether a copy of the rows that have a curvature is worth its while.
    fn is_partly_curved(&self) -> bool {
        let curved = self.curves.iter().filter(|&&curve| curve != 0.0).count();
        4 * curved <= 3 * self.curves.len()
    }

    fn pack_curved(&mut self, n: usize) {
        self.packed.clear();
        self.packed_curves.clear();
        for (row, &curve) in self.values.chunks(n.max(1)).zip(&self.curves) {
            if curve != 0.0 {
                self.packed.extend_from_slice(row);
                self.packed_curves.push(curve);
            }
        }
    }

    fn add_sparse(&self, gram: &mut Gram, curves: &[f64], params: &PassParams) {
        let (p, n) = (params.features, params.entries());
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for (i, &curve) in curves
            .iter()
            .enumerate()
            .filter(|(_, curve)| **curve != 0.0)
        {
            let (row, numbers) = self.row(i);
            if n == p {
                gram.add_sparse(row, numbers, curve);
                continue;
            }
            indices.clear();
            indices.extend_from_slice(row);
            indices.extend(p as i32..n as i32);
            values.clear();
            values.extend_from_slice(numbers);
            if params.intercept {
                values.push(1.0);
            }
            values.extend(self.ratios.get(i));
            gram.add_sparse(&indices, &values, curve);
        }
    }
}

/// Copies rows, less their centre, and gives each its last entries; the one of the scale is 0 until the errors are known.
fn pack<T: Copy + Into<f64>>(params: &PassParams, values: &[T], packed: &mut [f64]) {
    let p = params.features;
    let n = params.entries();
    if n == 0 {
        return;
    }
    for (i, to) in packed.chunks_exact_mut(n).enumerate() {
        let row = &values[i * p..][..p];
        if params.centre.is_empty() {
            for (to, &x) in to.iter_mut().zip(row) {
                *to = x.into();
            }
        } else {
            for ((to, &x), c) in to.iter_mut().zip(row).zip(&params.centre) {
                *to = x.into() - c;
            }
        }
        to[p..].fill(0.0);
        if params.intercept {
            to[p] = 1.0;
        }
    }
}

/// The work on a chunk, apart from the Hessian.
struct Work<'a> {
    plan: &'a Plan,
    params: &'a PassParams,
    chunk: &'a mut Chunk,
    sums: &'a mut Sums,
    outcome: &'a mut PassOutcome,
}

#[cfg(target_arch = "x86_64")]
struct On<'a>(Work<'a>);

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for On<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.0.run();
    }
}

impl Work<'_> {
    #[inline(always)]
    fn run(mut self) {
        self.predict();
        let corner = self.params.loss.corner().filter(|_| self.params.proximal);
        match self.params.loss {
            PassLoss::Row(_) if corner.is_some() => {
                if let Some(gamma) = corner {
                    self.proximal(gamma);
                    self.by_class();
                }
            }
            PassLoss::Row(loss) if !self.params.dual.is_empty() => self.dual(loss),
            PassLoss::Row(RowLoss::Margin(loss)) => loss.with(Margins(&mut self)),
            PassLoss::Row(RowLoss::Softmax(_)) => self.softmax(),
            PassLoss::Scaled(huber) => self.scaled(huber),
        }
        if !self.params.reach.is_empty() {
            self.reach();
        }
        if self.params.gradient {
            self.gradient();
        }
        if self.params.moments {
            self.moments();
        }
    }

    #[inline(always)]
    fn predict(&mut self) {
        let Self {
            plan,
            params,
            chunk,
            ..
        } = self;
        chunk.predictions.clear();
        chunk.along.clear();
        let n = params.entries();
        let outputs = params.loss.outputs();
        if let Some(cells) = plan.cells.get().filter(|_| chunk.is_sparse) {
            chunk.predict_cells(&plan.constants, cells);
        }
        for output in 0..outputs {
            let lines = [
                (&params.model, &plan.constants, false),
                (&params.direction, &plan.constants_along, true),
            ];
            for (weights, constants, is_direction) in lines {
                let done = !is_direction && chunk.is_sparse && outputs > 1;
                if done || is_direction && params.steps.is_empty() {
                    continue;
                }
                let weights = &weights[output * n..][..n];
                let predictions = if is_direction {
                    &mut chunk.along
                } else {
                    &mut chunk.predictions
                };
                let mut z = std::mem::take(predictions);
                chunk.products(weights, constants[output], &mut z);
                if is_direction {
                    chunk.along = z;
                } else {
                    chunk.predictions = z;
                }
            }
        }
    }

    /// Conjugates and dual variables in the place of losses and their derivatives.
    #[inline(always)]
    fn dual(&mut self, loss: RowLoss) {
        match loss {
            RowLoss::Margin(loss) => loss.with(DualMargins(self, loss.feasibility())),
            RowLoss::Softmax(_) => self.dual_softmax(),
        }
    }

    #[inline(always)]
    fn dual_softmax(&mut self) {
        let Self {
            params,
            chunk,
            outcome,
            ..
        } = self;
        let rows = chunk.rows;
        let (eps, prior) = (params.dual[0], &params.dual[1..]);
        let kept = prior[prior.len() - 1];
        chunk.slopes.clear();
        chunk.slopes.extend_from_slice(&chunk.predictions);
        probabilities(&mut chunk.slopes, rows, &chunk.labels, &chunk.weights);
        for ((c, slopes), r) in chunk.slopes.chunks_mut(rows).enumerate().zip(prior) {
            let class = c as f64;
            for (i, slope) in slopes.iter_mut().enumerate() {
                let own = if chunk.labels[i] == class { 1.0 } else { 0.0 };
                let mixed = (1.0 - eps) * *slope + eps * r;
                let q = kept * mixed + (1.0 - kept) * own;
                let conjugate = if q == 0.0 { 0.0 } else { q * q.ln() };
                outcome.loss += chunk.weights[i] * conjugate;
                *slope = chunk.weights[i] * (kept * (own - mixed));
            }
        }
    }

    /// Values and derivatives of the softmax, output by output, so that several rows go together.
    #[inline(always)]
    fn softmax(&mut self) {
        let Self {
            params,
            chunk,
            outcome,
            ..
        } = self;
        let (rows, outputs) = (chunk.rows, params.loss.outputs());
        for (total, &step) in outcome.losses.iter_mut().zip(&params.steps) {
            chunk.slopes.clear();
            let moved = chunk.predictions.iter().zip(&chunk.along);
            chunk
                .slopes
                .extend(moved.map(|(z, along)| z + step * along));
            *total += probabilities(&mut chunk.slopes, rows, &chunk.labels, &chunk.weights);
        }
        chunk.slopes.clear();
        chunk.slopes.extend_from_slice(&chunk.predictions);
        outcome.loss += probabilities(&mut chunk.slopes, rows, &chunk.labels, &chunk.weights);
        chunk.curves.clear();
        let pairs = if params.hessian { params.summed() } else { 0 };
        chunk.curves.resize(pairs * rows, 0.0);
        if params.hessian {
            let mut curves = chunk.curves.chunks_mut(rows);
            for a in 0..outputs - 1 {
                let of_a = &chunk.slopes[a * rows..][..rows];
                for b in 0..=a {
                    let of_b = &chunk.slopes[b * rows..][..rows];
                    let Some(curves) = curves.next() else { return };
                    for i in 0..rows {
                        let other = if a == b { 1.0 - of_b[i] } else { -of_b[i] };
                        curves[i] = chunk.weights[i] * (of_a[i] * other);
                    }
                }
            }
        }
        for (c, slopes) in chunk.slopes.chunks_mut(rows).enumerate() {
            let class = c as f64;
            let rows = chunk.labels.iter().zip(&chunk.weights);
            for (slope, (&label, &weight)) in slopes.iter_mut().zip(rows) {
                let own = if label == class { 1.0 } else { 0.0 };
                *slope = weight * (*slope - own);
            }
        }
    }

    /// Values and derivatives of a loss with a scale, and the last entry of each row.
    #[inline(always)]
    fn scaled(&mut self, huber: Huber) {
        let Self {
            params,
            chunk,
            sums,
            outcome,
            ..
        } = self;
        let (rows, n) = (chunk.rows, params.entries());
        let sigma = params.model[n - 1];
        for (total, &step) in outcome.losses.iter_mut().zip(&params.steps) {
            let moved = sigma + step * params.direction[n - 1];
            let mut sum = 0.0;
            for i in 0..rows {
                let z = chunk.predictions[i] + step * chunk.along[i];
                sum += chunk.weights[i] * huber.all(chunk.labels[i] - z, moved).value;
            }
            *total += sum;
        }
        for numbers in [&mut chunk.slopes, &mut chunk.curves, &mut chunk.ratios] {
            numbers.clear();
            numbers.resize(rows, 0.0);
        }
        let mut by_scale = 0.0;
        for i in 0..rows {
            let (s, error) = (chunk.weights[i], chunk.labels[i] - chunk.predictions[i]);
            let at = huber.all(error, sigma);
            outcome.loss += s * at.value;
            let is_linear = at.curve == 0.0;
            chunk.slopes[i] = -s * at.ratio;
            (chunk.curves[i], chunk.ratios[i]) = if params.majorise && is_linear {
                (s * (at.ratio / error), 0.0)
            } else {
                (s * at.curve, at.ratio)
            };
            by_scale += 0.5 * s * (1.0 - at.ratio * at.ratio);
            if !chunk.is_sparse {
                chunk.values[i * n + n - 1] = chunk.ratios[i];
            }
        }
        if params.gradient {
            sums.gradient[n - 1] += by_scale;
        }
    }

    /// Values, slopes and curves of the hinge with the corner that the earlier models shift.
    #[inline(always)]
    fn proximal(&mut self, gamma: f64) {
        let Self {
            plan,
            params,
            chunk,
            outcome,
            ..
        } = self;
        let mut before = vec![0.0; chunk.rows];
        let mut z = Vec::with_capacity(chunk.rows);
        let earlier = proximal::models(&params.earlier, params.entries());
        for ((weights, gamma), &constant) in earlier.zip(&plan.constants_earlier) {
            z.clear();
            chunk.products(weights, constant, &mut z);
            for ((a, &z), &y) in before.iter_mut().zip(&z).zip(&chunk.labels) {
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

    /// Sums of the slopes of a loss of two classes.
    #[inline(always)]
    fn by_class(&mut self) {
        let Self { chunk, outcome, .. } = self;
        for ((&slope, &y), &s) in chunk.slopes.iter().zip(&chunk.labels).zip(&chunk.weights) {
            let side = usize::from(y > 0.0);
            outcome.slopes[side] += slope.abs();
            if s > 0.0 {
                outcome.slope_squares[side] += slope * (slope / s);
            }
        }
    }

    #[inline(always)]
    fn reach(&mut self) {
        let Self {
            plan,
            params,
            chunk,
            outcome,
            ..
        } = self;
        let n = params.entries();
        for i in 0..chunk.rows {
            let (mut largest, mut second) = (0.0_f64, 0.0_f64);
            for (c, constant) in plan.constants_of_reach.iter().enumerate() {
                let reach = &params.reach[c * n..][..n];
                let own = if chunk.is_sparse {
                    let (indices, values) = chunk.row(i);
                    let entries = indices.iter().zip(values);
                    let of_scale = chunk.ratios.get(i).map_or(0.0, |a| a.abs() * reach[n - 1]);
                    constant
                        + of_scale
                        + entries
                            .map(|(&k, x)| x.abs() * reach[k as usize])
                            .sum::<f64>()
                } else {
                    absolute_dot(&chunk.values[i * n..][..n], reach)
                };
                second = second.max(own.min(largest));
                largest = largest.max(own);
            }
            outcome.reach = outcome.reach.max(largest + second);
        }
    }

    #[inline(always)]
    fn gradient(&mut self) {
        let Self {
            params,
            chunk,
            sums,
            ..
        } = self;
        let n = params.entries();
        if n == 0 {
            return;
        }
        if chunk.is_sparse && params.loss.outputs() > 1 {
            chunk.add_cells(params.intercept, &mut sums.gradient);
            return;
        }
        // The derivative by the scale is there.
        let unscaled = params.unscaled();
        for (sums, slopes) in (sums.gradient.chunks_mut(n)).zip(chunk.slopes.chunks(chunk.rows)) {
            let sums = &mut sums[..unscaled];
            for (i, &slope) in slopes.iter().enumerate() {
                if chunk.is_sparse {
                    for (k, x, next) in chunk.entries(i) {
                        prefetch(sums, next);
                        sums[k] += slope * x;
                    }
                    if params.intercept {
                        sums[unscaled - 1] += slope;
                    }
                } else {
                    let row = &chunk.values[i * n..][..n];
                    for (sum, &x) in sums.iter_mut().zip(row) {
                        *sum += slope * x;
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn moments(&mut self) {
        let Self {
            params,
            chunk,
            sums,
            ..
        } = self;
        let n = params.entries();
        for i in 0..chunk.rows {
            let weight = chunk.weights[i];
            sums.weight += weight;
            if chunk.is_sparse {
                let entries = chunk.offsets[i]..chunk.offsets[i + 1];
                for (&k, &x) in chunk.indices[entries.clone()]
                    .iter()
                    .zip(&chunk.values[entries])
                {
                    sums.first[k as usize] += weight * x;
                    sums.second[k as usize] += weight * (x * x);
                }
            } else {
                let row = &chunk.values[i * n..][..n];
                for ((first, second), &x) in sums.first.iter_mut().zip(&mut sums.second).zip(row) {
                    let weighted = weight * x;
                    *first += weighted;
                    *second += weighted * x;
                }
            }
        }
    }
}

/// Turns predictions, for each output those of all rows, into probabilities, and returns the sum of the weighted losses
/// `log sum exp(z) - z_y`. No exponent is positive, and a small loss keeps its digits.
#[inline(always)]
fn probabilities(z: &mut [f64], rows: usize, labels: &[f64], weights: &[f64]) -> f64 {
    let mut top = [f64::NEG_INFINITY; CHUNK];
    let (mut class_of_top, mut own) = ([0.0; CHUNK], [0.0; CHUNK]);
    for (c, z) in z.chunks(rows).enumerate() {
        let class = c as f64;
        for i in 0..rows {
            let higher = z[i] > top[i];
            top[i] = if higher { z[i] } else { top[i] };
            class_of_top[i] = if higher { class } else { class_of_top[i] };
            own[i] = if labels[i] == class { z[i] } else { own[i] };
        }
    }
    let mut others = [0.0; CHUNK];
    for (c, z) in z.chunks_mut(rows).enumerate() {
        let class = c as f64;
        for i in 0..rows {
            z[i] = exp(z[i] - top[i]);
            others[i] += if class_of_top[i] == class { 0.0 } else { z[i] };
        }
    }
    for z in z.chunks_mut(rows) {
        for i in 0..rows {
            z[i] /= 1.0 + others[i];
        }
    }
    let mut losses = [0.0; CHUNK];
    for i in 0..rows {
        // The logarithm of NaN is a number, and would hide it.
        let log = ln_1p(others[i]) + 0.0 * others[i];
        losses[i] = weights[i] * ((top[i] - own[i]) + log);
    }
    losses[..rows].iter().sum()
}

/// Values and derivatives of a loss of one output.
struct Margins<'a, 'b>(&'a mut Work<'b>);

impl WithFormulas for Margins<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<F: Formulas>(self, formulas: F) {
        let Work {
            params,
            chunk,
            outcome,
            ..
        } = self.0;
        let rows = chunk.rows;
        for numbers in [&mut chunk.slopes, &mut chunk.curves] {
            numbers.clear();
            numbers.resize(rows, 0.0);
        }
        for (total, &step) in outcome.losses.iter_mut().zip(&params.steps) {
            let mut sum = 0.0;
            for i in 0..rows {
                let z = chunk.predictions[i] + step * chunk.along[i];
                sum += chunk.weights[i] * formulas.all(z, chunk.labels[i]).0;
            }
            *total += sum;
        }
        let mut values = [0.0; CHUNK];
        let columns = chunk
            .predictions
            .iter()
            .zip(&chunk.labels)
            .zip(&chunk.weights);
        let outputs = chunk
            .slopes
            .iter_mut()
            .zip(&mut chunk.curves)
            .zip(&mut values);
        for (((&z, &y), &s), ((slope, curve), value)) in columns.zip(outputs) {
            let (l, first, second) = formulas.all(z, y);
            *value = s * l;
            *slope = s * first;
            *curve = s * second;
        }
        outcome.loss += values[..rows].iter().sum::<f64>();
        if params.loss.labels() == Labels::Signed {
            self.0.by_class();
        }
    }
}

/// Conjugates and dual variables of a loss of one output.
struct DualMargins<'a, 'b>(&'a mut Work<'b>, Feasibility);

impl WithFormulas for DualMargins<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<F: Formulas>(self, formulas: F) {
        let Self(
            Work {
                params,
                chunk,
                outcome,
                ..
            },
            feasibility,
        ) = self;
        chunk.slopes.clear();
        let rows = chunk
            .predictions
            .iter()
            .zip(&chunk.labels)
            .zip(&chunk.weights);
        let mut sum = 0.0;
        for ((&z, &y), &s) in rows {
            let variable = feasibility.variable(&params.dual, formulas.all(z, y).1);
            sum += s * formulas.conjugate(variable, y);
            chunk.slopes.push(s * variable);
        }
        outcome.loss += sum;
    }
}

#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    lanes(a, b, |x, y| x * y)
}

/// `sum_k |a_k| b_k`
#[inline(always)]
fn absolute_dot(a: &[f64], b: &[f64]) -> f64 {
    lanes(a, b, |x, y| x.abs() * y)
}

#[inline(always)]
fn lanes(a: &[f64], b: &[f64], product: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for k in 0..LANES {
            sums[k] += product(a[k], b[k]);
        }
    }
    let rest: f64 = a_rest
        .iter()
        .zip(b_rest)
        .map(|(&x, &y)| product(x, y))
        .sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::problem::loss::Loss;

    const LOSSES: [PassLoss; 5] = [
        PassLoss::Row(RowLoss::Margin(Loss::Squared)),
        PassLoss::Row(RowLoss::Margin(Loss::Logistic)),
        PassLoss::Row(RowLoss::Margin(Loss::SquaredHinge)),
        PassLoss::Row(RowLoss::Softmax(3)),
        PassLoss::Scaled(Huber { epsilon: 1.25 }),
    ];

    /// Rows of `p` features with labels 0 and 1, weights, and a centre.
    #[derive(Debug, Clone)]
    struct Case {
        p: usize,
        rows: Vec<Vec<f64>>,
        labels: Vec<f64>,
        weights: Vec<f64>,
        numbers: Vec<f64>,
    }

    fn case() -> impl Strategy<Value = Case> {
        (0_usize..12, 1_usize..400).prop_flat_map(|(p, m)| {
            // Eighths are exact as f32.
            let value = prop_oneof![Just(0.0), (-40_i32..40).prop_map(|x| f64::from(x) / 8.0)];
            let row = proptest::collection::vec(value, p);
            (
                proptest::collection::vec(row, m),
                // A softmax of three classes takes them, too.
                proptest::collection::vec(prop_oneof![Just(0.0), Just(1.0)], m),
                proptest::collection::vec(0.25..3.0, m),
                proptest::collection::vec(-1.0..1.0, 10 * p + 9),
            )
                .prop_map(move |(rows, labels, weights, numbers)| Case {
                    p,
                    rows,
                    labels,
                    weights,
                    numbers,
                })
        })
    }

    impl Case {
        fn params(&self, loss: PassLoss, intercept: bool) -> PassParams {
            let p = self.p;
            let n = loss.outputs() * (p + usize::from(intercept) + loss.scales());
            let mut model = self.numbers[p..p + n].to_vec();
            let mut direction: Vec<f64> = model.iter().rev().copied().collect();
            if loss.scales() > 0 {
                // At no step the scale is 0 or less.
                model[n - 1] = model[n - 1].abs() + 0.1;
                direction[n - 1] = 0.25 * model[n - 1];
            }
            PassParams {
                loss,
                intercept,
                features: p,
                centre: if intercept {
                    self.numbers[..p].to_vec()
                } else {
                    vec![0.0; p]
                },
                model,
                direction,
                steps: vec![0.5, -2.0],
                reach: self.numbers[p + n..p + 2 * n]
                    .iter()
                    .map(|x| x.abs())
                    .collect(),
                gradient: true,
                hessian: true,
                moments: true,
                majorise: false,
                dual: vec![],
                proximal: false,
                remainders: vec![],
                earlier: vec![],
            }
        }

        /// Sums by their definitions.
        fn expected(&self, params: &PassParams) -> (Vec<f64>, PassOutcome) {
            let (p, n) = (self.p, params.entries());
            let outputs = params.loss.outputs();
            let triangle = n * (n + 1) / 2;
            let mut vector = vec![0.0; outputs * n + 2 * p + params.pairs() * triangle];
            let mut outcome = PassOutcome {
                loss: 0.0,
                losses: vec![0.0; 2],
                reach: 0.0,
                slopes: [0.0; 2],
                slope_squares: [0.0; 2],
                hinge: 0.0,
                rows: self.rows.len() as u64,
                entries: 0,
            };
            for ((row, &label), &s) in self.rows.iter().zip(&self.labels).zip(&self.weights) {
                let mut x: Vec<f64> = row.iter().zip(&params.centre).map(|(x, c)| x - c).collect();
                if params.intercept {
                    x.push(1.0);
                }
                let products = |w: &[f64]| -> Vec<f64> {
                    let product = |c: usize| x.iter().zip(&w[c * n..]).map(|(x, w)| x * w).sum();
                    (0..outputs).map(product).collect()
                };
                let y = if params.loss.labels() == Labels::Signed {
                    2.0 * label - 1.0
                } else {
                    label
                };
                let (z, along) = (products(&params.model), products(&params.direction));
                let scale = |w: &[f64]| {
                    if params.loss.scales() > 0 {
                        w[n - 1]
                    } else {
                        0.0
                    }
                };
                let (sigma, towards) = (scale(&params.model), scale(&params.direction));
                let (l, first, mut second) = derivatives(params.loss, &z, y, sigma);
                outcome.loss += s * l;
                if params.loss.labels() == Labels::Signed {
                    outcome.slopes[label as usize] += s * first[0].abs();
                    outcome.slope_squares[label as usize] += s * first[0] * first[0];
                }
                for (sum, step) in outcome.losses.iter_mut().zip(&params.steps) {
                    let moved: Vec<f64> = z.iter().zip(&along).map(|(z, d)| z + step * d).collect();
                    *sum += s * derivatives(params.loss, &moved, y, sigma + step * towards).0;
                }
                // The scale: its entry, and its derivative.
                if params.loss.scales() > 0 {
                    let ratio = -first[0];
                    let is_replaced = params.majorise && second[0] == 0.0;
                    if is_replaced {
                        second[0] = ratio / (y - z[0]);
                    }
                    x.push(if is_replaced { 0.0 } else { ratio });
                    // Below, the entry adds its product with the slope.
                    vector[n - 1] += 0.5 * s * (1.0 - ratio * ratio) - s * first[0] * x[n - 1];
                }
                let absolute: Vec<f64> = x.iter().map(|x| x.abs()).collect();
                let mut reaches: Vec<f64> = (0..outputs)
                    .map(|c| {
                        absolute
                            .iter()
                            .zip(&params.reach[c * n..])
                            .map(|(x, r)| x * r)
                            .sum()
                    })
                    .collect();
                reaches.sort_by(|a, b| b.total_cmp(a));
                outcome.reach = outcome.reach.max(reaches.iter().take(2).sum());
                for i in 0..n {
                    for c in 0..outputs {
                        vector[c * n + i] += s * first[c] * x[i];
                    }
                    if i < p {
                        vector[outputs * n + i] += s * x[i];
                        vector[outputs * n + p + i] += s * x[i] * x[i];
                    }
                    for j in 0..=i {
                        for (pair, second) in second.iter().enumerate() {
                            let at = outputs * n + 2 * p + pair * triangle + i * (i + 1) / 2 + j;
                            vector[at] += s * second * x[i] * x[j];
                        }
                    }
                }
            }
            (vector, outcome)
        }

        /// Runs a pass in blocks of `size` rows; dense blocks and sparse blocks in turn where both are given.
        fn run(
            &self,
            params: PassParams,
            kernel: Kernel,
            kinds: &[u8],
            size: usize,
        ) -> (Vec<f64>, PassOutcome) {
            let mut pass = RowPass::with_kernel(params, kernel).unwrap();
            for (k, from) in (0..self.rows.len()).step_by(size).enumerate() {
                let range = from..(from + size).min(self.rows.len());
                let rows = &self.rows[range.clone()];
                let dense: Vec<f64> = rows.concat();
                let narrow: Vec<f32> = dense.iter().map(|&x| x as f32).collect();
                let mut offsets = vec![0];
                let (mut indices, mut values) = (Vec::new(), Vec::new());
                for row in rows {
                    for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                        indices.push(j as i32);
                        values.push(x);
                    }
                    offsets.push(indices.len() as i32);
                }
                let block = match kinds[k % kinds.len()] {
                    0 => PassRows::Dense(Values::F64(&dense)),
                    1 => PassRows::Dense(Values::F32(&narrow)),
                    _ => PassRows::Sparse(&offsets, &indices, Values::F64(&values)),
                };
                let mut next = 0;
                while next < rows.len() {
                    let weights = Some(&self.weights[range.clone()]);
                    next = pass
                        .take(block, &self.labels[range.clone()], weights, next)
                        .unwrap();
                    pass.work().unwrap();
                }
            }
            let mut out = vec![f64::NAN; pass.length()];
            pass.write(&mut out).unwrap();
            (out, pass.outcome().clone())
        }
    }

    /// Value, first derivatives, and second ones by pairs of outputs.
    fn derivatives(loss: PassLoss, z: &[f64], y: f64, sigma: f64) -> (f64, Vec<f64>, Vec<f64>) {
        match loss {
            PassLoss::Scaled(Huber { epsilon }) => {
                let (r, side) = (y - z[0], (y - z[0]).signum());
                if r.abs() <= epsilon * sigma {
                    let value = 0.5 * (sigma + r * r / sigma);
                    (value, vec![-r / sigma], vec![1.0 / sigma])
                } else {
                    let value = 0.5 * (sigma + 2.0 * epsilon * r.abs() - epsilon * epsilon * sigma);
                    (value, vec![-epsilon * side], vec![0.0])
                }
            }
            PassLoss::Row(RowLoss::Margin(loss)) => {
                let (l, first, second) = loss.all(z[0], y);
                (l, vec![first], vec![second])
            }
            PassLoss::Row(RowLoss::Softmax(outputs)) => {
                let total: f64 = z.iter().map(|z| z.exp()).sum();
                let q: Vec<f64> = z.iter().map(|z| z.exp() / total).collect();
                let is = |a: usize, b: usize| f64::from(u8::from(a == b));
                let first = (0..outputs).map(|c| q[c] - is(c, y as usize)).collect();
                let second = (0..outputs)
                    .flat_map(|a| (0..=a).map(move |b| (a, b)))
                    .map(|(a, b)| q[a] * (is(a, b) - q[b]))
                    .collect();
                (total.ln() - z[y as usize], first, second)
            }
        }
    }

    /// A row's conjugate and dual variables.
    fn dual_variables(loss: RowLoss, dual: &[f64], z: &[f64], y: f64) -> (f64, Vec<f64>) {
        let (_, slopes, _) = derivatives(PassLoss::Row(loss), z, y, f64::NAN);
        match loss {
            RowLoss::Margin(loss) => {
                let a = match loss {
                    Loss::Squared => y - z[0] - dual[0],
                    _ => -slopes[0] * dual[usize::from(y > 0.0)],
                };
                (loss.conjugate(a, y), vec![a])
            }
            RowLoss::Softmax(_) => {
                let own = |c: usize| f64::from(u8::from(c == y as usize));
                let k = dual[dual.len() - 1];
                let mixed =
                    |c: usize| (1.0 - dual[0]) * (slopes[c] + own(c)) + dual[0] * dual[1 + c];
                let moved = |c: usize| k * mixed(c) + (1.0 - k) * own(c);
                let q: Vec<f64> = (0..z.len()).map(moved).collect();
                let conjugate = q.iter().filter(|q| **q > 0.0).map(|q| q * q.ln()).sum();
                (
                    conjugate,
                    q.iter().enumerate().map(|(c, q)| own(c) - q).collect(),
                )
            }
        }
    }

    /// The same model on rows as they are, with the sums of L-BFGS.
    fn gradient_alone(params: PassParams) -> PassParams {
        PassParams {
            centre: vec![],
            direction: vec![],
            steps: vec![],
            reach: vec![],
            hessian: false,
            moments: false,
            ..params
        }
    }

    fn close(a: f64, b: f64, scale: f64) -> bool {
        (a - b).abs() <= 1e-11 * (1.0 + scale)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn sums_are_those_of_the_definitions(case in case(), intercept: bool, majorise: bool) {
            for loss in LOSSES {
                let params = PassParams { majorise, ..case.params(loss, intercept) };
                let (vector, outcome) = case.expected(&params);
                let largest = vector.iter().fold(outcome.loss, |a, x| a.max(x.abs()));
                for kernel in Kernel::available() {
                    for kinds in [&[0][..], &[1], &[2], &[0, 2]] {
                        let (found, numbers) = case.run(params.clone(), kernel, kinds, 97);
                        for (k, (a, b)) in found.iter().zip(&vector).enumerate() {
                            prop_assert!(close(*a, *b, largest), "{loss:?} {kinds:?} number {k}: {a}, expected {b}");
                        }
                        prop_assert!(close(numbers.loss, outcome.loss, largest));
                        for (a, b) in numbers.losses.iter().zip(&outcome.losses) {
                            prop_assert!(close(*a, *b, b.abs() + largest));
                        }
                        for side in 0..2 {
                            prop_assert!(close(numbers.slopes[side], outcome.slopes[side], largest));
                            let squares = outcome.slope_squares[side];
                            prop_assert!(close(numbers.slope_squares[side], squares, squares + largest));
                        }
                        prop_assert_eq!(numbers.rows, outcome.rows);
                        // A sparse row's bound may be above its reach.
                        if kinds.contains(&2) {
                            prop_assert!(numbers.reach >= outcome.reach * (1.0 - 1e-12));
                        } else {
                            prop_assert!(close(numbers.reach, outcome.reach, outcome.reach));
                        }
                    }
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn a_gradient_alone_is_that_of_a_whole_pass(case in case(), intercept: bool) {
            for loss in LOSSES {
                let whole = PassParams { centre: vec![0.0; case.p], ..case.params(loss, intercept) };
                let (vector, outcome) = case.expected(&whole);
                let params = gradient_alone(whole);
                let largest = vector.iter().fold(outcome.loss, |a, x| a.max(x.abs()));
                for kinds in [&[0][..], &[2], &[0, 2]] {
                    let (found, numbers) = case.run(params.clone(), Kernel::detect(), kinds, 97);
                    prop_assert_eq!(found.len(), params.model.len());
                    for (a, b) in found.iter().zip(&vector) {
                        prop_assert!(close(*a, *b, largest), "{loss:?} {kinds:?}: {a}, expected {b}");
                    }
                    prop_assert!(close(numbers.loss, outcome.loss, largest));
                }
            }
        }

        #[test]
        fn dual_points_are_those_of_the_loss(case in case(), intercept: bool, a in 0.0..1.0, b in 0.0..1.0) {
            for loss in LOSSES {
                let PassLoss::Row(rows) = loss else { continue };
                let dual = match rows {
                    RowLoss::Margin(Loss::Squared) => vec![a - 0.5],
                    RowLoss::Margin(_) => vec![a, b],
                    RowLoss::Softmax(_) => vec![a, 0.5 * b, 0.5 * b, 1.0 - b, 1.0 - a * b],
                };
                let params =
                    PassParams { dual: dual.clone(), ..gradient_alone(case.params(loss, intercept)) };
                let (p, n, outputs) = (case.p, params.entries(), loss.outputs());
                let (mut expected, mut sum) = (vec![0.0; n * outputs], 0.0);
                for ((row, &label), &s) in case.rows.iter().zip(&case.labels).zip(&case.weights) {
                    let y = if loss.labels() == Labels::Signed { 2.0 * label - 1.0 } else { label };
                    let z: Vec<f64> = params.model.chunks(n.max(1)).map(|w| {
                        let product: f64 = row.iter().zip(w).map(|(x, w)| x * w).sum();
                        product + if intercept { w[p] } else { 0.0 }
                    }).collect();
                    let z = if z.is_empty() { vec![0.0; outputs] } else { z };
                    let (conjugate, variables) = dual_variables(rows, &dual, &z, y);
                    sum += s * conjugate;
                    for (sums, a) in expected.chunks_mut(n.max(1)).zip(&variables) {
                        for (sum, x) in sums.iter_mut().zip(row) {
                            *sum += s * a * x;
                        }
                        if intercept {
                            sums[p] += s * a;
                        }
                    }
                }
                let largest = expected.iter().fold(sum.abs(), |a, x| a.max(x.abs()));
                for kinds in [&[0][..], &[2]] {
                    let (found, numbers) = case.run(params.clone(), Kernel::detect(), kinds, 97);
                    prop_assert!(close(numbers.loss, sum, largest), "{loss:?}: {}, expected {sum}", numbers.loss);
                    for (a, b) in found.iter().zip(&expected) {
                        prop_assert!(close(*a, *b, largest), "{loss:?} {kinds:?}: {a}, expected {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn joined_passes_have_the_sums_of_all_rows() {
        let labels = [0.0, 1.0, 1.0];
        let dense = PassRows::Dense(Values::F64(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        let sparse = PassRows::Sparse(&[0, 1, 1, 2], &[1, 0], Values::F64(&[3.0, -1.0]));
        let params = PassParams {
            loss: PassLoss::Row(RowLoss::Margin(Loss::Logistic)),
            intercept: true,
            features: 2,
            centre: vec![1.0, 0.5],
            model: vec![0.25, -0.5, 0.125],
            direction: vec![1.0, 0.0, 1.0],
            steps: vec![0.5],
            reach: vec![1.0; 3],
            gradient: true,
            hessian: true,
            moments: true,
            majorise: false,
            dual: vec![],
            proximal: false,
            remainders: vec![],
            earlier: vec![],
        };
        let pass = |blocks: &[PassRows<'_>]| {
            let mut pass = RowPass::new(params.clone()).unwrap();
            for &block in blocks {
                pass.take(block, &labels, None, 0).unwrap();
                pass.work().unwrap();
            }
            pass
        };
        let read = |pass: &RowPass| {
            let mut out = vec![f64::NAN; pass.length()];
            pass.write(&mut out).unwrap();
            (out, pass.outcome().clone())
        };
        let mut joined = pass(&[dense]);
        joined.join(pass(&[sparse, dense])).unwrap();
        joined.join(joined.fork()).unwrap();
        let (found, numbers) = read(&joined);
        let (expected, outcome) = read(&pass(&[dense, sparse, dense]));
        for (a, b) in found.iter().zip(&expected) {
            assert!(close(*a, *b, b.abs()), "{a}, expected {b}");
        }
        assert!(
            close(numbers.loss, outcome.loss, 1.0)
                && close(numbers.losses[0], outcome.losses[0], 1.0)
        );
        assert!(close(numbers.slopes[1], outcome.slopes[1], 1.0));
        assert!(close(
            numbers.slope_squares[0],
            outcome.slope_squares[0],
            1.0
        ));
        assert_eq!(
            (numbers.reach, numbers.rows, numbers.entries),
            (outcome.reach, 9, 14)
        );
        let other = RowPass::new(PassParams {
            moments: false,
            ..params.clone()
        })
        .unwrap();
        assert!(joined.join(other).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn remainders_stand_for_features(case in case(), intercept in proptest::bool::ANY) {
            prop_assume!(case.p >= 2);
            for loss in LOSSES.into_iter().filter(|loss| loss.scales() == 0) {
                let params = case.params(loss, intercept);
                let (p, n) = (case.p, params.entries());
                let replaced = [p - 1, 0];
                let weights = |k: usize| -> Vec<f64> { (0..n).map(|e| case.numbers[(3 * k + e) % case.numbers.len()]).collect() };
                let remainders = replaced.iter().enumerate().flat_map(|(k, &feature)| {
                    std::iter::once(feature as f64).chain(weights(k))
                }).collect();
                // The same rows with the remainders in the features' places.
                let mut centre = params.centre.clone();
                replaced.iter().for_each(|&feature| centre[feature] = 0.0);
                let rows = case.rows.iter().map(|row| {
                    let mut own: Vec<f64> = row.iter().zip(&params.centre).map(|(x, c)| x - c).collect();
                    own.extend(intercept.then_some(1.0));
                    let mut made: Vec<f64> = row.clone();
                    for (k, &feature) in replaced.iter().enumerate() {
                        made[feature] = own.iter().zip(weights(k)).map(|(x, t)| x * t).sum();
                    }
                    made
                }).collect();
                let plain = Case { rows, ..case.clone() };
                let (vector, outcome) = plain.expected(&PassParams { centre, ..params.clone() });
                for kinds in [&[0][..], &[2]] {
                    let params = PassParams { remainders: Vec::clone(&remainders), ..params.clone() };
                    let (found, numbers) = case.run(params, Kernel::detect(), kinds, case.rows.len());
                    let size = vector.iter().fold(outcome.loss, |size, x| size.max(x.abs()));
                    for (a, b) in found.iter().zip(&vector) {
                        prop_assert!(close(*a, *b, size), "{}, expected {}", a, b);
                    }
                    prop_assert!(close(numbers.loss, outcome.loss, outcome.loss));
                }
            }
        }
    }

    #[test]
    fn wrong_arrays_are_refused() {
        let params = PassParams {
            loss: PassLoss::Row(RowLoss::Margin(Loss::Squared)),
            intercept: true,
            features: 2,
            centre: vec![0.0; 2],
            model: vec![0.0; 3],
            direction: vec![],
            steps: vec![],
            reach: vec![],
            gradient: true,
            hessian: true,
            moments: true,
            majorise: false,
            dual: vec![],
            proximal: false,
            remainders: vec![],
            earlier: vec![],
        };
        for wrong in [
            PassParams {
                model: vec![0.0; 2],
                ..params.clone()
            },
            PassParams {
                reach: vec![-1.0; 3],
                ..params.clone()
            },
            PassParams {
                steps: vec![1.0],
                ..params.clone()
            },
            PassParams {
                model: vec![0.0, f64::NAN, 0.0],
                ..params.clone()
            },
            PassParams {
                remainders: vec![0.0, 1.0, 1.0],
                ..params.clone()
            },
            PassParams {
                remainders: vec![2.0, 1.0, 1.0, 0.0],
                ..params.clone()
            },
            PassParams {
                remainders: [[1.0, 1.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0]].concat(),
                ..params.clone()
            },
            PassParams {
                remainders: vec![0.0, 1.0, f64::INFINITY, 0.0],
                ..params.clone()
            },
            PassParams {
                intercept: false,
                centre: vec![1.0, 0.0],
                model: vec![0.0; 2],
                ..params.clone()
            },
        ] {
            assert!(RowPass::new(wrong).is_err());
        }
        let softmax = PassParams {
            loss: PassLoss::Row(RowLoss::Softmax(2)),
            model: vec![0.0; 6],
            ..params.clone()
        };
        let mut pass = RowPass::new(softmax).unwrap();
        for label in [-1.0, 2.0, f64::NAN] {
            let rows = PassRows::Dense(Values::F64(&[1.0, 2.0]));
            assert!(pass.take(rows, &[label], None, 0).is_err());
        }
        let mut pass = RowPass::new(params).unwrap();
        let labels = [1.0, 2.0];
        let values = Values::F64(&[1.0, 2.0, 3.0]);
        assert!(
            pass.take(PassRows::Dense(values), &labels, None, 0)
                .is_err()
        );
        assert!(
            pass.take(PassRows::Dense(Values::Ones), &labels, None, 0)
                .is_err()
        );
        for (offsets, indices) in [([0, 2], vec![0, 1]), ([0, 1], vec![0])] {
            let rows = PassRows::Sparse(&offsets, &indices, Values::Ones);
            assert!(pass.take(rows, &labels, None, 0).is_err());
        }
        for (offsets, indices) in [
            ([0, 1, 2], [0, 2]),
            ([0, 1, 2], [0, -1]),
            ([0, 3, 2], [0, 1]),
            ([-1, 1, 2], [0, 1]),
            ([0, 1, 5], [0, 1]),
        ] {
            let rows = PassRows::Sparse(&offsets, &indices, Values::Ones);
            assert!(
                pass.take(rows, &labels, None, 0).is_err(),
                "{offsets:?} {indices:?}"
            );
        }
        assert!(
            pass.take(
                PassRows::Dense(Values::F64(&[0.0; 4])),
                &labels,
                Some(&[1.0]),
                0
            )
            .is_err()
        );
    }

    #[test]
    fn the_same_calls_give_the_same_bits() {
        let case = Case {
            p: 3,
            rows: (0..600)
                .map(|i| {
                    vec![
                        f64::from(i) * 0.37,
                        1.0 / f64::from(i + 1),
                        f64::from(i % 7),
                    ]
                })
                .collect(),
            labels: (0..600).map(|i| f64::from(i % 2)).collect(),
            weights: vec![1.5; 600],
            numbers: (0..12).map(|i| 0.01 * f64::from(i)).collect(),
        };
        let run = || {
            case.run(
                case.params(PassLoss::Row(RowLoss::Margin(Loss::Logistic)), true),
                Kernel::detect(),
                &[0],
                600,
            )
        };
        assert_eq!(run(), run());
    }
}
