//! Resumable calls: each checks the labels, loads the shared model, and then does its own work.

use std::fmt::Debug;

use super::{data::SgdData, model::Model, vector::length};
use crate::{
    base::{
        error::{SolverError, same_length},
        progress::Progress,
    },
    problem::softmax::RowLoss,
};

/// The part of a call that starts once all labels are checked and the model is loaded.
pub(super) trait Work: Debug + Sized {
    /// Parameters of the call.
    type Params: Debug;

    /// The work on data of the shape of `data`.
    fn new(params: &Self::Params, data: &SgdData<'_>) -> Result<Self, SolverError>;

    /// The model. The call loads it again whenever the work has unloaded it.
    fn model(&mut self) -> &mut Model;

    /// Works for about `budget` units; returns the units spent.
    fn advance(&mut self, params: &Self::Params, data: &SgdData<'_>, budget: usize) -> usize;

    /// Whether the work is finished.
    fn is_done(&self) -> bool;
}

/// A call in progress.
#[derive(Debug)]
pub(super) struct Resumable<W: Work> {
    pub params: W::Params,
    loss: RowLoss,
    features: usize,
    /// Rows of the data, and how many of their labels are checked.
    rows: usize,
    checked: usize,
    /// Made of the data of the first slice.
    work: Option<W>,
}

impl<W: Work> Resumable<W> {
    /// A call on data with `features` features. `Shape` if the model has more numbers than an `i32` counts.
    pub fn new(params: W::Params, loss: RowLoss, features: usize) -> Result<Self, SolverError> {
        length(loss.outputs(), features)?;
        Ok(Self {
            params,
            loss,
            features,
            rows: 0,
            checked: 0,
            work: None,
        })
    }

    /// See [`SgdRound::advance`](super::SgdRound::advance).
    pub fn advance(
        &mut self,
        data: &SgdData<'_>,
        shared: &[u8],
        budget: usize,
    ) -> Result<Progress, SolverError> {
        same_length("a row", data.rows.rows(), self.features, "feature")?;
        let work = match &mut self.work {
            Some(work) => work,
            None => {
                self.rows = data.rows.len();
                self.work.insert(W::new(&self.params, data)?)
            }
        };
        same_length("labels", data.labels.len(), self.rows, "row")?;
        work.model().fits(data)?;
        let mut left = budget.max(1);
        while left > 0 && !work.is_done() {
            let to_load = work.model().left_to_load();
            let spent = if self.checked < self.rows {
                let end = self.checked.saturating_add(left).min(self.rows);
                self.loss.labels().check(data.labels, self.checked..end)?;
                end - std::mem::replace(&mut self.checked, end)
            } else if to_load > 0 {
                let count = to_load.min(left);
                work.model().load(shared, data.scale, count)?;
                count
            } else {
                work.advance(&self.params, data, left)
            };
            left = left.saturating_sub(spent);
        }
        Ok(if work.is_done() {
            Progress::Done
        } else {
            Progress::More
        })
    }

    /// The work, once it is done.
    pub fn finished(&self) -> Result<&W, SolverError> {
        self.work
            .as_ref()
            .filter(|work| work.is_done())
            .ok_or(SolverError::Unfinished)
    }
}
