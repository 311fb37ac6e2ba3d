//! The arrays of one block of rows, and their loan.

use dwell_solvers::Values;
use jni::{
    Env,
    objects::{JDoubleArray, JFloatArray, JIntArray},
};

use crate::{
    boundary::{
        arrays::Matrix,
        fault::Fault,
        pins::{ArrayRef, EnvCritical, Pins},
    },
    java::arguments::{ValueArrays, expect_length, lent, values},
};

/// The arrays of a block.
pub struct RowBlock<'a> {
    /// Where the entries of each row start; none if rows are dense.
    pub offsets: Option<ArrayRef<'a, i32>>,
    /// The feature of each entry; none if rows are dense.
    pub features: Option<ArrayRef<'a, i32>>,
    /// The value of each entry.
    pub values: ValueArrays<'a>,
    /// The label of each row.
    pub labels: ArrayRef<'a, f64>,
    /// The weight of each row; none if every one is 1.
    pub weights: Option<ArrayRef<'a, f64>>,
}

impl<'a> RowBlock<'a> {
    /// The arrays of a call. Those of the structure and the weights may be null, and at most one of the values is not.
    ///
    /// # Errors
    /// `Argument` if the labels are null, or both arrays of values are given.
    pub fn new(
        env: &Env<'_>,
        (offsets, features): (&'a JIntArray<'_>, &'a JIntArray<'_>),
        (values32, values64): (&'a JFloatArray<'_>, &'a JDoubleArray<'_>),
        labels: &'a JDoubleArray<'_>,
        weights: &'a JDoubleArray<'_>,
    ) -> Result<Self, Fault> {
        Ok(Self {
            offsets: lent(env, "offsets", offsets)?,
            features: lent(env, "features", features)?,
            values: values(env, values32, values64)?,
            labels: ArrayRef::new(env, "labels", labels)?,
            weights: lent(env, "weights", weights)?,
        })
    }

    /// Checks what can be checked before pinning.
    ///
    /// # Errors
    /// `Argument` names an array of a wrong length.
    pub fn check_lengths(&self, features: usize) -> Result<(), Fault> {
        let rows = self.labels.length();
        let dense = rows.saturating_mul(features);
        if self.features.is_some() {
            let offsets = self.offsets.map_or(0, |offsets| offsets.length());
            return expect_length("offsets", offsets, rows + 1);
        }
        match self.values {
            (Some(values), _) => expect_length("values32", values.length(), dense),
            (_, Some(values)) => expect_length("values64", values.length(), dense),
            (None, None) => Ok(()),
        }
    }

    /// Lends the arrays to `work`, and the pins, for more arrays of the same loan.
    ///
    /// # Errors
    /// `OutOfMemory` if the JVM cannot pin an array, errors of the work.
    pub fn lend<R>(
        &self,
        env: &mut Env<'_>,
        work: impl FnOnce(
            &Pins<'_, EnvCritical<'_>>,
            Matrix<'_>,
            &[f64],
            Option<&[f64]>,
        ) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let critical = EnvCritical::new(env);
        let pins = Pins::new(&critical);
        // SAFETY: no Java thread writes the arrays of a block: blocks are immutable once they are built, and `NativeBridge` requires it of
        // its callers.
        unsafe {
            let indices = self.features.map(|array| pins.read(array)).transpose()?;
            let matrix = Matrix {
                offsets: (self.offsets).map_or(Ok(&[][..]), |offsets| pins.read(offsets))?,
                indices,
                values: match self.values {
                    (Some(values), _) => Values::F32(pins.read(values)?),
                    (None, Some(values)) => Values::F64(pins.read(values)?),
                    (None, None) => Values::Ones,
                },
            };
            let weights = self.weights.map(|weights| pins.read(weights)).transpose()?;
            work(&pins, matrix, pins.read(self.labels)?, weights)
        }
    }
}
