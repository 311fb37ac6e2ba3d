//! The norms and projections of the rows of a worker, which every step along a row needs.

use std::ops::Range;

use super::data::Samples;
use crate::base::{
    error::{SolverError, reserve, same_length},
    matrix::{Columns, Stored, Values},
};

/// For each row `N_i = sum_j scale_j x_ij^2`, and with an intercept `e_i = sum_j scale_j mean_j x_ij`.
#[derive(Debug)]
pub struct RowNorms {
    norms: Vec<f64>,
    projections: Option<Vec<f64>>,
}

impl RowNorms {
    /// Room for so many rows.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn with_room(rows: usize, intercept: bool) -> Result<Self, SolverError> {
        let room = || reserve(rows, "the norms of the rows");
        Ok(Self {
            norms: room()?,
            projections: intercept.then(room).transpose()?,
        })
    }

    /// Norms that the caller has, without an intercept.
    ///
    /// # Errors
    /// `NonFinite` or `Shape` names a row with a bad norm, `OutOfMemory`.
    pub fn given(norms: &[f64]) -> Result<Self, SolverError> {
        Samples::check_norms(norms)?;
        let mut own = Self::with_room(norms.len(), false)?;
        own.norms.extend_from_slice(norms);
        Ok(own)
    }

    /// Adds the rows of a block. `scale`: one number for each feature, or `None` for all 1; `mean`: the mean of each feature, needed with an
    /// intercept.
    ///
    /// # Errors
    /// `Shape` for a wrong length, `NonFinite` names the row whose norm is no number.
    pub fn add(
        &mut self,
        rows: &Columns<'_>,
        scale: Option<&[f64]>,
        mean: Option<&[f64]>,
    ) -> Result<(), SolverError> {
        for (name, numbers) in [("scale", scale), ("mean", mean)] {
            if let Some(numbers) = numbers {
                same_length(name, numbers.len(), rows.rows(), "feature")?;
            }
        }
        let scale_of = |feature: usize| scale.map_or(1.0, |scale| scale[feature]);
        for i in 0..rows.len() {
            let (mut norm, mut projection) = (0.0, 0.0);
            each_entry(rows, i, |feature, value| {
                let scaled = scale_of(feature) * value;
                norm += scaled * value;
                projection += scaled * mean.map_or(0.0, |mean| mean[feature]);
            });
            if !norm.is_finite() || !projection.is_finite() {
                return Err(SolverError::NonFinite(format!(
                    "the squared norm of row {} of a worker is {norm}: scale the features down",
                    self.norms.len()
                )));
            }
            self.norms.push(norm);
            if let Some(projections) = &mut self.projections {
                projections.push(projection);
            }
        }
        Ok(())
    }

    /// The norms and the projections of some rows.
    ///
    /// # Errors
    /// `Shape` if there are not so many rows.
    pub fn of(&self, rows: Range<usize>) -> Result<(&[f64], Option<&[f64]>), SolverError> {
        let missing = || SolverError::Shape(format!("rows {rows:?} have no norms"));
        let norms = self.norms.get(rows.clone()).ok_or_else(missing)?;
        Ok((norms, self.projections.as_ref().map(|own| &own[rows])))
    }

    /// Bytes of the numbers.
    pub fn bytes(&self) -> usize {
        size_of::<f64>() * (self.norms.len() + self.projections.as_ref().map_or(0, Vec::len))
    }
}

/// Calls `use_entry` with row and value of each entry of a column.
fn each_entry(columns: &Columns<'_>, i: usize, mut use_entry: impl FnMut(usize, f64)) {
    let entries = columns.entries(i);
    match columns.stored() {
        Stored::Sparse(_, indices, values) => {
            for at in entries {
                let value = match values {
                    Values::Ones => 1.0,
                    Values::F32(values) => values[at].into(),
                    Values::F64(values) => values[at],
                };
                use_entry(indices[at] as usize, value);
            }
        }
        Stored::Dense32(values) => {
            for (row, &value) in values[entries].iter().enumerate() {
                use_entry(row, value.into());
            }
        }
        Stored::Dense64(values) => {
            for (row, &value) in values[entries].iter().enumerate() {
                use_entry(row, value);
            }
        }
    }
}
