//! A decoded call of model averaging.

use dwell_solvers::{RowLoss, Schedule, ScheduleKind, SgdProblem};

use crate::{
    boundary::{
        fault::{Fault, argument},
        header::MAX_ENTRIES,
        numbers::{ControlSlots, SettingSlots},
    },
    rows::layout::{
        CLASSES, CONTROL_BUDGET, CONTROL_CURSOR, CONTROL_FEATURES, CONTROL_FLAGS, CONTROL_LOSS,
        CONTROL_OUTPUTS, CONTROL_PARTITION, CONTROL_SCHEDULE, CONTROL_SEED, CONTROL_SLOTS,
        CONTROL_STEPS, CONTROL_THREADS, CONTROL_VERSION, INTERCEPT, LAYOUT_VERSION, SETTING_ETA0,
        SETTING_GAMMA, SETTING_L1, SETTING_L2, SETTING_RATE, SETTING_SLOTS, SETTING_WEIGHT_FACTOR,
    },
};

/// A call with the parameters of its solver, still unchecked.
#[derive(Debug, Clone)]
pub struct SgdRequest<P> {
    /// Features.
    pub features: usize,
    /// Numbers in the shared model.
    pub length: usize,
    /// Whether labels are classes that stand for -1 and 1.
    pub classes: bool,
    /// Parameters of the solver.
    pub params: P,
}

/// The numbers that both calls share.
#[derive(Debug)]
pub struct Common<'a> {
    features: usize,
    length: usize,
    classes: bool,
    /// The partition, for the order of the rows.
    pub partition: u32,
    /// Seed of the order of the rows.
    pub seed: u64,
    /// Loss and penalty.
    pub problem: SgdProblem,
    /// Step sizes.
    pub schedule: Schedule,
    /// Rows to visit.
    pub budget: u64,
    /// Buckets visited since the start of the fit.
    pub cursor: u64,
    /// Rows visited since the start of the fit.
    pub steps: u64,
    /// Threads.
    pub threads: usize,
    /// All settings.
    pub settings: SettingSlots<'a>,
}

impl<'a> Common<'a> {
    /// Checks and names the numbers of a call. The solver checks the numbers of the problem.
    ///
    /// # Errors
    /// `Argument` names the number at fault.
    pub fn decode(control: &[i64], settings: &'a [f64]) -> Result<Self, Fault> {
        let slots = ControlSlots::new(control, CONTROL_SLOTS, CONTROL_VERSION, LAYOUT_VERSION)?;
        let partition = slots.int(CONTROL_PARTITION, "the partition", 0)? as u32;
        let features = slots.int(CONTROL_FEATURES, "the features", 0)? as usize;
        let outputs = slots.int(CONTROL_OUTPUTS, "the outputs", 1)? as usize;
        let flags = slots.flags(CONTROL_FLAGS, INTERCEPT | CLASSES)?;
        let budget = slots.within(CONTROL_BUDGET, "the rows to visit", 0, i64::MAX)? as u64;
        let cursor = slots.within(CONTROL_CURSOR, "the cursor", 0, i64::MAX)? as u64;
        let steps = slots.within(CONTROL_STEPS, "the steps", 0, i64::MAX)? as u64;
        let threads = slots.int(CONTROL_THREADS, "the threads", 1)? as usize;
        let settings = SettingSlots::new(settings, SETTING_SLOTS)?;
        let length = (features + 1).saturating_mul(outputs);
        if length > MAX_ENTRIES {
            return Err(argument!(
                "control[{CONTROL_FEATURES}] and control[{CONTROL_OUTPUTS}], {features} features and {outputs} outputs, are a model that no byte[] can hold"
            ));
        }
        let loss = slots.any(CONTROL_LOSS);
        Ok(Self {
            features,
            length,
            classes: flags & CLASSES != 0,
            partition,
            seed: slots.any(CONTROL_SEED) as u64,
            problem: SgdProblem {
                loss: RowLoss::from_code(loss, settings.get(SETTING_GAMMA), outputs)?,
                l1: settings.get(SETTING_L1),
                l2: settings.get(SETTING_L2),
                intercept: flags & INTERCEPT != 0,
                weight_factor: settings.get(SETTING_WEIGHT_FACTOR),
            },
            schedule: Schedule {
                kind: ScheduleKind::from_code(slots.any(CONTROL_SCHEDULE))?,
                eta0: settings.get(SETTING_ETA0),
                rate: settings.get(SETTING_RATE),
            },
            budget,
            cursor,
            steps,
            threads,
            settings,
        })
    }

    /// The request of a call with these parameters.
    pub fn request<P>(self, params: P) -> SgdRequest<P> {
        SgdRequest {
            features: self.features,
            length: self.length,
            classes: self.classes,
            params,
        }
    }
}
