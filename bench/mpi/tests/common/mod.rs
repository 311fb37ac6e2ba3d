//! Small problems for the tests: dense columns, the directory made from them, and ranks that are threads.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::{
    ffi::OsStr,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use bytemuck::Pod;
use dwell_mpi::{
    Certificates, Exchange, Failure, Partition, Problem, Ranks, Round, Worker, fit, read_labels,
};
use dwell_solvers::order::SplitMix64;
use serde_json::json;

/// A problem, kept as plainly as possible.
pub struct Dense {
    /// One vector for each column, with zeros.
    pub columns: Vec<Vec<f64>>,
    pub labels: Vec<f64>,
    pub l1: f64,
    pub l2: f64,
}

impl Dense {
    /// Three of ten entries are not 0: ones in the first third of the columns, values that `f32` holds in the second, any in the last.
    pub fn random(rows: usize, columns: usize, l1: f64, l2: f64) -> Self {
        let mut bits = SplitMix64::for_epoch(7, 0, 0);
        // In [-1, 1).
        let mut number = move || (bits.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        let columns = (0..columns)
            .map(|i| {
                let mut column: Vec<f64> = (0..rows)
                    .map(|_| match (number() < -0.4, 3 * i / columns) {
                        (false, _) => 0.0,
                        (true, 0) => 1.0,
                        (true, 1) => f64::from(number() as f32),
                        (true, _) => number(),
                    })
                    .collect();
                // No column is empty.
                column[i % rows] = 1.0;
                column
            })
            .collect();
        Self {
            columns,
            labels: (0..rows).map(|_| number()).collect(),
            l1,
            l2,
        }
    }

    /// m.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// `A alpha`.
    pub fn product(&self, alpha: &[f64]) -> Vec<f64> {
        (0..self.rows())
            .map(|j| self.columns.iter().zip(alpha).map(|(c, a)| c[j] * a).sum())
            .collect()
    }

    /// `1/(2m) |y - A alpha|^2` and the penalty.
    pub fn objective(&self, alpha: &[f64]) -> f64 {
        let squares: f64 = self
            .product(alpha)
            .iter()
            .zip(&self.labels)
            .map(|(z, y)| (y - z) * (y - z))
            .sum();
        let penalty: f64 = alpha
            .iter()
            .map(|a| self.l1 * a.abs() + self.l2 * a * a / 2.0)
            .sum();
        squares / (2.0 * self.rows() as f64) + penalty
    }

    /// Solves `(A^T A / m + l2 I) alpha = A^T y / m`, the optimum without l1, by Gaussian elimination: the matrix is positive definite.
    pub fn ridge(&self) -> Vec<f64> {
        let n = self.columns.len();
        let dot = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / self.rows() as f64
        };
        let mut system: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let mut row: Vec<f64> = self
                    .columns
                    .iter()
                    .map(|column| dot(&self.columns[i], column))
                    .collect();
                row[i] += self.l2;
                row.push(dot(&self.columns[i], &self.labels));
                row
            })
            .collect();
        for pivot in 0..n {
            let (above, below) = system.split_at_mut(pivot + 1);
            let pivot_row = &above[pivot];
            for row in below {
                let factor = row[pivot] / pivot_row[pivot];
                for (entry, p) in row.iter_mut().zip(pivot_row) {
                    *entry -= factor * p;
                }
            }
        }
        let mut alpha = vec![0.0; n];
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|k| system[i][k] * alpha[k]).sum();
            alpha[i] = (system[i][n] - known) / system[i][i];
        }
        alpha
    }

    /// Writes the directory of `count` partitions of neighbouring columns, which differ in size, and returns it. `name` must be unique to
    /// the test.
    pub fn write(&self, name: &str, count: usize) -> PathBuf {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{count}"));
        fs::create_dir_all(&directory).unwrap();
        let n = self.columns.len();
        let parts: Vec<_> = (0..count)
            .map(|k| {
                write_part(
                    &directory,
                    k,
                    &self.columns[k * n / count..(k + 1) * n / count],
                )
            })
            .collect();
        write_array(&directory.join("labels.f64"), &self.labels);
        let problem = json!({
            "rows": self.rows(), "features": n, "partitions": count, "l1": self.l1, "l2": self.l2,
            "totalWeight": self.rows() as f64, "sigmaPrime": count as f64, "seed": -5, "parts": parts,
        });
        fs::write(directory.join("problem.json"), problem.to_string()).unwrap();
        directory
    }
}

/// Writes the files of partition `k`. Returns its part of `problem.json`.
fn write_part(directory: &Path, k: usize, columns: &[Vec<f64>]) -> serde_json::Value {
    let path = |name: &str| directory.join(format!("part-{k}.{name}"));
    let (mut mean, mut variance) = (Vec::new(), Vec::new());
    for column in columns {
        let rows = column.len() as f64;
        let average = column.iter().sum::<f64>() / rows;
        mean.push(average);
        variance.push(column.iter().map(|v| (v - average).powi(2)).sum::<f64>() / rows);
    }
    let deviation: Vec<f64> = variance.iter().map(|v: &f64| v.sqrt()).collect();
    write_array(&path("mean.f64"), &mean);
    write_array(&path("variance.f64"), &variance);
    write_array(&path("deviation.f64"), &deviation);
    write_matrix(directory, k, columns, "columns")
}

/// Writes the matrix of partition `k`, with values in the narrowest exact type. Returns its part of `problem.json`, which calls columns
/// `unit`.
pub fn write_matrix(
    directory: &Path,
    k: usize,
    columns: &[Vec<f64>],
    unit: &str,
) -> serde_json::Value {
    let path = |name: &str| directory.join(format!("part-{k}.{name}"));
    let mut offsets = vec![0];
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    for column in columns {
        for (j, &value) in column.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            indices.push(j as i32);
            values.push(value);
        }
        offsets.push(indices.len() as i32);
    }
    let stored = if values.iter().all(|&v| v == 1.0) {
        "ones"
    } else if values.iter().all(|&v| f64::from(v as f32) == v) {
        let narrow: Vec<f32> = values.iter().map(|&v| v as f32).collect();
        write_array(&path("values.f32"), &narrow);
        "float32"
    } else {
        write_array(&path("values.f64"), &values);
        "float64"
    };
    write_array(&path("offsets.i32"), &offsets);
    write_array(&path("indices.i32"), &indices);
    json!({unit: columns.len(), "nonzeros": indices.len(), "values": stored})
}

/// Writes the bytes of numbers.
pub fn write_array<T: Pod>(path: &Path, numbers: &[T]) {
    fs::write(path, bytemuck::cast_slice(numbers)).unwrap();
}

/// A rank that runs as a thread and adds in the order of the ranks.
pub struct ThreadRank {
    rank: usize,
    to: Vec<Sender<Vec<f64>>>,
    from: Vec<Receiver<Vec<f64>>>,
}

impl Ranks for ThreadRank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.to.len()
    }

    fn sum(&mut self, numbers: &mut Vec<f64>) {
        for to in &self.to {
            to.send(numbers.clone()).expect("a rank has failed");
        }
        numbers.fill(0.0);
        for from in &self.from {
            let others = from.recv().expect("a rank has failed");
            assert_eq!(others.len(), numbers.len());
            for (sum, number) in numbers.iter_mut().zip(others) {
                *sum += number;
            }
        }
    }
}

/// Runs `work` on `count` ranks and returns its result on each.
pub fn on_ranks<T: Send>(count: usize, work: impl Fn(&mut ThreadRank) -> T + Sync) -> Vec<T> {
    let mut ranks: Vec<ThreadRank> = (0..count)
        .map(|rank| ThreadRank {
            rank,
            to: Vec::new(),
            from: Vec::new(),
        })
        .collect();
    for sender in 0..count {
        for receiver in 0..count {
            let (to, from) = channel();
            ranks[sender].to.push(to);
            ranks[receiver].from.push(from);
        }
    }
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = ranks
            .into_iter()
            .map(|mut rank| scope.spawn(move || work(&mut rank)))
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    })
}

/// Runs a program under mpirun; `None` without an mpirun.
pub fn mpirun(ranks: usize, program: &str, arguments: &[&OsStr]) -> Option<Output> {
    let run = Command::new("mpirun")
        .args(["--allow-run-as-root", "--oversubscribe"])
        // In seconds: ranks that wait for one another must not block the tests.
        .args(["--timeout", "120"])
        .args(["-np", &ranks.to_string(), program])
        .args(arguments)
        .output();
    match run {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            // Without a macro, because the test harness captures the output of macros.
            let _ = writeln!(std::io::stderr(), "skipped: there is no mpirun on the PATH");
            None
        }
        Err(error) => panic!("mpirun: {error}"),
    }
}

/// The result of a fit on one rank: its history and its coefficients.
pub type Fitted = (Vec<Round>, Vec<f64>);

/// A fit of the problem in `directory` on as many threads as it has partitions, without certificates.
pub fn fit_on_threads(
    directory: &Path,
    local_work: f64,
    rounds: usize,
) -> Result<Vec<Fitted>, Failure> {
    certified_fit_on_threads(directory, local_work, rounds, Certificates::Never)
}

/// The same with certificates.
pub fn certified_fit_on_threads(
    directory: &Path,
    local_work: f64,
    rounds: usize,
    certificates: Certificates,
) -> Result<Vec<Fitted>, Failure> {
    let problem = Problem::read(directory)?;
    let labels = read_labels(directory, problem.rows)?;
    let partitions: Vec<Partition> = (0..problem.parts.len())
        .map(|k| Partition::read(directory, &problem, k))
        .collect::<Result<_, _>>()?;
    on_ranks(partitions.len(), |ranks| {
        let (rank, count) = (ranks.rank(), ranks.count());
        let mut exchange = Exchange::new(&labels, problem.total_weight, count);
        let data = partitions[rank].data()?;
        let mut worker = Worker::new(&problem, data, rank, local_work, certificates)?;
        let history = fit(&mut exchange, &mut worker, ranks, rounds)?;
        Ok((history, worker.alpha().to_vec()))
    })
    .into_iter()
    .collect()
}
