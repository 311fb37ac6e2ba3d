//! The kinds of passes that the same calls serve.

use dwell_solvers::{
    MatrixView, SolverError,
    network::NetworkPass,
    pass::{PassOutcome, RowPass},
};

use crate::boundary::{fault::Fault, memory::zeros};

/// A pass over rows.
pub enum Pass {
    /// Of a linear model.
    Rows(RowPass),
    /// Of a network.
    Network(NetworkPass),
}

/// Evaluates an expression of the pass inside.
macro_rules! of_each {
    ($pass:expr, $inside:ident => $result:expr) => {
        match $pass {
            Pass::Rows($inside) => $result,
            Pass::Network($inside) => $result,
        }
    };
}

impl Pass {
    /// See [`RowPass::fork`].
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn fork(&self) -> Result<Self, SolverError> {
        Ok(match self {
            Self::Rows(pass) => Self::Rows(pass.fork()),
            Self::Network(pass) => Self::Network(pass.fork()?),
        })
    }

    /// Features of a row.
    pub fn features(&self) -> usize {
        of_each!(self, pass => pass.features())
    }

    /// The bytes that the pass holds, about.
    pub fn bytes(&self) -> usize {
        of_each!(self, pass => pass.bytes())
    }

    /// See [`RowPass::take`].
    ///
    /// # Errors
    /// As there.
    pub fn take(
        &mut self,
        rows: MatrixView<'_>,
        labels: &[f64],
        weights: Option<&[f64]>,
        from: usize,
    ) -> Result<usize, SolverError> {
        of_each!(self, pass => pass.take(rows, labels.into(), weights.map(Into::into), from))
    }

    /// See [`RowPass::work`].
    ///
    /// # Errors
    /// As there.
    pub fn work(&mut self) -> Result<(), SolverError> {
        of_each!(self, pass => pass.work())
    }

    /// See [`RowPass::join`].
    ///
    /// # Errors
    /// As there; `Shape` if the kinds differ.
    pub fn join(&mut self, other: Self) -> Result<(), SolverError> {
        match (self, other) {
            (Self::Rows(pass), Self::Rows(other)) => pass.join(other),
            (Self::Network(pass), Self::Network(other)) => pass.join(&other),
            _ => Err(SolverError::Shape(
                "two kinds of passes cannot be joined".into(),
            )),
        }
    }

    /// The vector of the pass; empty if it sums losses alone.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn vector(&self) -> Result<Vec<f64>, Fault> {
        match self {
            Self::Rows(pass) if pass.has_vector() => {
                let mut vector = zeros(pass.length(), "the sums of a pass")?;
                pass.write(&mut vector)?;
                Ok(vector)
            }
            Self::Rows(_) => Ok(Vec::new()),
            Self::Network(pass) => {
                let mut vector = zeros(pass.gradient().len(), "the sums of a pass")?;
                vector.copy_from_slice(pass.gradient());
                Ok(vector)
            }
        }
    }

    /// The numbers of the pass so far.
    pub fn outcome(&self) -> &PassOutcome {
        of_each!(self, pass => pass.outcome())
    }
}

#[cfg(test)]
mod tests {
    use dwell_solvers::{
        Loss, RowLoss,
        network::Layers,
        pass::{PassLoss, PassParams},
    };

    use super::*;

    #[test]
    fn kinds_of_passes_are_not_joined() {
        let loss = PassLoss::Row(RowLoss::Margin(Loss::Squared));
        let rows = RowPass::new(PassParams::at_zero(loss, false, 2)).unwrap();
        let network = NetworkPass::new(Layers::new(&[2, 2]).unwrap(), vec![0.0; 6]).unwrap();
        let error = Pass::Rows(rows).join(Pass::Network(network)).unwrap_err();
        assert!(matches!(error, SolverError::Shape(text) if text.contains("two kinds")));
    }
}
