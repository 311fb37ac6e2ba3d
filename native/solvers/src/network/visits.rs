//! The order in which a round visits the rows of a partition.

use std::ops::Range;

use super::params::DescentParams;
use crate::base::{
    error::SolverError,
    order::{BucketOrder, bucket_size},
};

/// Most rows that stay together: a batch has rows from many places, since neighbours may be alike.
const TOGETHER: usize = 8;

/// The rows of a round, bucket after bucket.
#[derive(Debug)]
pub(super) struct Visits {
    order: BucketOrder,
    cursor: u64,
    /// Rows that the buckets still to come have to hold.
    left: u64,
    /// What is left of the present bucket.
    bucket: Range<usize>,
}

impl Visits {
    /// # Errors
    /// `Shape` if there are more rows than an `i32` counts, `OutOfMemory`.
    pub(super) fn new(rows: usize, params: &DescentParams) -> Result<Self, SolverError> {
        let bucket = bucket_size(rows).min(TOGETHER);
        Ok(Self {
            order: BucketOrder::new(rows, bucket, params.seed, params.partition)?,
            cursor: params.cursor,
            left: params.budget,
            bucket: 0..0,
        })
    }

    /// The neighbours that are next; none after the last row.
    pub(super) fn next(&mut self) -> Range<usize> {
        if self.bucket.is_empty() && self.left > 0 && self.order.buckets() > 0 {
            self.bucket = self.order.at(self.cursor);
            self.cursor += 1;
            self.left = self.left.saturating_sub(self.bucket.len() as u64);
        }
        self.bucket.clone()
    }

    /// Takes the first of these neighbours as visited.
    pub(super) fn pass(&mut self, rows: usize) {
        self.bucket.start += rows;
    }

    /// Buckets visited since the start of the fit.
    pub(super) fn cursor(&self) -> u64 {
        self.cursor
    }
}
