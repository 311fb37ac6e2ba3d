//! The model of a worker, kept lazily: a step brings only those coefficients up to date that it touches.
//!
//! To **settle** the model is to bring all coefficients up to date, so that the cells hold the numbers of the result.

use std::ops::Range;

use super::{
    clock::Clock,
    data::SgdData,
    shape::{LINE, Layout, Shape},
    vector::{doubles, length},
};
use crate::base::error::{SolverError, reserve};

/// Most renormalisations whose factors [`Model::factors`] keeps: together they multiply a coefficient by at most `1e-115`.
pub(super) const MAX_RENORMALISATIONS: usize = 23;

/// `sum u_j |w_jc|` and `sum u_j^2 w_jc^2` with `u_j^2 = 1 / scale_j`; features with a scale of 0 are left out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Norms {
    pub l1: f64,
    pub square: f64,
}

impl Norms {
    #[inline(always)]
    fn add(&mut self, w: f64, feature: FeatureScale) {
        // Dividing by 1 would not change a bit, but would take time.
        if !feature.scaled {
            self.l1 += w.abs();
            self.square += w * w;
        } else if feature.scale != 0.0 {
            self.l1 += w.abs() / feature.root;
            self.square += (w * w) / feature.scale;
        }
    }
}

/// The scale of a feature, and its square root.
#[derive(Debug, Clone, Copy)]
struct FeatureScale {
    scaled: bool,
    scale: f64,
    root: f64,
}

impl FeatureScale {
    #[inline(always)]
    fn of(scale: Option<&[f64]>, feature: usize) -> Self {
        match scale {
            None => Self {
                scaled: false,
                scale: 1.0,
                root: 1.0,
            },
            Some(scale) => Self {
                scaled: true,
                scale: scale[feature],
                root: scale[feature].sqrt(),
            },
        }
    }
}

/// The cells of the features, the intercepts, and the clock, which runs ahead of the cells.
#[derive(Debug)]
pub(super) struct Model {
    layout: Layout,
    features: usize,
    /// Cells of the features that are loaded; there is room for all.
    numbers: Vec<f64>,
    /// Index of the first cell, at the start of a cache line.
    first: usize,
    pub intercepts: Vec<f64>,
    pub clock: Clock,
    factors: Factors,
    loaded: usize,
    norms: Norms,
    /// The next feature of a renormalisation in progress.
    renormalising: Option<usize>,
    settled: usize,
    /// Whether the intercepts are settled, too.
    is_settled: bool,
    /// Norms of the features settled so far, and whether all their numbers are finite.
    settled_norms: Norms,
    finite: bool,
    /// Predictions and derivatives of one row.
    scratch: [Vec<f64>; 2],
}

/// The parts of a model that a step needs.
pub(super) struct Parts<'a> {
    pub cells: &'a mut [f64],
    pub intercepts: &'a mut [f64],
    pub clock: &'a mut Clock,
    pub z: &'a mut [f64],
    pub derivatives: &'a mut [f64],
}

impl Model {
    /// A model that is not loaded yet.
    pub fn new(layout: Layout, features: usize) -> Result<Self, SolverError> {
        let outputs = layout.outputs;
        length(outputs, features)?;
        let stride = layout.stride();
        let mut numbers: Vec<f64> = reserve(
            features.saturating_mul(stride).saturating_add(LINE),
            "a model",
        )?;
        let first = numbers.as_ptr().align_offset(LINE * size_of::<f64>());
        // If the alignment of the address is unknown, any start is as good.
        let first = if first <= LINE { first } else { 0 };
        numbers.resize(first, 0.0);
        Ok(Self {
            layout,
            features,
            first,
            numbers,
            intercepts: zeros(outputs)?,
            clock: Clock::new(),
            factors: Factors::default(),
            loaded: 0,
            norms: Norms::default(),
            renormalising: None,
            settled: 0,
            is_settled: false,
            settled_norms: Norms::default(),
            finite: true,
            scratch: [zeros(outputs)?, zeros(outputs)?],
        })
    }

    /// The layout of the cells.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Refuses data with a scale if the cells hold none, and data without a scale if they hold one.
    pub fn fits(&self, data: &SgdData<'_>) -> Result<(), SolverError> {
        if data.scale.is_some() == self.layout.scaled {
            Ok(())
        } else {
            Err(SolverError::Shape(
                "scale is null in one slice of work and not in another".into(),
            ))
        }
    }

    /// Numbers in the shared vector.
    pub fn length(&self) -> usize {
        (self.features + 1) * self.layout.outputs
    }

    /// Norms of the shared vector.
    pub fn norms(&self) -> Norms {
        self.norms
    }

    /// The parts that a step reads and writes.
    pub fn parts(&mut self) -> Parts<'_> {
        let [z, derivatives] = &mut self.scratch;
        Parts {
            cells: &mut self.numbers[self.first..],
            intercepts: &mut self.intercepts,
            clock: &mut self.clock,
            z,
            derivatives,
        }
    }

    /// Numbers of the shared vector that are not loaded yet.
    pub fn left_to_load(&self) -> usize {
        self.length() - self.loaded
    }

    /// Loads the next numbers of the shared vector, at most `count`: little endian `f64`.
    pub fn load(
        &mut self,
        shared: &[u8],
        scale: Option<&[f64]>,
        count: usize,
    ) -> Result<(), SolverError> {
        let shared = doubles(shared, self.length())?;
        let outputs = self.layout.outputs;
        let stride = self.layout.stride();
        let end = self.loaded.saturating_add(count).min(self.length());
        let (mut feature, mut output) = (self.loaded / outputs, self.loaded % outputs);
        for (entry, bytes) in (self.loaded..end).zip(&shared[self.loaded..end]) {
            let w = f64::from_le_bytes(*bytes);
            if !w.is_finite() {
                return Err(SolverError::NonFinite(format!(
                    "number {entry} of the shared model is {w}: it must be finite"
                )));
            }
            if feature == self.features {
                self.intercepts[output] = w;
            } else {
                let feature_scale = FeatureScale::of(scale, feature);
                if output == 0 {
                    self.numbers.resize(self.numbers.len() + stride, 0.0);
                }
                let cell = &mut self.numbers[self.first + feature * stride..][..stride];
                if output == 0 && self.layout.scaled {
                    cell[self.layout.scale()] = feature_scale.scale;
                }
                if output == 0 && self.layout.scaled && self.layout.threshold {
                    cell[self.layout.root()] = feature_scale.root;
                }
                cell[output] = w;
                self.norms.add(w, feature_scale);
            }
            output += 1;
            if output == outputs {
                output = 0;
                feature += 1;
            }
        }
        self.loaded = end;
        Ok(())
    }

    /// Puts the model back into its state before loading.
    pub fn unload(&mut self) {
        self.clock.reset();
        self.factors = Factors::default();
        self.numbers.truncate(self.first);
        self.loaded = 0;
        self.norms = Norms::default();
        self.renormalising = None;
        self.settled = 0;
        self.is_settled = false;
        self.settled_norms = Norms::default();
        self.finite = true;
    }

    /// Starts a renormalisation; [`Model::renormalise`] does the work.
    pub fn start_renormalising(&mut self) {
        self.renormalising = Some(0);
    }

    /// Whether a renormalisation is in progress.
    pub fn is_renormalising(&self) -> bool {
        self.renormalising.is_some()
    }

    /// Renormalises the next features, at most `count`; returns their number.
    pub fn renormalise(&mut self, count: usize) -> usize {
        let Some(next) = self.renormalising else {
            return 0;
        };
        let (layout, clock) = (self.layout, &self.clock);
        let end = next.saturating_add(count).min(self.features);
        for cell in cells(&mut self.numbers[self.first..], layout, next..end) {
            clock.renormalise(layout, cell);
        }
        self.renormalising = (end < self.features).then_some(end);
        if self.renormalising.is_none() {
            self.factors.add(self.clock.factor);
            self.clock.reset();
        }
        end - next
    }

    /// Settles the next features, at most `count`; returns their number. `scale`: for the norms of the result.
    pub fn settle(&mut self, scale: Option<&[f64]>, count: usize) -> usize {
        let layout = self.layout;
        let mut norms = self.settled_norms;
        let clock = &self.clock;
        let start = self.settled;
        let end = start.saturating_add(count).min(self.features);
        let mut finite = self.finite;
        let numbers = &mut self.numbers[self.first..];
        for (feature, cell) in (start..end).zip(cells(numbers, layout, start..end)) {
            clock.renormalise(layout, cell);
            finite &= cell[..layout.outputs].iter().all(|w| w.is_finite());
            let feature_scale = FeatureScale::of(scale, feature);
            for &w in &cell[..layout.outputs] {
                norms.add(w, feature_scale);
            }
        }
        self.settled_norms = norms;
        self.settled = end;
        self.finite = finite;
        if end == self.features {
            self.finite &= self.intercepts.iter().all(|b| b.is_finite());
            self.factors.add(self.clock.factor);
            self.clock.reset();
            self.is_settled = true;
        }
        end - start
    }

    /// Whether all features and the intercepts are settled.
    pub fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// Whether all numbers of a settled model are finite.
    pub fn is_finite(&self) -> bool {
        self.finite
    }

    /// The factors of an untouched coefficient: its settled value is its loaded value times each of these in turn. None with a threshold,
    /// or after more than [`MAX_RENORMALISATIONS`].
    pub fn factors(&self) -> Option<&[f64]> {
        if self.layout.threshold {
            None
        } else {
            self.factors.all()
        }
    }

    /// Norms of a settled model.
    pub fn settled_norms(&self) -> Norms {
        self.settled_norms
    }

    /// Numbers of a settled model in the order of the shared vector, from `start` on.
    pub fn numbers(&self, start: usize) -> impl Iterator<Item = f64> {
        let outputs = self.layout.outputs;
        let (feature, output) = (start / outputs, start % outputs);
        let stride = self.layout.stride();
        self.numbers[self.first..][..self.features * stride]
            .chunks_exact(stride)
            .skip(feature)
            .flat_map(move |cell| &cell[..outputs])
            .chain(&self.intercepts)
            .skip(if feature < self.features {
                output
            } else {
                start - self.features * outputs
            })
            .copied()
    }
}

/// The factors by which renormalisations have multiplied all coefficients.
#[derive(Debug, Default)]
struct Factors {
    first: [f64; MAX_RENORMALISATIONS],
    count: usize,
}

impl Factors {
    fn add(&mut self, factor: f64) {
        if let Some(slot) = self.first.get_mut(self.count) {
            *slot = factor;
        }
        self.count += 1;
    }

    /// None if there were too many to keep.
    fn all(&self) -> Option<&[f64]> {
        self.first.get(..self.count)
    }
}

/// The cells of some features.
fn cells(
    numbers: &mut [f64],
    layout: Layout,
    features: Range<usize>,
) -> impl Iterator<Item = &mut [f64]> {
    let stride = layout.stride();
    numbers[features.start * stride..features.end * stride].chunks_exact_mut(stride)
}

fn zeros(length: usize) -> Result<Vec<f64>, SolverError> {
    let mut numbers = reserve(length, "a model")?;
    numbers.resize(length, 0.0);
    Ok(numbers)
}
