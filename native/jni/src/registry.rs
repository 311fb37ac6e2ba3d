//! Worker states between rounds, by (fit, partition).
//!
//! A state has a committed version and at most one pending step, and never decides on its own: the message of round t says what
//! becomes of the step of round t - 1. The **stamp** names the rebuild that a state descends from, so that a state that started
//! again from zero is never taken for the one that was lost.
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
    boundary::{Fault, reserve},
    primal::Structure,
};

/// Fits freed lately, whose late tasks must not bring a state back.
const TOMBSTONES: usize = 4096;

/// The states of this process. Process-wide because the tasks of one fit share nothing else; freed with the fit, or by age. A
/// second class loader has a copy of the library, with a registry of its own, and its tasks get "state lost" once.
pub static REGISTRY: Lazy<Registry> = Lazy::new(Registry::default);

/// Fit and partition.
pub type Key = (i64, i32);

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
    fn zero(columns: usize, version: i64, stamp: i64) -> Result<Self, Fault> {
        Ok(Self {
            version,
            stamp,
            cursor: 0,
            alpha: zeros(columns)?,
            previous: zeros(columns)?,
        })
    }

    fn identity(&self) -> Identity {
        (self.version, self.stamp)
    }

    /// The same coefficients as another version, without what was pending.
    fn renamed(&self, version: i64) -> Result<Self, Fault> {
        Ok(Self {
            version,
            stamp: self.stamp,
            cursor: self.cursor,
            alpha: copied(&self.alpha)?,
            previous: copied(&self.previous)?,
        })
    }

    /// The version after `step` and its verdict.
    fn after(&self, step: &Step, verdict: Verdict) -> Result<Self, Fault> {
        let mut next = self.renamed(step.round + 1)?;
        next.cursor = step.cursor;
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

    /// Takes out the entries that `leaves` chooses.
    fn take(&mut self, mut leaves: impl FnMut(&Key, &Entry) -> bool) -> Vec<Entry> {
        let taken: Vec<Entry> = self
            .entries
            .extract_if(|key, entry| leaves(key, entry))
            .map(|(_, entry)| entry)
            .collect();
        self.bytes -= taken.iter().map(Entry::bytes).sum::<usize>();
        taken
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
    /// `Argument` if the state has another number of columns, `OutOfMemory`.
    pub fn begin_round(
        &self,
        key: Key,
        round: i64,
        stamp: i64,
        columns: usize,
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
                        start: Arc::new(Committed::zero(columns, 0, 0)?),
                        structure: None,
                    }));
                }
                None => return Ok(None),
            }
        };
        if snapshot.committed.stamp != stamp {
            return Ok(None);
        }
        let Some(start) = snapshot.settled(round, verdict, key, columns)? else {
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

    /// Where a rebuild after round `round` starts from: the state that the round would have started from, or what an earlier
    /// attempt of the rebuild has left; with no such state, zeros with stamp `round + 1`. `None` if the fit was freed.
    ///
    /// # Errors
    /// `Argument` if the state has another number of columns, `OutOfMemory`.
    pub fn begin_product(
        &self,
        key: Key,
        round: i64,
        stamp: i64,
        columns: usize,
        verdict: Verdict,
    ) -> Result<Option<Ticket>, Fault> {
        let found = {
            let mut inner = self.lock();
            if inner.is_freed(key.0) {
                return Ok(None);
            }
            inner.touch(key)
        };
        let mut start = None;
        if let Some((snapshot, _)) = &found
            && snapshot.committed.stamp == stamp
        {
            start = if snapshot.committed.version == round + 1 && snapshot.pending.is_none() {
                snapshot.with_columns(key, columns)?;
                Some(snapshot.committed.clone())
            } else {
                snapshot
                    .settled(round, verdict, key, columns)?
                    .map(|settled| settled.renamed(round + 1).map(Arc::new))
                    .transpose()?
            };
        }
        let start = match start {
            Some(start) => start,
            None => Arc::new(Committed::zero(columns, round + 1, round + 1)?),
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
            if entry.committed.identity() == start.identity() {
                // Another attempt has been here before, and perhaps the next round, whose step is kept.
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
        let structure = inner
            .entries
            .get(&key)
            .and_then(|entry| entry.structure.clone());
        let entry = Entry {
            committed: Arc::new(committed),
            pending: None,
            structure,
            used: Instant::now(),
        };
        inner.put(key, entry);
    }

    /// Number of columns of a state.
    pub fn columns(&self, key: Key) -> Option<usize> {
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
        let taken = self.lock().take(|_, entry| entry.used.elapsed() > age);
        dropped(taken)
    }

    /// Bytes of all states.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// Number of states.
    pub fn entries(&self) -> usize {
        self.lock().entries.len()
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
        Some((snapshot, entry.structure.clone()))
    }
}

impl Snapshot {
    /// The state of version `round`, if this is it or becomes it by the verdict on its pending step.
    fn settled(
        &self,
        round: i64,
        verdict: Verdict,
        key: Key,
        columns: usize,
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
            self.with_columns(key, columns)?;
        }
        Ok(settled)
    }

    fn with_columns(&self, (fit, partition): Key, columns: usize) -> Result<(), Fault> {
        let have = self.committed.alpha.len();
        if have == columns {
            Ok(())
        } else {
            Err(argument!(
                "mean has length {columns}, but the state of fit {fit}, partition {partition} has {have} coefficients: pass the columns that the fit began with"
            ))
        }
    }
}

/// Drops entries outside of the lock, and gives their memory back to the system, which the allocator would keep.
fn dropped(entries: Vec<Entry>) -> usize {
    let bytes = entries.iter().map(Entry::bytes).sum();
    let any = !entries.is_empty();
    drop(entries);
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
