//! Worker states between rounds, by (fit, partition).
//!
//! A state has a committed version and at most one pending step, and never decides on its own: the message of round t says what
//! becomes of the step of round t - 1. The **stamp** names the rebuild that a state descends from, and whether the rebuild had to
//! start again from zero; see [`rebuild_stamp`]. Version and stamp together determine the content of a state, whatever was
//! repeated, late or lost on the way to it.
//!
//! A call is `begin`, computation, `publish`. The computation works on a snapshot without any lock, and nothing is changed before
//! `publish`: a call that fails or is cancelled leaves the state as it was. What `publish` finds may be newer than the snapshot,
//! since attempts of a task can be repeated, late, or run at once; then it refuses.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use dwell_solvers::Verdict;
use once_cell::sync::Lazy;

use crate::{
    argument,
    boundary::arrays::Structure,
    boundary::fault::{Fault, reserve},
};

/// Fits freed lately, whose late tasks must not bring a state back.
const TOMBSTONES: usize = 1024;

/// The last round that can be asked for. The stamps up to it are exact as doubles, which is how a header has them.
pub const MAX_ROUND: i64 = (1 << 52) - 2;

/// The states of this process. Process-wide because the tasks of one fit share nothing else; freed with the fit, or by age. A
/// second class loader has a copy of the library, with a registry of its own, and its tasks get "state lost" once.
pub static REGISTRY: Lazy<Registry> = Lazy::new(Registry::default);

/// Fit and partition.
pub type Key = (i64, i32);

/// The stamp of what a rebuild leaves as `version`; 0, which no rebuild gives, is the start of the fit.
///
/// Every rebuild has stamps of its own, also for a state that it keeps: it drops the step of its round, and a worker that lost
/// its state and is sent messages from before the rebuild would bring that step back, under the old stamp. The two halves of a
/// pair tell a state that was kept from one that started again, since attempts of a rebuild on two workers may end differently.
const fn rebuild_stamp(version: i64, restarted: bool) -> i64 {
    2 * version + restarted as i64
}

/// A version of a state.
#[derive(Debug, Clone, PartialEq)]
pub struct Committed {
    /// The round that it is ready for.
    pub version: i64,
    pub stamp: i64,
    /// Buckets visited since the start of the fit.
    pub cursor: u64,
    pub alpha: Vec<f64>,
    /// What the last commit added to alpha.
    pub previous: Vec<f64>,
}

impl Committed {
    fn zero(coordinates: usize, version: i64, stamp: i64) -> Result<Self, Fault> {
        Ok(Self {
            version,
            stamp,
            cursor: 0,
            alpha: zeros(coordinates)?,
            previous: zeros(coordinates)?,
        })
    }

    fn identity(&self) -> Identity {
        (self.version, self.stamp)
    }

    /// Whether a rebuild has left this as `version`. A round may be pending on it since.
    fn is_of_rebuild(&self, version: i64) -> bool {
        self.version == version
            && [false, true]
                .map(|restarted| rebuild_stamp(version, restarted))
                .contains(&self.stamp)
    }

    /// What a rebuild that keeps the coordinates makes of them. The last step is forgotten: a worker that starts again has none, and
    /// line searches are along the same direction everywhere.
    fn rebuilt(&self, version: i64) -> Result<Self, Fault> {
        Ok(Self {
            version,
            stamp: rebuild_stamp(version, false),
            cursor: self.cursor,
            alpha: copied(&self.alpha)?,
            previous: zeros(self.previous.len())?,
        })
    }

    /// The version after `step` and its verdict.
    fn after(&self, step: &Step, verdict: Verdict) -> Result<Self, Fault> {
        let mut next = Self {
            version: step.round + 1,
            stamp: self.stamp,
            cursor: step.cursor,
            alpha: copied(&self.alpha)?,
            previous: copied(&self.previous)?,
        };
        verdict.commit(&mut next.alpha, &mut next.previous, &step.delta)?;
        Ok(next)
    }
}

fn zeros(length: usize) -> Result<Vec<f64>, Fault> {
    let mut vector = reserve(length, "a worker state")?;
    vector.resize(length, 0.0);
    Ok(vector)
}

fn copied(from: &[f64]) -> Result<Vec<f64>, Fault> {
    let mut vector = reserve(from.len(), "a worker state")?;
    vector.extend_from_slice(from);
    Ok(vector)
}

/// Version and stamp.
type Identity = (i64, i64);

/// What a round proposed.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub round: i64,
    /// The cursor after it.
    pub cursor: u64,
    pub delta: Vec<f64>,
}

#[derive(Debug)]
struct Entry {
    committed: Arc<Committed>,
    pending: Option<Arc<Step>>,
    /// The arrays that were validated for this partition.
    structure: Option<Structure>,
    used: Instant,
}

impl Entry {
    /// Bytes of the numbers it holds.
    fn bytes(&self) -> usize {
        let pending = self.pending.as_ref().map_or(0, |step| step.delta.len());
        let doubles = self.committed.alpha.len() + self.committed.previous.len() + pending;
        size_of::<f64>() * doubles
    }

    fn has_step_of(&self, round: i64) -> bool {
        self.pending
            .as_ref()
            .is_some_and(|step| step.round == round)
    }
}

/// That the arrays of a partition were validated, for calls that keep nothing else that matters.
#[derive(Debug)]
struct Check {
    structure: Structure,
    /// Memory for the next call, empty. No result depends on it.
    room: Vec<f32>,
    used: Instant,
}

impl Check {
    fn bytes(&self) -> usize {
        size_of::<Self>() + size_of::<f32>() * self.room.capacity()
    }
}

/// Where a call starts from.
#[derive(Debug)]
pub struct Ticket {
    key: Key,
    /// What was there when the call began.
    found: Option<Identity>,
    /// What the call computes with. It is not in the registry before `publish`.
    pub start: Arc<Committed>,
    /// The arrays that were validated before.
    pub structure: Option<Structure>,
}

/// A copy of a state.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    pub committed: Arc<Committed>,
    pub pending: Option<Arc<Step>>,
}

#[derive(Debug, Default)]
struct Inner {
    entries: HashMap<Key, Entry>,
    checks: HashMap<Key, Check>,
    /// Sum of the entries' bytes.
    bytes: usize,
    freed: VecDeque<i64>,
}

impl Inner {
    /// Puts an entry in place of what is there; returns its bytes.
    fn put(&mut self, key: Key, entry: Entry) -> usize {
        let bytes = entry.bytes();
        self.bytes += bytes;
        if let Some(old) = self.entries.insert(key, entry) {
            self.bytes -= old.bytes();
        }
        bytes
    }

    fn is_freed(&self, fit: i64) -> bool {
        self.freed.contains(&fit)
    }

    /// Takes out what `leaves` chooses by its key and by when it was last used.
    fn take(&mut self, mut leaves: impl FnMut(&Key, Instant) -> bool) -> (Vec<Entry>, Vec<Check>) {
        let entries: Vec<Entry> = self
            .entries
            .extract_if(|key, entry| leaves(key, entry.used))
            .map(|(_, entry)| entry)
            .collect();
        self.bytes -= entries.iter().map(Entry::bytes).sum::<usize>();
        let checks = self
            .checks
            .extract_if(|key, check| leaves(key, check.used))
            .map(|(_, check)| check)
            .collect();
        (entries, checks)
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct Registry {
    inner: Mutex<Inner>,
}

impl Registry {
    /// A panic under the lock may have left anything behind: all states are dropped then, and their tasks get "state lost".
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|poisoned| {
            self.inner.clear_poison();
            let mut inner = poisoned.into_inner();
            inner.entries.clear();
            inner.checks.clear();
            inner.bytes = 0;
            inner
        })
    }

    /// Where round `round` starts from: `None` if this process does not have the state it needs.
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
        let (snapshot, structure) = {
            let mut inner = self.lock();
            if inner.is_freed(key.0) {
                return Ok(None);
            }
            match inner.touch(key) {
                Some(found) => found,
                None if round == 0 && stamp == 0 => {
                    drop(inner);
                    return Ok(Some(Ticket {
                        key,
                        found: None,
                        start: Arc::new(Committed::zero(coordinates, 0, 0)?),
                        structure: None,
                    }));
                }
                None => return Ok(None),
            }
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
            structure,
        }))
    }

    /// Keeps `step` as pending, and the state it started from as committed. Returns the bytes of the state; `None`, and nothing
    /// is changed, if the fit was freed or the state has moved on since the ticket was drawn.
    pub fn publish_round(
        &self,
        ticket: &Ticket,
        structure: Structure,
        step: Step,
    ) -> Option<usize> {
        let mut inner = self.lock();
        if inner.is_freed(ticket.key.0) {
            return None;
        }
        let start = &ticket.start;
        let committed = match (ticket.found, inner.entries.get(&ticket.key)) {
            (None, None) => start.clone(),
            (Some(_), None) => return None,
            // Another attempt of the same round has been here before, or there was nothing to commit.
            (_, Some(entry))
                if entry.committed.identity() == start.identity()
                    && entry.committed.alpha.len() == start.alpha.len() =>
            {
                entry.committed.clone()
            }
            (Some(found), Some(entry))
                if entry.committed.identity() == found && entry.has_step_of(start.version - 1) =>
            {
                start.clone()
            }
            (_, Some(_)) => return None,
        };
        let entry = Entry {
            committed,
            pending: Some(Arc::new(step)),
            structure: Some(structure),
            used: Instant::now(),
        };
        Some(inner.put(ticket.key, entry))
    }

    /// Where a rebuild after round `round` starts from: what an earlier attempt of the rebuild has left, or the state that the
    /// round would have started from, under the stamp of a state that was kept; with no such state, zeros under the stamp of one
    /// that started again. `None` if the fit was freed.
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
        let found = {
            let mut inner = self.lock();
            if inner.is_freed(key.0) {
                return Ok(None);
            }
            inner.touch(key)
        };
        let version = round + 1;
        let kept = match &found {
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
        let (found, structure) = found.map_or((None, None), |(snapshot, structure)| {
            (Some(snapshot.committed.identity()), structure)
        });
        Ok(Some(Ticket {
            key,
            found,
            start,
            structure,
        }))
    }

    /// Makes the state of the ticket the committed one, with nothing pending. Returns its bytes; `None`, and nothing is changed,
    /// if the fit was freed or the state is newer than the ticket.
    pub fn publish_product(&self, ticket: &Ticket, structure: Structure) -> Option<usize> {
        let mut inner = self.lock();
        if inner.is_freed(ticket.key.0) {
            return None;
        }
        let start = &ticket.start;
        if let Some(entry) = inner.entries.get(&ticket.key) {
            if entry.committed.version > start.version {
                return None;
            }
            if entry.committed.is_of_rebuild(start.version) {
                // Another attempt has been here before, and perhaps the next round, whose step is kept. If that attempt ended
                // differently, one of the two answers names a state that is not here, and the next message finds out.
                return Some(entry.bytes());
            }
        }
        let entry = Entry {
            committed: start.clone(),
            pending: None,
            structure: Some(structure),
            used: Instant::now(),
        };
        Some(inner.put(ticket.key, entry))
    }

    /// The state as it is.
    pub fn export(&self, key: Key) -> Option<Snapshot> {
        self.lock().touch(key).map(|(snapshot, _)| snapshot)
    }

    /// Replaces a state; nothing is pending in it. Ignored if the fit was freed.
    pub fn import(&self, key: Key, committed: Committed) {
        let mut inner = self.lock();
        if inner.is_freed(key.0) {
            return;
        }
        let structure = inner.entries.get(&key).and_then(|entry| entry.structure);
        let entry = Entry {
            committed: Arc::new(committed),
            pending: None,
            structure,
            used: Instant::now(),
        };
        inner.put(key, entry);
    }

    /// Number of coordinates of a state.
    pub fn coordinates(&self, key: Key) -> Option<usize> {
        let inner = self.lock();
        inner
            .entries
            .get(&key)
            .map(|entry| entry.committed.alpha.len())
    }

    /// Frees the states of a fit, and refuses its late calls from now on. Returns the bytes freed.
    pub fn free(&self, fit: i64) -> usize {
        let taken = {
            let mut inner = self.lock();
            if !inner.is_freed(fit) {
                if inner.freed.len() == TOMBSTONES {
                    inner.freed.pop_front();
                }
                inner.freed.push_back(fit);
            }
            inner.take(|key, _| key.0 == fit)
        };
        dropped(taken)
    }

    /// Frees the states that no call has touched for longer than `age`. Returns the bytes freed.
    pub fn expire(&self, age: Duration) -> usize {
        let taken = self.lock().take(|_, used| used.elapsed() > age);
        dropped(taken)
    }

    /// The arrays that were validated for calls without a state.
    pub fn checked(&self, key: Key) -> Option<Structure> {
        let mut inner = self.lock();
        let check = inner.checks.get_mut(&key)?;
        check.used = Instant::now();
        Some(check.structure)
    }

    /// Remembers that arrays were validated. Ignored if the fit was freed.
    pub fn record_check(&self, key: Key, structure: Structure) {
        let mut inner = self.lock();
        if inner.is_freed(key.0) {
            return;
        }
        let used = Instant::now();
        let room = Vec::new();
        let check = inner.checks.entry(key).or_insert(Check {
            structure,
            room,
            used,
        });
        (check.structure, check.used) = (structure, used);
    }

    /// The room that calls without a state have left; an empty vector if there is none, or if another call has it.
    pub fn take_room(&self, key: Key) -> Vec<f32> {
        let mut inner = self.lock();
        let check = inner.checks.get_mut(&key);
        check.map_or_else(Vec::new, |check| std::mem::take(&mut check.room))
    }

    /// Leaves room for the next call. It is freed if the partition has no record of a check, or more room already.
    pub fn leave_room(&self, key: Key, mut room: Vec<f32>) {
        room.clear();
        // Dropped after the lock.
        let mut inner = self.lock();
        if let Some(check) = inner.checks.get_mut(&key) {
            check.used = Instant::now();
            if check.room.capacity() < room.capacity() {
                std::mem::swap(&mut check.room, &mut room);
            }
        }
    }

    /// Bytes of all states and checks.
    pub fn bytes(&self) -> usize {
        let inner = self.lock();
        inner.bytes + inner.checks.values().map(Check::bytes).sum::<usize>()
    }

    /// Number of states and checks.
    pub fn entries(&self) -> usize {
        let inner = self.lock();
        inner.entries.len() + inner.checks.len()
    }
}

impl Inner {
    fn touch(&mut self, key: Key) -> Option<(Snapshot, Option<Structure>)> {
        let entry = self.entries.get_mut(&key)?;
        entry.used = Instant::now();
        let snapshot = Snapshot {
            committed: entry.committed.clone(),
            pending: entry.pending.clone(),
        };
        Some((snapshot, entry.structure))
    }
}

impl Snapshot {
    /// The state of version `round`, if this is it or becomes it by the verdict on its pending step.
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
                "offsets are of {coordinates} coordinates, but the state of fit {fit}, partition {partition} has {have} coordinates: pass the partition that the fit began with"
            ))
        }
    }
}

/// Drops entries and checks outside of the lock, and gives their memory back to the system, which the allocator would keep. Returns the bytes.
fn dropped((entries, checks): (Vec<Entry>, Vec<Check>)) -> usize {
    let bytes = entries.iter().map(Entry::bytes).sum::<usize>()
        + checks.iter().map(Check::bytes).sum::<usize>();
    let any = !entries.is_empty() || checks.iter().any(|check| check.room.capacity() > 0);
    drop((entries, checks));
    if any {
        trim();
    }
    bytes
}

#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
fn trim() {
    unsafe extern "C" {
        fn malloc_trim(pad: usize) -> i32;
    }
    // SAFETY: a function of glibc with this signature, callable from any thread at any time.
    unsafe {
        malloc_trim(0);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(miri))))]
fn trim() {}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashMap,
        panic::{AssertUnwindSafe, catch_unwind},
        thread,
    };

    use dwell_solvers::Values;
    use proptest::{prelude::*, test_runner::RngSeed};

    use super::*;
    use crate::{
        boundary::arrays::{Arrays, Matrix},
        cd::primal::{Moments, Primal},
    };

    const KEY: Key = (7, 2);
    const COORDINATES: usize = 2;
    const ACCEPT: Verdict = Verdict {
        pending: 1.0,
        previous: 0.0,
    };

    fn structure() -> Structure {
        let moments = [0.0; COORDINATES];
        let arrays = Arrays::<Primal> {
            matrix: Matrix {
                offsets: &[0; COORDINATES + 1],
                indices: &[],
                values: Values::Ones,
            },
            fields: Moments {
                mean: &moments,
                variance: &moments,
                deviation: &moments,
                weights: None,
            },
            shared: &[],
        };
        Structure::of(0, &arrays)
    }

    /// What a round proposes: a function of its start, different for every round.
    fn step(start: &Committed, round: i64) -> Step {
        Step {
            round,
            cursor: start.cursor + 3,
            delta: start
                .alpha
                .iter()
                .map(|a| 0.5 * a + 1.0 + round as f64)
                .collect(),
        }
    }

    fn begin(registry: &Registry, round: i64, stamp: i64) -> Option<Ticket> {
        registry
            .begin_round(KEY, round, stamp, COORDINATES, ACCEPT)
            .unwrap()
    }

    fn publish(registry: &Registry, ticket: &Ticket, round: i64) -> bool {
        let step = step(&ticket.start, round);
        registry.publish_round(ticket, structure(), step).is_some()
    }

    fn run(registry: &Registry, round: i64, stamp: i64) -> bool {
        begin(registry, round, stamp).is_some_and(|ticket| publish(registry, &ticket, round))
    }

    fn begin_product(registry: &Registry, round: i64, stamp: i64) -> Option<Ticket> {
        registry
            .begin_product(KEY, round, stamp, COORDINATES, ACCEPT)
            .unwrap()
    }

    /// The stamp after the rebuild.
    fn rebuild(registry: &Registry, round: i64, stamp: i64) -> Option<i64> {
        let ticket = begin_product(registry, round, stamp)?;
        registry.publish_product(&ticket, structure())?;
        Some(ticket.start.stamp)
    }

    fn state(registry: &Registry) -> (i64, i64, Option<i64>, Vec<f64>) {
        let snapshot = registry.export(KEY).unwrap();
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
    fn checks_are_counted_and_freed() {
        let registry = Registry::default();
        let bytes = size_of::<Check>();
        assert_eq!(registry.checked(KEY), None);
        registry.record_check(KEY, structure());
        registry.record_check(KEY, structure());
        registry.record_check((KEY.0, 9), structure());
        registry.record_check((8, 2), structure());
        assert_eq!(registry.checked(KEY), Some(structure()));
        assert_eq!((registry.entries(), registry.bytes()), (3, 3 * bytes));
        // A state of the same partition is another thing.
        assert!(run(&registry, 0, 0));
        assert_eq!(registry.entries(), 4);
        assert_eq!(registry.export((8, 2)), None);
        assert_eq!(registry.expire(Duration::from_secs(60)), 0);
        let all = registry.bytes();
        assert_eq!(registry.free(KEY.0), all - bytes);
        assert_eq!((registry.entries(), registry.bytes()), (1, bytes));
        // A late call of a fit that was freed leaves nothing behind.
        registry.record_check(KEY, structure());
        assert_eq!(registry.checked(KEY), None);
        assert_eq!(registry.expire(Duration::ZERO), bytes);
        assert_eq!((registry.entries(), registry.bytes()), (0, 0));
    }

    #[test]
    fn room_is_of_its_check() {
        let registry = Registry::default();
        let bytes = size_of::<Check>();
        let room = |numbers: usize| vec![1.0; numbers];
        // Without a record there is no place for it.
        registry.leave_room(KEY, room(8));
        assert_eq!(registry.take_room(KEY).capacity(), 0);
        for key in [KEY, (KEY.0, 9), (8, 2)] {
            registry.record_check(key, structure());
            registry.leave_room(key, room(8));
        }
        assert_eq!(registry.bytes(), 3 * (bytes + 32));
        // Another call of the partition has none, and what is left twice is not kept twice; the larger one stays.
        let taken = registry.take_room(KEY);
        assert!(taken.is_empty() && taken.capacity() == 8);
        assert_eq!(registry.take_room(KEY).capacity(), 0);
        assert_eq!(registry.bytes(), 3 * bytes + 64);
        registry.leave_room(KEY, room(20));
        registry.leave_room(KEY, taken);
        // A check that is repeated leaves it there.
        registry.record_check(KEY, structure());
        assert_eq!(registry.bytes(), 3 * bytes + 64 + 80);
        assert_eq!(registry.take_room(KEY).capacity(), 20);
        registry.leave_room(KEY, room(20));
        assert_eq!(registry.free(KEY.0), 2 * bytes + 32 + 80);
        // A late call of a fit that was freed leaves nothing behind.
        registry.leave_room(KEY, room(8));
        assert_eq!(registry.bytes(), bytes + 32);
        assert_eq!(registry.expire(Duration::ZERO), bytes + 32);
        assert_eq!((registry.entries(), registry.bytes()), (0, 0));
    }

    #[test]
    fn rounds_follow_one_another() {
        let registry = Registry::default();
        assert!(begin(&registry, 0, 1).is_none());
        assert!(begin(&registry, 1, 0).is_none());
        assert!(run(&registry, 0, 0));
        assert_eq!(state(&registry), (0, 0, Some(0), vec![0.0; 2]));
        assert!(run(&registry, 1, 0));
        assert_eq!(state(&registry), (1, 0, Some(1), vec![1.0; 2]));
        assert_eq!(registry.export(KEY).unwrap().committed.cursor, 3);
        // Older, newer, of another stamp.
        assert!(begin(&registry, 0, 0).is_none());
        assert!(begin(&registry, 3, 0).is_none());
        assert!(begin(&registry, 1, 4).is_none());
        assert!(begin(&registry, 2, 4).is_none());
        assert_eq!(state(&registry), (1, 0, Some(1), vec![1.0; 2]));
    }

    #[test]
    fn nothing_changes_before_a_publish() {
        let registry = Registry::default();
        drop(begin(&registry, 0, 0));
        assert_eq!(registry.entries(), 0);
        assert!(run(&registry, 0, 0));
        let before = registry.export(KEY);
        let ticket = begin(&registry, 1, 0).unwrap();
        assert_eq!(ticket.start.alpha, vec![1.0; 2]);
        drop(ticket);
        drop(begin_product(&registry, 1, 0));
        drop(begin_product(&registry, 9, 9));
        assert_eq!(registry.export(KEY), before);
    }

    #[test]
    fn a_verdict_can_reject_and_use_the_step_before() {
        let registry = Registry::default();
        assert!(run(&registry, 0, 0));
        let reject = Verdict {
            pending: 0.0,
            previous: 0.0,
        };
        let ticket = registry
            .begin_round(KEY, 1, 0, COORDINATES, reject)
            .unwrap()
            .unwrap();
        assert_eq!(ticket.start.alpha, vec![0.0; 2]);
        assert!(run(&registry, 1, 0));
        let half = Verdict {
            pending: 0.0,
            previous: 0.5,
        };
        let ticket = registry
            .begin_round(KEY, 2, 0, COORDINATES, half)
            .unwrap()
            .unwrap();
        assert_eq!(ticket.start.alpha, vec![1.5; 2]);
        assert_eq!(ticket.start.previous, vec![0.5; 2]);
    }

    #[test]
    fn repeated_and_concurrent_attempts_apply_once() {
        let registry = Registry::default();
        let (first, second) = (
            begin(&registry, 0, 0).unwrap(),
            begin(&registry, 0, 0).unwrap(),
        );
        assert!(publish(&registry, &first, 0));
        assert!(publish(&registry, &second, 0));
        assert!(run(&registry, 0, 0));
        let (first, second) = (
            begin(&registry, 1, 0).unwrap(),
            begin(&registry, 1, 0).unwrap(),
        );
        assert!(publish(&registry, &first, 1));
        assert!(publish(&registry, &second, 1));
        assert!(run(&registry, 1, 0));
        assert_eq!(state(&registry), (1, 0, Some(1), vec![1.0; 2]));
        assert_eq!(registry.bytes(), 3 * 8 * COORDINATES);
    }

    #[test]
    fn a_late_publish_is_refused() {
        let registry = Registry::default();
        let late = begin(&registry, 0, 0).unwrap();
        assert!(run(&registry, 0, 0));
        assert!(run(&registry, 1, 0));
        assert!(!publish(&registry, &late, 0));
        let late = begin(&registry, 1, 0).unwrap();
        assert_eq!(rebuild(&registry, 1, 0), Some(4));
        assert!(!publish(&registry, &late, 1));
        assert_eq!(state(&registry), (2, 4, None, vec![1.0; 2]));
        let late = begin(&registry, 2, 4).unwrap();
        assert!(registry.expire(Duration::ZERO) > 0);
        assert!(!publish(&registry, &late, 2));
        assert_eq!(registry.entries(), 0);
        // A rebuild has no state to lose: what it computed is right whatever happened meanwhile.
        assert_eq!(rebuild(&registry, 2, 4), Some(7));
    }

    #[test]
    fn rebuilds() {
        let registry = Registry::default();
        // No state; then repeated.
        assert_eq!(rebuild(&registry, 4, 0), Some(11));
        assert_eq!(rebuild(&registry, 4, 0), Some(11));
        assert!(run(&registry, 5, 11));
        // The step that waits for its verdict; then repeated.
        assert_eq!(rebuild(&registry, 6, 11), Some(14));
        assert_eq!(rebuild(&registry, 6, 11), Some(14));
        assert_eq!(state(&registry), (7, 14, None, vec![6.0; 2]));
        // The step of the round itself is dropped, it has had no verdict.
        assert!(run(&registry, 7, 14));
        assert_eq!(rebuild(&registry, 7, 14), Some(16));
        assert_eq!(state(&registry), (8, 16, None, vec![6.0; 2]));
        // Another stamp.
        assert_eq!(rebuild(&registry, 8, 14), Some(19));
        assert_eq!(state(&registry), (9, 19, None, vec![0.0; 2]));
        // Another version.
        assert_eq!(rebuild(&registry, 20, 19), Some(43));
        // Older than the state: late.
        assert_eq!(rebuild(&registry, 3, 43), None);
        assert_eq!(state(&registry), (21, 43, None, vec![0.0; 2]));
    }

    #[test]
    fn a_late_rebuild_leaves_the_round_after_it() {
        let registry = Registry::default();
        assert!(run(&registry, 0, 0));
        let (first, late) = (
            begin_product(&registry, 0, 0).unwrap(),
            begin_product(&registry, 0, 0).unwrap(),
        );
        assert!(registry.publish_product(&first, structure()).is_some());
        assert!(run(&registry, 1, 2));
        assert!(registry.publish_product(&late, structure()).is_some());
        assert_eq!(rebuild(&registry, 0, 0), Some(2));
        assert_eq!(state(&registry), (1, 2, Some(1), vec![0.0; 2]));
        let late = begin_product(&registry, 1, 2).unwrap();
        assert!(run(&registry, 2, 2));
        assert!(run(&registry, 3, 2));
        assert!(registry.publish_product(&late, structure()).is_none());
        assert_eq!(state(&registry).0, 3);
    }

    #[test]
    fn the_first_of_two_rebuilds_that_differ_stays() {
        let registry = Registry::default();
        assert!(run(&registry, 0, 0));
        let kept = begin_product(&registry, 0, 0).unwrap();
        registry.expire(Duration::ZERO);
        assert_eq!(rebuild(&registry, 0, 0), Some(3));
        assert!(run(&registry, 1, 3));
        assert!(registry.publish_product(&kept, structure()).is_some());
        assert_eq!(state(&registry), (1, 3, Some(1), vec![0.0; 2]));
        // A driver that has heard of the state that was kept does not get the other.
        assert_eq!(kept.start.stamp, 2);
        assert!(!run(&registry, 1, 2));
    }

    #[test]
    fn a_step_that_a_rebuild_dropped_does_not_come_back() {
        let registry = Registry::default();
        assert!(run(&registry, 0, 0));
        assert!(run(&registry, 1, 0));
        assert_eq!(rebuild(&registry, 1, 0), Some(4));
        registry.expire(Duration::ZERO);
        // The messages from before the rebuild arrive once more.
        assert!(run(&registry, 0, 0));
        assert!(run(&registry, 1, 0));
        assert!(!run(&registry, 2, 4));
        assert_eq!(rebuild(&registry, 2, 4), Some(7));
    }

    #[test]
    fn stamps_are_exact_as_doubles() {
        let last = rebuild_stamp(MAX_ROUND + 1, true);
        assert_eq!(last, (1 << f64::MANTISSA_DIGITS) - 1);
        assert_eq!(last as f64 as i64, last);
    }

    #[test]
    fn freed_fits_stay_freed() {
        let registry = Registry::default();
        let (late, late_product) = (
            begin(&registry, 0, 0).unwrap(),
            begin_product(&registry, 0, 0).unwrap(),
        );
        assert!(run(&registry, 0, 0));
        assert_eq!(registry.free(KEY.0), 3 * 8 * COORDINATES);
        assert_eq!(registry.free(KEY.0), 0);
        assert!(!publish(&registry, &late, 0));
        assert!(
            registry
                .publish_product(&late_product, structure())
                .is_none()
        );
        assert!(begin(&registry, 0, 0).is_none());
        assert!(begin_product(&registry, 0, 0).is_none());
        registry.import(KEY, Committed::zero(COORDINATES, 0, 0).unwrap());
        assert_eq!((registry.entries(), registry.bytes()), (0, 0));
        // The list of freed fits is bounded: the oldest is forgotten.
        for fit in 0..TOMBSTONES as i64 {
            registry.free(fit + 1000);
        }
        assert!(begin(&registry, 0, 0).is_some());
    }

    #[test]
    fn fits_and_partitions_are_apart() {
        let registry = Registry::default();
        for key in [(1, 0), (1, 1), (2, 0)] {
            registry.import(key, Committed::zero(COORDINATES, 3, 0).unwrap());
        }
        assert_eq!(registry.entries(), 3);
        assert_eq!(registry.free(1), 2 * 2 * 8 * COORDINATES);
        assert_eq!(registry.coordinates((2, 0)), Some(COORDINATES));
        assert_eq!(registry.coordinates((1, 0)), None);
    }

    #[test]
    fn another_number_of_coordinates_is_an_argument() {
        let registry = Registry::default();
        assert!(run(&registry, 0, 0));
        for round in [0, 1] {
            let fault = registry.begin_round(KEY, round, 0, 3, ACCEPT).unwrap_err();
            assert!(matches!(fault, Fault::Argument(text) if text.contains("has 2 coordinates")));
            assert!(registry.begin_product(KEY, round, 0, 3, ACCEPT).is_err());
        }
        // A state that is to be replaced may have any.
        assert!(
            registry
                .begin_product(KEY, 5, 0, 3, ACCEPT)
                .unwrap()
                .is_some()
        );
    }

    #[test]
    fn arrays_are_validated_once() {
        let registry = Registry::default();
        assert!(begin(&registry, 0, 0).unwrap().structure.is_none());
        assert!(run(&registry, 0, 0));
        assert!(begin(&registry, 1, 0).unwrap().structure == Some(structure()));
        registry.import(KEY, Committed::zero(COORDINATES, 0, 0).unwrap());
        assert!(begin(&registry, 0, 0).unwrap().structure == Some(structure()));
    }

    #[test]
    fn age_counts_from_the_last_touch() {
        let registry = Registry::default();
        assert!(run(&registry, 0, 0));
        assert_eq!(registry.expire(Duration::from_secs(3600)), 0);
        thread::sleep(Duration::from_millis(5));
        assert_eq!(
            registry.expire(Duration::from_millis(1)),
            3 * 8 * COORDINATES
        );
        // Not for good.
        assert_eq!(rebuild(&registry, 0, 0), Some(3));
    }

    #[test]
    fn a_poisoned_lock_loses_the_states_and_nothing_else() {
        let registry = Registry::default();
        assert!(run(&registry, 0, 0));
        registry.free(99);
        let poisoning = catch_unwind(AssertUnwindSafe(|| {
            let _inner = registry.inner.lock();
            panic!("under the lock");
        }));
        assert!(poisoning.is_err());
        assert!(begin(&registry, 1, 0).is_none());
        assert_eq!((registry.entries(), registry.bytes()), (0, 0));
        assert!(
            registry
                .begin_round((99, 0), 0, 0, COORDINATES, ACCEPT)
                .unwrap()
                .is_none()
        );
        assert_eq!(rebuild(&registry, 1, 0), Some(5));
    }

    /// What a driver and its workers do: messages of the present and of the past arrive in any order, attempts overlap, states get
    /// lost. Whatever happens, an accepted answer is the one that a single worker without any trouble would have given.
    #[derive(Debug, Clone, Copy)]
    enum Event {
        /// An attempt begins, of the message sent so many messages ago.
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

    #[derive(Debug, Clone, Copy)]
    struct Message {
        round: i64,
        stamp: i64,
        verdict: Verdict,
        product: bool,
    }

    /// The driver: it knows what every version of every stamp must be, since it can compute all of it.
    struct Driver {
        messages: Vec<Message>,
        /// Committed states by version and stamp.
        truth: HashMap<Identity, Committed>,
    }

    impl Driver {
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

        /// The message of now was answered.
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

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]
        #[test]
        #[cfg_attr(miri, ignore = "hours, and it adds no memory access to those of the other tests")]
        fn any_interleaving_gives_the_same_state(events in events()) {
            let registry = Registry::default();
            let mut driver = Driver::new();
            let mut attempts: Vec<(usize, Ticket)> = Vec::new();
            for event in events {
                match event {
                    Event::Begin(age) => {
                        let index = (driver.messages.len() - 1).saturating_sub(age);
                        let message = driver.messages[index];
                        let Message { round, stamp, verdict, product } = message;
                        let ticket = if product {
                            registry.begin_product(KEY, round, stamp, COORDINATES, verdict).unwrap()
                        } else {
                            registry.begin_round(KEY, round, stamp, COORDINATES, verdict).unwrap()
                        };
                        match ticket {
                            Some(ticket) => attempts.push((index, ticket)),
                            None => {
                                prop_assert!(!product);
                                if index == driver.messages.len() - 1 {
                                    driver.lost();
                                }
                            }
                        }
                    }
                    Event::Publish(which) => {
                        if attempts.is_empty() {
                            continue;
                        }
                        let (index, ticket) = attempts.remove(which % attempts.len());
                        let message = driver.messages[index];
                        let of_now = index == driver.messages.len() - 1;
                        let before = registry.export(KEY);
                        prop_assert_eq!(
                            Some(&*ticket.start),
                            driver.truth.get(&ticket.start.identity())
                        );
                        if message.product {
                            let answer = registry.publish_product(&ticket, structure());
                            if of_now {
                                prop_assert!(answer.is_some());
                                driver.answered(ticket.start.stamp);
                            }
                        } else {
                            let asked = (message.round, message.stamp);
                            prop_assert_eq!(ticket.start.identity(), asked);
                            let accepted = publish(&registry, &ticket, message.round);
                            if !accepted {
                                prop_assert_eq!(&registry.export(KEY), &before);
                            }
                            if of_now && accepted {
                                driver.answered(message.stamp);
                            } else if of_now {
                                driver.lost();
                            }
                        }
                    }
                    Event::Drop(which) => {
                        if !attempts.is_empty() {
                            attempts.remove(which % attempts.len());
                        }
                    }
                    Event::Expire => {
                        registry.expire(Duration::ZERO);
                    }
                    Event::Rebuild => {
                        if !driver.now().product {
                            driver.lost();
                        }
                    }
                }
                if let Some(Snapshot { committed, pending }) = registry.export(KEY) {
                    let truth = driver.truth.get(&committed.identity());
                    prop_assert_eq!(Some(&*committed), truth);
                    if let Some(pending) = pending {
                        prop_assert_eq!(&*pending, &step(&committed, committed.version));
                    }
                }
            }
            registry.free(KEY.0);
            prop_assert_eq!((registry.entries(), registry.bytes()), (0, 0));
        }
    }
}
