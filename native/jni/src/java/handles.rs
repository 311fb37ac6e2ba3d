//! Objects of this process that Java knows by a handle. A call takes its object out for as long as it works, so that calls on other objects
//! do not wait.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard},
};

use crate::boundary::fault::{Fault, argument};

/// Objects of one kind, by handle.
pub struct Handles<T> {
    /// What messages call an object.
    kind: &'static str,
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    last: i64,
    /// None while a call works on the object.
    objects: HashMap<i64, Option<T>>,
}

impl<T> Handles<T> {
    /// No objects yet; messages call one by its `kind`.
    pub fn new(kind: &'static str) -> Self {
        let inner = Inner {
            last: 0,
            objects: HashMap::new(),
        };
        Self {
            kind,
            inner: inner.into(),
        }
    }

    /// Nothing can panic under the lock.
    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.inner
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Keeps an object, and returns its handle.
    pub fn begin(&self, object: T) -> i64 {
        let mut inner = self.lock();
        inner.last += 1;
        let handle = inner.last;
        inner.objects.insert(handle, Some(object));
        handle
    }

    /// Lets `work` work on an object. An object whose work fails is dropped.
    ///
    /// # Errors
    /// `Argument` if there is no such object, or if another call works on it; the errors of `work`.
    pub fn with<R>(
        &self,
        handle: i64,
        work: impl FnOnce(&mut T) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let kind = self.kind;
        let taken = self.lock().objects.get_mut(&handle).map(Option::take);
        let mut object = match taken {
            Some(Some(object)) => object,
            Some(None) => {
                return Err(argument!(
                    "{kind} {handle} is used by two calls at once: a {kind} belongs to one thread"
                ));
            }
            None => {
                return Err(argument!(
                    "{kind} is {handle}: there is no such {kind}, or a call on it has failed"
                ));
            }
        };
        // If `work` panics, only its empty place is left, until the caller frees it.
        let result = work(&mut object);
        let mut inner = self.lock();
        if result.is_err() {
            inner.objects.remove(&handle);
        } else if let Some(place) = inner.objects.get_mut(&handle) {
            *place = Some(object);
        }
        result
    }

    /// Takes an object out for good; None if there is none, or a call works on it.
    pub fn take(&self, handle: i64) -> Option<T> {
        self.lock().objects.remove(&handle).flatten()
    }

    /// The sum of a number of all objects that no call works on.
    pub fn sum(&self, number: impl Fn(&T) -> usize) -> usize {
        self.lock().objects.values().flatten().map(number).sum()
    }

    /// Number of objects.
    pub fn entries(&self) -> usize {
        self.lock().objects.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_lives_until_it_is_taken_or_its_work_fails() {
        let handles = Handles::new("pass");
        let (first, second) = (handles.begin(3), handles.begin(5));
        assert_ne!(first, second);
        let doubled = handles.with(first, |number| {
            *number *= 2;
            Ok(*number)
        });
        assert_eq!(doubled.unwrap(), 6);
        assert_eq!(handles.sum(|&number| number), 11);
        assert!(
            handles
                .with(second, |_| Err::<(), _>(Fault::Cancelled))
                .is_err()
        );
        assert_eq!(handles.entries(), 1);
        assert_eq!((handles.take(first), handles.take(first)), (Some(6), None));
        let fault = handles.with(first, |_| Ok(())).unwrap_err();
        assert!(matches!(fault, Fault::Argument(text) if text.contains("no such pass")));
        assert_eq!(handles.entries(), 0);
    }

    #[test]
    fn two_calls_at_once_are_refused() {
        let handles = Handles::new("pass");
        let handle = handles.begin(());
        let fault = handles
            .with(handle, |()| {
                assert_eq!(handles.sum(|()| 1), 0);
                handles.with(handle, |()| Ok(()))
            })
            .unwrap_err();
        assert!(matches!(fault, Fault::Argument(text) if text.contains("one thread")));
        assert_eq!(handles.entries(), 0);
    }
}
