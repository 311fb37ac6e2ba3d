//! Processor time of the measuring thread, which other processes do not add to.

use std::{fs, thread, time::Instant};

use criterion::measurement::{Measurement, ValueFormatter, WallTime};

/// Nanoseconds on a processor where Linux tells (`/proc/thread-self/schedstat`), else of the clock on the wall.
pub struct ThreadTime;

pub enum Start {
    Processor(u64),
    Wall(Instant),
}

/// Nanoseconds that this thread has run.
fn on_processor() -> Option<u64> {
    // The kernel brings the number up to date when it reschedules, else with every tick only.
    thread::yield_now();
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
}

impl Measurement for ThreadTime {
    type Intermediate = Start;
    type Value = u64;

    fn start(&self) -> Start {
        on_processor().map_or_else(|| Start::Wall(Instant::now()), Start::Processor)
    }

    fn end(&self, start: Start) -> u64 {
        match start {
            Start::Processor(before) => on_processor().map_or(0, |after| after - before),
            Start::Wall(before) => before.elapsed().as_nanos() as u64,
        }
    }

    fn add(&self, left: &u64, right: &u64) -> u64 {
        left + right
    }

    fn zero(&self) -> u64 {
        0
    }

    fn to_f64(&self, value: &u64) -> f64 {
        *value as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}
