//! The numbers of a call, named and checked.

use dwell_solvers::{
    Verdict,
    cd::{MAX_CANDIDATES, MAX_POINTS},
};

use crate::{
    argument,
    boundary::fault::{Fault, reserve},
    cd::orientation::Orientation,
    cd::states::{Key, MAX_ROUND},
};

/// Version of the layout of `control`, `settings` and results.
pub const LAYOUT_VERSION: i64 = 2;

pub const CONTROL_LENGTH: usize = 11;

/// The settings of either orientation, with as many points and candidates as there can be.
pub const MOST_SETTINGS: usize = 9 + MOST_CANDIDATES + 2 * MOST_POINTS;

/// Points of the line search that a round can be asked for.
pub const MOST_POINTS: usize = 24;

/// Intercepts that a dual certificate can be asked for.
pub const MOST_CANDIDATES: usize = 16;

const _: () = assert!(MOST_POINTS == MAX_POINTS && MOST_CANDIDATES == MAX_CANDIDATES);

/// Flag of `control`.
pub const CERTIFICATE: i64 = 1;
/// Flag of `control`.
pub const CENTRED: i64 = 2;
/// Flag of `control`.
pub const BATCH: i64 = 4;
/// Flag of `control`.
pub const GRADIENT: i64 = 8;

/// A decoded request, with the parameters of its solver.
#[derive(Debug, Clone)]
pub struct Request<P> {
    pub key: Key,
    pub round: i64,
    pub stamp: i64,
    /// Length of the shared vector.
    pub length: usize,
    pub threads: usize,
    pub verdict: Verdict,
    pub params: P,
}

/// The numbers of `control` that belong to the solver.
#[derive(Debug, Clone, Copy)]
pub struct Control {
    pub seed: u64,
    pub partition: u32,
    pub budget: u64,
    pub threads: usize,
    pub flags: i64,
    pub loss: i64,
}

impl Control {
    pub fn certificate(&self) -> bool {
        self.flags & CERTIFICATE != 0
    }

    pub fn centred(&self) -> bool {
        self.flags & CENTRED != 0
    }

    pub fn batch(&self) -> bool {
        self.flags & BATCH != 0
    }

    pub fn gradient(&self) -> bool {
        self.flags & GRADIENT != 0
    }
}

impl<P> Request<P> {
    /// Checks and names the numbers of a request. What belongs to the problem is checked by the solver.
    ///
    /// # Errors
    /// `Argument` names the number at fault.
    pub fn decode<O: Orientation<Params = P>>(
        control: &[i64],
        settings: &[f64],
    ) -> Result<Self, Fault> {
        let &[
            layout,
            fit,
            partition,
            round,
            seed,
            budget,
            flags,
            threads,
            length,
            stamp,
            loss,
        ] = control
        else {
            return Err(argument!(
                "control has length {}, expected {CONTROL_LENGTH}",
                control.len()
            ));
        };
        if layout != LAYOUT_VERSION {
            return Err(argument!(
                "control[0], the layout version, is {layout}, expected {LAYOUT_VERSION}: use jar and library of one version"
            ));
        }
        let partition = within("control[2], the partition", partition, 0, i32::MAX.into())? as i32;
        let round = within("control[3], the round", round, 0, MAX_ROUND)?;
        let budget = within("control[5], the coordinates to visit", budget, 1, i64::MAX)?;
        if flags & !O::FLAGS != 0 {
            return Err(argument!(
                "control[6], the flags, is {flags}: it must be a sum of the flags in {}",
                O::FLAGS
            ));
        }
        let threads = within("control[7], the threads", threads, 1, i32::MAX.into())?;
        let length = within(O::LENGTH, length, 0, i32::MAX.into())?;
        let stamp = within("control[9], the stamp", stamp, 0, i64::MAX)?;
        let (params, verdict) = O::decode(
            &Control {
                seed: seed as u64,
                partition: partition as u32,
                budget: budget as u64,
                threads: threads as usize,
                flags,
                loss,
            },
            settings,
        )?;
        Ok(Self {
            key: (fit, partition),
            round,
            stamp,
            length: length as usize,
            threads: threads as usize,
            verdict,
            params,
        })
    }
}

/// Splits `settings` into the `N` numbers that are always there and the rest.
///
/// # Errors
/// `Argument` if it is shorter.
pub fn fixed<const N: usize>(settings: &[f64]) -> Result<(&[f64; N], &[f64]), Fault> {
    settings.split_first_chunk::<N>().ok_or_else(|| {
        argument!(
            "settings has length {}, expected at least {N}",
            settings.len()
        )
    })
}

/// The verdict whose factors are at `first` and the slot after it.
///
/// # Errors
/// `Argument` unless they are finite.
pub fn verdict(first: usize, [pending, previous]: [f64; 2]) -> Result<Verdict, Fault> {
    for (slot, factor) in (first..).zip([pending, previous]) {
        if !factor.is_finite() {
            return Err(argument!(
                "settings[{slot}], a factor of the verdict, is {factor}: it must be finite"
            ));
        }
    }
    Ok(Verdict { pending, previous })
}

/// Points of the line search, two numbers each.
///
/// # Errors
/// `Argument` if there is half a point, a number that is not finite, or more points than there is room for in a result.
pub fn points(numbers: &[f64]) -> Result<Vec<[f64; 2]>, Fault> {
    let (pairs, half) = numbers.as_chunks::<2>();
    if !half.is_empty() || pairs.len() > MOST_POINTS {
        return Err(argument!(
            "there are {} numbers for the points of the line search: it must be two for each of at most {MOST_POINTS}",
            numbers.len()
        ));
    }
    all_finite("points", numbers)?;
    let mut points = reserve(pairs.len(), "the points of a line search")?;
    points.extend_from_slice(pairs);
    Ok(points)
}

/// Candidates for the intercept.
///
/// # Errors
/// `Argument` if one is not finite, or there are more than there is room for in a result.
pub fn candidates(numbers: &[f64]) -> Result<Vec<f64>, Fault> {
    if numbers.len() > MOST_CANDIDATES {
        return Err(argument!(
            "there are {} candidates for the intercept: it must be at most {MOST_CANDIDATES}",
            numbers.len()
        ));
    }
    all_finite("candidates", numbers)?;
    let mut candidates = reserve(numbers.len(), "the candidates for the intercept")?;
    candidates.extend_from_slice(numbers);
    Ok(candidates)
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

/// An integer of a call in its range.
///
/// # Errors
/// `Argument` names it.
pub fn within(name: &str, value: i64, least: i64, most: i64) -> Result<i64, Fault> {
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        Err(argument!(
            "{name}, is {value}: it must be {least} to {most}"
        ))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A good one, with both flags.
    pub const CONTROL: [i64; CONTROL_LENGTH] = [LAYOUT_VERSION, -5, 3, 4, -6, 50, 3, 2, 100, 12, 0];

    pub fn refused<P>(request: Result<Request<P>, Fault>, part: &str) {
        match request {
            Err(Fault::Argument(text)) => assert!(text.contains(part), "{text}"),
            Err(fault) => panic!("{fault:?}, not {part}"),
            Ok(_) => panic!("accepted in spite of {part}"),
        }
    }
}
