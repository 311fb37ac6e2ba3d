//! The exponential and the logarithms that losses need, without branches, so that the compiler computes several at a time.
//!
//! Every function is a fixed order of correctly rounded operations: it gives the same bits with every instruction set. Relative errors
//! stay below 5e-16; the tests compare with libm.

use std::f64::consts::LOG2_E;

/// ln 2 in two parts. The first has 31 bits, so its product with an exponent is exact.
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fec0_0000);
const LN2_LOW: f64 = 4.236_521_365_809_284e-10;

/// The square root of 1/2.
const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;

/// Adding it to a number below 2^51 leaves the nearest whole number in the low bits.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// Below it the exponential would not be a normal number.
const LEAST_EXPONENT: f64 = -708.0;

/// `(exp(r) - 1 - r) / r^2` for |r| <= ln 2 / 2. Here and below: the polynomial through the function's values at Chebyshev's nodes.
#[rustfmt::skip]
const EXPONENTIAL: [f64; 10] = [
    0.5, 0.166_666_666_666_666_69, 0.041_666_666_666_624_13, 0.008_333_333_333_330_062,
    0.001_388_888_891_721_371_7, 0.000_198_412_698_630_536_18, 2.480_152_129_595_437_6e-5, 2.755_726_845_999_706_4e-6,
    2.762_008_844_540_974_6e-7, 2.510_038_549_551_032e-8,
];

/// `(artanh(s) / s - 1) / s^2` in powers of `s^2`, for |s| <= 0.1716.
#[rustfmt::skip]
const AREA_TANGENT: [f64; 8] = [
    0.333_333_333_333_333_3, 0.200_000_000_000_004_4, 0.142_857_142_854_016_16, 0.111_111_111_959_002_35,
    0.090_908_978_154_423_77, 0.076_931_201_029_067_39, 0.066_343_798_342_803_06, 0.065_433_835_049_740_87,
];

/// `exp(x)` for x <= 0; exp(-708) at least. NaN for NaN.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    let x = if x < LEAST_EXPONENT {
        LEAST_EXPONENT
    } else {
        x
    };
    let shifted = x * LOG2_E + ROUNDING;
    let n = shifted - ROUNDING;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    // The error of the polynomial is below 3e-17 of the result.
    let small = r * r * polynomial(r, EXPONENTIAL) + r;
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    (1.0 + small) * power
}

/// `ln(1 + x)` for x > -1. For x = -1 the result is finite, so that its product with 0 is 0. A number for NaN.
#[inline(always)]
pub(crate) fn ln_1p(x: f64) -> f64 {
    let (k, m) = parts(1.0 + x);
    // Near 1 the rounding of 1 + x would show.
    logarithm(k, if k == 0.0 { x } else { m - 1.0 })
}

/// `ln(x)` for positive normal x. For 0 and for subnormal x the result is finite, so that its product with 0 is 0. A number for NaN.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    let (k, m) = parts(x);
    logarithm(k, m - 1.0)
}

/// k and m with `x = 2^k m` and m between the roots of 1/2 and 2.
#[inline(always)]
fn parts(x: f64) -> (f64, f64) {
    const MANTISSA: u64 = (1 << 52) - 1;
    let shifted = x.to_bits().wrapping_add(0x3ff0_0000_0000_0000 - ROOT_HALF);
    let m = f64::from_bits((shifted & MANTISSA) + ROOT_HALF);
    // The bits of 2^52 + k + 1023.
    let k = f64::from_bits((shifted >> 52) | 0x4330_0000_0000_0000);
    (k - (4_503_599_627_370_496.0 + 1023.0), m)
}

/// `k ln 2 + ln(1 + f)`
#[inline(always)]
fn logarithm(k: f64, f: f64) -> f64 {
    k * LN2_HIGH + (ln_of_sum(f) + k * LN2_LOW)
}

/// `ln(1 + f)` for 1 + f between the roots of 1/2 and 2: twice the area hyperbolic tangent of f / (2 + f).
#[inline(always)]
fn ln_of_sum(f: f64) -> f64 {
    let s = f / (2.0 + f);
    let z = s * s;
    // The error of the polynomial is below 1e-18 of the result.
    let sum = polynomial(z, AREA_TANGENT);
    // 2 s = f - f s, whose first term is exact.
    f - s * (f - 2.0 * z * sum)
}

/// `sum_k c_k x^k` for 8 or 10 coefficients by halves (Estrin's scheme), so that a row alone does not wait for each power in turn.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, c: [f64; N]) -> f64 {
    let (x2, x4) = (x * x, (x * x) * (x * x));
    let two = |k: usize| c[k] + c[k + 1] * x;
    let four = |k: usize| two(k) + two(k + 2) * x2;
    let eight = four(0) + four(4) * x4;
    if N == 8 {
        eight
    } else {
        eight + two(8) * (x4 * x4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(actual: f64, expected: f64) {
        let error = (actual - expected).abs();
        assert!(
            error <= 5e-16 * expected.abs(),
            "{actual:e} instead of {expected:e}"
        );
    }

    #[test]
    fn at_the_ends_of_their_ranges() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1e300), exp(-708.0));
        assert!(exp(-708.0) >= f64::MIN_POSITIVE);
        assert!(exp(f64::NAN).is_nan());
        assert_eq!(ln_1p(0.0), 0.0);
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(0.0 * ln(0.0), 0.0);
        assert_eq!(0.0 * ln_1p(-1.0), 0.0);
        close(ln_1p(1.0), std::f64::consts::LN_2);
        close(ln_1p(1e-300), 1e-300);
        close(ln(f64::MIN_POSITIVE), libm::log(f64::MIN_POSITIVE));
    }

    proptest! {
        #[test]
        fn as_libm(x in 0.0..708.0f64, small in -40.0..0.0f64, e in 0.0..1.0f64) {
            close(exp(-x), libm::exp(-x));
            close(exp(small), libm::exp(small));
            close(ln_1p(e), libm::log1p(e));
            let tiny = libm::exp(small);
            close(ln_1p(tiny), libm::log1p(tiny));
            close(ln_1p(-tiny), libm::log1p(-tiny));
            close(ln_1p(-e), libm::log1p(-e));
        }

        #[test]
        fn logarithm_as_libm(x in 1e-300..1.0f64, exponent in -700.0..0.0f64) {
            for x in [x, libm::exp(exponent)] {
                let expected = libm::log(x);
                prop_assert!((ln(x) - expected).abs() <= 5e-16 * expected.abs().max(1e-2), "{x:e}");
            }
        }
    }
}
