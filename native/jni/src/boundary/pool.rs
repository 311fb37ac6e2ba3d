//! Threads of this library's own: the global pool of rayon belongs to nobody.

use std::{collections::HashMap, num::NonZero, sync::Arc, thread};

use once_cell::sync::Lazy;
use rayon::{ThreadPool, ThreadPoolBuilder};

use std::sync::Mutex;

/// One pool for each number of threads asked for. Process-wide, because the threads serve all tasks of an executor; bounded by
/// the number of cores.
static POOLS: Lazy<Mutex<HashMap<usize, Arc<ThreadPool>>>> = Lazy::new(Mutex::default);

/// A pool of `threads` threads, at most one for each core; none for a single thread, or where threads cannot be started:
/// the calling thread does all the work then, with the same result.
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
        // Without a handler rayon aborts the process when a task that nobody waits for panics.
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
