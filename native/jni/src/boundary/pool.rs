//! This library's own threads. The global pool of rayon may belong to other code of the process.

use std::{
    num::NonZero,
    ops::Deref,
    sync::{Arc, Mutex},
    thread,
};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The pools of this process. An executor runs several tasks at once, and each has the right to its own threads.
static POOLS: Mutex<Vec<Arc<ThreadPool>>> = Mutex::new(Vec::new());

/// A pool that is lent for one call.
#[derive(Debug)]
pub struct Lent(Arc<ThreadPool>);

impl Deref for Lent {
    type Target = ThreadPool;

    fn deref(&self) -> &ThreadPool {
        &self.0
    }
}

/// A pool of `threads` threads, at most one for each core. Calls at the same time get different pools, until there is a thread for each
/// core; then they share them. `None` for a single thread, or if threads cannot be started: the calling thread then does all the work, with
/// the same result.
pub fn of(threads: usize) -> Option<Lent> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    lend(&POOLS, threads.min(cores), cores)
}

fn lend(pools: &Mutex<Vec<Arc<ThreadPool>>>, threads: usize, cores: usize) -> Option<Lent> {
    if threads <= 1 {
        return None;
    }
    let mut pools = pools.lock().ok()?;
    // The list holds one reference to each pool, and every loan one more.
    let least_lent = pools
        .iter()
        .filter(|pool| pool.current_num_threads() == threads)
        .min_by_key(|pool| Arc::strong_count(pool))
        .cloned();
    let started: usize = pools.iter().map(|pool| pool.current_num_threads()).sum();
    match least_lent {
        // Beside the list this variable holds it, and nobody else.
        Some(pool) if Arc::strong_count(&pool) == 2 || started + threads > cores => {
            Some(Lent(pool))
        }
        _ => {
            let pool = Arc::new(start(threads)?);
            pools.push(pool.clone());
            Some(Lent(pool))
        }
    }
}

fn start(threads: usize) -> Option<ThreadPool> {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("dwell-{index}"))
        // Without a handler, rayon aborts the process if a task panics for which no thread waits.
        .panic_handler(|_| {})
        .build()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &Lent, b: &Lent) -> bool {
        Arc::ptr_eq(&a.0, &b.0)
    }

    #[test]
    fn one_thread_needs_no_pool() {
        assert!(of(0).is_none());
        assert!(of(1).is_none());
    }

    #[test]
    fn calls_at_the_same_time_get_their_own_threads_while_there_are_cores() {
        let pools = Mutex::new(Vec::new());
        let first = lend(&pools, 2, 4).unwrap();
        let second = lend(&pools, 2, 4).unwrap();
        assert!(!same(&first, &second));
        assert_eq!(second.current_num_threads(), 2);
        let third = lend(&pools, 2, 4).unwrap();
        assert!(same(&third, &first) || same(&third, &second));
        drop((first, third));
        assert!(
            !same(&lend(&pools, 2, 4).unwrap(), &second),
            "an idle pool comes first"
        );
        assert_eq!(pools.lock().unwrap().len(), 2);
    }

    #[test]
    fn a_pool_has_at_most_a_thread_for_each_core() {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        if let Some(pool) = of(usize::MAX) {
            assert_eq!(pool.current_num_threads(), cores);
        }
    }
}
