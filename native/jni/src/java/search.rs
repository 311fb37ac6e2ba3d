//! The vectors of a search by L-BFGS. They are arrays of the Java heap, where their memory counts, but no Java code has them. They are cut into
//! blocks, and pinned for some blocks at a time. Sums are taken block by block, so that bits depend neither on the threads nor on how blocks are
//! dealt.

use std::{collections::VecDeque, convert::Infallible, mem::swap};

use dwell_solvers::SolverError;
use jni::{
    Env,
    objects::{JDoubleArray, JFloatArray},
    refs::Global,
};
use once_cell::sync::Lazy;
use rayon::prelude::*;

use crate::{
    boundary::{
        fault::Fault,
        pins::{ArrayRef, EnvCritical, Pins},
        pool,
    },
    java::handles::Handles,
};

/// Entries that a pin lasts for: at most about 2 ms.
pub const TOGETHER: usize = 1 << 16;

/// The searches of this process.
pub static SEARCHES: Lazy<Handles<Search>> = Lazy::new(|| Handles::new("search"));

type DoubleArray = Global<JDoubleArray<'static>>;
type FloatArray = Global<JFloatArray<'static>>;

/// A search.
pub struct Search {
    /// Ends of the blocks.
    pub ends: Vec<usize>,
    /// L1 penalty.
    pub l1: f64,
    /// L2 penalty.
    pub l2: f64,
    /// Corrections that are kept.
    pub memory: usize,
    /// Threads that share the work.
    pub threads: usize,
    /// All vectors.
    pub vectors: SearchVectors<DoubleArray, FloatArray>,
}

/// The vectors of a search, or what stands for them: arrays, or the entries of a block.
pub struct SearchVectors<D, F> {
    /// `d` of each coordinate.
    pub deviation: D,
    /// Means of features that are centred.
    pub mean: Option<D>,
    /// `r` of each coordinate.
    pub factors: D,
    /// The point.
    pub point: D,
    /// The gradient there.
    pub gradient: D,
    /// With an L1 penalty the subgradient nearest to 0.
    pub subgradient: Option<D>,
    /// The last trial.
    pub next: D,
    /// The gradient there.
    pub next_gradient: D,
    /// With an L1 penalty the subgradient there.
    pub next_subgradient: Option<D>,
    /// The direction.
    pub direction: D,
    /// The last steps, newest first.
    pub steps: VecDeque<F>,
    /// The changes of the gradient along them.
    pub changes: VecDeque<F>,
}

impl<D, F> SearchVectors<D, F> {
    fn map<'v, A, B, E>(
        &'v mut self,
        mut double: impl FnMut(&'v mut D) -> Result<A, E>,
        mut single: impl FnMut(&'v mut F) -> Result<B, E>,
    ) -> Result<SearchVectors<A, B>, E> {
        let mut optional = |vector: &'v mut Option<D>| vector.as_mut().map(&mut double).transpose();
        let (mean, subgradient, next_subgradient) = (
            optional(&mut self.mean)?,
            optional(&mut self.subgradient)?,
            optional(&mut self.next_subgradient)?,
        );
        Ok(SearchVectors {
            deviation: double(&mut self.deviation)?,
            mean,
            factors: double(&mut self.factors)?,
            point: double(&mut self.point)?,
            gradient: double(&mut self.gradient)?,
            subgradient,
            next: double(&mut self.next)?,
            next_gradient: double(&mut self.next_gradient)?,
            next_subgradient,
            direction: double(&mut self.direction)?,
            steps: self
                .steps
                .iter_mut()
                .map(&mut single)
                .collect::<Result<_, E>>()?,
            changes: self
                .changes
                .iter_mut()
                .map(&mut single)
                .collect::<Result<_, E>>()?,
        })
    }

    /// Makes the last trial the point.
    pub fn accept(&mut self) {
        swap(&mut self.point, &mut self.next);
        swap(&mut self.gradient, &mut self.next_gradient);
        swap(&mut self.subgradient, &mut self.next_subgradient);
    }
}

/// Blocks that follow one another, or one of them.
pub struct VectorBlock<'a> {
    /// The number of the first block.
    pub number: usize,
    /// Entries of the vectors.
    pub vectors: SearchVectors<&'a mut [f64], &'a mut [f32]>,
    /// Of an array of the call: a number for each entry, or none.
    pub sums: &'a [f64],
    /// Of an array of the call: 8 bytes for each entry, or none.
    pub model: &'a mut [u8],
}

impl<'a> VectorBlock<'a> {
    /// Splits the first block off, which has so many entries.
    fn split(&mut self, length: usize) -> VectorBlock<'a> {
        let Ok(vectors) = self.vectors.map(
            |vector| Ok::<_, Infallible>(vector.split_off_mut(..length).unwrap_or_default()),
            |vector| Ok(vector.split_off_mut(..length).unwrap_or_default()),
        );
        self.number += 1;
        VectorBlock {
            number: self.number - 1,
            vectors,
            sums: self.sums.split_off(..length).unwrap_or_default(),
            model: (self.model.split_off_mut(..8 * length)).unwrap_or_default(),
        }
    }

    /// All steps, newest first, and then all changes of the gradient.
    pub fn corrections(&self) -> Vec<&[f32]> {
        let SearchVectors { steps, changes, .. } = &self.vectors;
        (steps.iter().chain(changes)).map(|x| &**x).collect()
    }
}

impl Search {
    /// Coordinates.
    pub fn length(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// What `work` makes of each block, in their order. The call may have an array of as many numbers as a vector, which is read, and one of
    /// 8 times as many bytes, which is written.
    ///
    /// # Errors
    /// Those of `work`, `OutOfMemory`.
    pub fn each<R: Send>(
        &mut self,
        env: &mut Env<'_>,
        sums: Option<ArrayRef<'_, f64>>,
        model: Option<ArrayRef<'_, u8>>,
        work: impl Fn(VectorBlock<'_>) -> Result<R, SolverError> + Sync + Send,
    ) -> Result<Vec<R>, Fault> {
        let pool = pool::of(self.threads);
        let mut arrays = self.vectors.map(
            |vector| ArrayRef::new(env, "a vector of the search", vector),
            |vector| ArrayRef::new(env, "a correction of the search", vector),
        )?;
        let mut found = Vec::with_capacity(self.ends.len());
        let mut start = 0;
        while let Some(rest) = self.ends.get(found.len()..).filter(|rest| !rest.is_empty()) {
            let ends = &rest[..rest.partition_point(|&end| end - start <= TOGETHER)];
            let critical = EnvCritical::new(env);
            let pins = Pins::new(&critical);
            // SAFETY: the arrays of the search were made for it alone, and one call at a time has the search. `NativeBridge` requires that no
            // Java thread uses the arrays of a call meanwhile: they are none of the search's, nor is one of bytes one of doubles.
            let mut all = unsafe {
                VectorBlock {
                    number: found.len(),
                    vectors: arrays.map(
                        |array| Ok::<_, Fault>(&mut pins.write(*array)?[start..]),
                        |array| Ok(&mut pins.write(*array)?[start..]),
                    )?,
                    sums: match sums {
                        Some(array) => &pins.read(array)?[start..],
                        None => &[],
                    },
                    model: match model {
                        Some(array) => &mut pins.write(array)?[8 * start..],
                        None => &mut [],
                    },
                }
            };
            let mut blocks = Vec::with_capacity(ends.len());
            for &end in ends {
                blocks.push(all.split(end - start));
                start = end;
            }
            match &pool {
                Some(pool) => found.extend(pool.install(|| {
                    let found = blocks.into_par_iter().map(&work);
                    found.collect::<Result<Vec<_>, _>>()
                })?),
                None => {
                    for block in blocks {
                        found.push(work(block)?);
                    }
                }
            }
        }
        Ok(found)
    }
}
