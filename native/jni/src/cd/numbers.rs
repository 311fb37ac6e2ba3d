//! The numbers of a call of coordinate descent, checked and named.

use dwell_solvers::Verdict;

use crate::{
    boundary::{
        fault::{Fault, argument},
        memory::copied,
        numbers::{ControlSlots, SettingSlots},
        table::Key,
    },
    cd::{
        layout::{
            CENTRED, CERTIFICATE, CLASSES, CONTROL_BUDGET, CONTROL_FIT, CONTROL_FLAGS,
            CONTROL_LOSS, CONTROL_PARTITION, CONTROL_ROUND, CONTROL_SEED, CONTROL_SLOTS,
            CONTROL_STAMP, CONTROL_THREADS, CONTROL_VECTOR_LENGTH, CONTROL_VERSION, LAYOUT_VERSION,
            MAX_CANDIDATES, MAX_POINTS,
        },
        states::MAX_ROUND,
    },
};

/// The numbers of `control`.
#[derive(Debug, Clone, Copy)]
pub struct Control {
    /// Fit and partition.
    pub key: Key,
    /// Round t.
    pub round: i64,
    /// Stamp of the state that the caller expects.
    pub stamp: i64,
    /// Length of the shared vector.
    pub length: usize,
    /// Threads.
    pub threads: usize,
    /// Seed of the order of the coordinates.
    pub seed: u64,
    /// Least number of coordinates to visit.
    pub budget: u64,
    /// Code of the loss; the orientation checks it.
    pub loss: i64,
    flags: i64,
}

impl Control {
    /// Checks the numbers that the solver does not check. `vector` names what the shared vector holds a number for, and `flags` are those
    /// that the orientation knows.
    ///
    /// # Errors
    /// `Argument` names the number at fault.
    pub fn decode(control: &[i64], vector: &str, flags: i64) -> Result<Self, Fault> {
        let slots = ControlSlots::new(control, CONTROL_SLOTS, CONTROL_VERSION, LAYOUT_VERSION)?;
        Ok(Self {
            key: slots.key(CONTROL_FIT, CONTROL_PARTITION)?,
            round: slots.within(CONTROL_ROUND, "the round", 0, MAX_ROUND)?,
            seed: slots.any(CONTROL_SEED) as u64,
            budget: slots.within(CONTROL_BUDGET, "the coordinates to visit", 1, i64::MAX)? as u64,
            flags: slots.flags(CONTROL_FLAGS, flags)?,
            threads: slots.int(CONTROL_THREADS, "the threads", 1)? as usize,
            length: slots.int(CONTROL_VECTOR_LENGTH, vector, 0)? as usize,
            stamp: slots.within(CONTROL_STAMP, "the stamp", 0, i64::MAX)?,
            loss: slots.any(CONTROL_LOSS),
        })
    }

    /// The partition, for the order of the coordinates.
    pub fn partition(&self) -> u32 {
        self.key.1 as u32
    }

    /// Whether to compute the parts of the duality gap.
    pub fn certificate(&self) -> bool {
        self.flags & CERTIFICATE != 0
    }

    /// Whether labels are classes.
    pub fn classes(&self) -> bool {
        self.flags & CLASSES != 0
    }

    /// Whether columns and label are centred.
    pub fn centred(&self) -> bool {
        self.flags & CENTRED != 0
    }
}

/// The verdict whose two factors are in these slots.
///
/// # Errors
/// `Argument` unless they are finite.
pub fn verdict(
    settings: &SettingSlots<'_>,
    pending_slot: usize,
    previous_slot: usize,
) -> Result<Verdict, Fault> {
    let factor = |slot| {
        let factor = settings.get(slot);
        if factor.is_finite() {
            Ok(factor)
        } else {
            Err(argument!(
                "settings[{slot}], a factor of the verdict, is {factor}: it must be finite"
            ))
        }
    };
    Ok(Verdict {
        pending: factor(pending_slot)?,
        previous: factor(previous_slot)?,
    })
}

/// The points of a line search, two numbers each.
///
/// # Errors
/// `Argument` if there is half a point, a number that is not finite, or more points than a result has samples.
pub fn points(numbers: &[f64]) -> Result<Vec<[f64; 2]>, Fault> {
    let (pairs, half) = numbers.as_chunks::<2>();
    if !half.is_empty() || pairs.len() > MAX_POINTS {
        return Err(argument!(
            "there are {} numbers for the points of the line search: it must be two for each of at most {MAX_POINTS}",
            numbers.len()
        ));
    }
    all_finite("points", numbers)?;
    copied(pairs, "the points of a line search")
}

/// The candidates for the intercept.
///
/// # Errors
/// `Argument` if one is not finite, or there are more than a result has losses.
pub fn candidates(numbers: &[f64]) -> Result<Vec<f64>, Fault> {
    if numbers.len() > MAX_CANDIDATES {
        return Err(argument!(
            "there are {} candidates for the intercept: it must be at most {MAX_CANDIDATES}",
            numbers.len()
        ));
    }
    all_finite("candidates", numbers)?;
    copied(numbers, "the candidates for the intercept")
}

fn all_finite(name: &str, numbers: &[f64]) -> Result<(), Fault> {
    match numbers.iter().position(|number| !number.is_finite()) {
        None => Ok(()),
        Some(i) => Err(argument!(
            "{name}[{i}] is {}: it must be finite",
            numbers[i]
        )),
    }
}
