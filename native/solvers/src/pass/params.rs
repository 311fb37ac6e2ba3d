//! The parameters of a pass, and their checks.

use super::loss::PassLoss;
use crate::{
    base::{
        checks::{ensure, finite, positive},
        error::{SolverError, same_length},
    },
    problem::softmax::RowLoss,
};

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
/// | `reach` | C n numbers, see [`PassOutcome::reach`](super::PassOutcome::reach); empty for none | finite, at least 0 |
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
    /// A pass at the model 0 that sums losses alone, of rows as they are.
    pub fn at_zero(loss: PassLoss, intercept: bool, features: usize) -> Self {
        let entries = features + usize::from(intercept) + loss.scales();
        Self {
            loss,
            intercept,
            features,
            centre: vec![],
            model: vec![0.0; loss.outputs() * entries],
            direction: vec![],
            steps: vec![],
            reach: vec![],
            gradient: false,
            hessian: false,
            moments: false,
            majorise: false,
            dual: vec![],
            proximal: false,
            remainders: vec![],
            earlier: vec![],
        }
    }

    /// The entries of a row, n.
    pub(super) fn entries(&self) -> usize {
        self.unscaled() + self.loss.scales()
    }

    /// The entries of a row that its prediction takes.
    pub(super) fn unscaled(&self) -> usize {
        self.features + usize::from(self.intercept)
    }

    /// What the predictions of all sparse rows have by these weights: the intercept, less the prediction at the centre.
    pub(super) fn constant(&self, centre: &[f64], weights: &[f64]) -> f64 {
        let intercept = if self.intercept {
            weights[self.features]
        } else {
            0.0
        };
        intercept - centre.iter().zip(weights).map(|(c, w)| c * w).sum::<f64>()
    }

    /// Whether a vector has sums of the features beside the gradient.
    pub(super) fn is_whole(&self) -> bool {
        self.hessian || self.moments
    }

    /// Pairs of outputs, of which each has a triangle of the Hessian.
    pub(super) fn pairs(&self) -> usize {
        let outputs = self.loss.outputs();
        outputs * (outputs + 1) / 2
    }

    /// Pairs whose triangles are summed. The derivatives of the softmax by all predictions have the sum 0, which gives the last output's.
    pub(super) fn summed(&self) -> usize {
        match self.loss {
            PassLoss::Row(RowLoss::Softmax(outputs)) => outputs * (outputs - 1) / 2,
            PassLoss::Row(RowLoss::Margin(_)) | PassLoss::Scaled(_) => self.pairs(),
        }
    }

    /// The earlier models, each with its gamma.
    pub(super) fn earlier_models(&self) -> impl Iterator<Item = (&[f64], f64)> {
        (self.earlier.chunks_exact(self.entries() + 1))
            .filter_map(|model| model.split_last())
            .map(|(&gamma, weights)| (weights, gamma))
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

    fn check_earlier(&self) -> Result<(), SolverError> {
        let count = self.earlier.len();
        if !self.proximal {
            return ensure("earlier", count as f64, count == 0, "needs a proximal pass");
        }
        if self.loss.corner().is_none() || !self.dual.is_empty() {
            return Err(SolverError::Shape(
                "a proximal pass takes the smoothed hinge, without dual numbers".into(),
            ));
        }
        let whole = count.is_multiple_of(self.entries() + 1);
        let expected = "must hold whole models, each with its gamma";
        ensure("earlier", count as f64, whole, expected)?;
        for (weights, gamma) in self.earlier_models() {
            for &weight in weights {
                finite("earlier", weight)?;
            }
            positive("gamma", gamma)?;
        }
        Ok(())
    }

    pub(super) fn check(&self) -> Result<(), SolverError> {
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
        self.check_earlier()?;
        let centred = self.centre.iter().any(|&c| c != 0.0);
        ensure(
            "centre",
            f64::from(u8::from(centred)),
            self.intercept || !centred,
            "must be 0 without an intercept",
        )
    }
}
