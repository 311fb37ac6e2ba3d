//! The arrays of the calls along rows.

use std::ops::Range;

use dwell_solvers::SgdData;

use crate::{
    boundary::{
        blocks::{Block, View},
        fault::Fault,
        partition::Partition,
    },
    rows::request::SgdRequest,
};

/// Coordinates are rows, with labels; the shared vector is a model.
#[derive(Debug, Clone, Copy)]
pub enum Sgd {}

/// Labels and weights of the rows, and the scale of the features.
#[derive(Debug, Clone, Copy)]
pub struct SgdFields<A> {
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

    type Fields<A: Copy> = SgdFields<A>;
    type Data<'a> = SgdData<'a>;

    fn try_map<A: Copy, B: Copy, E>(
        fields: SgdFields<A>,
        mut f: impl FnMut(&'static str, A) -> Result<B, E>,
    ) -> Result<SgdFields<B>, E> {
        Ok(SgdFields {
            labels: f("labels", fields.labels)?,
            weights: fields.weights.map(|w| f("weights", w)).transpose()?,
            scale: fields.scale.map(|s| f("scale", s)).transpose()?,
        })
    }

    fn present<A: Copy>(fields: SgdFields<Option<A>>) -> Result<SgdFields<A>, &'static str> {
        Ok(SgdFields {
            labels: fields.labels.ok_or("labels")?,
            weights: fields.weights.flatten(),
            scale: fields.scale.flatten(),
        })
    }
}

impl<P> View<Sgd> for SgdRequest<P> {
    fn data<'a>(&'a self, block: Block<'a, Sgd>, _: Range<usize>) -> Result<SgdData<'a>, Fault> {
        let SgdFields {
            labels,
            weights,
            scale,
        } = block.fields;
        let columns = block.columns(self.features)?;
        let data = SgdData::validated_before(columns, labels, weights, scale)?;
        Ok(if self.classes {
            data.of_classes()
        } else {
            data
        })
    }
}
