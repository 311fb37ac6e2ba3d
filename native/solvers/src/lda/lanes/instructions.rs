//! The choice of lanes, at run time.

#[cfg(target_arch = "aarch64")]
use super::neon::Neon;
#[cfg(target_arch = "x86_64")]
use super::x86::{Avx2, Avx512, On};
use super::{operations::WithLanes, portable::Portable};
use crate::base::instructions::{Instructions, Kernel};

/// Runs `work` on the lanes of `kernel`.
pub(super) fn run_f32<W: WithLanes<f32>>(kernel: Kernel, work: W) -> W::Output {
    match kernel.0 {
        Instructions::Portable => work.run(Portable::<f32>::NEW),
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2(token) => token.vectorize(On(Avx2(token), work)),
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512(token) => token.vectorize(On(Avx512(token), work)),
        #[cfg(target_arch = "aarch64")]
        Instructions::Neon(token) => work.run(Neon(token)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        base::order::SplitMix64,
        lda::lanes::{Block, LANES, Lanes, Real},
    };

    /// What the description of the fused exp-digamma promises.
    const PAIR: f64 = 5e-6;

    /// Everything that lanes compute from three vectors.
    struct Everything([Block<f32>; 3]);

    impl WithLanes<f32> for Everything {
        type Output = Vec<Block<f32>>;

        #[inline(always)]
        fn run<L: Lanes<Number = f32>>(self, l: L) -> Vec<Block<f32>> {
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

    /// Plain Rust differs only in the rounding of products.
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
    fn bits_are_those_of_every_architecture() {
        /// Of AVX2, by FNV-1a.
        const BITS: u64 = 0xea36_a7df_ef43_c4a6;
        if Kernel::available().len() == 1 {
            return;
        }
        let bits = (0..50)
            .flat_map(|seed| {
                let [a, b, _] = blocks_of(seed);
                everything(Kernel::detect(), [a, b, a.map(|x| (x * x + 1e-3) * 1e3)])
            })
            .flatten()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, x| {
                (hash ^ u64::from(x.to_bits())).wrapping_mul(0x0100_0000_01b3)
            });
        assert_eq!(bits, BITS);
    }

    #[test]
    fn sums_are_of_their_rows() {
        struct Sums([Block<f32>; LANES]);
        impl WithLanes<f32> for Sums {
            type Output = Block<f32>;
            #[inline(always)]
            fn run<L: Lanes<Number = f32>>(self, l: L) -> Block<f32> {
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
