//! Cholesky's factorisation of a positive semidefinite matrix: packed lower triangles, row by row.

use crate::base::{
    error::{SolverError, reserve},
    instructions::{Instructions, Kernel},
};

/// Sums of a dot product that are added at the end.
const LANES: usize = 8;

/// Rows above whose dot products with one row are computed together.
const TOGETHER: usize = 4;

/// A pivot below this, times the order of the matrix, is what rounding leaves of a collinear variable with diagonal 1.
const COLLINEAR: f64 = 1e-14;

/// The length of a packed triangle of order `n`.
pub(super) const fn packed(n: usize) -> usize {
    n * (n + 1) / 2
}

/// Row `i` of a packed lower triangle.
#[inline(always)]
pub(super) fn row(triangle: &[f64], i: usize) -> &[f64] {
    &triangle[packed(i)..][..=i]
}

/// `L` with `M = D L L^T D` on the variables that are independent; `D^2` is the diagonal of `M`.
///
/// A variable that the ones before it explain, up to rounding, is dropped, and so is one that the caller leaves out or whose diagonal is 0:
/// its rows and columns of `L` are 0.
#[derive(Debug, Clone)]
pub struct Cholesky {
    n: usize,
    factor: Vec<f64>,
    /// D; 0 for a dropped variable.
    scale: Vec<f64>,
}

impl Cholesky {
    /// Factors the matrix with this lower triangle and `more` on its diagonal, without the variables that are `left_out`.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn new(triangle: &[f64], more: &[f64], left_out: &[bool]) -> Result<Self, SolverError> {
        let n = more.len();
        let mut scale = reserve(n, "a Cholesky factor")?;
        scale.extend((0..n).map(|i| {
            let diagonal = triangle[packed(i) + i] + more[i];
            if diagonal > 0.0 && !left_out[i] {
                diagonal.sqrt()
            } else {
                0.0
            }
        }));
        let mut factor = reserve(packed(n), "a Cholesky factor")?;
        for i in 0..n {
            let scaled = row(triangle, i).iter().zip(&scale).map(|(x, d)| {
                let product = scale[i] * d;
                if product > 0.0 { x / product } else { 0.0 }
            });
            factor.extend(scaled);
            if let Some(diagonal) = factor.last_mut() {
                *diagonal = if scale[i] > 0.0 { 1.0 } else { 0.0 };
            }
        }
        let mut cholesky = Self { n, factor, scale };
        let factoring = Factoring(&mut cholesky);
        match Kernel::detect().0 {
            Instructions::Portable => factoring.run(),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(token) => token.vectorize(factoring),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(token) => token.vectorize(factoring),
        }
        Ok(cholesky)
    }

    /// Whether a variable is in the factor.
    pub fn has(&self, i: usize) -> bool {
        self.scale[i] > 0.0
    }

    /// `L^-1 D^-1 b`: its squared norm is `b^T M^-1 b`. 0 for dropped variables.
    pub fn forward(&self, b: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.n];
        for i in (0..self.n).filter(|&i| self.has(i)) {
            let row = row(&self.factor, i);
            let sum: f64 = row[..i].iter().zip(&y).map(|(l, y)| l * y).sum();
            y[i] = (b[i] / self.scale[i] - sum) / row[i];
        }
        y
    }

    /// `M^-1 b` on the independent variables, 0 for the others.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = self.forward(b);
        for i in (0..self.n).rev().filter(|&i| self.has(i)) {
            let row = row(&self.factor, i);
            x[i] /= row[i];
            let value = x[i];
            for (x, l) in x[..i].iter_mut().zip(row) {
                *x -= l * value;
            }
        }
        for (x, d) in x.iter_mut().zip(&self.scale) {
            *x = if *d > 0.0 { *x / d } else { 0.0 };
        }
        x
    }

    /// The root of each number on the diagonal of `M^-1`: the norm of a unit vector in it. 0 for dropped variables.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn unit_norms(&self) -> Result<Vec<f64>, SolverError> {
        let n = self.n;
        let mut squares = vec![0.0; n];
        // Row i of the inverse of L is e_i less the rows above it, times row i of L.
        let mut inverse: Vec<f64> = reserve(packed(n), "an inverse of a Cholesky factor")?;
        for i in 0..n {
            let own = row(&self.factor, i);
            let mut next = vec![0.0; i + 1];
            if self.has(i) {
                for (k, l) in own[..i].iter().enumerate().filter(|(_, l)| **l != 0.0) {
                    for (x, above) in next.iter_mut().zip(row(&inverse, k)) {
                        *x -= l * above;
                    }
                }
                next[i] = 1.0;
                for (x, square) in next.iter_mut().zip(&mut squares) {
                    *x /= own[i];
                    *square += *x * *x;
                }
            }
            inverse.extend_from_slice(&next);
        }
        Ok(squares
            .iter()
            .zip(&self.scale)
            .map(|(square, d)| if *d > 0.0 { square.sqrt() / d } else { 0.0 })
            .collect())
    }
}

/// The factorisation in place, row by row: the dot products of Cholesky and Banachiewicz.
struct Factoring<'a>(&'a mut Cholesky);

impl Factoring<'_> {
    #[inline(always)]
    fn run(self) {
        let Cholesky { n, factor, scale } = self.0;
        let least = COLLINEAR * *n as f64;
        for i in 0..*n {
            if scale[i] == 0.0 {
                continue;
            }
            let (above, rest) = factor.split_at_mut(packed(i));
            let own = &mut rest[..=i];
            let mut j = 0;
            while j < i {
                let count = TOGETHER.min(i - j);
                let sums = if count == TOGETHER {
                    products(own, above, j)
                } else {
                    [0.0; TOGETHER]
                };
                for k in j..j + count {
                    let other = row(above, k);
                    // The products have gone to column j only.
                    let from = if count == TOGETHER { j } else { 0 };
                    let mut sum = if count == TOGETHER { sums[k - j] } else { 0.0 };
                    for c in from..k {
                        sum += own[c] * other[c];
                    }
                    let pivot = other[k];
                    own[k] = if pivot > 0.0 {
                        (own[k] - sum) / pivot
                    } else {
                        0.0
                    };
                }
                j += count;
            }
            let pivot = own[i] - own[..i].iter().map(|x| x * x).sum::<f64>();
            if pivot > least {
                own[i] = pivot.sqrt();
            } else {
                own.fill(0.0);
                scale[i] = 0.0;
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for Factoring<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.run();
    }
}

/// The dot products of the first `columns` numbers of a row with those of as many rows from number `columns` on.
#[inline(always)]
fn products(own: &[f64], above: &[f64], columns: usize) -> [f64; TOGETHER] {
    let rows: [&[f64]; TOGETHER] = std::array::from_fn(|k| &row(above, columns + k)[..columns]);
    let own = &own[..columns];
    let mut lanes = [[0.0; LANES]; TOGETHER];
    let whole = columns - columns % LANES;
    let mut c = 0;
    while c < whole {
        let x: &[f64; LANES] = own[c..].first_chunk().unwrap_or(&[0.0; LANES]);
        for (lanes, row) in lanes.iter_mut().zip(rows) {
            let y: &[f64; LANES] = row[c..].first_chunk().unwrap_or(&[0.0; LANES]);
            for k in 0..LANES {
                lanes[k] += x[k] * y[k];
            }
        }
        c += LANES;
    }
    std::array::from_fn(|k| {
        let rest: f64 = own[whole..]
            .iter()
            .zip(&rows[k][whole..])
            .map(|(x, y)| x * y)
            .sum();
        lanes[k].iter().sum::<f64>() + rest
    })
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
            let cholesky = Cholesky::new(&triangle, &more, &vec![false; n]).unwrap();
            let solved = product(&triangle, &more, &cholesky.solve(&b));
            for (a, b) in solved.iter().zip(&b) {
                prop_assert!((a - b).abs() <= 1e-8, "{} {}", a, b);
            }
            // |L^-1 b|^2 = b^T M^-1 b, and the norms of unit vectors.
            let square: f64 = cholesky.forward(&b).iter().map(|x| x * x).sum();
            let direct: f64 = cholesky.solve(&b).iter().zip(&b).map(|(x, b)| x * b).sum();
            prop_assert!((square - direct).abs() <= 1e-9 * (1.0 + square));
            for (i, norm) in cholesky.unit_norms().unwrap().into_iter().enumerate() {
                let mut unit = vec![0.0; n];
                unit[i] = 1.0;
                let square: f64 = cholesky.forward(&unit).iter().map(|x| x * x).sum();
                prop_assert!((norm * norm - square).abs() <= 1e-9 * square);
            }
        }

        #[test]
        fn collinear_and_left_out_variables_are_dropped((n, mut x, b) in case()) {
            for row in &mut x {
                let copy = 2.0 * row[0] - row[n / 2];
                row.extend([copy, 0.0, 1e-4 * row[n - 1]]);
            }
            let all = n + 3;
            let triangle = gram(&x, all);
            let mut left_out = vec![false; all];
            left_out[0] = n > 1;
            let zeros = vec![0.0; all];
            let cholesky = Cholesky::new(&triangle, &zeros, &left_out).unwrap();
            prop_assert!(!cholesky.has(n + 1) && !cholesky.has(n + 2));
            prop_assert_eq!(cholesky.has(0), n == 1);
            // With the first variable left out, its copy stands for it where it is not explained by another.
            prop_assert_eq!(cholesky.has(n), n > 1);
            let mut target = product(&triangle, &zeros, &[&b[..], &[0.5, 0.0, 0.25]].concat());
            target[0] = if n > 1 { 0.0 } else { target[0] };
            let solution = cholesky.solve(&target);
            prop_assert!(solution.iter().all(|x| x.is_finite()));
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
        let cholesky = Cholesky::new(&triangle, &[0.0; 3], &[false; 3]).unwrap();
        assert!((0..3).all(|i| cholesky.has(i)));
        let b = product(&triangle, &[0.0; 3], &[3.0, 2.0, 1.0]);
        // The right side has the digits of its largest part.
        let solution = cholesky.solve(&b);
        for (k, expected) in [3.0, 2.0, 1.0].into_iter().enumerate() {
            let error = (solution[k] - expected) * triangle[packed(k) + k].sqrt();
            assert!(error.abs() <= 1e-8 * triangle[2].sqrt(), "{error}");
        }
    }
}
