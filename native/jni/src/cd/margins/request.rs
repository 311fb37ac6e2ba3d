//! A decoded call on margins.

use dwell_solvers::{
    Loss,
    cd::{MarginCall, Operation},
};

use crate::{
    boundary::{
        fault::{Fault, argument},
        numbers::{ControlSlots, SettingSlots},
    },
    cd::margins::layout::{
        ALONG, CONJUGATES, CONTROL_LOSS, CONTROL_OPERATION, CONTROL_SLOTS, CONTROL_THREADS,
        CONTROL_VERSION, LAYOUT_VERSION, LOSSES, MOVE, RESIDUALS, SETTING_FIRST, SETTING_GAMMA,
        SETTING_INTERCEPT, SETTING_SECOND, SETTING_SLOTS, SLOPES,
    },
};

/// A call, checked.
#[derive(Debug, Clone, Copy)]
pub struct MarginRequest {
    /// Loss, intercept and operation.
    pub call: MarginCall,
    /// Threads.
    pub threads: usize,
}

impl MarginRequest {
    /// Checks and names the numbers of a call.
    ///
    /// # Errors
    /// `Argument` names the number at fault.
    pub fn decode(control: &[i64], settings: &[f64]) -> Result<Self, Fault> {
        let slots = ControlSlots::new(control, CONTROL_SLOTS, CONTROL_VERSION, LAYOUT_VERSION)?;
        let numbers = SettingSlots::new(settings, SETTING_SLOTS)?;
        numbers.nothing_more()?;
        let loss = Loss::from_code(slots.any(CONTROL_LOSS), numbers.get(SETTING_GAMMA))?;
        let (first, second) = (numbers.get(SETTING_FIRST), numbers.get(SETTING_SECOND));
        let operation = match slots.any(CONTROL_OPERATION) {
            RESIDUALS => Operation::Residuals,
            LOSSES => Operation::Losses,
            SLOPES => Operation::Slopes,
            ALONG => Operation::Along(first, second),
            CONJUGATES => Operation::Conjugates(first, second),
            MOVE => Operation::Move(first, second),
            other => {
                return Err(argument!(
                    "control[{CONTROL_OPERATION}], the operation, is {other}: it must be {RESIDUALS} to {MOVE}"
                ));
            }
        };
        Ok(Self {
            call: MarginCall::new(loss, numbers.get(SETTING_INTERCEPT), operation)?,
            threads: slots.int(CONTROL_THREADS, "the threads", 1)? as usize,
        })
    }
}
