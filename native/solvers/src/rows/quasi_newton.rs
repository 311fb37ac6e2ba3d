//! The vectors of L-BFGS and OWL-QN: points, gradients and the corrections that stand for the Hessian. All functions work on equal
//! ranges of their vectors, so that a caller may go through long vectors part by part, and several callers may share them.
//!
//! Coordinates are `theta_j = d_j w_j` with the deviation `d_j` of feature j, and features are centred by their means `mu_j`. Where a feature
//! has no deviation, its coefficient is 0. An intercept is a coordinate with deviation 1 and mean 0. The L1 penalty of a coordinate is `l1 r_j |theta_j|`, its L2 penalty `l2/2 (r_j theta_j)^2`.
//!
//! Corrections are kept in single precision, which halves the memory that an iteration passes by: they shape the metric only. All sums
//! are taken in double precision, in the order of the entries, with [`LANES`] accumulators, or as many as the registers hold.
//!
//! Sources: Nocedal, "Updating quasi-Newton matrices with limited storage", Math. Comp. 35, 1980; Andrew, Gao, "Scalable training of
//! L1-regularized log-linear models", ICML 2007; Chen, Wang, Zhou, "Large-scale L-BFGS using MapReduce", NIPS 2014 (the recursion on dot
//! products).

use pulp::{Arch, Simd, WithSimd};

use crate::base::{error::SolverError, instructions::vectorised};

/// Additions that do not wait for one another.
const LANES: usize = 16;

/// Entries that stay in the first cache while the corrections pass by.
const TOGETHER: usize = 512;

/// What is known of the coordinates of a range.
#[derive(Debug, Clone, Copy)]
pub struct Scaling<'a> {
    /// `d`, at least 0.
    pub deviation: &'a [f64],
    /// `mu`; None if features are not centred.
    pub mean: Option<&'a [f64]>,
}

/// A penalty of the coordinates of a range.
#[derive(Debug, Clone, Copy)]
pub struct Penalties<'a> {
    /// `r`, at least 0.
    pub factors: &'a [f64],
    /// `l1`
    pub l1: f64,
    /// `l2`
    pub l2: f64,
}

/// Sums over a range.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Evaluation {
    /// The L2 penalty.
    pub l2: f64,
    /// The L1 penalty.
    pub l1: f64,
    /// The product of the direction with the gradient, or with the subgradient if there is one.
    pub slope: f64,
    /// The square of the gradient.
    pub squares: f64,
    /// The square of the subgradient.
    pub subsquares: f64,
}

fn same(lengths: &[usize]) -> Result<(), SolverError> {
    if lengths.windows(2).all(|pair| pair[0] == pair[1]) {
        Ok(())
    } else {
        Err(SolverError::Shape(format!(
            "vectors of a range have lengths {lengths:?}: they must be equal"
        )))
    }
}

fn all_of(vectors: &[&[f32]], length: usize) -> Result<(), SolverError> {
    vectors
        .iter()
        .try_for_each(|vector| same(&[vector.len(), length]))
}

/// Sign of a number; 0 of 0, as in Breeze.
#[inline(always)]
fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// `next = point + step direction`, and its coefficients, little endian. With a subgradient, entries that leave the orthant of the search
/// become 0. Returns the product of means and coefficients.
///
/// # Errors
/// `Shape` if lengths differ.
pub fn trial(
    point: &[f64],
    direction: &[f64],
    subgradient: Option<&[f64]>,
    step: f64,
    scaling: Scaling<'_>,
    next: &mut [f64],
    model: &mut [u8],
) -> Result<f64, SolverError> {
    let length = point.len();
    same(&[
        length,
        direction.len(),
        subgradient.map_or(length, <[f64]>::len),
        scaling.deviation.len(),
        scaling.mean.map_or(length, <[f64]>::len),
        next.len(),
        model.len() / 8,
    ])?;
    Ok(vectorised(
        #[inline(always)]
        || {
            for ((next, &x), &d) in next.iter_mut().zip(point).zip(direction) {
                *next = x + d * step;
            }
            if let Some(subgradient) = subgradient {
                for ((next, &x), &g) in next.iter_mut().zip(point).zip(subgradient) {
                    let orthant = if x == 0.0 { sign(-g) } else { sign(x) };
                    *next = if sign(*next) == orthant { *next } else { 0.0 };
                }
            }
            let model = model.as_chunks_mut::<8>().0;
            for ((model, &x), &d) in model.iter_mut().zip(&*next).zip(scaling.deviation) {
                let w = if d > 0.0 { x / d } else { 0.0 };
                *model = w.to_le_bytes();
            }
            scaling.mean.map_or(0.0, |mean| {
                sum(mean, model, |mean, w| mean * f64::from_le_bytes(w))
            })
        },
    ))
}

/// What [`gradient`] reads.
#[derive(Debug, Clone, Copy)]
pub struct Evaluated<'a> {
    /// Sums over all rows of the losses' derivatives times their rows.
    pub sums: &'a [f64],
    /// Sum of the weights of all rows.
    pub total: f64,
    /// The derivative of the mean loss by the intercept of the same output.
    pub intercept: f64,
    /// The point.
    pub at: &'a [f64],
    /// The direction of the search.
    pub direction: &'a [f64],
}

/// Writes the gradient of mean loss and L2 penalty by the coordinates, and the subgradient nearest to 0 with the L1 penalty.
///
/// # Errors
/// `Shape` if lengths differ.
pub fn gradient(
    evaluated: Evaluated<'_>,
    scaling: Scaling<'_>,
    penalties: Penalties<'_>,
    gradient: &mut [f64],
    mut subgradient: Option<&mut [f64]>,
) -> Result<Evaluation, SolverError> {
    let Evaluated {
        sums,
        total,
        intercept,
        at,
        direction,
    } = evaluated;
    let Penalties { factors, l1, l2 } = penalties;
    let length = sums.len();
    same(&[
        length,
        at.len(),
        direction.len(),
        scaling.deviation.len(),
        scaling.mean.map_or(length, <[f64]>::len),
        factors.len(),
        gradient.len(),
        subgradient.as_deref().map_or(length, <[f64]>::len),
    ])?;
    Ok(vectorised(
        #[inline(always)]
        || {
            for (gradient, &sum) in gradient.iter_mut().zip(sums) {
                *gradient = sum / total;
            }
            if let Some(mean) = scaling.mean {
                for (gradient, &mean) in gradient.iter_mut().zip(mean) {
                    *gradient -= mean * intercept;
                }
            }
            for (gradient, &d) in gradient.iter_mut().zip(scaling.deviation) {
                *gradient = if d > 0.0 { *gradient / d } else { 0.0 };
            }
            for ((gradient, &r), &x) in gradient.iter_mut().zip(factors).zip(at) {
                *gradient += l2 * r * r * x;
            }
            let mut result = Evaluation {
                l2: 0.5 * sum(factors, at, |r, x| l2 * r * r * x * x),
                squares: dot(gradient, gradient),
                ..Evaluation::default()
            };
            match subgradient.as_deref_mut() {
                None => result.slope = dot(gradient, direction),
                Some(nearest) => {
                    let entries = nearest.iter_mut().zip(&*gradient).zip(at).zip(factors);
                    for (((nearest, &g), &x), &r) in entries {
                        *nearest = subgradient_of(g, x, l1 * r);
                    }
                    result.l1 = sum(factors, at, |r, x| l1 * r * x.abs());
                    result.subsquares = dot(nearest, nearest);
                    result.slope = dot(nearest, direction);
                }
            }
            result
        },
    ))
}

/// The subgradient nearest to 0 of `g x + penalty |x|` at `x`.
#[inline(always)]
fn subgradient_of(g: f64, x: f64, penalty: f64) -> f64 {
    if x != 0.0 {
        g + sign(x) * penalty
    } else if g - penalty > 0.0 {
        g - penalty
    } else if g + penalty < 0.0 {
        g + penalty
    } else {
        0.0
    }
}

/// Writes the difference of two vectors.
///
/// # Errors
/// `Shape` if lengths differ.
pub fn difference(next: &[f64], last: &[f64], result: &mut [f32]) -> Result<(), SolverError> {
    same(&[next.len(), last.len(), result.len()])?;
    vectorised(
        #[inline(always)]
        || {
            for ((result, &next), &last) in result.iter_mut().zip(next).zip(last) {
                *result = (next - last) as f32;
            }
        },
    );
    Ok(())
}

/// Adds the products of each of the vectors with the newest step, the newest change of the gradient, and `search`: three sums a vector.
///
/// # Errors
/// `Shape` if lengths differ.
pub fn products(
    step: &[f32],
    change: &[f32],
    search: &[f64],
    vectors: &[&[f32]],
    sums: &mut [f64],
) -> Result<(), SolverError> {
    let length = search.len();
    same(&[length, step.len(), change.len()])?;
    all_of(vectors, length)?;
    same(&[sums.len(), 3 * vectors.len()])?;
    Arch::new().dispatch(Products {
        step,
        change,
        search,
        vectors,
        sums: sums.as_chunks_mut().0,
    });
    Ok(())
}

struct Products<'a> {
    step: &'a [f32],
    change: &'a [f32],
    search: &'a [f64],
    vectors: &'a [&'a [f32]],
    sums: &'a mut [[f64; 3]],
}

impl WithSimd for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let length = self.search.len();
        let mut tiles = [[0.0; TOGETHER]; 3];
        let mut first = 0;
        while first < length {
            let end = length.min(first + TOGETHER);
            let [s, y, v] = tiles.each_mut().map(|tile| &mut tile[..end - first]);
            widen(&self.step[first..end], s);
            widen(&self.change[first..end], y);
            for (vector, sums) in self.vectors.iter().zip(&mut *self.sums) {
                widen(&vector[first..end], v);
                let found = three_dots(simd, v, [s, y, &self.search[first..end]]);
                for (sum, found) in sums.iter_mut().zip(found) {
                    *sum += found;
                }
            }
            first = end;
        }
    }
}

/// `direction = factor search + sum_v factors_v vectors_v`. If it `descends`, entries that do not go down along `search` are 0. Returns
/// its square and its product with `search`.
///
/// # Errors
/// `Shape` if lengths differ.
pub fn direction(
    search: &[f64],
    factor: f64,
    vectors: &[&[f32]],
    factors: &[f64],
    descends: bool,
    direction: &mut [f64],
) -> Result<[f64; 2], SolverError> {
    let length = search.len();
    same(&[length, direction.len()])?;
    all_of(vectors, length)?;
    same(&[factors.len(), vectors.len()])?;
    Ok(vectorised(
        #[inline(always)]
        || {
            let mut sums = [0.0; 2];
            let mut first = 0;
            while first < length {
                let end = length.min(first + TOGETHER);
                let (result, g) = (&mut direction[first..end], &search[first..end]);
                for (result, &g) in result.iter_mut().zip(g) {
                    *result = factor * g;
                }
                for (vector, &factor) in vectors.iter().zip(factors) {
                    for (result, &v) in result.iter_mut().zip(&vector[first..end]) {
                        *result += factor * f64::from(v);
                    }
                }
                if descends {
                    for (result, &g) in result.iter_mut().zip(g) {
                        *result = if *result * g < 0.0 { *result } else { 0.0 };
                    }
                }
                sums[0] += dot(result, result);
                sums[1] += dot(g, result);
                first = end;
            }
            sums
        },
    ))
}

/// The sum of `term` over pairs of entries.
#[inline(always)]
fn sum<A: Copy, B: Copy>(a: &[A], b: &[B], term: impl Fn(A, B) -> f64) -> f64 {
    let (whole_a, rest_a) = a.as_chunks::<LANES>();
    let (whole_b, rest_b) = b.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (a, b) in whole_a.iter().zip(whole_b) {
        for (lane, (&a, &b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += term(a, b);
        }
    }
    let rest: f64 = rest_a.iter().zip(rest_b).map(|(&a, &b)| term(a, b)).sum();
    lanes.iter().sum::<f64>() + rest
}

/// The same numbers in double precision.
#[inline(always)]
fn widen(single: &[f32], double: &mut [f64]) {
    for (double, &single) in double.iter_mut().zip(single) {
        *double = f64::from(single);
    }
}

/// The dot products of a vector with three others, in two registers each.
#[inline(always)]
fn three_dots<S: Simd>(simd: S, v: &[f64], others: [&[f64]; 3]) -> [f64; 3] {
    let (v, rest_v) = S::as_simd_f64s(v);
    let others = others.map(S::as_simd_f64s);
    let (pairs_v, last_v) = v.as_chunks::<2>();
    let [a, b, c] = others.map(|(whole, _)| whole.as_chunks::<2>());
    let mut sums = [[simd.splat_f64s(0.0); 2]; 3];
    for (((v, a), b), c) in pairs_v.iter().zip(a.0).zip(b.0).zip(c.0) {
        for l in 0..2 {
            sums[0][l] = simd.mul_add_f64s(a[l], v[l], sums[0][l]);
            sums[1][l] = simd.mul_add_f64s(b[l], v[l], sums[1][l]);
            sums[2][l] = simd.mul_add_f64s(c[l], v[l], sums[2][l]);
        }
    }
    let mut dots = [0.0; 3];
    let parts = sums.iter().zip([a.1, b.1, c.1]).zip(others);
    for (dot, ((sums, last), (_, rest))) in dots.iter_mut().zip(parts) {
        let mut sum = simd.add_f64s(sums[0], sums[1]);
        if let ([v], [x]) = (last_v, last) {
            sum = simd.mul_add_f64s(*x, *v, sum);
        }
        *dot =
            simd.reduce_sum_f64s(sum) + (rest_v.iter().zip(rest)).map(|(v, x)| v * x).sum::<f64>();
    }
    dots
}

/// The dot product.
#[inline(always)]
fn dot<A: Copy + Into<f64>, B: Copy + Into<f64>>(a: &[A], b: &[B]) -> f64 {
    sum(a, b, |a, b| a.into() * b.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vectors(length: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
        let number = prop_oneof![4 => -3.0..3.0, 1 => Just(0.0)];
        prop::collection::vec(prop::collection::vec(number, length), 6)
    }

    fn close(x: f64, y: f64) -> bool {
        (x - y).abs() <= 1e-12 * (1.0 + x.abs().max(y.abs()))
    }

    fn decoded(model: &[u8]) -> Vec<f64> {
        let chunks = model.as_chunks::<8>().0;
        chunks.iter().map(|&x| f64::from_le_bytes(x)).collect()
    }

    #[test]
    fn a_trial_has_the_coefficients_of_its_point() {
        let (mut next, mut model) = ([0.0; 3], [0; 24]);
        let scaling = Scaling {
            deviation: &[2.0, 0.0, 0.5],
            mean: Some(&[1.0, 7.0, -4.0]),
        };
        let product = trial(
            &[1.0, 1.0, 1.0],
            &[2.0, 2.0, -4.0],
            None,
            0.5,
            scaling,
            &mut next,
            &mut model,
        )
        .unwrap();
        assert_eq!(next, [2.0, 2.0, -1.0]);
        assert_eq!(decoded(&model), [1.0, 0.0, -2.0]);
        assert_eq!(product, 1.0 + 8.0);
    }

    #[test]
    fn a_trial_stays_in_its_orthant() {
        let (mut next, mut model) = ([0.0; 5], [0; 40]);
        let (point, step) = ([1.0, -1.0, 0.0, 0.0, 0.0], [-2.0, 0.5, 1.0, 1.0, 1.0]);
        let subgradient = [1.0, 1.0, -1.0, 1.0, 0.0];
        let scaling = Scaling {
            deviation: &[1.0; 5],
            mean: None,
        };
        trial(
            &point,
            &step,
            Some(&subgradient),
            1.0,
            scaling,
            &mut next,
            &mut model,
        )
        .unwrap();
        assert_eq!(next, [0.0, -0.5, 1.0, 0.0, 0.0]);
        assert_eq!(decoded(&model), next);
    }

    #[test]
    fn unequal_ranges_are_refused() {
        let scaling = Scaling {
            deviation: &[1.0],
            mean: None,
        };
        let refused = trial(&[1.0], &[], None, 1.0, scaling, &mut [0.0], &mut [0; 8]).unwrap_err();
        assert!(matches!(refused, SolverError::Shape(text) if text.contains("[1, 0, 1")));
        assert!(products(&[1.0], &[1.0], &[1.0], &[&[]], &mut [0.0; 3]).is_err());
        assert!(products(&[1.0], &[1.0], &[1.0], &[&[1.0]], &mut [0.0; 2]).is_err());
        assert!(direction(&[1.0], 1.0, &[&[1.0]], &[], false, &mut [0.0]).is_err());
        assert!(difference(&[1.0], &[1.0], &mut []).is_err());
    }

    proptest! {
        /// The gradient is the slope of loss and penalties along each coordinate, for a loss that is linear in the coefficients.
        #[test]
        fn gradients_are_slopes(v in (1usize..80).prop_flat_map(vectors), l1 in 0.0..2.0, l2 in 0.0..2.0) {
            let [sums, at, along, mean, spread, factors] = &v[..] else { unreachable!() };
            let n = sums.len();
            let deviation: Vec<f64> = spread.iter().map(|x| x.abs()).collect();
            let factors: Vec<f64> = factors.iter().map(|x| x.abs()).collect();
            let scaling = Scaling { deviation: &deviation, mean: Some(mean) };
            let penalties = Penalties { factors: &factors, l1, l2 };
            let evaluated = Evaluated { sums, total: 4.0, intercept: 0.25, at, direction: along };
            let (mut g, mut nearest) = (vec![0.0; n], vec![0.0; n]);
            let found = gradient(evaluated, scaling, penalties, &mut g, Some(&mut nearest)).unwrap();
            let mut expected = Evaluation::default();
            for i in 0..n {
                let loss = if deviation[i] > 0.0 { (sums[i] / 4.0 - mean[i] * 0.25) / deviation[i] } else { 0.0 };
                let smooth = loss + l2 * factors[i] * factors[i] * at[i];
                prop_assert!(close(g[i], smooth));
                // No other subgradient is nearer to 0.
                let penalty = l1 * factors[i];
                let (least, most) = if at[i] == 0.0 { (-penalty, penalty) } else { (penalty * at[i].signum(), penalty * at[i].signum()) };
                let nearer = if smooth + least > 0.0 { smooth + least } else { (smooth + most).min(0.0) };
                prop_assert!(close(nearest[i], nearer));
                expected.l2 += 0.5 * l2 * (factors[i] * at[i]).powi(2);
                expected.l1 += penalty * at[i].abs();
                expected.slope += nearest[i] * along[i];
                expected.squares += g[i] * g[i];
                expected.subsquares += nearest[i] * nearest[i];
            }
            for (x, y) in [(found.l2, expected.l2), (found.l1, expected.l1), (found.slope, expected.slope),
                (found.squares, expected.squares), (found.subsquares, expected.subsquares)] {
                prop_assert!((x - y).abs() <= 1e-11 * (1.0 + found.squares + found.subsquares + y.abs()));
            }
            let smooth = gradient(evaluated, scaling, penalties, &mut g, None).unwrap();
            let slope: f64 = g.iter().zip(along).map(|(g, d)| g * d).sum();
            prop_assert!((smooth.slope - slope).abs() <= 1e-11 * (1.0 + smooth.squares));
        }

        #[test]
        fn products_and_directions_are_sums(v in (1usize..2100).prop_flat_map(vectors), factor in -2.0..2.0) {
            let single: Vec<Vec<f32>> = v.iter().map(|x| x.iter().map(|&x| x as f32).collect()).collect();
            let corrections: Vec<&[f32]> = single[..4].iter().map(Vec::as_slice).collect();
            let search = &v[5];
            let mut sums = vec![1.0; 12];
            products(corrections[0], corrections[1], search, &corrections, &mut sums).unwrap();
            let dot = |x: &[f32], y: &dyn Fn(usize) -> f64| -> f64 { x.iter().enumerate().map(|(i, &x)| f64::from(x) * y(i)).sum() };
            for (k, c) in corrections.iter().enumerate() {
                let expected = [dot(c, &|i| f64::from(single[0][i])), dot(c, &|i| f64::from(single[1][i])), dot(c, &|i| search[i])];
                for (j, x) in expected.into_iter().enumerate() {
                    prop_assert!((sums[3 * k + j] - 1.0 - x).abs() <= 1e-10 * (1.0 + x.abs()));
                }
            }
            let factors = [0.5, -1.0, 2.0, 0.25];
            let mut d = vec![0.0; search.len()];
            for descends in [false, true] {
                let [squares, slope] = direction(search, factor, &corrections, &factors, descends, &mut d).unwrap();
                for i in 0..d.len() {
                    let sum = factor * search[i] + factors.iter().zip(&corrections).map(|(f, c)| f * f64::from(c[i])).sum::<f64>();
                    let kept = if !descends || sum * search[i] < 0.0 { sum } else { 0.0 };
                    prop_assert!(close(d[i], kept) || sum.abs() < 1e-12);
                }
                let expected: f64 = d.iter().map(|x| x * x).sum();
                prop_assert!((squares - expected).abs() <= 1e-10 * (1.0 + expected));
                let expected: f64 = d.iter().zip(search).map(|(d, g)| d * g).sum();
                prop_assert!((slope - expected).abs() <= 1e-10 * (1.0 + squares + expected.abs()));
            }
        }
    }
}
