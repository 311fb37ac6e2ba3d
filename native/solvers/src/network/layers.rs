//! The sizes of a network's layers, and where the weights of each are.

use std::ops::Range;

use crate::{
    base::{checks::ensure, error::SolverError},
    pass::{PassLoss, PassParams},
    problem::softmax::RowLoss,
};

/// The sizes of the layers of a network, from features to classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Layers {
    features: usize,
    affine: Vec<Affine>,
    widest: usize,
}

/// One affine layer: `z = W a + b`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Affine {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// Where W is in the weights of the network; `inputs` columns of `outputs` numbers.
    pub(super) matrix: Range<usize>,
    /// Where b is.
    pub(super) bias: Range<usize>,
}

impl Layers {
    /// The layers of these sizes.
    ///
    /// # Errors
    /// `InvalidParam` if there are fewer than two, or one is empty; `Shape` if nobody can count their weights.
    pub fn new(sizes: &[usize]) -> Result<Self, SolverError> {
        let count = sizes.len();
        ensure("layers", count as f64, count > 1, "must be at least 2")?;
        let mut start = 0_usize;
        let mut affine = Vec::new();
        for pair in sizes.windows(2) {
            let (inputs, outputs) = (pair[0], pair[1]);
            let smallest = inputs.min(outputs);
            let expected = "must be at least 1";
            ensure("size of a layer", smallest as f64, smallest > 0, expected)?;
            let bias = inputs
                .checked_mul(outputs)
                .and_then(|n| n.checked_add(start));
            let ends = bias.and_then(|bias| Some((bias, bias.checked_add(outputs)?)));
            let (bias, end) =
                ends.ok_or_else(|| SolverError::Shape("the layers have too many weights".into()))?;
            affine.push(Affine {
                inputs,
                outputs,
                matrix: start..bias,
                bias: bias..end,
            });
            start = end;
        }
        Ok(Self {
            features: sizes[0],
            widest: sizes[1..].iter().copied().max().unwrap_or(1),
            affine,
        })
    }

    /// Features of a row.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Classes of rows.
    pub fn classes(&self) -> usize {
        self.affine.last().map_or(0, |layer| layer.outputs)
    }

    /// Numbers that make a network.
    pub fn weights(&self) -> usize {
        self.affine.last().map_or(0, |layer| layer.bias.end)
    }

    /// How rows are copied: as they are, with numbers of classes as labels.
    pub(super) fn packing(&self) -> PassParams {
        let loss = PassLoss::Row(RowLoss::Softmax(self.classes()));
        PassParams {
            features: self.features,
            ..PassParams::at_zero(loss, false, 0)
        }
    }

    /// Units of the largest layer after the features.
    pub(super) fn widest(&self) -> usize {
        self.widest
    }

    /// The affine layers, the lowest first.
    pub(super) fn affine(&self) -> &[Affine] {
        &self.affine
    }
}
