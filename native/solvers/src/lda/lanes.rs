//! Sixteen numbers at a time: plain Rust, AVX2 with FMA, AVX-512; chosen at run time.
//!
//! AVX2 and AVX-512 give the same bits: both round once where they multiply and add, and add lanes in the same order,
//!
//! ```text
//! b_l = a_l + a_(l+8),   ((b_0 + b_1) + (b_2 + b_3)) + ((b_4 + b_5) + (b_6 + b_7))
//! ```
//!
//! Plain Rust rounds products, too.

use std::marker::PhantomData;

use super::{real::Real, special};

/// Numbers at a time.
pub(super) const LANES: usize = 16;

/// As many numbers in memory.
pub(super) type Block<R> = [R; LANES];

/// Whole blocks that hold `length` numbers.
pub(super) const fn blocks(length: usize) -> usize {
    length.div_ceil(LANES)
}

/// Which instructions work on `f32`.
#[derive(Debug, Clone, Copy)]
pub struct Kernel(Instructions);

#[derive(Debug, Clone, Copy)]
enum Instructions {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
    #[cfg(target_arch = "x86_64")]
    Avx512(pulp::x86::V4),
}

impl Kernel {
    /// Plain Rust: works everywhere.
    pub const PORTABLE: Self = Self(Instructions::Portable);

    /// The fastest that this processor has.
    pub fn detect() -> Self {
        Self::available().pop().unwrap_or(Self::PORTABLE)
    }

    /// All that this processor has, the fastest last.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut all = vec![Self::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(pulp::x86::V3::try_new().map(|token| Self(Instructions::Avx2(token))));
            all.extend(pulp::x86::V4::try_new().map(|token| Self(Instructions::Avx512(token))));
        }
        all
    }

    /// `portable`, `avx2` or `avx512`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Instructions::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(_) => "avx512",
        }
    }
}

/// Work that is compiled once for each kind of lanes.
pub trait WithLanes<R> {
    type Output;
    fn run<L: Lanes<Real = R>>(self, lanes: L) -> Self::Output;
}

/// Runs `work` on the lanes of `kernel`.
pub(super) fn run_f32<W: WithLanes<f32>>(kernel: Kernel, work: W) -> W::Output {
    match kernel.0 {
        Instructions::Portable => work.run(Portable::<f32>::NEW),
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2(token) => token.vectorize(x86::On(x86::Avx2(token), work)),
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512(token) => token.vectorize(x86::On(x86::Avx512(token), work)),
    }
}

/// Operations on sixteen numbers. A function that calls them has to be inlined into the one that enables the instructions.
pub trait Lanes: Copy {
    type Real: Real;
    type Vector: Copy;

    fn splat(self, x: Self::Real) -> Self::Vector;
    fn load(self, from: &Block<Self::Real>) -> Self::Vector;
    fn store(self, x: Self::Vector) -> Block<Self::Real>;
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
    /// The sum of the lanes of each of sixteen vectors, in the order above.
    fn sums(self, rows: [Self::Vector; LANES]) -> Self::Vector;

    /// The sum of the lanes.
    #[inline(always)]
    fn sum(self, x: Self::Vector) -> Self::Real {
        tree(&self.store(x))
    }

    /// The greatest lane.
    #[inline(always)]
    fn greatest(self, x: Self::Vector) -> Self::Real {
        let lanes = self.store(x);
        lanes.iter().fold(
            lanes[0],
            |most, &lane| if lane > most { lane } else { most },
        )
    }
}

/// The sum of sixteen numbers, in the order of the module's description.
#[inline(always)]
fn tree<R: Real>(a: &Block<R>) -> R {
    let b: [R; 8] = std::array::from_fn(|l| a[l] + a[l + 8]);
    ((b[0] + b[1]) + (b[2] + b[3])) + ((b[4] + b[5]) + (b[6] + b[7]))
}

/// Lanes that have the two operations that `exp` needs beside arithmetic.
trait Exponents: Lanes<Real = f32> {
    fn round(self, x: Self::Vector) -> Self::Vector;
    /// `2^n` for whole n from -126 to 127.
    fn power_of_two(self, n: Self::Vector) -> Self::Vector;
}

/// `exp(x) = 2^n exp(r)` with `n = round(x / ln 2)` and a polynomial of degree 7: relative error below 2e-7.
#[inline(always)]
fn exp_f32<L: Exponents>(lanes: L, x: L::Vector) -> L::Vector {
    // ln 2 in two parts: the product of the first with n is exact.
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
fn exp_digamma_f32<L: Lanes<Real = f32>>(lanes: L, x: L::Vector) -> (L::Vector, L::Vector) {
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
fn zip<R: Real>(a: Block<R>, b: Block<R>, f: impl Fn(R, R) -> R) -> Block<R> {
    std::array::from_fn(|l| f(a[l], b[l]))
}

macro_rules! portable_lanes {
    ($real:ty, $exp:expr, $exp_digamma:expr) => {
        impl Lanes for Portable<$real> {
            type Real = $real;
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

impl Exponents for Portable<f32> {
    #[inline(always)]
    fn round(self, x: Self::Vector) -> Self::Vector {
        // Exact below 2^22, and rounds to even as the instructions do.
        const SHIFT: f32 = 12_582_912.0;
        x.map(|x| (x + SHIFT) - SHIFT)
    }

    #[inline(always)]
    fn power_of_two(self, n: Self::Vector) -> Self::Vector {
        n.map(|n| f32::from_bits(((n as i32 + 127) as u32) << 23))
    }
}

#[cfg(target_arch = "x86_64")]
#[path = "x86.rs"]
mod x86;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::order::SplitMix64;

    /// What the description of the fused exp-digamma promises.
    const PAIR: f64 = 5e-6;

    /// Everything that lanes compute from three vectors.
    struct Everything([Block<f32>; 3]);

    impl WithLanes<f32> for Everything {
        type Output = Vec<Block<f32>>;

        #[inline(always)]
        fn run<L: Lanes<Real = f32>>(self, l: L) -> Vec<Block<f32>> {
            let [a, b, c] = self.0.map(|block| l.load(&block));
            let rows = std::array::from_fn(|i| l.mul_add(a, l.splat(i as f32), b));
            let (e, s) = l.exp_digamma(c);
            let away = l.sub(l.splat(0.0), c);
            let results = [
                l.add(a, b),
                l.sub(a, b),
                l.mul(a, b),
                l.div(a, c),
                l.mul_add(a, b, c),
                l.max(a, b),
                l.min(a, b),
                l.where_greater(a, b, c, away),
                l.exp(away),
                e,
                s,
                l.sums(rows),
                l.splat(l.sum(a)),
                l.splat(l.greatest(a)),
            ];
            results.map(|x| l.store(x)).to_vec()
        }
    }

    fn everything(kernel: Kernel, blocks: [Block<f32>; 3]) -> Vec<Block<f32>> {
        f32::run(kernel, Everything(blocks))
    }

    fn blocks_of(seed: u64) -> [Block<f32>; 3] {
        let mut random = SplitMix64::for_epoch(seed, 0, 0);
        let mut number = |low: f64, high: f64| {
            (low + (high - low) * (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64) as f32
        };
        [
            std::array::from_fn(|_| number(-3.0, 3.0)),
            std::array::from_fn(|_| number(-3.0, 3.0)),
            std::array::from_fn(|_| number(-6.0, 6.0)).map(|x: f32| 10f32.powf(x)),
        ]
    }

    /// The rounding of a product is all that plain Rust adds.
    #[test]
    fn kernels_agree() {
        const ONE_ROUNDING_MORE: f32 = 4e-6;
        for seed in 0..500 {
            let blocks = blocks_of(seed);
            let plain = everything(Kernel::PORTABLE, blocks);
            let results: Vec<_> = Kernel::available()[1..]
                .iter()
                .map(|&kernel| everything(kernel, blocks))
                .collect();
            for result in &results {
                assert_eq!(result, &results[0], "AVX2 and AVX-512 give the same bits");
                for (operation, (fast, plain)) in result.iter().zip(&plain).enumerate() {
                    for (x, y) in fast.iter().zip(plain) {
                        // Sums of 16 numbers up to 48.
                        let size = if operation == 11 {
                            800.0
                        } else {
                            y.abs().max(1e-30)
                        };
                        let size = if operation == 4 { size.max(9.0) } else { size };
                        assert!(
                            (x - y).abs() <= ONE_ROUNDING_MORE * size,
                            "{operation}: {x} {y}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn sums_are_of_their_rows() {
        struct Sums([Block<f32>; LANES]);
        impl WithLanes<f32> for Sums {
            type Output = Block<f32>;
            #[inline(always)]
            fn run<L: Lanes<Real = f32>>(self, l: L) -> Block<f32> {
                l.store(l.sums(self.0.map(|row| l.load(&row))))
            }
        }
        // Whole numbers: exact in any order.
        let rows: [Block<f32>; LANES] =
            std::array::from_fn(|i| std::array::from_fn(|l| (i * 100 + l * l) as f32));
        for kernel in Kernel::available() {
            assert_eq!(
                f32::run(kernel, Sums(rows)),
                rows.map(|row| row.iter().sum::<f32>()),
                "{}",
                kernel.name()
            );
        }
    }

    #[test]
    fn pair_is_that_of_50_digits() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/golden/special.json"
        );
        let golden: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let pairs = golden["pairs"].as_array().unwrap();
        assert!(pairs.len() > 300);
        for kernel in Kernel::available() {
            for row in pairs {
                let number = |i: usize| row[i].as_f64();
                let x = number(0).unwrap();
                let results = everything(kernel, [[0.0; LANES], [0.0; LANES], [x as f32; LANES]]);
                let (e, s) = (f64::from(results[9][3]), f64::from(results[10][3]));
                assert!(e.is_finite() && e > 0.0 && s >= 0.0, "{x}: {e} {s}");
                if x <= 1000.0 {
                    // The argument itself is rounded to an f32.
                    assert!((e / number(1).unwrap() - 1.0).abs() < PAIR, "E at {x}");
                    assert!((s / number(2).unwrap() - 1.0).abs() < PAIR, "S at {x}");
                }
                if let Some(value) = number(3).filter(|_| (0.1..=1e5).contains(&x)) {
                    assert!(
                        (e * (-s).exp() / value - 1.0).abs() < PAIR,
                        "{}: at {x}",
                        kernel.name()
                    );
                }
            }
        }
    }

    #[test]
    fn pair_is_continuous_where_its_form_changes() {
        for kernel in Kernel::available() {
            let product = |x: f32| {
                let results = everything(kernel, [[0.0; LANES], [0.0; LANES], [x; LANES]]);
                f64::from(results[9][0]) * (-f64::from(results[10][0])).exp()
            };
            let (below, above) = (product(1000.0), product(1000.0f32.next_up()));
            assert!((above / below - 1.0).abs() < 1e-6, "{below} {above}");
        }
    }

    #[test]
    fn exponentials_end_above_the_subnormal_numbers() {
        for kernel in Kernel::available() {
            let at = |x: f32| everything(kernel, [[0.0; LANES], [0.0; LANES], [x; LANES]])[8][0];
            assert!((f64::from(at(86.0)) / (-86f64).exp() - 1.0).abs() < PAIR);
            assert_eq!(at(86.0), at(1e6));
            assert!(at(1e6) >= f32::MIN_POSITIVE);
        }
    }
}
