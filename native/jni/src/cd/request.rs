//! A decoded call.

use dwell_solvers::Verdict;

use crate::{
    boundary::fault::Fault,
    cd::{numbers::Control, orientation::Orientation},
};

/// A call of an orientation, with the parameters of its solver.
#[derive(Debug)]
pub struct Request<O: Orientation> {
    /// The numbers of `control`.
    pub control: Control,
    /// Verdict on the pending step.
    pub verdict: Verdict,
    /// Parameters that the solver has not checked yet.
    pub params: O::Params,
}

impl<O: Orientation> Request<O> {
    /// Checks and names the numbers of a call. The solver checks the numbers of the problem.
    ///
    /// # Errors
    /// `Argument` names the number at fault.
    pub fn decode(control: &[i64], settings: &[f64]) -> Result<Self, Fault> {
        let control = Control::decode(control, O::VECTOR, O::FLAGS)?;
        let (params, verdict) = O::decode(&control, settings)?;
        Ok(Self {
            control,
            verdict,
            params,
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::cd::layout::{CONTROL_SLOTS, LAYOUT_VERSION};

    /// Legal numbers, with both flags.
    pub const CONTROL: [i64; CONTROL_SLOTS] = [LAYOUT_VERSION, -5, 3, 4, -6, 50, 3, 2, 100, 12, 0];

    /// Asserts that the call is refused with a message that contains `part`.
    pub fn refused<O: Orientation>(control: &[i64], settings: &[f64], part: &str) {
        match Request::<O>::decode(control, settings) {
            Err(Fault::Argument(text)) => assert!(text.contains(part), "{text}"),
            Err(fault) => panic!("{fault:?}, not {part}"),
            Ok(_) => panic!("accepted in spite of {part}"),
        }
    }
}
