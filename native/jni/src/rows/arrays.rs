//! The arrays of the calls along rows.

use dwell_solvers::{Columns, SgdData, SolverError};

use crate::boundary::partition::Partition;

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
    type Data<'a> = SgdData<'a>;

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

    fn check(columns: Columns<'_>, fields: LabelledRows<&[f64]>) -> Result<(), SolverError> {
        SgdData::new(columns, fields.labels, fields.weights, fields.scale)?;
        Ok(())
    }

    fn data<'a>(
        columns: Columns<'a>,
        fields: LabelledRows<&'a [f64]>,
    ) -> Result<SgdData<'a>, SolverError> {
        SgdData::validated_before(columns, fields.labels, fields.weights, fields.scale)
    }
}
