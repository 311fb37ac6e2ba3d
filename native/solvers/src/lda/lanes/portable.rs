//! Lanes in plain Rust, for processors without AVX2 and FMA or NEON, and for `f64`.

use std::marker::PhantomData;

use super::{
    number::Number,
    operations::{Block, Exponents, LANES, Lanes, exp_digamma_f32, exp_f32, tree},
};
use crate::lda::special;

/// Lanes in plain Rust.
#[derive(Debug)]
pub struct Portable<R>(PhantomData<R>);

impl<R> Portable<R> {
    pub(super) const NEW: Self = Self(PhantomData);
}

impl<R> Clone for Portable<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Portable<R> {}

#[inline(always)]
fn zip<R: Number>(a: Block<R>, b: Block<R>, f: impl Fn(R, R) -> R) -> Block<R> {
    std::array::from_fn(|l| f(a[l], b[l]))
}

macro_rules! portable_lanes {
    ($real:ty, $exp:expr, $exp_digamma:expr) => {
        impl Lanes for Portable<$real> {
            type Number = $real;
            type Vector = Block<$real>;

            #[inline(always)]
            fn splat(self, x: $real) -> Self::Vector {
                [x; LANES]
            }

            #[inline(always)]
            fn load(self, from: &Block<$real>) -> Self::Vector {
                *from
            }

            #[inline(always)]
            fn store(self, x: Self::Vector) -> Block<$real> {
                x
            }

            #[inline(always)]
            fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                zip(a, b, |a, b| a + b)
            }

            #[inline(always)]
            fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                zip(a, b, |a, b| a - b)
            }

            #[inline(always)]
            fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                zip(a, b, |a, b| a * b)
            }

            #[inline(always)]
            fn div(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                zip(a, b, |a, b| a / b)
            }

            #[inline(always)]
            fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
                std::array::from_fn(|l| a[l] * b[l] + c[l])
            }

            #[inline(always)]
            fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                zip(a, b, |a, b| if a > b { a } else { b })
            }

            #[inline(always)]
            fn min(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                zip(a, b, |a, b| if a < b { a } else { b })
            }

            #[inline(always)]
            fn where_greater(
                self,
                a: Self::Vector,
                b: Self::Vector,
                then: Self::Vector,
                other: Self::Vector,
            ) -> Self::Vector {
                std::array::from_fn(|l| if a[l] > b[l] { then[l] } else { other[l] })
            }

            #[inline(always)]
            fn exp(self, x: Self::Vector) -> Self::Vector {
                $exp(self, x)
            }

            #[inline(always)]
            fn exp_digamma(self, x: Self::Vector) -> (Self::Vector, Self::Vector) {
                $exp_digamma(self, x)
            }

            #[inline(always)]
            fn sums(self, rows: [Self::Vector; LANES]) -> Self::Vector {
                std::array::from_fn(|i| tree(&rows[i]))
            }
        }
    };
}

portable_lanes!(f32, exp_f32, exp_digamma_f32);
portable_lanes!(
    f64,
    |_, x: Block<f64>| x.map(f64::exp),
    |_, x: Block<f64>| {
        let pairs = x.map(special::exp_digamma);
        (pairs.map(|pair| pair.0), pairs.map(|pair| pair.1))
    }
);

/// Adding it to a number below 2^22 leaves the nearest whole number in the low bits. Rounds half to even, as the instructions do.
const SHIFT: f32 = 12_582_912.0;

impl Exponents for Portable<f32> {
    #[inline(always)]
    fn round(self, x: Self::Vector) -> Self::Vector {
        x.map(|x| (x + SHIFT) - SHIFT)
    }

    #[inline(always)]
    fn power_of_two(self, n: Self::Vector) -> Self::Vector {
        n.map(|n| f32::from_bits(((n + SHIFT).to_bits().wrapping_add(127)) << 23))
    }
}
