//! Scratch memory of the calls of LDA, from one call of a partition to the next.

use std::time::Duration;

use once_cell::sync::Lazy;

use crate::boundary::table::{Kept, Key, Table};

/// The scratch memory of this process.
pub static SCRATCH: Lazy<Scratch> = Lazy::new(Scratch::default);

/// An empty vector whose memory the next call uses. No result depends on it.
#[derive(Debug, Default)]
struct Room(Vec<f32>);

impl Kept for Room {
    fn bytes(&self) -> usize {
        size_of::<Self>() + size_of::<f32>() * self.0.capacity()
    }

    fn allocates(&self) -> bool {
        self.0.capacity() > 0
    }
}

/// Scratch memory by (fit, partition).
#[derive(Debug, Default)]
pub struct Scratch {
    table: Table<Room>,
}

impl Scratch {
    /// Takes the memory that earlier calls have left. The vector has no room if there is none, or if another call has taken it.
    pub fn take(&self, key: Key) -> Vec<f32> {
        self.table
            .open(key)
            .and_then(|mut locked| Some(std::mem::take(&mut locked.touch()?.0)))
            .unwrap_or_default()
    }

    /// Leaves memory for the next call. Frees it if the fit was freed, or if the partition has more memory already.
    pub fn leave(&self, key: Key, mut room: Vec<f32>) {
        room.clear();
        // What remains in `room` is dropped after the lock.
        if let Some(mut locked) = self.table.open(key) {
            match locked.touch() {
                Some(kept) if kept.0.capacity() < room.capacity() => {
                    std::mem::swap(&mut kept.0, &mut room);
                }
                Some(_) => {}
                None => locked.put(Room(std::mem::take(&mut room))),
            }
        }
    }

    /// Frees the memory of a fit for good. Returns the bytes freed.
    pub fn free(&self, fit: i64) -> usize {
        self.table.free(fit)
    }

    /// Frees the memory that no call has touched for longer than `age`. Returns the bytes freed.
    pub fn expire(&self, age: Duration) -> usize {
        self.table.expire(age)
    }

    /// Bytes of all memory.
    pub fn bytes(&self) -> usize {
        self.table.bytes()
    }

    /// Number of partitions with memory.
    pub fn entries(&self) -> usize {
        self.table.entries()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = (7, 2);

    #[test]
    fn memory_goes_from_call_to_call() {
        let scratch = Scratch::default();
        assert_eq!(scratch.take(KEY).capacity(), 0);
        scratch.leave(KEY, vec![1.0; 100]);
        assert!(scratch.bytes() >= 400 && scratch.entries() == 1);
        let room = scratch.take(KEY);
        assert!(room.is_empty() && room.capacity() >= 100);
        // Another call at the same time finds none, and leaves less.
        assert_eq!(scratch.take(KEY).capacity(), 0);
        scratch.leave(KEY, Vec::with_capacity(10));
        scratch.leave(KEY, room);
        scratch.leave(KEY, Vec::with_capacity(10));
        assert!(scratch.take(KEY).capacity() >= 100);
    }

    #[test]
    fn a_freed_fit_keeps_no_memory() {
        let scratch = Scratch::default();
        scratch.leave(KEY, vec![0.0; 8]);
        assert!(scratch.free(KEY.0) >= 32);
        scratch.leave(KEY, vec![0.0; 8]);
        assert_eq!((scratch.bytes(), scratch.entries()), (0, 0));
        scratch.leave((8, 0), vec![0.0; 8]);
        assert_eq!(scratch.expire(Duration::from_secs(3600)), 0);
        std::thread::sleep(Duration::from_millis(2));
        assert!(scratch.expire(Duration::from_millis(1)) >= 32);
    }
}
