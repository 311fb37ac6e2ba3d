//! Arithmetic on sixteen numbers at a time, which plain Rust, AVX2 with FMA, AVX-512 and NEON implement.
//!
//! AVX2, AVX-512 and NEON give the same bits: all round a product and its sum once, and sum lanes in the same order,
//!
//! ```text
//! b_l = a_l + a_(l+8),   ((b_0 + b_1) + (b_2 + b_3)) + ((b_4 + b_5) + (b_6 + b_7))
//! ```
//!
//! Plain Rust rounds the product as well.

use super::number::Number;
use crate::lda::special;

/// Numbers in a vector.
pub(in crate::lda) const LANES: usize = 16;

/// A vector in memory.
pub(in crate::lda) type Block<R> = [R; LANES];

/// Blocks that hold `length` numbers, the last perhaps in part.
pub(in crate::lda) const fn blocks(length: usize) -> usize {
    length.div_ceil(LANES)
}

/// Work that is compiled once for each kind of lanes.
pub trait WithLanes<R> {
    /// The result of the work.
    type Output;
    /// Does the work.
    fn run<L: Lanes<Number = R>>(self, lanes: L) -> Self::Output;
}

/// Operations on sixteen numbers. A function that calls them must be inlined into the function that enables the instructions.
pub trait Lanes: Copy {
    type Number: Number;
    type Vector: Copy;

    fn splat(self, x: Self::Number) -> Self::Vector;
    fn load(self, from: &Block<Self::Number>) -> Self::Vector;
    fn store(self, x: Self::Vector) -> Block<Self::Number>;
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn div(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a b + c`
    fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn min(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `then` where `a > b`, else `other`.
    fn where_greater(
        self,
        a: Self::Vector,
        b: Self::Vector,
        then: Self::Vector,
        other: Self::Vector,
    ) -> Self::Vector;
    /// `exp(x)` for `x <= 0`; `exp(-86)` at least in `f32`.
    fn exp(self, x: Self::Vector) -> Self::Vector;
    /// The pair (E, S) of [`special::exp_digamma`], for x >= 1e-6.
    fn exp_digamma(self, x: Self::Vector) -> (Self::Vector, Self::Vector);
    /// The sum of the lanes of each of sixteen vectors, in the order of the module's description.
    fn sums(self, rows: [Self::Vector; LANES]) -> Self::Vector;

    /// The sum of the lanes.
    #[inline(always)]
    fn sum(self, x: Self::Vector) -> Self::Number {
        tree(&self.store(x))
    }

    /// The greatest lane.
    #[inline(always)]
    fn greatest(self, x: Self::Vector) -> Self::Number {
        let lanes = self.store(x);
        lanes.iter().fold(
            lanes[0],
            |most, &lane| if lane > most { lane } else { most },
        )
    }
}

/// The sum of sixteen numbers, in the order of the module's description.
#[inline(always)]
pub(super) fn tree<R: Number>(a: &Block<R>) -> R {
    let b: [R; 8] = std::array::from_fn(|l| a[l] + a[l + 8]);
    ((b[0] + b[1]) + (b[2] + b[3])) + ((b[4] + b[5]) + (b[6] + b[7]))
}

/// The two operations that `exp` needs apart from arithmetic.
pub(super) trait Exponents: Lanes<Number = f32> {
    fn round(self, x: Self::Vector) -> Self::Vector;
    /// `2^n` for whole n from -126 to 127.
    fn power_of_two(self, n: Self::Vector) -> Self::Vector;
}

/// `exp(x) = 2^n exp(r)` with `n = round(x / ln 2)` and a polynomial of degree 7: relative error below 2e-7.
#[inline(always)]
pub(super) fn exp_f32<L: Exponents>(lanes: L, x: L::Vector) -> L::Vector {
    // ln 2 in two parts. The product of n with the first is exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    const COEFFICIENTS: [f32; 7] = [
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ];
    let x = lanes.max(x, lanes.splat(-86.0));
    let n = lanes.round(lanes.mul(x, lanes.splat(std::f32::consts::LOG2_E)));
    let r = lanes.mul_add(n, lanes.splat(-LN2_HIGH), x);
    let r = lanes.mul_add(n, lanes.splat(-LN2_LOW), r);
    let mut polynomial = lanes.splat(1.0 / 5040.0);
    for coefficient in COEFFICIENTS {
        polynomial = lanes.mul_add(polynomial, r, lanes.splat(coefficient));
    }
    lanes.mul(polynomial, lanes.power_of_two(n))
}

/// Two divisions, no logarithm, no branch. With `t = x (x + 5)` the six terms of S are one fraction,
///
/// ```text
/// S = (2x + 5) (3t^2 + 20t + 24) / (t (t + 4) (t + 6))
/// E = z + 1/(24z) - 37/(5760z^3) + 10313/(2903040z^5),   z = x + 6 - 1/2, or x - 1/2 above 1000
/// ```
#[inline(always)]
pub(super) fn exp_digamma_f32<L: Lanes<Number = f32>>(
    lanes: L,
    x: L::Vector,
) -> (L::Vector, L::Vector) {
    let direct = lanes.splat(special::DIRECT as f32);
    let shift = lanes.where_greater(x, direct, lanes.splat(-0.5), lanes.splat(5.5));
    let z = lanes.add(x, shift);
    let i = lanes.div(lanes.splat(1.0), z);
    let i2 = lanes.mul(i, i);
    let series = lanes.mul_add(
        i2,
        lanes.splat(10313.0 / 2_903_040.0),
        lanes.splat(-37.0 / 5760.0),
    );
    let series = lanes.mul_add(i2, series, lanes.splat(1.0 / 24.0));
    let e = lanes.mul_add(i, series, z);

    let low = lanes.min(x, direct);
    let t = lanes.mul(low, lanes.add(low, lanes.splat(5.0)));
    let above = lanes.mul_add(
        lanes.mul_add(t, lanes.splat(3.0), lanes.splat(20.0)),
        t,
        lanes.splat(24.0),
    );
    let above = lanes.mul(
        lanes.mul_add(low, lanes.splat(2.0), lanes.splat(5.0)),
        above,
    );
    let below = lanes.mul(
        lanes.mul(t, lanes.add(t, lanes.splat(4.0))),
        lanes.add(t, lanes.splat(6.0)),
    );
    let s = lanes.div(above, below);
    (e, lanes.where_greater(x, direct, lanes.splat(0.0), s))
}
