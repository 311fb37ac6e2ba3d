//! The arrays of the calls along rows.

use dwell_solvers::{Blocks, SgdData};

use crate::boundary::{blocks::Caller, fault::Fault, partition::Partition};

/// Coordinates are rows, with labels; the shared vector is a model.
#[derive(Debug)]
pub enum Sgd {}

/// Labels and weights of the rows, and the scale of the features.
#[derive(Debug, Clone, Copy)]
pub struct LabelledRows<A> {
    /// Label of each row.
    pub labels: A,
    /// Weight of each row; absent if all are 1.
    pub weights: Option<A>,
    /// Scale of each feature; absent if all are 1.
    pub scale: Option<A>,
}

impl Partition for Sgd {
    const INDICES: &'static str = "features";
    const DENSE: bool = true;

    type Fields<A: Copy> = LabelledRows<A>;

    fn try_map<A: Copy, B: Copy, E>(
        fields: LabelledRows<A>,
        mut f: impl FnMut(&'static str, A) -> Result<B, E>,
    ) -> Result<LabelledRows<B>, E> {
        Ok(LabelledRows {
            labels: f("labels", fields.labels)?,
            weights: fields.weights.map(|w| f("weights", w)).transpose()?,
            scale: fields.scale.map(|s| f("scale", s)).transpose()?,
        })
    }

    fn present<A: Copy>(fields: LabelledRows<Option<A>>) -> Result<LabelledRows<A>, &'static str> {
        Ok(LabelledRows {
            labels: fields.labels.ok_or("labels")?,
            weights: fields.weights.flatten(),
            scale: fields.scale.flatten(),
        })
    }
}

/// The blocks of a caller, as the solver takes them.
pub struct Data<'c, C> {
    /// The caller.
    pub caller: &'c mut C,
    /// Number of features.
    pub features: usize,
    /// Whether labels are classes that stand for -1 and 1.
    pub classes: bool,
}

impl<C: Caller<Sgd>> Blocks for Data<'_, C> {
    type Block<'a> = SgdData<'a>;
    type Error = Fault;

    fn starts(&self) -> &[usize] {
        self.caller.starts()
    }

    fn lend<R>(
        &mut self,
        block: usize,
        work: impl FnOnce(&SgdData<'_>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let (features, classes) = (self.features, self.classes);
        self.caller.lend(block, |block| {
            let LabelledRows {
                labels,
                weights,
                scale,
            } = block.fields;
            let columns = block.columns(features)?;
            let data = SgdData::validated_before(columns, labels, weights, scale)?;
            work(&if classes { data.of_classes() } else { data })
        })
    }
}
