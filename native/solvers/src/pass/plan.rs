//! What follows from the parameters of a pass alone.

use once_cell::sync::OnceCell;

use super::params::PassParams;
use crate::base::error::{SolverError, reserve};

/// Parameters of a pass, and what follows from them alone.
pub(super) struct Plan {
    pub(super) params: PassParams,
    /// For each output, what the predictions of all sparse rows have: the intercept less the prediction at the centre.
    pub(super) constants: Vec<f64>,
    /// The same of the direction.
    pub(super) constants_along: Vec<f64>,
    /// For each output, what the reach of all sparse rows has: they are at most their entries and the centre away.
    pub(super) constants_of_reach: Vec<f64>,
    /// The same as `constants`, of each earlier model.
    pub(super) constants_earlier: Vec<f64>,
    /// The model entry by entry, with the numbers of all outputs side by side. Made for sparse rows and several outputs only.
    pub(super) cells: OnceCell<Vec<f64>>,
    /// The same of the earlier models, and their gammas.
    pub(super) cells_earlier: OnceCell<Vec<f64>>,
    /// What sums over sparse rows are centred by: remainders are centred as they are.
    pub(super) centre: Vec<f64>,
    pub(super) remainders: Vec<Remainder>,
}

/// The remainder that replaces a feature.
pub(super) struct Remainder {
    pub(super) feature: usize,
    /// Of each entry of a row.
    pub(super) weights: Vec<f64>,
    /// What the remainders of all sparse rows have.
    pub(super) constant: f64,
}

impl Plan {
    pub(super) fn new(params: PassParams) -> Self {
        let (p, n) = (params.features, params.entries());
        let outputs = params.loss.outputs();
        let mut centre = params.centre.clone();
        let remainders: Vec<Remainder> = (params.remainders.chunks(n + 1))
            .map(|numbers| {
                let (feature, weights) = (numbers[0] as usize, numbers[1..].to_vec());
                if let Some(centre) = centre.get_mut(feature) {
                    *centre = 0.0;
                }
                let constant = params.constant(&params.centre, &weights);
                Remainder {
                    feature,
                    weights,
                    constant,
                }
            })
            .collect();
        let constants = |weights: &[f64], constant: &dyn Fn(&[f64]) -> f64| {
            if weights.is_empty() {
                vec![0.0; outputs]
            } else {
                weights.chunks(n).map(constant).collect()
            }
        };
        let predicted = |weights: &[f64]| params.constant(&centre, weights);
        let reached = |reach: &[f64]| {
            let of_centre = centre.iter().zip(reach).map(|(c, r)| c.abs() * r);
            of_centre.sum::<f64>() + reach[p..params.unscaled()].iter().sum::<f64>()
        };
        Self {
            constants: constants(&params.model, &predicted),
            constants_along: constants(&params.direction, &predicted),
            constants_of_reach: constants(&params.reach, &reached),
            constants_earlier: (params.earlier_models())
                .map(|(weights, _)| predicted(weights))
                .collect(),
            cells: OnceCell::new(),
            cells_earlier: OnceCell::new(),
            centre,
            remainders,
            params,
        }
    }

    /// Makes `cells` and `cells_earlier`.
    pub(super) fn prepare_sparse(&self) -> Result<(), SolverError> {
        let outputs = self.params.loss.outputs();
        if outputs > 1 {
            prepare(&self.cells, &self.params.model, outputs)?;
        }
        let earlier = self.constants_earlier.len();
        if earlier > 0 {
            prepare(&self.cells_earlier, &self.params.earlier, earlier)?;
        }
        Ok(())
    }
}

/// Puts the numbers of several models side by side.
fn prepare(cells: &OnceCell<Vec<f64>>, models: &[f64], count: usize) -> Result<(), SolverError> {
    if cells.get().is_none() {
        let mut made = reserve(models.len(), "the model of a pass")?;
        made.resize(models.len(), 0.0);
        transpose(models, count, &mut made);
        // If another pass was faster, its cells are the same.
        let _ = cells.set(made);
    }
    Ok(())
}

/// Turns `rows` rows after one another into columns.
pub(super) fn transpose(from: &[f64], rows: usize, to: &mut [f64]) {
    if from.is_empty() {
        return;
    }
    for (r, from) in from.chunks(from.len() / rows).enumerate() {
        for (to, x) in to[r..].iter_mut().step_by(rows).zip(from) {
            *to = *x;
        }
    }
}
