//! The order in which a partition visits its coordinates: buckets of neighbours, reshuffled every epoch.
//!
//! Inside a bucket the order is the order of storage, which the hardware prefetcher can follow. The order of the buckets is a new random
//! permutation in every epoch, which the convergence of coordinate descent needs.
//!
//! The order is a function of (seed, partition, cursor) alone; the cursor counts the buckets visited since the start of a fit.
//!
//! Source: Ioannou, Mendler-Duenner, Parnell, "SySCD", NeurIPS 2019 (buckets).

use std::ops::Range;

use crate::base::{
    checks::at_least_one,
    error::{SolverError, reserve},
};

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
const MIX_1: u64 = 0xBF58_476D_1CE4_E5B9;
const MIX_2: u64 = 0x94D0_49BB_1331_11EB;

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
#[derive(Debug, Clone)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// The generator of one epoch of one partition.
    pub fn for_epoch(seed: u64, partition: u32, epoch: u64) -> Self {
        let partition = (u64::from(partition) + 1).wrapping_mul(GOLDEN);
        let epoch = epoch.wrapping_add(1).wrapping_mul(MIX_1);
        Self {
            state: mix(seed ^ partition ^ epoch),
        }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// A number in `0..bound`, from the upper 32 bits. The bias is at most `bound / 2^32`.
    fn below(&mut self, bound: u32) -> u32 {
        (((self.next_u64() >> 32) * u64::from(bound)) >> 32) as u32
    }
}

/// The finaliser of SplitMix64.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(MIX_1);
    z = (z ^ (z >> 27)).wrapping_mul(MIX_2);
    z ^ (z >> 31)
}

/// Coordinates in a bucket: 64, or fewer if 64 would leave fewer than 256 buckets to shuffle; at least 1.
pub fn bucket_size(coordinates: usize) -> usize {
    (coordinates / 256).clamp(1, 64)
}

/// The sequence of buckets of one partition.
#[derive(Debug)]
pub struct BucketOrder {
    coordinates: usize,
    bucket: usize,
    seed: u64,
    partition: u32,
    epoch: Option<u64>,
    permutation: Vec<u32>,
}

impl BucketOrder {
    /// Buckets of `bucket` consecutive coordinates (the last may be shorter) of `0..coordinates`.
    ///
    /// # Errors
    /// `InvalidParam` if `bucket` is 0, `Shape` if there are more coordinates than an `i32` counts, `OutOfMemory`.
    pub fn new(
        coordinates: usize,
        bucket: usize,
        seed: u64,
        partition: u32,
    ) -> Result<Self, SolverError> {
        at_least_one("bucket", bucket as u64)?;
        if coordinates > i32::MAX as usize {
            return Err(SolverError::Shape(format!(
                "{coordinates} coordinates: at most {} fit an index",
                i32::MAX
            )));
        }
        let buckets = coordinates.div_ceil(bucket) as u32;
        let mut permutation = reserve(buckets as usize, "the order of the coordinates")?;
        permutation.extend(0..buckets);
        Ok(Self {
            coordinates,
            bucket,
            seed,
            partition,
            epoch: None,
            permutation,
        })
    }

    /// Number of buckets in an epoch.
    pub fn buckets(&self) -> usize {
        self.permutation.len()
    }

    /// Coordinates of the bucket at `cursor`, visited in rising order; empty if there are no coordinates.
    pub fn at(&mut self, cursor: u64) -> Range<usize> {
        if self.permutation.is_empty() {
            return 0..0;
        }
        let buckets = self.permutation.len() as u64;
        let epoch = cursor / buckets;
        if self.epoch != Some(epoch) {
            self.draw(epoch);
        }
        let start = self.permutation[(cursor % buckets) as usize] as usize * self.bucket;
        start..(start + self.bucket).min(self.coordinates)
    }

    /// Fisher-Yates from the identity.
    fn draw(&mut self, epoch: u64) {
        let mut random = SplitMix64::for_epoch(self.seed, self.partition, epoch);
        for (i, slot) in self.permutation.iter_mut().enumerate() {
            *slot = i as u32;
        }
        for i in (1..self.permutation.len()).rev() {
            let j = random.below(i as u32 + 1) as usize;
            self.permutation.swap(i, j);
        }
        self.epoch = Some(epoch);
    }
}
