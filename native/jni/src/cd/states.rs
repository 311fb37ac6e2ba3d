//! Worker states between rounds, by (fit, partition).
//!
//! A state has a committed version and at most one pending step. It never decides on its own: the message of round t brings the verdict
//! on the step of round t - 1. The **stamp** names the rebuild that a state descends from, and whether the rebuild started again from zero;
//! see `rebuild_stamp`. Version and stamp together determine the content of a state, whichever messages were repeated, late or lost before.
//!
//! A call is `begin`, computation, `publish`. `begin` returns a [`Ticket`], a snapshot on which the computation works without any lock.
//! Only `publish` changes the state, so a call that fails or is cancelled leaves it unchanged. Attempts of a task can be repeated, late, or
//! concurrent, so `publish` may find a state that is newer than the snapshot; then it refuses.

use std::{sync::Arc, time::Duration};

use dwell_solvers::{RowNorms, Verdict};
use once_cell::sync::Lazy;

use crate::boundary::{
    fault::{Fault, argument},
    memory::{copied, zeros},
    table::{Kept, Key, Table},
};

/// The last round that a call may ask for. Up to it, stamps are exact as doubles, which headers hold.
pub const MAX_ROUND: i64 = (1 << 52) - 2;

/// The states of this process. They are process-wide because the tasks of a fit share only the process. A second class loader has its own
/// copy of the library and of this table: a task that moves there gets "state lost" once.
pub static STATES: Lazy<States> = Lazy::new(States::default);

/// The stamp of the state of `version` after a rebuild. Stamp 0, which no rebuild gives, belongs to the start of the fit.
///
/// Every rebuild has stamps of its own, also for a state that it keeps. A rebuild drops the step of its round. Under the old stamp, a
/// worker that lost its state and received the messages from before the rebuild again would bring that step back. Attempts of a rebuild on
/// two workers may end differently, so a state that was kept and a state that started again get different stamps.
const fn rebuild_stamp(version: i64, restarted: bool) -> i64 {
    2 * version + restarted as i64
}

/// A version of a state.
#[derive(Debug, Clone, PartialEq)]
pub struct Committed {
    /// The round that it is ready for.
    pub version: i64,
    /// The rebuild that it descends from.
    pub stamp: i64,
    /// Buckets visited since the start of the fit.
    pub cursor: u64,
    /// One number for each coordinate.
    pub alpha: Vec<f64>,
    /// The change of alpha by the last commit.
    pub previous: Vec<f64>,
}

/// The purpose of a state's vectors, in messages about memory.
const STATE: &str = "a worker state";

impl Committed {
    fn zero(coordinates: usize, version: i64, stamp: i64) -> Result<Self, Fault> {
        Ok(Self {
            version,
            stamp,
            cursor: 0,
            alpha: zeros(coordinates, STATE)?,
            previous: zeros(coordinates, STATE)?,
        })
    }

    fn identity(&self) -> Identity {
        (self.version, self.stamp)
    }

    /// Whether this is the state that a rebuild left as `version`. A later round may be pending on it.
    fn is_of_rebuild(&self, version: i64) -> bool {
        self.version == version
            && [false, true]
                .map(|restarted| rebuild_stamp(version, restarted))
                .contains(&self.stamp)
    }

    /// The same coordinates after a rebuild. It forgets the last step: a worker that starts again has none, and all workers search along the
    /// same direction.
    fn rebuilt(&self, version: i64) -> Result<Self, Fault> {
        Ok(Self {
            version,
            stamp: rebuild_stamp(version, false),
            cursor: self.cursor,
            alpha: copied(&self.alpha, STATE)?,
            previous: zeros(self.previous.len(), STATE)?,
        })
    }

    /// The version after `step` and its verdict.
    fn after(&self, step: &PendingStep, verdict: Verdict) -> Result<Self, Fault> {
        let mut next = Self {
            version: step.round + 1,
            stamp: self.stamp,
            cursor: step.cursor,
            alpha: copied(&self.alpha, STATE)?,
            previous: copied(&self.previous, STATE)?,
        };
        verdict.commit(&mut next.alpha, &mut next.previous, &step.delta)?;
        Ok(next)
    }
}

/// Version and stamp.
type Identity = (i64, i64);

/// The step that a round proposed. It is pending until the next message brings the verdict on it.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingStep {
    /// The round that proposed it.
    pub round: i64,
    /// The cursor after it.
    pub cursor: u64,
    /// One number for each coordinate.
    pub delta: Vec<f64>,
}

/// A copy of a state.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Its committed version.
    pub committed: Arc<Committed>,
    /// The step that awaits its verdict.
    pub pending: Option<Arc<PendingStep>>,
}

/// A state in the table.
#[derive(Debug)]
struct State {
    snapshot: Snapshot,
    /// The norms of the rows, of a dual state.
    norms: Option<Arc<RowNorms>>,
}

impl State {
    /// The parts that a call works with, outside of the lock.
    fn found(&self) -> (Snapshot, Option<Arc<RowNorms>>) {
        (self.snapshot.clone(), self.norms.clone())
    }

    fn has_step_of(&self, round: i64) -> bool {
        let pending = self.snapshot.pending.as_ref();
        pending.is_some_and(|step| step.round == round)
    }
}

impl Kept for State {
    /// Bytes of its numbers.
    fn bytes(&self) -> usize {
        let Snapshot { committed, pending } = &self.snapshot;
        let pending = pending.as_ref().map_or(0, |step| step.delta.len());
        let norms = self.norms.as_ref().map_or(0, |norms| norms.bytes());
        size_of::<f64>() * (committed.alpha.len() + committed.previous.len() + pending) + norms
    }

    fn allocates(&self) -> bool {
        true
    }
}

/// The start of a call. `begin_round` and `begin_product` return it; `publish_round` and `publish_product` take it back.
#[derive(Debug)]
pub struct Ticket {
    key: Key,
    /// The state that was there when the call began.
    found: Option<Identity>,
    /// The state that the call computes with. Other calls do not see it before `publish`.
    pub start: Arc<Committed>,
    /// The norms of the rows that an earlier call has computed.
    pub norms: Option<Arc<RowNorms>>,
}

/// The worker states of coordinate descent.
#[derive(Debug, Default)]
pub struct States {
    table: Table<State>,
}

impl States {
    /// The start of round `round`; `None` if this process does not have the state that the round needs.
    ///
    /// - no state, round 0 and stamp 0: a state of zeros;
    /// - version `round`: that state (a repeated attempt computes the same again);
    /// - version `round - 1` with its step pending: the state after the verdict on the step.
    ///
    /// # Errors
    /// `Argument` if the state has another number of coordinates, `OutOfMemory`.
    pub fn begin_round(
        &self,
        key: Key,
        round: i64,
        stamp: i64,
        coordinates: usize,
        verdict: Verdict,
    ) -> Result<Option<Ticket>, Fault> {
        let Some(mut locked) = self.table.open(key) else {
            return Ok(None);
        };
        let state = locked.touch().map(|state| state.found());
        drop(locked);
        let Some((snapshot, norms)) = state else {
            if round != 0 || stamp != 0 {
                return Ok(None);
            }
            return Ok(Some(Ticket {
                key,
                found: None,
                start: Arc::new(Committed::zero(coordinates, 0, 0)?),
                norms: None,
            }));
        };
        if snapshot.committed.stamp != stamp {
            return Ok(None);
        }
        let Some(start) = snapshot.settled(round, verdict, key, coordinates)? else {
            return Ok(None);
        };
        Ok(Some(Ticket {
            key,
            found: Some(snapshot.committed.identity()),
            start,
            norms,
        }))
    }

    /// Keeps `step` as pending, and the state that it started from as committed. Returns the bytes of the state. Returns `None`, and
    /// changes nothing, if the fit was freed or the state has moved on since the ticket.
    pub fn publish_round(
        &self,
        ticket: &Ticket,
        norms: Option<Arc<RowNorms>>,
        step: PendingStep,
    ) -> Option<usize> {
        let mut locked = self.table.open(ticket.key)?;
        let start = &ticket.start;
        let committed = match (ticket.found, locked.peek()) {
            (None, None) => start.clone(),
            (Some(_), None) => return None,
            // Another attempt of the same round came first, or there was nothing to commit.
            (_, Some(State { snapshot, .. }))
                if snapshot.committed.identity() == start.identity()
                    && snapshot.committed.alpha.len() == start.alpha.len() =>
            {
                snapshot.committed.clone()
            }
            (Some(found), Some(state))
                if state.snapshot.committed.identity() == found
                    && state.has_step_of(start.version - 1) =>
            {
                start.clone()
            }
            (_, Some(_)) => return None,
        };
        let state = State {
            snapshot: Snapshot {
                committed,
                pending: Some(Arc::new(step)),
            },
            norms,
        };
        let bytes = state.bytes();
        locked.put(state);
        Some(bytes)
    }

    /// The start of a rebuild after round `round`: the state that an earlier attempt of the rebuild has left; or the state that the round
    /// would have started from, under the stamp of a state that was kept; or else zeros, under the stamp of a state that started again.
    /// `None` if the fit was freed.
    ///
    /// # Errors
    /// `Argument` if the state has another number of coordinates, `OutOfMemory`.
    pub fn begin_product(
        &self,
        key: Key,
        round: i64,
        stamp: i64,
        coordinates: usize,
        verdict: Verdict,
    ) -> Result<Option<Ticket>, Fault> {
        let Some(mut locked) = self.table.open(key) else {
            return Ok(None);
        };
        let state = locked.touch().map(|state| state.found());
        drop(locked);
        let version = round + 1;
        let kept = match &state {
            Some((snapshot, _)) if snapshot.committed.is_of_rebuild(version) => {
                snapshot.with_coordinates(key, coordinates)?;
                Some(snapshot.committed.clone())
            }
            Some((snapshot, _)) if snapshot.committed.stamp == stamp => snapshot
                .settled(round, verdict, key, coordinates)?
                .map(|settled| settled.rebuilt(version))
                .transpose()?
                .map(Arc::new),
            _ => None,
        };
        let start = match kept {
            Some(kept) => kept,
            None => Arc::new(Committed::zero(
                coordinates,
                version,
                rebuild_stamp(version, true),
            )?),
        };
        let (found, norms) = state.map_or((None, None), |(snapshot, norms)| {
            (Some(snapshot.committed.identity()), norms)
        });
        Ok(Some(Ticket {
            key,
            found,
            start,
            norms,
        }))
    }

    /// Makes the state of the ticket the committed one, with nothing pending. Returns its bytes. Returns `None`, and changes nothing, if
    /// the fit was freed or the state is newer than the ticket.
    pub fn publish_product(&self, ticket: &Ticket, norms: Option<Arc<RowNorms>>) -> Option<usize> {
        let mut locked = self.table.open(ticket.key)?;
        let start = &ticket.start;
        if let Some(state) = locked.peek() {
            let committed = &state.snapshot.committed;
            if committed.version > start.version {
                return None;
            }
            if committed.is_of_rebuild(start.version) {
                // Another attempt came first, and perhaps the next round, whose step stays. If that attempt ended differently, one of the
                // two answers names a state that is not here, and the next message detects it.
                return Some(state.bytes());
            }
        }
        let state = State {
            snapshot: Snapshot {
                committed: start.clone(),
                pending: None,
            },
            norms,
        };
        let bytes = state.bytes();
        locked.put(state);
        Some(bytes)
    }

    /// A copy of the state.
    pub fn export(&self, key: Key) -> Option<Snapshot> {
        let mut locked = self.table.open(key)?;
        locked.touch().map(|state| state.snapshot.clone())
    }

    /// Replaces a state; nothing is pending in it. Ignored if the fit was freed.
    pub fn import(&self, key: Key, committed: Committed) {
        let Some(mut locked) = self.table.open(key) else {
            return;
        };
        let norms = locked.peek().and_then(|state| state.norms.clone());
        locked.put(State {
            snapshot: Snapshot {
                committed: Arc::new(committed),
                pending: None,
            },
            norms,
        });
    }

    /// Number of coordinates of a state.
    pub fn coordinates(&self, key: Key) -> Option<usize> {
        let locked = self.table.open(key)?;
        locked
            .peek()
            .map(|state| state.snapshot.committed.alpha.len())
    }

    /// Frees the states of a fit for good. Returns the bytes freed.
    pub fn free(&self, fit: i64) -> usize {
        self.table.free(fit)
    }

    /// Frees the states that no call has touched for longer than `age`. Returns the bytes freed.
    pub fn expire(&self, age: Duration) -> usize {
        self.table.expire(age)
    }

    /// Bytes of all states.
    pub fn bytes(&self) -> usize {
        self.table.bytes()
    }

    /// Number of states.
    pub fn entries(&self) -> usize {
        self.table.entries()
    }
}

impl Snapshot {
    /// The state of version `round`, if this is that state or becomes it by the verdict on its pending step.
    fn settled(
        &self,
        round: i64,
        verdict: Verdict,
        key: Key,
        coordinates: usize,
    ) -> Result<Option<Arc<Committed>>, Fault> {
        let settled = if self.committed.version == round {
            Some(self.committed.clone())
        } else {
            match &self.pending {
                Some(step) if self.committed.version == round - 1 && step.round == round - 1 => {
                    Some(Arc::new(self.committed.after(step, verdict)?))
                }
                _ => None,
            }
        };
        if settled.is_some() {
            self.with_coordinates(key, coordinates)?;
        }
        Ok(settled)
    }

    fn with_coordinates(&self, (fit, partition): Key, coordinates: usize) -> Result<(), Fault> {
        let have = self.committed.alpha.len();
        if have == coordinates {
            Ok(())
        } else {
            Err(argument!(
                "the blocks have {coordinates} coordinates, but the state of fit {fit}, partition {partition} has {have} coordinates: pass the partition that the fit began with"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, thread};

    use proptest::{prelude::*, test_runner::RngSeed};

    use super::*;

    const KEY: Key = (7, 2);
    const COORDINATES: usize = 2;
    const ACCEPT: Verdict = Verdict {
        pending: 1.0,
        previous: 0.0,
    };

    /// The step of a round: a function of its start, different for every round.
    fn step(start: &Committed, round: i64) -> PendingStep {
        PendingStep {
            round,
            cursor: start.cursor + 3,
            delta: start
                .alpha
                .iter()
                .map(|a| 0.5 * a + 1.0 + round as f64)
                .collect(),
        }
    }

    fn begin(states: &States, round: i64, stamp: i64) -> Option<Ticket> {
        states
            .begin_round(KEY, round, stamp, COORDINATES, ACCEPT)
            .unwrap()
    }

    fn publish(states: &States, ticket: &Ticket, round: i64) -> bool {
        let step = step(&ticket.start, round);
        states.publish_round(ticket, None, step).is_some()
    }

    fn run(states: &States, round: i64, stamp: i64) -> bool {
        begin(states, round, stamp).is_some_and(|ticket| publish(states, &ticket, round))
    }

    fn begin_product(states: &States, round: i64, stamp: i64) -> Option<Ticket> {
        states
            .begin_product(KEY, round, stamp, COORDINATES, ACCEPT)
            .unwrap()
    }

    /// The stamp after the rebuild.
    fn rebuild(states: &States, round: i64, stamp: i64) -> Option<i64> {
        let ticket = begin_product(states, round, stamp)?;
        states.publish_product(&ticket, None)?;
        Some(ticket.start.stamp)
    }

    fn state(states: &States) -> (i64, i64, Option<i64>, Vec<f64>) {
        let snapshot = states.export(KEY).unwrap();
        let committed = &snapshot.committed;
        let pending = snapshot.pending.as_ref().map(|step| step.round);
        (
            committed.version,
            committed.stamp,
            pending,
            committed.alpha.clone(),
        )
    }

    #[test]
    fn rounds_follow_one_another() {
        let states = States::default();
        assert!(begin(&states, 0, 1).is_none());
        assert!(begin(&states, 1, 0).is_none());
        assert!(run(&states, 0, 0));
        assert_eq!(state(&states), (0, 0, Some(0), vec![0.0; 2]));
        assert!(run(&states, 1, 0));
        assert_eq!(state(&states), (1, 0, Some(1), vec![1.0; 2]));
        assert_eq!(states.export(KEY).unwrap().committed.cursor, 3);
        // Older, newer, with another stamp.
        assert!(begin(&states, 0, 0).is_none());
        assert!(begin(&states, 3, 0).is_none());
        assert!(begin(&states, 1, 4).is_none());
        assert!(begin(&states, 2, 4).is_none());
        assert_eq!(state(&states), (1, 0, Some(1), vec![1.0; 2]));
    }

    #[test]
    fn nothing_changes_before_a_publish() {
        let states = States::default();
        drop(begin(&states, 0, 0));
        assert_eq!(states.entries(), 0);
        assert!(run(&states, 0, 0));
        let before = states.export(KEY);
        let ticket = begin(&states, 1, 0).unwrap();
        assert_eq!(ticket.start.alpha, vec![1.0; 2]);
        drop(ticket);
        drop(begin_product(&states, 1, 0));
        drop(begin_product(&states, 9, 9));
        assert_eq!(states.export(KEY), before);
    }

    #[test]
    fn a_verdict_can_reject_and_use_the_step_before() {
        let states = States::default();
        assert!(run(&states, 0, 0));
        let reject = Verdict {
            pending: 0.0,
            previous: 0.0,
        };
        let ticket = states
            .begin_round(KEY, 1, 0, COORDINATES, reject)
            .unwrap()
            .unwrap();
        assert_eq!(ticket.start.alpha, vec![0.0; 2]);
        assert!(run(&states, 1, 0));
        let half = Verdict {
            pending: 0.0,
            previous: 0.5,
        };
        let ticket = states
            .begin_round(KEY, 2, 0, COORDINATES, half)
            .unwrap()
            .unwrap();
        assert_eq!(ticket.start.alpha, vec![1.5; 2]);
        assert_eq!(ticket.start.previous, vec![0.5; 2]);
    }

    #[test]
    fn repeated_and_concurrent_attempts_apply_once() {
        let states = States::default();
        let (first, second) = (begin(&states, 0, 0).unwrap(), begin(&states, 0, 0).unwrap());
        assert!(publish(&states, &first, 0));
        assert!(publish(&states, &second, 0));
        assert!(run(&states, 0, 0));
        let (first, second) = (begin(&states, 1, 0).unwrap(), begin(&states, 1, 0).unwrap());
        assert!(publish(&states, &first, 1));
        assert!(publish(&states, &second, 1));
        assert!(run(&states, 1, 0));
        assert_eq!(state(&states), (1, 0, Some(1), vec![1.0; 2]));
        assert_eq!(states.bytes(), 3 * 8 * COORDINATES);
    }

    #[test]
    fn a_late_publish_is_refused() {
        let states = States::default();
        let late = begin(&states, 0, 0).unwrap();
        assert!(run(&states, 0, 0));
        assert!(run(&states, 1, 0));
        assert!(!publish(&states, &late, 0));
        let late = begin(&states, 1, 0).unwrap();
        assert_eq!(rebuild(&states, 1, 0), Some(4));
        assert!(!publish(&states, &late, 1));
        assert_eq!(state(&states), (2, 4, None, vec![1.0; 2]));
        let late = begin(&states, 2, 4).unwrap();
        assert!(states.expire(Duration::ZERO) > 0);
        assert!(!publish(&states, &late, 2));
        assert_eq!(states.entries(), 0);
        // A rebuild has no state to lose: its result is right whatever happened meanwhile.
        assert_eq!(rebuild(&states, 2, 4), Some(7));
    }

    #[test]
    fn rebuilds() {
        let states = States::default();
        // No state; then repeated.
        assert_eq!(rebuild(&states, 4, 0), Some(11));
        assert_eq!(rebuild(&states, 4, 0), Some(11));
        assert!(run(&states, 5, 11));
        // With a step that awaits its verdict; then repeated.
        assert_eq!(rebuild(&states, 6, 11), Some(14));
        assert_eq!(rebuild(&states, 6, 11), Some(14));
        assert_eq!(state(&states), (7, 14, None, vec![6.0; 2]));
        // The step of the round itself has no verdict yet and is dropped.
        assert!(run(&states, 7, 14));
        assert_eq!(rebuild(&states, 7, 14), Some(16));
        assert_eq!(state(&states), (8, 16, None, vec![6.0; 2]));
        // Another stamp.
        assert_eq!(rebuild(&states, 8, 14), Some(19));
        assert_eq!(state(&states), (9, 19, None, vec![0.0; 2]));
        // Another version.
        assert_eq!(rebuild(&states, 20, 19), Some(43));
        // Older than the state: late.
        assert_eq!(rebuild(&states, 3, 43), None);
        assert_eq!(state(&states), (21, 43, None, vec![0.0; 2]));
    }

    #[test]
    fn a_late_rebuild_leaves_the_round_after_it() {
        let states = States::default();
        assert!(run(&states, 0, 0));
        let (first, late) = (
            begin_product(&states, 0, 0).unwrap(),
            begin_product(&states, 0, 0).unwrap(),
        );
        assert!(states.publish_product(&first, None).is_some());
        assert!(run(&states, 1, 2));
        assert!(states.publish_product(&late, None).is_some());
        assert_eq!(rebuild(&states, 0, 0), Some(2));
        assert_eq!(state(&states), (1, 2, Some(1), vec![0.0; 2]));
        let late = begin_product(&states, 1, 2).unwrap();
        assert!(run(&states, 2, 2));
        assert!(run(&states, 3, 2));
        assert!(states.publish_product(&late, None).is_none());
        assert_eq!(state(&states).0, 3);
    }

    #[test]
    fn the_first_of_two_rebuilds_that_differ_stays() {
        let states = States::default();
        assert!(run(&states, 0, 0));
        let kept = begin_product(&states, 0, 0).unwrap();
        states.expire(Duration::ZERO);
        assert_eq!(rebuild(&states, 0, 0), Some(3));
        assert!(run(&states, 1, 3));
        assert!(states.publish_product(&kept, None).is_some());
        assert_eq!(state(&states), (1, 3, Some(1), vec![0.0; 2]));
        // A leader that knows the stamp of the kept state does not get the other state.
        assert_eq!(kept.start.stamp, 2);
        assert!(!run(&states, 1, 2));
    }

    #[test]
    fn a_step_that_a_rebuild_dropped_does_not_come_back() {
        let states = States::default();
        assert!(run(&states, 0, 0));
        assert!(run(&states, 1, 0));
        assert_eq!(rebuild(&states, 1, 0), Some(4));
        states.expire(Duration::ZERO);
        // The messages from before the rebuild arrive once more.
        assert!(run(&states, 0, 0));
        assert!(run(&states, 1, 0));
        assert!(!run(&states, 2, 4));
        assert_eq!(rebuild(&states, 2, 4), Some(7));
    }

    #[test]
    fn stamps_are_exact_as_doubles() {
        let last = rebuild_stamp(MAX_ROUND + 1, true);
        assert_eq!(last, (1 << f64::MANTISSA_DIGITS) - 1);
        assert_eq!(last as f64 as i64, last);
    }

    #[test]
    fn freed_fits_stay_freed() {
        let states = States::default();
        let (late, late_product) = (
            begin(&states, 0, 0).unwrap(),
            begin_product(&states, 0, 0).unwrap(),
        );
        assert!(run(&states, 0, 0));
        assert_eq!(states.free(KEY.0), 3 * 8 * COORDINATES);
        assert_eq!(states.free(KEY.0), 0);
        assert!(!publish(&states, &late, 0));
        assert!(states.publish_product(&late_product, None).is_none());
        assert!(begin(&states, 0, 0).is_none());
        assert!(begin_product(&states, 0, 0).is_none());
        states.import(KEY, Committed::zero(COORDINATES, 0, 0).unwrap());
        assert_eq!((states.entries(), states.bytes()), (0, 0));
    }

    #[test]
    fn fits_and_partitions_are_apart() {
        let states = States::default();
        for key in [(1, 0), (1, 1), (2, 0)] {
            states.import(key, Committed::zero(COORDINATES, 3, 0).unwrap());
        }
        assert_eq!(states.entries(), 3);
        assert_eq!(states.free(1), 2 * 2 * 8 * COORDINATES);
        assert_eq!(states.coordinates((2, 0)), Some(COORDINATES));
        assert_eq!(states.coordinates((1, 0)), None);
    }

    #[test]
    fn another_number_of_coordinates_is_an_argument() {
        let states = States::default();
        assert!(run(&states, 0, 0));
        for round in [0, 1] {
            let fault = states.begin_round(KEY, round, 0, 3, ACCEPT).unwrap_err();
            assert!(matches!(fault, Fault::Argument(text) if text.contains("has 2 coordinates")));
            assert!(states.begin_product(KEY, round, 0, 3, ACCEPT).is_err());
        }
        // A state that will be replaced may have any number of coordinates.
        assert!(
            states
                .begin_product(KEY, 5, 0, 3, ACCEPT)
                .unwrap()
                .is_some()
        );
    }

    #[test]
    fn norms_are_computed_once() {
        let states = States::default();
        let ticket = begin(&states, 0, 0).unwrap();
        assert!(ticket.norms.is_none());
        let norms = Arc::new(RowNorms::with_room(COORDINATES, false).unwrap());
        let step = PendingStep {
            round: 0,
            cursor: 1,
            delta: vec![0.0; COORDINATES],
        };
        let bytes = states.publish_round(&ticket, Some(norms.clone()), step);
        assert_eq!(bytes, Some(states.bytes()));
        let kept = |round| begin(&states, round, 0).unwrap().norms;
        assert!(Arc::ptr_eq(&kept(1).unwrap(), &norms));
        states.import(KEY, Committed::zero(COORDINATES, 0, 0).unwrap());
        assert!(Arc::ptr_eq(&kept(0).unwrap(), &norms));
    }

    #[test]
    fn age_counts_from_the_last_touch() {
        let states = States::default();
        assert!(run(&states, 0, 0));
        assert_eq!(states.expire(Duration::from_secs(3600)), 0);
        thread::sleep(Duration::from_millis(5));
        assert_eq!(states.expire(Duration::from_millis(1)), 3 * 8 * COORDINATES);
        // Unlike a freed fit, an expired one may come back.
        assert_eq!(rebuild(&states, 0, 0), Some(3));
    }

    /// Events between a leader and a worker: current and old messages arrive in any order, attempts overlap, states get lost. In every
    /// case, an accepted answer is the answer of a worker without any trouble.
    #[derive(Debug, Clone, Copy)]
    enum Event {
        /// An attempt begins, on the message sent this number of messages ago.
        Begin(usize),
        /// An attempt ends.
        Publish(usize),
        /// An attempt is cancelled.
        Drop(usize),
        /// The worker loses its state; its attempts go on.
        Expire,
        /// Another worker has lost its state, so all are rebuilt.
        Rebuild,
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let event = prop_oneof![
            4 => Just(Event::Begin(0)),
            4 => (1..12usize).prop_map(Event::Begin),
            6 => (0..4usize).prop_map(Event::Publish),
            1 => (0..4usize).prop_map(Event::Drop),
            1 => Just(Event::Expire),
            1 => Just(Event::Rebuild),
        ];
        prop::collection::vec(event, 1..200)
    }

    /// A message of the leader to the worker.
    #[derive(Debug, Clone, Copy)]
    struct Message {
        round: i64,
        stamp: i64,
        verdict: Verdict,
        product: bool,
    }

    /// The leader. It knows the right state of every version and stamp, because it computes all of them.
    struct Leader {
        messages: Vec<Message>,
        /// Committed states by version and stamp.
        truth: HashMap<Identity, Committed>,
    }

    impl Leader {
        fn new() -> Self {
            let zero = Committed::zero(COORDINATES, 0, 0).unwrap();
            Self {
                messages: vec![Message {
                    round: 0,
                    stamp: 0,
                    verdict: ACCEPT,
                    product: false,
                }],
                truth: HashMap::from([((0, 0), zero)]),
            }
        }

        fn now(&self) -> Message {
            *self.messages.last().unwrap()
        }

        fn send(&mut self, round: i64, stamp: i64, product: bool) {
            let thirds = round % 3;
            self.messages.push(Message {
                round,
                stamp,
                verdict: Verdict {
                    pending: [1.0, 0.5, 0.0][thirds as usize],
                    previous: [0.0, 0.25, 0.0][thirds as usize],
                },
                product,
            });
        }

        /// The current message was answered.
        fn answered(&mut self, stamp: i64) {
            let now = self.now();
            self.send(now.round + 1, stamp, false);
            if !now.product {
                let next = self.now();
                let start = &self.truth[&(now.round, stamp)];
                let committed = start.after(&step(start, now.round), next.verdict).unwrap();
                self.truth.insert(committed.identity(), committed);
            }
        }

        /// A worker has lost its state: all are rebuilt. Each may keep what it has, or start again.
        fn lost(&mut self) {
            let now = self.now();
            let version = now.round + 1;
            let kept = self.truth[&(now.round, now.stamp)]
                .rebuilt(version)
                .unwrap();
            let restarted =
                Committed::zero(COORDINATES, version, rebuild_stamp(version, true)).unwrap();
            self.truth.insert(kept.identity(), kept);
            self.truth.insert(restarted.identity(), restarted);
            self.send(now.round, now.stamp, true);
        }
    }

    /// Sequences of messages: twenty times as many by `checkLong`, which sets DWELL_LONG.
    fn cases() -> u32 {
        512 * if std::env::var_os("DWELL_LONG").is_some() {
            20
        } else {
            1
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]
        #[test]
        #[cfg_attr(miri, ignore = "hours, and it adds no memory access to those of the other tests")]
        fn any_interleaving_gives_the_same_state(events in events()) {
            let states = States::default();
            let mut leader = Leader::new();
            let mut attempts: Vec<(usize, Ticket)> = Vec::new();
            for event in events {
                match event {
                    Event::Begin(age) => {
                        let index = (leader.messages.len() - 1).saturating_sub(age);
                        let message = leader.messages[index];
                        let Message { round, stamp, verdict, product } = message;
                        let ticket = if product {
                            states.begin_product(KEY, round, stamp, COORDINATES, verdict).unwrap()
                        } else {
                            states.begin_round(KEY, round, stamp, COORDINATES, verdict).unwrap()
                        };
                        match ticket {
                            Some(ticket) => attempts.push((index, ticket)),
                            None => {
                                prop_assert!(!product);
                                if index == leader.messages.len() - 1 {
                                    leader.lost();
                                }
                            }
                        }
                    }
                    Event::Publish(which) => {
                        if attempts.is_empty() {
                            continue;
                        }
                        let (index, ticket) = attempts.remove(which % attempts.len());
                        let message = leader.messages[index];
                        let of_now = index == leader.messages.len() - 1;
                        let before = states.export(KEY);
                        prop_assert_eq!(
                            Some(&*ticket.start),
                            leader.truth.get(&ticket.start.identity())
                        );
                        if message.product {
                            let answer = states.publish_product(&ticket, None);
                            if of_now {
                                prop_assert!(answer.is_some());
                                leader.answered(ticket.start.stamp);
                            }
                        } else {
                            let asked = (message.round, message.stamp);
                            prop_assert_eq!(ticket.start.identity(), asked);
                            let accepted = publish(&states, &ticket, message.round);
                            if !accepted {
                                prop_assert_eq!(&states.export(KEY), &before);
                            }
                            if of_now && accepted {
                                leader.answered(message.stamp);
                            } else if of_now {
                                leader.lost();
                            }
                        }
                    }
                    Event::Drop(which) => {
                        if !attempts.is_empty() {
                            attempts.remove(which % attempts.len());
                        }
                    }
                    Event::Expire => {
                        states.expire(Duration::ZERO);
                    }
                    Event::Rebuild => {
                        if !leader.now().product {
                            leader.lost();
                        }
                    }
                }
                if let Some(Snapshot { committed, pending }) = states.export(KEY) {
                    let truth = leader.truth.get(&committed.identity());
                    prop_assert_eq!(Some(&*committed), truth);
                    if let Some(pending) = pending {
                        prop_assert_eq!(&*pending, &step(&committed, committed.version));
                    }
                }
            }
            states.free(KEY.0);
            prop_assert_eq!((states.entries(), states.bytes()), (0, 0));
        }
    }
}
