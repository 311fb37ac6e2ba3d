//! Generated sparse data with power-law features, by columns.

use std::{fs, io, path::Path};

use dwell_solvers::order::BucketOrder;

use crate::random::{Cumulative, Random};

/// Feature j is drawn with a probability proportional to `1 / (j + 1 + offset)^exponent`; row lengths are log-normal.
pub struct PowerLaw {
    rows: usize,
    features: usize,
    exponent: f64,
    offset: f64,
    /// Draws in a row on average, before repeated features are dropped.
    draws: f64,
    length_sigma: f64,
}

impl PowerLaw {
    /// Rows, features and row length of the news20 set at `scale` 1.
    pub fn news20(scale: f64) -> Self {
        Self {
            rows: (20_000.0 * scale).ceil() as usize,
            features: (1_355_191.0 * scale).ceil() as usize,
            exponent: 1.02,
            offset: 20.0,
            draws: 480.0,
            length_sigma: 0.8,
        }
    }

    /// Rows, features and row length of a part of the url set at `scale` 1: a twelfth of its rows.
    pub fn url(scale: f64) -> Self {
        Self {
            rows: (200_000.0 * scale).ceil() as usize,
            features: (3_231_961.0 * scale).ceil() as usize,
            exponent: 1.10,
            offset: 5.0,
            draws: 131.0,
            length_sigma: 0.25,
        }
    }

    /// Values are `exp(N(0, 0.7)) log(1 + rows / df)`, rows scaled to unit norm. Labels are predictions of a planted model, whose
    /// coefficients are N(0, 1) for 5 % of the features, scaled to mean 0 and variance 1, and N(0, 0.3).
    /// Features without entry are dropped, the others numbered by first appearance, as text pipelines do.
    pub fn generate(&self, seed: u64) -> Matrix {
        let mut random = Random::new(seed, 0);
        let popularity = Cumulative::new(
            (0..self.features).map(|j| (j as f64 + 1.0 + self.offset).powf(-self.exponent)),
        );
        let unseen = u32::MAX;
        let mut names = vec![unseen; self.features];
        let mut counts: Vec<i32> = Vec::new();
        let mut rows: Vec<Vec<u32>> = Vec::with_capacity(self.rows);
        let log_mean = self.draws.ln() - self.length_sigma * self.length_sigma / 2.0;
        for _ in 0..self.rows {
            let length = (log_mean + self.length_sigma * random.normal())
                .exp()
                .max(5.0) as usize;
            let mut row: Vec<u32> = (0..length)
                .map(|_| popularity.draw(&mut random) as u32)
                .collect();
            row.sort_unstable();
            row.dedup();
            for feature in &mut row {
                let name = &mut names[*feature as usize];
                if *name == unseen {
                    *name = counts.len() as u32;
                    counts.push(0);
                }
                counts[*name as usize] += 1;
                *feature = *name;
            }
            rows.push(row);
        }

        let mut offsets = vec![0i32];
        for count in &counts {
            offsets.push(offsets[offsets.len() - 1] + count);
        }
        let nonzeros = offsets[counts.len()] as usize;
        let mut next: Vec<usize> = offsets.iter().map(|&o| o as usize).collect();
        let mut indices = vec![0i32; nonzeros];
        let mut values = vec![0f32; nonzeros];
        for (j, row) in rows.iter().enumerate() {
            let raw: Vec<f64> = row
                .iter()
                .map(|&i| {
                    let rarity = (1.0 + self.rows as f64 / f64::from(counts[i as usize])).ln();
                    (0.7 * random.normal()).exp() * rarity
                })
                .collect();
            let norm = raw.iter().map(|v| v * v).sum::<f64>().sqrt();
            for (&i, v) in row.iter().zip(raw) {
                let at = &mut next[i as usize];
                indices[*at] = j as i32;
                values[*at] = (v / norm) as f32;
                *at += 1;
            }
        }
        let labels = planted(self.rows, &offsets, &indices, &values, &mut random);
        Matrix {
            rows: self.rows,
            offsets,
            indices,
            values,
            labels,
        }
    }
}

fn planted(
    rows: usize,
    offsets: &[i32],
    indices: &[i32],
    values: &[f32],
    random: &mut Random,
) -> Vec<f64> {
    let mut scores = vec![0.0; rows];
    for pair in offsets.windows(2) {
        if random.uniform() < 0.05 {
            let coefficient = random.normal();
            for k in pair[0] as usize..pair[1] as usize {
                scores[indices[k] as usize] += coefficient * f64::from(values[k]);
            }
        }
    }
    let m = rows as f64;
    let mean = scores.iter().sum::<f64>() / m;
    let variance = scores.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / m;
    for score in &mut scores {
        *score = (*score - mean) / variance.sqrt() + 0.3 * random.normal();
    }
    scores
}

/// Compressed columns, and a label for each row; compressed rows after [`Matrix::by_rows`].
pub struct Matrix {
    pub rows: usize,
    pub offsets: Vec<i32>,
    pub indices: Vec<i32>,
    pub values: Vec<f32>,
    pub labels: Vec<f64>,
}

impl Matrix {
    pub fn columns(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn nonzeros(&self) -> usize {
        self.indices.len()
    }

    /// Columns of length 1 first, then 2, ... 8, then all others: the order in which partitions are stored.
    pub fn sorted_by_length(&self) -> Matrix {
        let length = |i: usize| self.offsets[i + 1] - self.offsets[i];
        let mut order: Vec<usize> = (0..self.columns()).collect();
        order.sort_by_key(|&i| length(i).min(9));
        self.reordered(order)
    }

    /// Columns in random order, as hashing of words leaves them.
    pub fn shuffled(&self, seed: u64) -> Matrix {
        let mut order = BucketOrder::new(self.columns(), 1, seed, 0).expect("columns fit an index");
        self.reordered(
            (0..self.columns() as u64)
                .map(|cursor| order.at(cursor).start)
                .collect(),
        )
    }

    fn reordered(&self, order: Vec<usize>) -> Matrix {
        let mut matrix = Matrix {
            rows: self.rows,
            offsets: vec![0],
            indices: Vec::with_capacity(self.nonzeros()),
            values: Vec::with_capacity(self.nonzeros()),
            labels: self.labels.clone(),
        };
        for i in order {
            let entries = self.offsets[i] as usize..self.offsets[i + 1] as usize;
            matrix
                .indices
                .extend_from_slice(&self.indices[entries.clone()]);
            matrix.values.extend_from_slice(&self.values[entries]);
            matrix.offsets.push(matrix.indices.len() as i32);
        }
        matrix
    }

    /// The same entries row by row: `rows` is the number of features then, and columns are rows.
    pub fn by_rows(&self) -> Matrix {
        let mut offsets = vec![0i32; self.rows + 1];
        for &row in &self.indices {
            offsets[row as usize + 1] += 1;
        }
        for row in 0..self.rows {
            offsets[row + 1] += offsets[row];
        }
        let mut next: Vec<usize> = offsets.iter().map(|&o| o as usize).collect();
        let mut indices = vec![0i32; self.nonzeros()];
        let mut values = vec![0f32; self.nonzeros()];
        for (i, pair) in self.offsets.windows(2).enumerate() {
            for k in pair[0] as usize..pair[1] as usize {
                let at = &mut next[self.indices[k] as usize];
                indices[*at] = i as i32;
                values[*at] = self.values[k];
                *at += 1;
            }
        }
        Matrix {
            rows: self.columns(),
            offsets,
            indices,
            values,
            labels: self.labels.clone(),
        }
    }

    /// Writes the arrays, little endian, to `offsets`, `indices`, `values` and `labels` in `directory`.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        let integers =
            |numbers: &[i32]| -> Vec<u8> { numbers.iter().flat_map(|x| x.to_le_bytes()).collect() };
        fs::write(directory.join("offsets"), integers(&self.offsets))?;
        fs::write(directory.join("indices"), integers(&self.indices))?;
        let values: Vec<u8> = self.values.iter().flat_map(|x| x.to_le_bytes()).collect();
        fs::write(directory.join("values"), values)?;
        let labels: Vec<u8> = self.labels.iter().flat_map(|x| x.to_le_bytes()).collect();
        fs::write(directory.join("labels"), labels)
    }

    /// Sum of the squares of every column.
    pub fn norms(&self) -> Vec<f64> {
        let square = |v: &f32| f64::from(*v) * f64::from(*v);
        self.offsets
            .windows(2)
            .map(|pair| {
                let (fours, rest) =
                    self.values[pair[0] as usize..pair[1] as usize].as_chunks::<4>();
                let mut sums = [0.0; 4];
                for four in fours {
                    for k in 0..4 {
                        sums[k] += square(&four[k]);
                    }
                }
                sums.iter().sum::<f64>() + rest.iter().map(square).sum::<f64>()
            })
            .collect()
    }

    /// Mean and population variance of every column; `ones`: as if every entry were 1.
    pub fn moments(&self, ones: bool) -> (Vec<f64>, Vec<f64>) {
        let m = self.rows as f64;
        let value = |v: &f32| if ones { 1.0 } else { f64::from(*v) };
        self.offsets
            .windows(2)
            .map(|pair| {
                let values = &self.values[pair[0] as usize..pair[1] as usize];
                let mean = values.iter().map(value).sum::<f64>() / m;
                let about_mean: f64 = values.iter().map(|v| (value(v) - mean).powi(2)).sum();
                let zeros = m - values.len() as f64;
                (mean, (about_mean + zeros * mean * mean) / m)
            })
            .unzip()
    }
}
