//! Symmetric sums of weighted outer products of rows, `sum_k weight_k x_k x_k^T`: the lower triangle.
//!
//! The triangle is stored by square blocks of L numbers by L, where L is the number of lanes: the blocks of the triangle row by row, and
//! the numbers of a block row by row. So every sum of a block is a whole vector, and the blocks that a loop adds to lie side by side.
//!
//! Rows are packed into strips of L columns, in which the columns of a row are one vector. A tile of up to three blocks is kept in
//! registers while all packed rows are added to it: each number of one strip, times the weight, times the vectors of the others.
//!
//! The order of additions is fixed by the calls and their rows: up to [`TOGETHER`] rows of a call are added up in order, and then to the
//! sums. Instructions change only whether a product is rounded before it is added.

use pulp::{Scalar256b, Simd, WithSimd, bytemuck};

use crate::base::{
    error::{SolverError, reserve},
    instructions::{Instructions, Kernel},
};

/// Rows that are added together: their strips of a tile stay in the first level of cache.
const TOGETHER: usize = 128;

/// Rows that are packed together, strip by strip: they are read from the first level of cache, and written to consecutive lines.
const GROUP: usize = 16;

/// Blocks in a row that are added to before the next row of blocks: their strips stay in the second level of cache. A multiple of three.
const BLOCKS: usize = 48;

/// Lanes of 512 bits.
#[cfg(target_arch = "x86_64")]
const WIDE: usize = 8;

/// Lanes of 256 bits.
const NARROW: usize = 4;

/// Up to this size narrow blocks are faster, as fewer of their numbers lie beyond the triangle. Measured on a Zen 4, whose units for 512
/// bits do no more in a cycle than those for 256.
#[cfg(target_arch = "x86_64")]
const SMALL: usize = 28;

/// Sums `sum_k weight_k x_k x_k^T` of rows with `n` entries: the lower triangle.
#[derive(Debug)]
pub(crate) struct Gram {
    n: usize,
    kernel: Kernel,
    sums: Aligned,
    /// Packed rows.
    panel: Aligned,
    /// A strip of them, times the weights.
    weighted: Aligned,
}

impl Gram {
    /// The sums of no rows; `n` is at least 1.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub(crate) fn zeros(n: usize) -> Result<Self, SolverError> {
        Self::with_kernel(Kernel::detect(), n)
    }

    fn with_kernel(kernel: Kernel, n: usize) -> Result<Self, SolverError> {
        #[cfg(target_arch = "x86_64")]
        let kernel = match kernel.0 {
            Instructions::Avx512(token) if n <= SMALL => Kernel(Instructions::Avx2(*token)),
            _ => kernel,
        };
        let lanes = lanes(kernel);
        let strips = n.div_ceil(lanes);
        Ok(Self {
            n,
            kernel,
            sums: Aligned::zeros(strips * (strips + 1) / 2 * lanes * lanes)?,
            panel: Aligned::zeros(strips * lanes * TOGETHER)?,
            weighted: Aligned::zeros(lanes * TOGETHER)?,
        })
    }

    /// Adds rows that lie one after the other in `rows`.
    pub(crate) fn add(&mut self, rows: &[f64], weights: &[f64]) {
        assert_eq!(rows.len(), self.n * weights.len());
        let kernel = self.kernel;
        for (rows, weights) in rows.chunks(self.n * TOGETHER).zip(weights.chunks(TOGETHER)) {
            match kernel.0 {
                Instructions::Portable => Add::<'_, NARROW, false> {
                    gram: self,
                    rows,
                    weights,
                }
                .with_simd(Scalar256b),
                #[cfg(target_arch = "x86_64")]
                Instructions::Avx2(token) => Simd::vectorize(
                    token,
                    Add::<'_, NARROW, true> {
                        gram: self,
                        rows,
                        weights,
                    },
                ),
                #[cfg(target_arch = "x86_64")]
                Instructions::Avx512(token) => Simd::vectorize(
                    token,
                    Add::<'_, WIDE, true> {
                        gram: self,
                        rows,
                        weights,
                    },
                ),
            }
        }
    }

    /// Adds one sparse row, whose `indices` ascend.
    pub(crate) fn add_sparse(&mut self, indices: &[i32], values: &[f64], weight: f64) {
        assert_eq!(indices.len(), values.len());
        debug_assert!(indices.is_sorted());
        match self.kernel.0 {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(_) => self.add_pairs::<WIDE>(indices, values, weight),
            _ => self.add_pairs::<NARROW>(indices, values, weight),
        }
    }

    fn add_pairs<const L: usize>(&mut self, indices: &[i32], values: &[f64], weight: f64) {
        let n = self.n;
        let sums = self.sums.get_mut();
        for (last, (&i, &value)) in indices.iter().zip(values).enumerate() {
            let i = i as usize;
            assert!(i < n, "index {i} of {n}");
            let value = weight * value;
            let row = &mut sums[block(L, i / L) + i % L * L..];
            for (&j, other) in indices[..=last].iter().zip(values) {
                let j = j as usize;
                row[j / L * (L * L) + j % L] += value * other;
            }
        }
    }

    /// Adds the sums of other rows with as many entries.
    pub(crate) fn join(&mut self, other: &Self) {
        assert_eq!((self.n, self.sums.length), (other.n, other.sums.length));
        add(self.sums.get_mut(), other.sums.get());
    }

    /// Writes the lower triangle, packed row by row: entry (i, j) at `i (i + 1) / 2 + j`.
    pub(crate) fn write(&self, out: &mut [f64]) {
        assert_eq!(out.len(), self.n * (self.n + 1) / 2);
        let lanes = lanes(self.kernel);
        let mut rest = out;
        for i in 0..self.n {
            let (row, after) = rest.split_at_mut(i + 1);
            rest = after;
            let blocks = self.sums.get()[block(lanes, i / lanes)..].chunks(lanes * lanes);
            for (out, block) in row.chunks_mut(lanes).zip(blocks) {
                out.copy_from_slice(&block[i % lanes * lanes..][..out.len()]);
            }
        }
    }
}

/// Adds numbers to as many others.
pub(crate) fn add(sums: &mut [f64], more: &[f64]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}

fn lanes(kernel: Kernel) -> usize {
    match kernel.0 {
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512(_) => WIDE,
        _ => NARROW,
    }
}

/// Where the first block of a row of blocks begins.
#[inline(always)]
fn block(lanes: usize, strip: usize) -> usize {
    strip * (strip + 1) / 2 * lanes * lanes
}

/// Numbers that begin at a line of the cache, so that no vector lies across two lines.
#[derive(Debug)]
struct Aligned {
    numbers: Vec<f64>,
    first: usize,
    length: usize,
}

impl Aligned {
    const LINE: usize = 64;

    fn zeros(length: usize) -> Result<Self, SolverError> {
        let spare = Self::LINE / size_of::<f64>() - 1;
        let mut numbers = reserve(length + spare, "the sums of products")?;
        numbers.resize(length + spare, 0.0);
        let first = numbers.as_ptr().align_offset(Self::LINE).min(spare);
        Ok(Self {
            numbers,
            first,
            length,
        })
    }

    fn get(&self) -> &[f64] {
        &self.numbers[self.first..][..self.length]
    }

    fn get_mut(&mut self) -> &mut [f64] {
        &mut self.numbers[self.first..][..self.length]
    }
}

/// Adds at most [`TOGETHER`] rows with vectors of `L` lanes.
struct Add<'a, const L: usize, const FUSED: bool> {
    gram: &'a mut Gram,
    rows: &'a [f64],
    weights: &'a [f64],
}

impl<const L: usize, const FUSED: bool> WithSimd for Add<'_, L, FUSED> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            gram,
            rows,
            weights,
        } = self;
        let k = weights.len();
        let strips = gram.n.div_ceil(L);
        let widest = widest(L, FUSED);
        let panel = &mut gram.panel.get_mut()[..strips * L * k];
        pack::<S, L>(simd, rows, gram.n, panel);
        let panel: &[S::f64s] = bytemuck::cast_slice(panel);
        let weighted = &mut gram.weighted.get_mut()[..L * k];
        let sums: &mut [S::f64s] = bytemuck::cast_slice_mut(gram.sums.get_mut());
        for first in (0..strips).step_by(BLOCKS) {
            for strip in first..strips {
                let own = &panel[strip * k..][..k];
                let vectors: &mut [S::f64s] = bytemuck::cast_slice_mut(weighted);
                for ((scaled, &x), &weight) in vectors.iter_mut().zip(own).zip(weights) {
                    *scaled = simd.mul_f64s(x, simd.splat_f64s(weight));
                }
                let (weighted, _) = weighted.as_chunks::<L>();
                let end = (strip + 1).min(first + BLOCKS);
                let mut at = first;
                while at < end {
                    // A single block waits for its loads: four are two and two.
                    let width = match end - at {
                        4 => widest.min(2),
                        left => left.min(widest),
                    };
                    let sums = &mut sums[block(L, strip) / L + at * L..][..width * L];
                    let columns = &panel[at * k..][..width * k];
                    match width {
                        1 => tile::<S, L, 1, FUSED>(simd, weighted, columns, sums),
                        2 => tile::<S, L, 2, FUSED>(simd, weighted, columns, sums),
                        _ => tile::<S, L, 3, FUSED>(simd, weighted, columns, sums),
                    }
                    at += width;
                }
            }
        }
    }
}

/// Blocks of a tile, so that it stays in registers: three of 4 lanes would need all sixteen, and the compiler may want one more.
const fn widest(lanes: usize, fused: bool) -> usize {
    match (lanes, fused) {
        (NARROW, false) => 1,
        (NARROW, true) => 2,
        _ => 3,
    }
}

/// Copies rows of `n` entries into strips of `L` columns; the last strip ends with zeros.
#[inline(always)]
fn pack<S: Simd, const L: usize>(simd: S, rows: &[f64], n: usize, panel: &mut [f64]) {
    let k = rows.len() / n;
    let panel: &mut [S::f64s] = bytemuck::cast_slice_mut(panel);
    for (group, rows) in rows.chunks(n * GROUP).enumerate() {
        let count = GROUP.min(k - group * GROUP);
        for strip in 0..n.div_ceil(L) {
            let places = &mut panel[strip * k + group * GROUP..][..count];
            let first = strip * L;
            if first + L <= n {
                for (r, place) in places.iter_mut().enumerate() {
                    let (vectors, _) = S::as_simd_f64s(&rows[r * n + first..][..L]);
                    *place = vectors[0];
                }
            } else {
                for (r, place) in places.iter_mut().enumerate() {
                    *place = simd.partial_load_f64s(&rows[r * n + first..][..n - first]);
                }
            }
        }
    }
}

/// Adds the outer products of the numbers of one strip with the vectors of `V` strips to `V` blocks.
#[inline(always)]
fn tile<S: Simd, const L: usize, const V: usize, const FUSED: bool>(
    simd: S,
    weighted: &[[f64; L]],
    columns: &[S::f64s],
    sums: &mut [S::f64s],
) {
    let k = weighted.len();
    let columns: [&[S::f64s]; V] = std::array::from_fn(|v| &columns[v * k..][..k]);
    let mut tile = [[simd.splat_f64s(0.0); V]; L];
    for (at, numbers) in weighted.iter().enumerate() {
        let mut vectors = [simd.splat_f64s(0.0); V];
        for v in 0..V {
            vectors[v] = columns[v][at];
        }
        for r in 0..L {
            let number = simd.splat_f64s(numbers[r]);
            for v in 0..V {
                tile[r][v] = if FUSED {
                    simd.mul_add_f64s(number, vectors[v], tile[r][v])
                } else {
                    simd.add_f64s(simd.mul_f64s(number, vectors[v]), tile[r][v])
                };
            }
        }
    }
    for v in 0..V {
        for r in 0..L {
            let sum = &mut sums[v * L + r];
            *sum = simd.add_f64s(*sum, tile[r][v]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::order::SplitMix64;

    const SIZES: [usize; 12] = [1, 2, 4, 7, 8, 9, 28, 29, 65, 100, 130, 410];

    /// Numbers between -1 and 1.
    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut random = SplitMix64::for_epoch(seed, 0, 0);
        (0..count)
            .map(|_| (random.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
            .collect()
    }

    fn naive(n: usize, rows: &[f64], weights: &[f64]) -> Vec<f64> {
        let mut sums = Vec::new();
        for i in 0..n {
            for j in 0..=i {
                let terms = rows.chunks(n).zip(weights);
                sums.push(terms.map(|(x, weight)| weight * x[i] * x[j]).sum());
            }
        }
        sums
    }

    fn written(gram: &Gram) -> Vec<f64> {
        let mut out = vec![f64::NAN; gram.n * (gram.n + 1) / 2];
        gram.write(&mut out);
        out
    }

    fn assert_close(actual: &[f64], expected: &[f64], what: &str) {
        assert_eq!(actual.len(), expected.len());
        for (place, (a, e)) in actual.iter().zip(expected).enumerate() {
            assert!((a - e).abs() < 1e-12, "{what}, place {place}: {a}, not {e}");
        }
    }

    fn bits(numbers: &[f64]) -> Vec<u64> {
        numbers.iter().map(|x| x.to_bits()).collect()
    }

    /// Some weights are zero, some negative.
    fn weights(count: usize) -> Vec<f64> {
        let mut weights = numbers(count, 2);
        weights.iter_mut().step_by(5).for_each(|w| *w = 0.0);
        weights
    }

    #[test]
    fn sums_are_those_of_a_plain_loop() {
        for kernel in Kernel::available() {
            for n in SIZES {
                for k in [0, 1, 2, 63, 128, 200, 300] {
                    let (rows, weights) = (numbers(n * k, 1), weights(k));
                    let mut gram = Gram::with_kernel(kernel, n).unwrap();
                    gram.add(&rows, &weights);
                    let what = format!("{}, n = {n}, k = {k}", kernel.name());
                    assert_close(&written(&gram), &naive(n, &rows, &weights), &what);
                }
            }
        }
    }

    #[test]
    fn calls_add_up_and_equal_calls_give_equal_bits() {
        for kernel in Kernel::available() {
            for n in SIZES {
                let (rows, weights) = (numbers(n * 90, 3), weights(90));
                let run = |shift: usize| {
                    // Elsewhere in memory.
                    let mut moved = vec![0.0; shift];
                    moved.extend(&rows);
                    let rows = &moved[shift..];
                    let mut gram = Gram::with_kernel(kernel, n).unwrap();
                    gram.add(&rows[..n * 64], &weights[..64]);
                    gram.add(&[], &[]);
                    gram.add(&rows[n * 64..], &weights[64..]);
                    written(&gram)
                };
                let once = run(0);
                assert_close(&once, &naive(n, &rows, &weights), kernel.name());
                assert_eq!(bits(&once), bits(&run(3)), "{}, n = {n}", kernel.name());
            }
        }
    }

    #[test]
    fn sparse_rows_count_as_dense_ones() {
        for kernel in Kernel::available() {
            for n in SIZES {
                let rows = numbers(n * 40, 4);
                let weights = weights(40);
                let mut gram = Gram::with_kernel(kernel, n).unwrap();
                let mut dense = vec![0.0; n * 40];
                for (at, (row, &weight)) in rows.chunks(n).zip(&weights).enumerate() {
                    let indices: Vec<i32> = (0..n as i32)
                        .filter(|j| (j * 7 + at as i32) % 3 == 0)
                        .collect();
                    let values: Vec<f64> = indices.iter().map(|&j| row[j as usize]).collect();
                    for (&j, &value) in indices.iter().zip(&values) {
                        dense[at * n + j as usize] = value;
                    }
                    gram.add_sparse(&indices, &values, weight);
                }
                // Dense rows after sparse ones.
                gram.add(&rows, &weights);
                let mut expected = naive(n, &dense, &weights);
                for (sum, more) in expected.iter_mut().zip(naive(n, &rows, &weights)) {
                    *sum += more;
                }
                assert_close(&written(&gram), &expected, kernel.name());
            }
        }
    }

    #[test]
    fn what_is_not_finite_stays_in_its_row_and_column() {
        for kernel in Kernel::available() {
            for bad in [f64::NAN, f64::INFINITY] {
                let (n, k) = (30, 5);
                let mut rows = numbers(n * k, 5);
                rows[2 * n + 11] = bad;
                let mut gram = Gram::with_kernel(kernel, n).unwrap();
                gram.add(&rows, &vec![1.0; k]);
                let sums = written(&gram);
                for i in 0..n {
                    for j in 0..=i {
                        let finite = sums[i * (i + 1) / 2 + j].is_finite();
                        assert_eq!(finite, i != 11 && j != 11, "({i}, {j})");
                    }
                }
            }
        }
    }
}
