//! Values that this process keeps for the partitions of fits between calls. The table is a cache: values are freed with their fit, or by
//! age, and losing them costs time, never correctness.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard},
    time::{Duration, Instant},
};

use crate::boundary::memory::trim;

/// Fit and partition.
pub type Key = (i64, i32);

/// Freed fits that a table remembers, so that their late tasks do not create values again.
const REMEMBERED: usize = 1024;

/// A value that a table can keep.
pub trait Kept {
    /// Bytes that it holds.
    fn bytes(&self) -> usize;

    /// Whether some of the bytes are separate allocations, which are worth returning to the system.
    fn allocates(&self) -> bool;
}

/// One value for each partition of each fit.
#[derive(Debug)]
pub struct Table<V> {
    inner: Mutex<Inner<V>>,
}

impl<V> Default for Table<V> {
    fn default() -> Self {
        Self {
            inner: Mutex::new(Inner {
                entries: HashMap::new(),
                freed: VecDeque::new(),
            }),
        }
    }
}

/// The contents of a table, under its lock.
#[derive(Debug)]
struct Inner<V> {
    entries: HashMap<Key, Entry<V>>,
    /// Fits freed lately, the oldest first.
    freed: VecDeque<i64>,
}

/// A value and the time of its last use.
#[derive(Debug)]
struct Entry<V> {
    value: V,
    /// When a call last touched it.
    used: Instant,
}

/// A table that is locked for a call on one partition of a fit that was not freed.
#[derive(Debug)]
pub struct Locked<'a, V> {
    inner: MutexGuard<'a, Inner<V>>,
    key: Key,
}

impl<V: Kept> Locked<'_, V> {
    /// The value of the partition, which counts as used now.
    pub fn touch(&mut self) -> Option<&mut V> {
        let entry = self.inner.entries.get_mut(&self.key)?;
        entry.used = Instant::now();
        Some(&mut entry.value)
    }

    /// The value of the partition, without a touch.
    pub fn peek(&self) -> Option<&V> {
        self.inner.entries.get(&self.key).map(|entry| &entry.value)
    }

    /// Replaces the value of the partition.
    pub fn put(&mut self, value: V) {
        let used = Instant::now();
        self.inner.entries.insert(self.key, Entry { value, used });
    }
}

impl<V: Kept> Table<V> {
    /// A panic under the lock may leave values half-written: then all of them are dropped. The list of freed fits stays.
    fn lock(&self) -> MutexGuard<'_, Inner<V>> {
        self.inner.lock().unwrap_or_else(|poisoned| {
            self.inner.clear_poison();
            let mut inner = poisoned.into_inner();
            inner.entries.clear();
            inner
        })
    }

    /// Locks the table for a call on a partition; `None` if its fit was freed.
    pub fn open(&self, key: Key) -> Option<Locked<'_, V>> {
        let inner = self.lock();
        (!inner.freed.contains(&key.0)).then_some(Locked { inner, key })
    }

    /// Drops the values of a fit, and refuses its late calls from now on. Returns the bytes freed.
    pub fn free(&self, fit: i64) -> usize {
        let mut inner = self.lock();
        if !inner.freed.contains(&fit) {
            if inner.freed.len() == REMEMBERED {
                inner.freed.pop_front();
            }
            inner.freed.push_back(fit);
        }
        take(inner, |key, _| key.0 == fit)
    }

    /// Drops the values that no call has touched for longer than `age`. Returns the bytes freed.
    pub fn expire(&self, age: Duration) -> usize {
        take(self.lock(), |_, used| used.elapsed() > age)
    }

    /// Bytes of all values.
    pub fn bytes(&self) -> usize {
        let inner = self.lock();
        inner
            .entries
            .values()
            .map(|entry| entry.value.bytes())
            .sum()
    }

    /// Number of values.
    pub fn entries(&self) -> usize {
        self.lock().entries.len()
    }
}

/// Takes out the values whose key and last use `leaves` accepts, and drops them outside of the lock. Returns their bytes.
fn take<V: Kept>(
    mut inner: MutexGuard<'_, Inner<V>>,
    mut leaves: impl FnMut(&Key, Instant) -> bool,
) -> usize {
    let taken: Vec<Entry<V>> = inner
        .entries
        .extract_if(|key, entry| leaves(key, entry.used))
        .map(|(_, entry)| entry)
        .collect();
    drop(inner);
    let bytes = taken.iter().map(|entry| entry.value.bytes()).sum();
    let allocates = taken.iter().any(|entry| entry.value.allocates());
    drop(taken);
    if allocates {
        trim();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        thread,
    };

    use super::*;

    impl Kept for Vec<u8> {
        fn bytes(&self) -> usize {
            self.len()
        }

        fn allocates(&self) -> bool {
            self.capacity() > 0
        }
    }

    fn put(table: &Table<Vec<u8>>, key: Key, bytes: usize) -> bool {
        let locked = table.open(key);
        locked
            .map(|mut locked| locked.put(vec![0; bytes]))
            .is_some()
    }

    #[test]
    fn fits_and_partitions_are_apart() {
        let table = Table::default();
        for key in [(1, 0), (1, 1), (2, 0)] {
            assert!(put(&table, key, 10));
        }
        assert!(put(&table, (2, 0), 3));
        assert_eq!((table.entries(), table.bytes()), (3, 23));
        assert_eq!(table.free(1), 20);
        assert_eq!(table.open((2, 0)).unwrap().peek().map(Vec::len), Some(3));
        assert!(table.open((2, 1)).unwrap().touch().is_none());
    }

    #[test]
    fn freed_fits_stay_freed() {
        let table = Table::default();
        assert_eq!(table.free(7), 0);
        assert_eq!(table.free(7), 0);
        assert!(!put(&table, (7, 0), 1));
        // The list of freed fits is bounded: the table forgets the oldest.
        for fit in 0..REMEMBERED as i64 {
            table.free(fit + 1000);
        }
        assert!(put(&table, (7, 0), 1));
    }

    #[test]
    fn age_counts_from_the_last_touch() {
        let table = Table::default();
        assert!(put(&table, (1, 0), 10) && put(&table, (1, 1), 20));
        assert_eq!(table.expire(Duration::from_secs(3600)), 0);
        thread::sleep(Duration::from_millis(30));
        assert!(table.open((1, 0)).unwrap().touch().is_some());
        assert!(table.open((1, 1)).unwrap().peek().is_some());
        assert_eq!(table.expire(Duration::from_millis(20)), 20);
        // Unlike a freed fit, an expired one may come back.
        assert!(put(&table, (1, 1), 5));
        assert_eq!(table.bytes(), 15);
    }

    #[test]
    fn a_poisoned_lock_loses_the_values_and_nothing_else() {
        let table = Table::default();
        assert!(put(&table, (1, 0), 10));
        table.free(99);
        let poisoning = catch_unwind(AssertUnwindSafe(|| {
            let _inner = table.inner.lock();
            panic!("under the lock");
        }));
        assert!(poisoning.is_err());
        assert!(table.open((1, 0)).unwrap().peek().is_none());
        assert_eq!((table.entries(), table.bytes()), (0, 0));
        assert!(table.open((99, 0)).is_none());
        assert!(put(&table, (1, 0), 10));
    }
}
