//! The factorisation of a positive semidefinite matrix, by faer, without the variables that others explain.
//!
//! The matrix holds sums over rows in double precision, and so it cannot tell singular values below about 1e-7 of the largest one from
//! rounding. A variable whose remainder it cannot tell is dropped: the variables that are kept have a curvature that the matrix shows. What the
//! data say of a dropped variable, a pass over its remainder finds out: see [`remainders`].

use faer::{
    MatMut, MatRef, Par,
    dyn_stack::{MemBuffer, MemStack},
    linalg::{
        cholesky::ldlt::factor::{
            LdltRegularization, cholesky_in_place, cholesky_in_place_scratch,
        },
        triangular_inverse::invert_lower_triangular,
        triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place},
    },
};

use crate::base::error::{SolverError, reserve, same_length};

/// What sums over rows and the factorisation leave of rounding in a matrix of diagonal 1, for each of its variables.
const ROUNDING: f64 = 1e-15;

/// The smallest eigenvalue of what is kept is so many times the rounding: the curvature is right to a hundredth.
const CLEAR: f64 = 100.0;

/// The pivot of a dropped variable: its column of the factor is as good as 0, and so is its part of a solution.
const DROPPED: f64 = 1e200;

/// Steps of the power method for the smallest eigenvalue.
const POWERS: usize = 6;

/// By how much more pivots have to exceed the rounding where what is kept was not clear, and how often at most.
const STRICTER: f64 = 30.0;
const TRIES: usize = 10;

/// For a step alone a smaller multiple of the rounding suffices: the next pass tells whether it was right.
const ROUGH: f64 = 10.0;

/// The length of a packed triangle of order `n`.
pub(super) const fn packed(n: usize) -> usize {
    n * (n + 1) / 2
}

/// Row `i` of a packed lower triangle.
#[inline(always)]
pub(super) fn row(triangle: &[f64], i: usize) -> &[f64] {
    &triangle[packed(i)..][..=i]
}

/// `L` with `M = D L L^T D` on the variables that are kept; `D^2` is the diagonal of `M`. The last variable comes first, so that an
/// intercept, which is the last one, is never what features explain.
#[derive(Debug, Clone)]
pub struct Factor {
    n: usize,
    /// `L`, whole, column by column, with the variables in reverse.
    factor: Vec<f64>,
    /// D in the order of the variables; 0 for those that are left out.
    scale: Vec<f64>,
    kept: Vec<bool>,
    /// The largest eigenvalue of the inverse of `L L^T`, about, and the size of each variable in its vector.
    inverse: f64,
    flat: Vec<f64>,
}

impl Factor {
    /// Factors the matrix with this lower triangle and `more` on its diagonal, without the variables that are `left_out`. It works on the
    /// threads of the pool that it is called on.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn new(triangle: &[f64], more: &[f64], left_out: &[bool]) -> Result<Self, SolverError> {
        Self::without(triangle, more, left_out, vec![false; more.len()])
    }

    /// The same where some variables are dropped in any case.
    fn without(
        triangle: &[f64],
        more: &[f64],
        left_out: &[bool],
        mut dropped: Vec<bool>,
    ) -> Result<Self, SolverError> {
        let n = more.len();
        let scale = Self::scale(triangle, more, left_out)?;
        let mut least = CLEAR * Self::rounding(n);
        for _ in 0..TRIES {
            let factor = Self::with_pivots(triangle, &scale, &dropped, least)?;
            // The last variable stays: an intercept has no remainder.
            let others = 0..n.saturating_sub(1);
            let flattest = others.max_by(|&a, &b| factor.flat[a].total_cmp(&factor.flat[b]));
            match flattest {
                Some(flattest) if factor.doubt() > 2.0 / CLEAR => dropped[flattest] = true,
                _ => return Ok(factor),
            }
            least *= STRICTER;
        }
        Err(SolverError::NonFinite(
            "the matrix of a model has no variable with a curvature that can be told from rounding"
                .into(),
        ))
    }

    /// The same for a step that needs no proof: a variable is dropped only where its pivot is as small as rounding.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn rough(triangle: &[f64], more: &[f64], left_out: &[bool]) -> Result<Self, SolverError> {
        let n = more.len();
        let scale = Self::scale(triangle, more, left_out)?;
        Self::with_pivots(triangle, &scale, &vec![false; n], ROUGH * Self::rounding(n))
    }

    fn scale(triangle: &[f64], more: &[f64], left_out: &[bool]) -> Result<Vec<f64>, SolverError> {
        let n = more.len();
        let mut scale = reserve(n, "a factor")?;
        scale.extend((0..n).map(|i| {
            let diagonal = triangle[packed(i) + i] + more[i];
            if diagonal > 0.0 && !left_out[i] {
                diagonal.sqrt()
            } else {
                0.0
            }
        }));
        Ok(scale)
    }

    fn rounding(n: usize) -> f64 {
        ROUNDING * n as f64
    }

    fn with_pivots(
        triangle: &[f64],
        scale: &[f64],
        dropped: &[bool],
        least: f64,
    ) -> Result<Self, SolverError> {
        let n = scale.len();
        let mut factor = reserve(n * n, "a factor")?;
        factor.resize(n * n, 0.0);
        for i in 0..n {
            let c = n - 1 - i;
            factor[c * n + c] = if dropped[i] { 0.0 } else { 1.0 };
            for (j, &h) in row(triangle, i)[..i].iter().enumerate() {
                let product = scale[i] * scale[j];
                factor[c * n + (n - 1 - j)] = if product > 0.0 { h / product } else { 0.0 };
            }
        }
        let par = par();
        // faer's L D L^T replaces small pivots as we need it, its L L^T does not.
        let signs = vec![1; n];
        let regularization = LdltRegularization {
            dynamic_regularization_signs: Some(&signs[..]),
            dynamic_regularization_delta: DROPPED,
            dynamic_regularization_epsilon: least,
        };
        let scratch = cholesky_in_place_scratch::<f64>(n, par, Default::default());
        let mut memory = MemBuffer::try_new(scratch).map_err(|_| SolverError::OutOfMemory {
            what: "a factor",
            bytes: scratch.unaligned_bytes_required(),
        })?;
        cholesky_in_place(
            MatMut::from_column_major_slice_mut(&mut factor, n, n),
            regularization,
            par,
            MemStack::new(&mut memory),
            Default::default(),
        )
        .map_err(|_| {
            SolverError::NonFinite("a number of the matrix of a model is not finite".into())
        })?;
        let mut kept = vec![false; n];
        for c in 0..n {
            let column = &mut factor[c * n..(c + 1) * n];
            let root = column[c].sqrt();
            kept[n - 1 - c] = scale[n - 1 - c] > 0.0 && column[c] < DROPPED;
            column[c] = root;
            column[c + 1..].iter_mut().for_each(|l| *l *= root);
        }
        let mut made = Self {
            n,
            factor,
            scale: scale.to_vec(),
            kept,
            inverse: 0.0,
            flat: vec![],
        };
        (made.inverse, made.flat) = made.power();
        Ok(made)
    }

    /// Whether a variable is in the factor.
    pub fn has(&self, i: usize) -> bool {
        self.kept[i]
    }

    /// Whether others explain a variable, as far as the matrix tells.
    pub fn is_dropped(&self, i: usize) -> bool {
        self.scale[i] > 0.0 && !self.kept[i]
    }

    /// By how much rounding may have raised the curvature of a direction, as a part of it: a bound that divides by a curvature grows by it.
    pub fn doubt(&self) -> f64 {
        2.0 * Self::rounding(self.n) * self.inverse
    }

    fn matrix(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.factor, self.n, self.n)
    }

    /// Solves with `L` in place, in reverse order; 0 for what is not kept.
    fn lower(&self, x: &mut [f64]) {
        let n = self.n;
        solve_lower_triangular_in_place(
            self.matrix(),
            MatMut::from_column_major_slice_mut(x, n, 1),
            Par::Seq,
        );
        self.clear(x);
    }

    /// The same with the transpose of `L`.
    fn upper(&self, x: &mut [f64]) {
        let n = self.n;
        solve_upper_triangular_in_place(
            self.matrix().transpose(),
            MatMut::from_column_major_slice_mut(x, n, 1),
            Par::Seq,
        );
        self.clear(x);
    }

    fn clear(&self, x: &mut [f64]) {
        for (x, kept) in x.iter_mut().rev().zip(&self.kept) {
            if !kept {
                *x = 0.0;
            }
        }
    }

    /// The largest eigenvalue of the inverse of `L L^T` by the power method, from below, and its vector.
    fn power(&self) -> (f64, Vec<f64>) {
        let mut x: Vec<f64> = (0..self.n)
            .map(|i| 1.0 + 0.5 * ((i * i) as f64 * 0.7).sin())
            .collect();
        self.clear(&mut x);
        let mut largest = 0.0_f64;
        for _ in 0..POWERS {
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            if norm == 0.0 {
                break;
            }
            x.iter_mut().for_each(|x| *x /= norm);
            self.lower(&mut x);
            largest = largest.max(x.iter().map(|x| x * x).sum());
            self.upper(&mut x);
        }
        (largest, x.iter().rev().map(|x| x.abs()).collect())
    }

    /// `L^-1 D^-1 b`: its squared norm is `b^T M^-1 b`. In the order of the factor, with 0 for dropped variables.
    pub fn forward(&self, b: &[f64]) -> Vec<f64> {
        let scaled = b.iter().zip(&self.scale).map(|(b, d)| quotient(*b, *d));
        let mut y: Vec<f64> = scaled.rev().collect();
        self.clear(&mut y);
        self.lower(&mut y);
        y
    }

    /// `M^-1 b` on the variables that are kept, 0 for the others.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = self.forward(b);
        self.upper(&mut x);
        x.reverse();
        for (x, d) in x.iter_mut().zip(&self.scale) {
            *x = quotient(*x, *d);
        }
        x
    }

    /// The root of each number on the diagonal of `M^-1`: the norm of a unit vector in it. 0 for dropped variables.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn unit_norms(&self) -> Result<Vec<f64>, SolverError> {
        let n = self.n;
        let mut inverse = reserve(n * n, "an inverse of a factor")?;
        inverse.resize(n * n, 0.0);
        invert_lower_triangular(
            MatMut::from_column_major_slice_mut(&mut inverse, n, n),
            self.matrix(),
            par(),
        );
        Ok((0..n)
            .map(|i| {
                let c = n - 1 - i;
                let column = &inverse[c * n + c..(c + 1) * n];
                let square: f64 = column.iter().map(|x| x * x).sum();
                if self.kept[i] {
                    square.sqrt() / self.scale[i]
                } else {
                    0.0
                }
            })
            .collect())
    }

    /// What is left of a dropped variable beside those that are kept: the weights of its remainder, 1 for itself.
    fn remainder(&self, triangle: &[f64], d: usize) -> Vec<f64> {
        let products: Vec<f64> = (0..self.n)
            .map(|i| row(triangle, i.max(d))[i.min(d)])
            .collect();
        let mut weights = self.solve(&products);
        weights.iter_mut().for_each(|weight| *weight = -*weight);
        weights[d] = 1.0;
        weights
    }
}

/// The variables that others explain, as far as the sum of these lower triangles of order `n` tells, and others that are `dropped` in any case,
/// apart from those that are `left_out`: for each its number, and the n weights of its remainder.
///
/// # Errors
/// `Shape` if there are not as many numbers, `OutOfMemory`.
pub fn remainders(
    triangles: &[&[f64]],
    left_out: &[bool],
    dropped: &[bool],
) -> Result<Vec<f64>, SolverError> {
    let n = left_out.len();
    same_length("dropped", dropped.len(), n, "variable")?;
    let mut sum = reserve(packed(n), "a factor")?;
    sum.resize(packed(n), 0.0);
    for triangle in triangles {
        same_length("triangle", triangle.len(), packed(n), "entry of a triangle")?;
        crate::base::gram::add(&mut sum, triangle);
    }
    let factor = Factor::without(&sum, &vec![0.0; n], left_out, dropped.to_vec())?;
    let dropped: Vec<usize> = (0..n).filter(|&i| factor.is_dropped(i)).collect();
    let mut found = reserve(dropped.len() * (n + 1), "the remainders of variables")?;
    for d in dropped {
        found.push(d as f64);
        found.extend(factor.remainder(&sum, d));
    }
    Ok(found)
}

fn quotient(x: f64, d: f64) -> f64 {
    if d > 0.0 { x / d } else { 0.0 }
}

/// The threads of the pool that lends them, if there is one.
fn par() -> Par {
    match rayon::current_thread_index() {
        Some(_) => Par::rayon(0),
        None => Par::Seq,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The triangle of `X^T X` for rows of `X`.
    fn gram(x: &[Vec<f64>], n: usize) -> Vec<f64> {
        let mut triangle = Vec::new();
        for i in 0..n {
            for j in 0..=i {
                triangle.push(x.iter().map(|row| row[i] * row[j]).sum());
            }
        }
        triangle
    }

    fn product(triangle: &[f64], more: &[f64], v: &[f64]) -> Vec<f64> {
        let n = v.len();
        let entry = |i: usize, j: usize| row(triangle, i.max(j))[i.min(j)];
        (0..n)
            .map(|i| more[i] * v[i] + (0..n).map(|j| entry(i, j) * v[j]).sum::<f64>())
            .collect()
    }

    fn case() -> impl Strategy<Value = (usize, Vec<Vec<f64>>, Vec<f64>)> {
        (1_usize..40).prop_flat_map(|n| {
            let row = proptest::collection::vec(-1.0..1.0, n);
            (
                Just(n),
                proptest::collection::vec(row, 2 * n + 3),
                proptest::collection::vec(-1.0..1.0, n),
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn solutions_solve((n, x, b) in case(), more in 0.0..1.0) {
            let triangle = gram(&x, n);
            let more = vec![more; n];
            let factor = Factor::new(&triangle, &more, &vec![false; n]).unwrap();
            let solved = product(&triangle, &more, &factor.solve(&b));
            for (a, b) in solved.iter().zip(&b) {
                prop_assert!((a - b).abs() <= 1e-8, "{} {}", a, b);
            }
            // |L^-1 b|^2 = b^T M^-1 b, and the norms of unit vectors.
            let square: f64 = factor.forward(&b).iter().map(|x| x * x).sum();
            let direct: f64 = factor.solve(&b).iter().zip(&b).map(|(x, b)| x * b).sum();
            prop_assert!((square - direct).abs() <= 1e-9 * (1.0 + square));
            for (i, norm) in factor.unit_norms().unwrap().into_iter().enumerate() {
                let mut unit = vec![0.0; n];
                unit[i] = 1.0;
                let square: f64 = factor.forward(&unit).iter().map(|x| x * x).sum();
                prop_assert!((norm * norm - square).abs() <= 1e-9 * square);
            }
        }

        #[test]
        fn collinear_and_left_out_variables_are_dropped((n, x, b) in case()) {
            // Before the variables stand a combination of two, a column of zeros and a copy.
            let x: Vec<Vec<f64>> = x.iter().map(|row| {
                let mut all = vec![2.0 * row[0] - row[n / 2], 0.0, 1e-4 * row[n - 1]];
                all.extend(row);
                all
            }).collect();
            let all = n + 3;
            let triangle = gram(&x, all);
            let mut left_out = vec![false; all];
            left_out[3] = n > 1;
            let zeros = vec![0.0; all];
            let factor = Factor::new(&triangle, &zeros, &left_out).unwrap();
            prop_assert!(!factor.has(1) && !factor.is_dropped(1));
            // The last variable may be left out, and then its copy stands for it.
            prop_assert!(factor.has(all - 1) != factor.has(2));
            prop_assert_eq!(factor.has(3), n == 1);
            // The combination stands for the variable that is left out, where another does not explain it.
            prop_assert_eq!(factor.has(0), n > 1 && n / 2 != 0);
            let target = product(&triangle, &zeros, &[&[0.5, 0.0, 0.25], &b[..]].concat());
            prop_assert!(factor.solve(&target).iter().all(|x| x.is_finite()));
            // X times a remainder is 0.
            for found in remainders(&[&triangle], &left_out, &vec![false; all]).unwrap().chunks(all + 1) {
                prop_assert!(factor.is_dropped(found[0] as usize));
                for row in &x {
                    let left: f64 = row.iter().zip(&found[1..]).map(|(x, t)| x * t).sum();
                    prop_assert!(left.abs() <= 1e-8, "{}", left);
                }
            }
        }
    }

    #[test]
    fn badly_scaled_columns_are_independent() {
        let x: Vec<Vec<f64>> = (0..50)
            .map(|i| {
                let t = f64::from(i);
                vec![1e-6 * (t * 0.7).sin(), 1e6 * (t * 1.3).cos(), 1.0]
            })
            .collect();
        let triangle = gram(&x, 3);
        let factor = Factor::new(&triangle, &[0.0; 3], &[false; 3]).unwrap();
        assert!((0..3).all(|i| factor.has(i)));
        let b = product(&triangle, &[0.0; 3], &[3.0, 2.0, 1.0]);
        // The right side has the digits of its largest part.
        let solution = factor.solve(&b);
        for (k, expected) in [3.0, 2.0, 1.0].into_iter().enumerate() {
            let error = (solution[k] - expected) * triangle[packed(k) + k].sqrt();
            assert!(error.abs() <= 1e-8 * triangle[2].sqrt(), "{error}");
        }
    }

    #[test]
    fn an_intercept_is_kept_where_it_is_the_flattest() {
        // Two dummies whose sum is nearly 1: neither pivot is small, and the intercept has the largest part of the flat direction.
        let x: Vec<Vec<f64>> = [(1.0, 1.0), (1.0, -1.0), (0.0, 1.0), (0.0, -1.0)]
            .into_iter()
            .map(|(a, noise)| vec![a, 1.0 - a + 4.2e-7 * noise, 1.0])
            .collect();
        let triangle = gram(&x, 3);
        let factor = Factor::new(&triangle, &[0.0; 3], &[false; 3]).unwrap();
        assert!(factor.has(2) && (factor.is_dropped(0) || factor.is_dropped(1)));
    }

    #[test]
    fn what_is_kept_has_a_curvature_that_the_matrix_shows() {
        // Each variable is the one before it, turned by little: no pivot is small, but the matrix is all but singular.
        let n = 60;
        let x: Vec<Vec<f64>> = (0..=n)
            .map(|i| {
                (0..n)
                    .map(|j| match i32::try_from(i).unwrap() - j as i32 {
                        0 => 0.5,
                        1 => 0.75_f64.sqrt(),
                        _ => 0.0,
                    })
                    .collect()
            })
            .collect();
        let factor = Factor::new(&gram(&x[..n], n), &vec![0.0; n], &vec![false; n]).unwrap();
        assert!(factor.doubt() <= 2.0 / CLEAR, "{}", factor.doubt());
        assert!((0..n).any(|i| factor.is_dropped(i)));
    }
}
