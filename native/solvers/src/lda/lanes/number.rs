//! The types of stored numbers: `f32`, for work, and `f64`, for tests of identities to the last digits.

use std::{
    fmt::Debug,
    ops::{Add, Div, Mul, Sub},
};

/// A stored number: `f32` or `f64`.
pub trait Number:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + Into<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + sealed::Sealed
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Factors of phi, which are 1 at most, become 0 below this: the product of two of them and a count is far from the subnormal numbers.
    const FACTOR_FLOOR: Self;
    /// Addends become 0 below this.
    const SUM_FLOOR: Self;
    /// Added to a sum of products of factors, so that the sum is not 0.
    const TINY: Self;
    /// Largest quotient of a count and such a sum: sums of 10^6 quotients are finite.
    const MAX_RATIO: Self;
    /// Factors `exp(-y)` become 0 for larger y.
    const CUTOFF: Self;

    /// The bytes of a number, little endian.
    type Bytes: Copy;

    /// As many numbers as fit in `bytes`.
    fn split(bytes: &[u8]) -> &[Self::Bytes];

    /// As [`Number::split`], to write.
    fn split_mut(bytes: &mut [u8]) -> &mut [Self::Bytes];

    /// The number with these bytes.
    fn from_bytes(bytes: Self::Bytes) -> Self;

    /// The bytes of the number.
    fn to_bytes(self) -> Self::Bytes;

    /// The number of this type that is nearest to `x`.
    fn of(x: f64) -> Self;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// Numbers as bytes, for both types.
macro_rules! little_endian {
    () => {
        type Bytes = [u8; size_of::<Self>()];

        #[inline(always)]
        fn split(bytes: &[u8]) -> &[Self::Bytes] {
            bytes.as_chunks().0
        }

        #[inline(always)]
        fn split_mut(bytes: &mut [u8]) -> &mut [Self::Bytes] {
            bytes.as_chunks_mut().0
        }

        #[inline(always)]
        fn from_bytes(bytes: Self::Bytes) -> Self {
            Self::from_le_bytes(bytes)
        }

        #[inline(always)]
        fn to_bytes(self) -> Self::Bytes {
            self.to_le_bytes()
        }
    };
}

impl Number for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const FACTOR_FLOOR: Self = 1e-18;
    const SUM_FLOOR: Self = 1e-30;
    const TINY: Self = 1e-30;
    const MAX_RATIO: Self = 1e32;
    const CUTOFF: Self = 40.0;

    little_endian!();

    #[inline(always)]
    fn of(x: f64) -> Self {
        x as Self
    }
}

impl Number for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const FACTOR_FLOOR: Self = 1e-130;
    const SUM_FLOOR: Self = 1e-290;
    const TINY: Self = 1e-280;
    const MAX_RATIO: Self = 1e290;
    const CUTOFF: Self = 300.0;

    little_endian!();

    #[inline(always)]
    fn of(x: f64) -> Self {
        x
    }
}
