//! The types of numbers that a worker computes with.

use super::{instructions::run_f32, number::Number, operations::WithLanes, portable::Portable};
use crate::base::instructions::Kernel;

/// A type of numbers with its kernels: `f32`, for work, or `f64`, for tests of identities to the last digits.
pub trait Real: Number {
    /// Runs `work` on the lanes of `kernel`. Only `f32` has more than one kind.
    fn run<W: WithLanes<Self>>(kernel: Kernel, work: W) -> W::Output;
}

impl Real for f32 {
    #[inline(always)]
    fn run<W: WithLanes<Self>>(kernel: Kernel, work: W) -> W::Output {
        run_f32(kernel, work)
    }
}

impl Real for f64 {
    #[inline(always)]
    fn run<W: WithLanes<Self>>(_kernel: Kernel, work: W) -> W::Output {
        work.run(Portable::<f64>::NEW)
    }
}
