//! The passes that are in progress in this process, by handle. A call takes its pass out for as long as it works, so that calls on other
//! passes do not wait.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard},
};

use once_cell::sync::Lazy;

use super::kinds::Pass;
use crate::boundary::fault::{Fault, argument};

/// The passes of this process.
pub static PASSES: Lazy<Passes> = Lazy::new(Passes::default);

/// Passes by handle.
#[derive(Default)]
pub struct Passes {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    last: i64,
    /// None while a call works on the pass.
    passes: HashMap<i64, Option<Pass>>,
}

impl Passes {
    /// Nothing can panic under the lock.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Keeps a pass, and returns its handle.
    pub fn begin(&self, pass: Pass) -> i64 {
        let mut inner = self.lock();
        inner.last += 1;
        let handle = inner.last;
        inner.passes.insert(handle, Some(pass));
        handle
    }

    /// Lets `work` work on a pass. A pass whose work fails is dropped.
    ///
    /// # Errors
    /// `Argument` if there is no such pass, or if another call works on it; the errors of `work`.
    pub fn with<R>(
        &self,
        handle: i64,
        work: impl FnOnce(&mut Pass) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let taken = self.lock().passes.get_mut(&handle).map(Option::take);
        let mut pass = match taken {
            Some(Some(pass)) => pass,
            Some(None) => {
                return Err(argument!(
                    "pass {handle} is used by two calls at once: a pass belongs to one thread"
                ));
            }
            None => {
                return Err(argument!(
                    "pass is {handle}: there is no such pass, or a call on it has failed"
                ));
            }
        };
        // If `work` panics, only its empty place is left, until the caller frees it.
        let result = work(&mut pass);
        let mut inner = self.lock();
        if result.is_err() {
            inner.passes.remove(&handle);
        } else if let Some(place) = inner.passes.get_mut(&handle) {
            *place = Some(pass);
        }
        result
    }

    /// Adds the sums of one pass to another's, and drops it.
    ///
    /// # Errors
    /// As [`Passes::with`], of either pass.
    pub fn join(&self, into: i64, from: i64) -> Result<(), Fault> {
        self.with(into, |pass| {
            let joined = self.lock().passes.remove(&from);
            match joined {
                Some(Some(other)) => Ok(pass.join(other)?),
                _ => Err(argument!(
                    "pass {from} cannot be joined: there is no such pass, or a call works on it"
                )),
            }
        })
    }

    /// Drops a pass, if there is one.
    pub fn free(&self, handle: i64) {
        let taken = self.lock().passes.remove(&handle);
        drop(taken);
    }

    /// Bytes of all passes that no call works on.
    pub fn bytes(&self) -> usize {
        let inner = self.lock();
        inner.passes.values().flatten().map(Pass::bytes).sum()
    }

    /// Number of passes.
    pub fn entries(&self) -> usize {
        self.lock().passes.len()
    }
}

#[cfg(test)]
mod tests {
    use dwell_solvers::{
        Loss, MatrixView, RowLoss, Values,
        network::{Layers, NetworkPass},
        pass::{PassLoss, PassParams, RowPass},
    };

    use super::*;

    fn pass() -> Pass {
        let params = PassParams {
            gradient: true,
            hessian: true,
            ..PassParams::at_zero(PassLoss::Row(RowLoss::Margin(Loss::Squared)), false, 2)
        };
        Pass::Rows(RowPass::new(params).unwrap())
    }

    #[test]
    fn a_pass_lives_until_it_is_freed_or_fails() {
        let passes = Passes::default();
        let (first, second) = (passes.begin(pass()), passes.begin(pass()));
        assert_ne!(first, second);
        assert_eq!(passes.with(first, |pass| Ok(pass.features())).unwrap(), 2);
        let rows = MatrixView::dense(1, 2, Values::F64(&[1.0, 2.0])).unwrap();
        let work = |pass: &mut Pass| {
            assert_eq!(pass.take(rows, &[1.0], None, 0)?, 1);
            Ok(pass.work()?)
        };
        passes.with(first, work).unwrap();
        assert!(passes.bytes() > 0);
        assert!(
            passes
                .with(second, |_| Err::<(), _>(Fault::Cancelled))
                .is_err()
        );
        assert_eq!(passes.entries(), 1);
        passes.free(first);
        passes.free(first);
        let fault = passes.with(first, |_| Ok(())).unwrap_err();
        assert!(matches!(fault, Fault::Argument(text) if text.contains("no such pass")));
        assert_eq!((passes.entries(), passes.bytes()), (0, 0));
    }

    #[test]
    fn a_joined_pass_is_gone() {
        let passes = Passes::default();
        let (into, from) = (passes.begin(pass()), passes.begin(pass()));
        passes.join(into, from).unwrap();
        assert_eq!(passes.entries(), 1);
        assert!(passes.join(into, from).is_err());
        assert_eq!(passes.entries(), 0);
    }

    #[test]
    fn kinds_of_passes_are_not_joined() {
        let passes = Passes::default();
        let network = NetworkPass::new(Layers::new(&[2, 2]).unwrap(), vec![0.0; 6]).unwrap();
        let into = passes.begin(pass());
        let from = passes.begin(Pass::Network(network));
        let fault = passes.join(into, from).unwrap_err();
        assert!(matches!(fault, Fault::Argument(text) if text.contains("two kinds")));
        assert_eq!(passes.entries(), 0);
    }

    #[test]
    fn two_calls_at_once_are_refused() {
        let passes = Passes::default();
        let handle = passes.begin(pass());
        let fault = passes
            .with(handle, |_| passes.with(handle, |_| Ok(())))
            .unwrap_err();
        assert!(matches!(fault, Fault::Argument(text) if text.contains("one thread")));
        assert_eq!(passes.entries(), 0);
    }
}
