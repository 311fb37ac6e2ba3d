//! The memory of calls without a worker state: the record that the arrays of a partition were validated, and scratch memory.

use std::time::Duration;

use once_cell::sync::Lazy;

use crate::boundary::{
    fault::Fault,
    fingerprint::Fingerprint,
    partition::Partition,
    slices::{Lender, validate},
    table::{Kept, Key, Table},
};

/// The checks of this process.
pub static CHECKS: Lazy<Checks> = Lazy::new(Checks::default);

/// The check of a partition.
#[derive(Debug)]
struct Check {
    fingerprint: Fingerprint,
    /// An empty vector whose memory the next call uses. No result depends on it.
    scratch: Vec<f32>,
}

impl Kept for Check {
    fn bytes(&self) -> usize {
        size_of::<Self>() + size_of::<f32>() * self.scratch.capacity()
    }

    fn allocates(&self) -> bool {
        self.scratch.capacity() > 0
    }
}

/// The checks of partitions, by (fit, partition).
#[derive(Debug, Default)]
pub struct Checks {
    table: Table<Check>,
}

impl Checks {
    /// Validates the arrays of a partition and then calls `further` for its own checks, unless the arrays were validated before.
    ///
    /// # Errors
    /// `Argument` names the array and the place at fault; the errors of `further` and of the lender.
    pub fn validate<P: Partition, L: Lender<P>>(
        &self,
        key: Key,
        length: usize,
        lender: &mut L,
        further: impl FnOnce(&mut L) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let known = self.known(key);
        let fingerprint = validate(lender, length, known)?;
        if known != Some(fingerprint) {
            further(lender)?;
        }
        self.record(key, fingerprint);
        Ok(())
    }

    /// The arrays that were validated.
    fn known(&self, key: Key) -> Option<Fingerprint> {
        self.table.open(key)?.touch().map(|check| check.fingerprint)
    }

    /// Remembers that arrays were validated. Ignored if the fit was freed.
    fn record(&self, key: Key, fingerprint: Fingerprint) {
        let Some(mut locked) = self.table.open(key) else {
            return;
        };
        match locked.touch() {
            Some(check) => check.fingerprint = fingerprint,
            None => locked.put(Check {
                fingerprint,
                scratch: Vec::new(),
            }),
        }
    }

    /// Takes the scratch memory that earlier calls have left. The vector has no room if there is none, or if another call has taken it.
    pub fn take_scratch(&self, key: Key) -> Vec<f32> {
        self.table
            .open(key)
            .and_then(|mut locked| Some(std::mem::take(&mut locked.touch()?.scratch)))
            .unwrap_or_default()
    }

    /// Leaves scratch memory for the next call. Frees it if the partition has no record of a check, or more memory already.
    pub fn leave_scratch(&self, key: Key, mut scratch: Vec<f32>) {
        scratch.clear();
        // The remaining memory in `scratch` is dropped after the lock.
        if let Some(mut locked) = self.table.open(key)
            && let Some(check) = locked.touch()
            && check.scratch.capacity() < scratch.capacity()
        {
            std::mem::swap(&mut check.scratch, &mut scratch);
        }
    }

    /// Frees the checks of a fit for good. Returns the bytes freed.
    pub fn free(&self, fit: i64) -> usize {
        self.table.free(fit)
    }

    /// Frees the checks that no call has touched for longer than `age`. Returns the bytes freed.
    pub fn expire(&self, age: Duration) -> usize {
        self.table.expire(age)
    }

    /// Bytes of all checks, with their memory.
    pub fn bytes(&self) -> usize {
        self.table.bytes()
    }

    /// Number of checks.
    pub fn entries(&self) -> usize {
        self.table.entries()
    }
}

#[cfg(test)]
mod tests {
    use dwell_solvers::{Columns, SolverError, Values};

    use super::*;
    use crate::boundary::{
        arrays::{Arrays, Matrix},
        fault::argument,
    };

    const KEY: Key = (7, 2);

    /// A partition that is a matrix alone.
    struct Plain;

    impl Partition for Plain {
        const INDICES: &'static str = "indices";
        const DENSE: bool = false;
        type Fields<A: Copy> = ();
        type Data<'a> = Columns<'a>;

        fn try_map<A: Copy, B: Copy, E>(
            (): (),
            _: impl FnMut(&'static str, A) -> Result<B, E>,
        ) -> Result<(), E> {
            Ok(())
        }

        fn check(_: Columns<'_>, (): ()) -> Result<(), SolverError> {
            Ok(())
        }

        fn data<'a>(columns: Columns<'a>, (): ()) -> Result<Columns<'a>, SolverError> {
            Ok(columns)
        }
    }

    /// One coordinate of two entries.
    struct Two([i32; 2]);

    impl Lender<Plain> for Two {
        fn lend<R>(
            &mut self,
            work: impl FnOnce(&Arrays<'_, Plain>, &mut [u8]) -> Result<R, Fault>,
        ) -> Result<R, Fault> {
            let arrays = Arrays {
                matrix: Matrix {
                    offsets: &[0, 2],
                    indices: Some(&self.0),
                    values: Values::Ones,
                },
                fields: (),
                shared: &[],
            };
            work(&arrays, &mut [])
        }

        fn poll(&mut self) -> Result<(), Fault> {
            Ok(())
        }
    }

    /// Whether arrays with these indices are accepted, and how often `further` was called.
    fn validated(checks: &Checks, key: Key, indices: [i32; 2]) -> (bool, usize) {
        let mut further = 0;
        let result = checks.validate(key, 9, &mut Two(indices), |_| {
            further += 1;
            Ok(())
        });
        (result.is_ok(), further)
    }

    #[test]
    fn arrays_are_validated_once() {
        let checks = Checks::default();
        assert_eq!(validated(&checks, KEY, [0, 9]), (false, 0));
        assert_eq!(checks.entries(), 0);
        assert_eq!(validated(&checks, KEY, [0, 1]), (true, 1));
        assert_eq!(validated(&checks, KEY, [0, 1]), (true, 0));
        // Other arrays, another partition.
        assert_eq!(validated(&checks, KEY, [0, 2]), (true, 1));
        assert_eq!(validated(&checks, KEY, [9, 1]), (false, 0));
        assert_eq!(validated(&checks, KEY, [0, 2]), (true, 0));
        assert_eq!(validated(&checks, (KEY.0, 9), [0, 2]), (true, 1));
        let refused = checks.validate(KEY, 9, &mut Two([1, 2]), |_| Err(argument!("counts")));
        assert!(matches!(refused, Err(Fault::Argument(text)) if text == "counts"));
        assert_eq!(validated(&checks, KEY, [0, 2]), (true, 0));
    }

    fn record(checks: &Checks, key: Key) {
        validated(checks, key, [0, 1]);
    }

    #[test]
    fn checks_are_counted_and_freed() {
        let checks = Checks::default();
        let bytes = size_of::<Check>();
        assert_eq!(checks.known(KEY), None);
        record(&checks, KEY);
        record(&checks, KEY);
        record(&checks, (KEY.0, 9));
        record(&checks, (8, 2));
        assert!(checks.known(KEY).is_some());
        assert_eq!((checks.entries(), checks.bytes()), (3, 3 * bytes));
        assert_eq!(checks.expire(Duration::from_secs(60)), 0);
        assert_eq!(checks.free(KEY.0), 2 * bytes);
        assert_eq!((checks.entries(), checks.bytes()), (1, bytes));
        // A late call of a freed fit leaves nothing behind.
        record(&checks, KEY);
        assert_eq!(checks.known(KEY), None);
        assert_eq!(checks.expire(Duration::ZERO), bytes);
        assert_eq!((checks.entries(), checks.bytes()), (0, 0));
    }

    #[test]
    fn scratch_memory_belongs_to_its_check() {
        let checks = Checks::default();
        let bytes = size_of::<Check>();
        let scratch = |numbers: usize| vec![1.0; numbers];
        // Without a record the memory has no place.
        checks.leave_scratch(KEY, scratch(8));
        assert_eq!(checks.take_scratch(KEY).capacity(), 0);
        for key in [KEY, (KEY.0, 9), (8, 2)] {
            record(&checks, key);
            checks.leave_scratch(key, scratch(8));
        }
        assert_eq!(checks.bytes(), 3 * (bytes + 32));
        // Another call of the partition gets none. If two calls leave memory, the larger stays.
        let taken = checks.take_scratch(KEY);
        assert!(taken.is_empty() && taken.capacity() == 8);
        assert_eq!(checks.take_scratch(KEY).capacity(), 0);
        assert_eq!(checks.bytes(), 3 * bytes + 64);
        checks.leave_scratch(KEY, scratch(20));
        checks.leave_scratch(KEY, taken);
        // A repeated check keeps the memory.
        record(&checks, KEY);
        assert_eq!(checks.bytes(), 3 * bytes + 64 + 80);
        assert_eq!(checks.take_scratch(KEY).capacity(), 20);
        checks.leave_scratch(KEY, scratch(20));
        assert_eq!(checks.free(KEY.0), 2 * bytes + 32 + 80);
        // A late call of a freed fit leaves nothing behind.
        checks.leave_scratch(KEY, scratch(8));
        assert_eq!(checks.bytes(), bytes + 32);
        assert_eq!(checks.expire(Duration::ZERO), bytes + 32);
        assert_eq!((checks.entries(), checks.bytes()), (0, 0));
    }
}
