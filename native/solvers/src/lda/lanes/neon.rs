//! Lanes of arm64: four vectors of four, by NEON, which each of these processors has. `pulp` makes its instructions safe. What is left to arrays
//! becomes such instructions as well.

use std::{arch::aarch64::float32x4_t, array::from_fn};

use pulp::{cast, f32x4};

use super::{
    operations::{Block, Exponents, LANES, Lanes, exp_digamma_f32, exp_f32},
    portable::Portable,
};

/// Four vectors of four.
#[derive(Debug, Clone, Copy)]
pub(super) struct Neon(pub pulp::aarch64::Neon);

type Vector = [float32x4_t; 4];

/// The sums of pairs of neighbours, those of `a` first.
#[inline(always)]
fn neighbours(a: f32x4, b: f32x4) -> f32x4 {
    f32x4(a.0 + a.1, a.2 + a.3, b.0 + b.1, b.2 + b.3)
}

/// An operation on two vectors, by fours.
#[inline(always)]
fn fours(a: Vector, b: Vector, f: impl Fn(f32x4, f32x4) -> f32x4) -> Vector {
    from_fn(|i| cast(f(cast(a[i]), cast(b[i]))))
}

impl Lanes for Neon {
    type Number = f32;
    type Vector = Vector;

    #[inline(always)]
    fn splat(self, x: f32) -> Vector {
        [cast(self.0.splat_f32x4(x)); 4]
    }

    #[inline(always)]
    fn load(self, from: &Block<f32>) -> Vector {
        cast(*from)
    }

    #[inline(always)]
    fn store(self, x: Vector) -> Block<f32> {
        cast(x)
    }

    #[inline(always)]
    fn add(self, a: Vector, b: Vector) -> Vector {
        fours(a, b, |a, b| self.0.add_f32x4(a, b))
    }

    #[inline(always)]
    fn sub(self, a: Vector, b: Vector) -> Vector {
        fours(a, b, |a, b| self.0.sub_f32x4(a, b))
    }

    #[inline(always)]
    fn mul(self, a: Vector, b: Vector) -> Vector {
        fours(a, b, |a, b| self.0.mul_f32x4(a, b))
    }

    #[inline(always)]
    fn div(self, a: Vector, b: Vector) -> Vector {
        fours(a, b, |a, b| self.0.div_f32x4(a, b))
    }

    #[inline(always)]
    fn mul_add(self, a: Vector, b: Vector, c: Vector) -> Vector {
        from_fn(|i| cast(self.0.mul_add_f32x4(cast(a[i]), cast(b[i]), cast(c[i]))))
    }

    #[inline(always)]
    fn max(self, a: Vector, b: Vector) -> Vector {
        self.where_greater(a, b, a, b)
    }

    #[inline(always)]
    fn min(self, a: Vector, b: Vector) -> Vector {
        self.where_greater(b, a, a, b)
    }

    #[inline(always)]
    fn where_greater(self, a: Vector, b: Vector, then: Vector, other: Vector) -> Vector {
        from_fn(|i| {
            let greater = self.0.cmp_gt_f32x4(cast(a[i]), cast(b[i]));
            cast(self.0.select_f32x4(greater, cast(then[i]), cast(other[i])))
        })
    }

    #[inline(always)]
    fn exp(self, x: Vector) -> Vector {
        exp_f32(self, x)
    }

    #[inline(always)]
    fn exp_digamma(self, x: Vector) -> (Vector, Vector) {
        exp_digamma_f32(self, x)
    }

    #[inline(always)]
    fn sums(self, rows: [Vector; LANES]) -> Vector {
        let add = |a, b| self.0.add_f32x4(cast(a), cast(b));
        let pairs = rows.map(|[a, b, c, d]| neighbours(add(a, c), add(b, d)));
        from_fn(|i| {
            let [a, b, c, d] = from_fn(|j| pairs[4 * i + j]);
            cast(neighbours(neighbours(a, b), neighbours(c, d)))
        })
    }
}

impl Exponents for Neon {
    #[inline(always)]
    fn round(self, x: Vector) -> Vector {
        cast(Portable::<f32>::NEW.round(cast(x)))
    }

    #[inline(always)]
    fn power_of_two(self, n: Vector) -> Vector {
        cast(Portable::<f32>::NEW.power_of_two(cast(n)))
    }
}
