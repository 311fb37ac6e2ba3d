//! This library's own threads. The global pool of rayon may belong to other code of the process.

use std::{
    collections::HashMap,
    num::NonZero,
    sync::{Arc, Mutex},
    thread,
};

use once_cell::sync::Lazy;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// One pool for each number of threads, up to the number of cores. They are process-wide because the threads serve all tasks of an
/// executor.
static POOLS: Lazy<Mutex<HashMap<usize, Arc<ThreadPool>>>> = Lazy::new(Mutex::default);

/// A pool of `threads` threads, at most one for each core. `None` for a single thread, or if threads cannot be started: the calling thread
/// then does all the work, with the same result.
pub fn of(threads: usize) -> Option<Arc<ThreadPool>> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = threads.min(cores);
    if threads <= 1 {
        return None;
    }
    let mut pools = POOLS.lock().ok()?;
    if let Some(pool) = pools.get(&threads) {
        return Some(pool.clone());
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("dwell-{index}"))
        // Without a handler, rayon aborts the process if a task panics for which no thread waits.
        .panic_handler(|_| {})
        .build()
        .ok()?;
    Some(pools.entry(threads).or_insert(Arc::new(pool)).clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_are_shared_and_bounded() {
        assert!(of(0).is_none());
        assert!(of(1).is_none());
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        if let (Some(some), Some(many)) = (of(cores), of(usize::MAX)) {
            assert!(Arc::ptr_eq(&some, &many));
            assert_eq!(some.current_num_threads(), cores);
        }
    }
}
