//! Lanes of x86-64. The instructions come from `pulp`, which makes them safe: its tokens prove that the processor has them.
//!
//! The compiler inlines instructions only into functions that enable them. A closure for a function that is not always inlined (`map` or `from_fn` of
//! arrays) must therefore contain none: each would become a call, through memory.

use std::arch::x86_64::{__m256, __m512, _CMP_GT_OQ, _MM_FROUND_NO_EXC, _MM_FROUND_TO_NEAREST_INT};

use pulp::{
    NullaryFnOnce, cast,
    x86::{V3, V4},
};

use super::operations::{Block, Exponents, LANES, Lanes, WithLanes, exp_digamma_f32, exp_f32};

/// Work on these lanes, for `vectorize`.
pub(super) struct On<L, W>(pub L, pub W);

impl<L: Lanes<Number = f32>, W: WithLanes<f32>> NullaryFnOnce for On<L, W> {
    type Output = W::Output;

    #[inline(always)]
    fn call(self) -> W::Output {
        self.1.run(self.0)
    }
}

/// Two vectors of eight.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx2(pub V3);

impl Avx2 {
    #[inline(always)]
    fn two(
        self,
        a: [__m256; 2],
        b: [__m256; 2],
        f: impl Fn(__m256, __m256) -> __m256,
    ) -> [__m256; 2] {
        [f(a[0], b[0]), f(a[1], b[1])]
    }

    /// The sums of eight rows.
    #[inline(always)]
    fn eight(self, rows: &[[__m256; 2]]) -> __m256 {
        let avx = self.0.avx;
        let mut b = [avx._mm256_set1_ps(0.0); 8];
        for i in 0..8 {
            b[i] = avx._mm256_add_ps(rows[i][0], rows[i][1]);
        }
        let first = avx._mm256_hadd_ps(
            avx._mm256_hadd_ps(b[0], b[1]),
            avx._mm256_hadd_ps(b[2], b[3]),
        );
        let second = avx._mm256_hadd_ps(
            avx._mm256_hadd_ps(b[4], b[5]),
            avx._mm256_hadd_ps(b[6], b[7]),
        );
        avx._mm256_add_ps(
            avx._mm256_permute2f128_ps::<0x20>(first, second),
            avx._mm256_permute2f128_ps::<0x31>(first, second),
        )
    }
}

impl Lanes for Avx2 {
    type Number = f32;
    type Vector = [__m256; 2];

    #[inline(always)]
    fn splat(self, x: f32) -> Self::Vector {
        [self.0.avx._mm256_set1_ps(x); 2]
    }

    #[inline(always)]
    fn load(self, from: &Block<f32>) -> Self::Vector {
        cast(*from)
    }

    #[inline(always)]
    fn store(self, x: Self::Vector) -> Block<f32> {
        cast(x)
    }

    #[inline(always)]
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        self.two(a, b, |a, b| self.0.avx._mm256_add_ps(a, b))
    }

    #[inline(always)]
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        self.two(a, b, |a, b| self.0.avx._mm256_sub_ps(a, b))
    }

    #[inline(always)]
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        self.two(a, b, |a, b| self.0.avx._mm256_mul_ps(a, b))
    }

    #[inline(always)]
    fn div(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        self.two(a, b, |a, b| self.0.avx._mm256_div_ps(a, b))
    }

    #[inline(always)]
    fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        let fma = self.0.fma;
        [
            fma._mm256_fmadd_ps(a[0], b[0], c[0]),
            fma._mm256_fmadd_ps(a[1], b[1], c[1]),
        ]
    }

    #[inline(always)]
    fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        self.two(a, b, |a, b| self.0.avx._mm256_max_ps(a, b))
    }

    #[inline(always)]
    fn min(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        self.two(a, b, |a, b| self.0.avx._mm256_min_ps(a, b))
    }

    #[inline(always)]
    fn where_greater(
        self,
        a: Self::Vector,
        b: Self::Vector,
        then: Self::Vector,
        other: Self::Vector,
    ) -> Self::Vector {
        let avx = self.0.avx;
        let greater = self.two(a, b, |a, b| avx._mm256_cmp_ps::<_CMP_GT_OQ>(a, b));
        [
            avx._mm256_blendv_ps(other[0], then[0], greater[0]),
            avx._mm256_blendv_ps(other[1], then[1], greater[1]),
        ]
    }

    #[inline(always)]
    fn exp(self, x: Self::Vector) -> Self::Vector {
        exp_f32(self, x)
    }

    #[inline(always)]
    fn exp_digamma(self, x: Self::Vector) -> (Self::Vector, Self::Vector) {
        exp_digamma_f32(self, x)
    }

    #[inline(always)]
    fn sums(self, rows: [Self::Vector; LANES]) -> Self::Vector {
        [self.eight(&rows[..8]), self.eight(&rows[8..])]
    }
}

impl Avx2 {
    #[inline(always)]
    fn round_eight(self, x: __m256) -> __m256 {
        const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
        self.0.avx._mm256_round_ps::<NEAREST>(x)
    }

    #[inline(always)]
    fn eight_powers(self, n: __m256) -> __m256 {
        let (avx, avx2) = (self.0.avx, self.0.avx2);
        let bias = avx._mm256_set1_epi32(127);
        let exponent = avx2._mm256_add_epi32(avx._mm256_cvtps_epi32(n), bias);
        avx._mm256_castsi256_ps(avx2._mm256_slli_epi32::<23>(exponent))
    }
}

impl Exponents for Avx2 {
    #[inline(always)]
    fn round(self, x: Self::Vector) -> Self::Vector {
        [self.round_eight(x[0]), self.round_eight(x[1])]
    }

    #[inline(always)]
    fn power_of_two(self, n: Self::Vector) -> Self::Vector {
        [self.eight_powers(n[0]), self.eight_powers(n[1])]
    }
}

/// One vector of sixteen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx512(pub V4);

impl Avx512 {
    /// The sums of pairs of neighbours of `a` and of `b`, by four lanes of each in turn.
    #[inline(always)]
    fn neighbours(self, a: __m512, b: __m512) -> __m512 {
        let f = self.0.avx512f;
        f._mm512_add_ps(
            f._mm512_shuffle_ps::<0x88>(a, b),
            f._mm512_shuffle_ps::<0xDD>(a, b),
        )
    }

    /// `b` of one row in the lower half, and of another row in the upper half.
    #[inline(always)]
    fn halves(self, lower: __m512, upper: __m512) -> __m512 {
        let f = self.0.avx512f;
        f._mm512_add_ps(
            f._mm512_shuffle_f32x4::<0x44>(lower, upper),
            f._mm512_shuffle_f32x4::<0xEE>(lower, upper),
        )
    }

    /// `b` of the rows i and i + 4, for i from 0 to 3, summed by pairs and then by fours.
    #[inline(always)]
    fn fours(self, rows: &[__m512]) -> __m512 {
        self.neighbours(
            self.neighbours(self.halves(rows[0], rows[4]), self.halves(rows[1], rows[5])),
            self.neighbours(self.halves(rows[2], rows[6]), self.halves(rows[3], rows[7])),
        )
    }
}

impl Lanes for Avx512 {
    type Number = f32;
    type Vector = __m512;

    #[inline(always)]
    fn splat(self, x: f32) -> __m512 {
        self.0.avx512f._mm512_set1_ps(x)
    }

    #[inline(always)]
    fn load(self, from: &Block<f32>) -> __m512 {
        cast(*from)
    }

    #[inline(always)]
    fn store(self, x: __m512) -> Block<f32> {
        cast(x)
    }

    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        self.0.avx512f._mm512_add_ps(a, b)
    }

    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        self.0.avx512f._mm512_sub_ps(a, b)
    }

    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        self.0.avx512f._mm512_mul_ps(a, b)
    }

    #[inline(always)]
    fn div(self, a: __m512, b: __m512) -> __m512 {
        self.0.avx512f._mm512_div_ps(a, b)
    }

    #[inline(always)]
    fn mul_add(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        self.0.avx512f._mm512_fmadd_ps(a, b, c)
    }

    #[inline(always)]
    fn max(self, a: __m512, b: __m512) -> __m512 {
        self.0.avx512f._mm512_max_ps(a, b)
    }

    #[inline(always)]
    fn min(self, a: __m512, b: __m512) -> __m512 {
        self.0.avx512f._mm512_min_ps(a, b)
    }

    #[inline(always)]
    fn where_greater(self, a: __m512, b: __m512, then: __m512, other: __m512) -> __m512 {
        let f = self.0.avx512f;
        f._mm512_mask_blend_ps(f._mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b), other, then)
    }

    #[inline(always)]
    fn exp(self, x: __m512) -> __m512 {
        exp_f32(self, x)
    }

    #[inline(always)]
    fn exp_digamma(self, x: __m512) -> (__m512, __m512) {
        exp_digamma_f32(self, x)
    }

    #[inline(always)]
    fn sums(self, rows: [__m512; LANES]) -> __m512 {
        let f = self.0.avx512f;
        let (first, second) = (self.fours(&rows[..8]), self.fours(&rows[8..]));
        f._mm512_add_ps(
            f._mm512_shuffle_f32x4::<0x88>(first, second),
            f._mm512_shuffle_f32x4::<0xDD>(first, second),
        )
    }
}

impl Exponents for Avx512 {
    #[inline(always)]
    fn round(self, x: __m512) -> __m512 {
        self.0
            .avx512f
            ._mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x)
    }

    #[inline(always)]
    fn power_of_two(self, n: __m512) -> __m512 {
        let f = self.0.avx512f;
        let exponent = f._mm512_add_epi32(f._mm512_cvtps_epi32(n), f._mm512_set1_epi32(127));
        f._mm512_castsi512_ps(f._mm512_slli_epi32::<23>(exponent))
    }
}
