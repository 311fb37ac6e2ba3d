//! MA-SGD: on threads against rounds driven by hand, and under mpirun against threads.

mod common;

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use common::{Dense, mpirun, on_ranks, write_array, write_matrix};
use dwell_mpi::{Checkpoint, Failure, Ranks, RowPartition, RowProblem, average};
use dwell_solvers::{
    LabelledRows, Loss, RowLoss, Schedule, ScheduleKind, SgdParams, SgdProblem, SgdRound, Views,
};
use serde_json::{Value, json};

const ROWS: usize = 40;
const FEATURES: usize = 23;
/// Without a penalty, steps shrink in another way.
const PENALTIES: [f64; 2] = [0.0, 0.02];
const ETA0: f64 = 0.3;

/// MPI adds in another order than threads do.
const ROUNDING: f64 = 1e-13;

/// Exit status for wrong options and files.
const FAILED: i32 = 2;

/// Writes a directory of `count` partitions of different sizes. The labels are the signs of the first feature, which a model can learn.
fn write(name: &str, count: usize, l2: f64) -> PathBuf {
    let rows = Dense::random(FEATURES, ROWS, 0.0, 0.0).columns;
    let directory =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("averaging-{name}-{count}-{l2}"));
    fs::create_dir_all(&directory).unwrap();
    let parts: Vec<Value> = (0..count)
        .map(|k| {
            // The first part is larger than the others.
            let first = if k == 0 {
                0
            } else {
                (k + 1) * ROWS / (count + 1)
            };
            let part = &rows[first..(k + 2) * ROWS / (count + 1)];
            let labels: Vec<f64> = part
                .iter()
                .map(|row| if row[0] + row[1] > 0.0 { 1.0 } else { -1.0 })
                .collect();
            write_array(&directory.join(format!("part-{k}.labels.f64")), &labels);
            write_matrix(&directory, k, part, "rows")
        })
        .collect();
    let problem = json!({
        "rows": ROWS, "features": FEATURES, "loss": "logistic", "l2": l2, "seed": -5, "parts": parts,
    });
    fs::write(directory.join("problem.json"), problem.to_string()).unwrap();
    directory
}

/// The models of every rank after a fit.
fn average_on_threads(directory: &Path, at: &[usize]) -> Result<Vec<Vec<Checkpoint>>, Failure> {
    let problem = RowProblem::read(directory)?;
    let partitions: Vec<RowPartition> = (0..problem.parts.len())
        .map(|k| RowPartition::read(directory, &problem, k))
        .collect::<Result<_, _>>()?;
    on_ranks(partitions.len(), |ranks| {
        let data = partitions[ranks.rank()].data()?;
        average(&problem, &data, ETA0, at, ranks)
    })
    .into_iter()
    .collect()
}

/// The model after `rounds` rounds of the solver, averaged with rows as weights.
fn by_hand(directory: &Path, l2: f64, rounds: usize) -> Vec<f64> {
    let read = RowProblem::read(directory).unwrap();
    let problem = SgdProblem {
        loss: RowLoss::Margin(Loss::Logistic),
        l1: 0.0,
        l2,
        intercept: false,
        weight_factor: 1.0,
    };
    let mut places = vec![(0, 0); read.parts.len()];
    let mut model = vec![0.0; FEATURES + 1];
    for _ in 0..rounds {
        let mut sum = vec![0.0; FEATURES + 1];
        for (k, (cursor, steps)) in places.iter_mut().enumerate() {
            let partition = RowPartition::read(directory, &read, k).unwrap();
            let data = partition.data().unwrap();
            let rows = data.rows().len();
            let params = SgdParams {
                problem,
                schedule: if l2 > 0.0 {
                    Schedule {
                        kind: ScheduleKind::Inverse,
                        eta0: ETA0,
                        rate: l2,
                    }
                } else {
                    Schedule {
                        kind: ScheduleKind::InverseSquareRoot,
                        eta0: ETA0,
                        rate: 1.0 / rows as f64,
                    }
                },
                seed: (-5i64).cast_unsigned(),
                partition: k as u32,
                budget: rows as u64,
                cursor: *cursor,
                steps: *steps,
                share: 1.0,
                threads: 1,
            };
            let blocks = [data];
            let mut blocks = Views::<LabelledRows>::new(&blocks).unwrap();
            let round = SgdRound::run(params.check().unwrap(), &model, &mut blocks, None).unwrap();
            let shared = bytemuck::cast_slice(&model);
            let mut reached = vec![0.0; FEATURES + 1];
            round
                .write_update(0, shared, bytemuck::cast_slice_mut(&mut reached))
                .unwrap();
            let outcome = round.finish();
            (*cursor, *steps) = (outcome.cursor, outcome.steps);
            for (s, w) in sum.iter_mut().zip(reached) {
                *s += w * rows as f64 / ROWS as f64;
            }
        }
        model = sum;
    }
    model.truncate(FEATURES);
    model
}

fn assert_close(one: &[f64], other: &[f64]) {
    assert_eq!(one.len(), other.len());
    for (a, b) in one.iter().zip(other) {
        assert!((a - b).abs() <= ROUNDING, "{a} is not {b}");
    }
}

#[test]
fn models_are_those_of_rounds_by_hand_on_every_rank() {
    for (count, l2) in (1..=3).flat_map(|count| PENALTIES.map(|l2| (count, l2))) {
        let directory = write("hand", count, l2);
        for checkpoints in average_on_threads(&directory, &[1, 4]).unwrap() {
            let rounds: Vec<usize> = checkpoints.iter().map(|c| c.rounds).collect();
            assert_eq!(rounds, [1, 4]);
            assert!(checkpoints[0].seconds < checkpoints[1].seconds);
            for checkpoint in &checkpoints {
                let expected = by_hand(&directory, l2, checkpoint.rounds);
                assert_close(&checkpoint.model, &expected);
            }
        }
    }
}

#[test]
fn models_are_written_under_mpirun() {
    for count in 1..=3 {
        let directory = write("mpirun", count, PENALTIES[1]);
        let arguments: [&OsStr; 8] = [
            "--data".as_ref(),
            directory.as_ref(),
            "--output".as_ref(),
            directory.as_ref(),
            "--step".as_ref(),
            "0.3".as_ref(),
            "--steps".as_ref(),
            "2,3".as_ref(),
        ];
        let Some(output) = mpirun(count, env!("CARGO_BIN_EXE_dwell-mpi-sgd"), &arguments) else {
            return;
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let history = fs::read(directory.join("history.json")).unwrap();
        let json: Value = serde_json::from_slice(&history).unwrap();
        let expected = average_on_threads(&directory, &[2, 3]).unwrap();
        let checkpoints = json["checkpoints"].as_array().unwrap();
        assert_eq!(checkpoints.len(), 2);
        for (checkpoint, expected) in checkpoints.iter().zip(&expected[0]) {
            assert_eq!(checkpoint["steps"], expected.rounds);
            assert!(checkpoint["seconds"].as_f64().unwrap() > 0.0);
            let bytes = fs::read(directory.join(checkpoint["model"].as_str().unwrap())).unwrap();
            let (numbers, rest) = bytes.as_chunks();
            assert!(rest.is_empty());
            let model: Vec<f64> = numbers.iter().map(|&b| f64::from_le_bytes(b)).collect();
            assert_close(&model, &expected.model);
        }
        // The number of ranks differs from that of partitions.
        let output = mpirun(count + 1, env!("CARGO_BIN_EXE_dwell-mpi-sgd"), &arguments).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(FAILED), "{errors}");
        let named = format!("dwell-mpi-sgd: rank 0: {}: ", directory.display());
        assert_eq!(errors.matches(&named).count(), 1, "{errors}");
    }
}

#[test]
fn what_is_wrong_with_a_directory_is_named() {
    let directory = write("wrong", 2, PENALTIES[1]);
    let message = || {
        average_on_threads(&directory, &[1])
            .unwrap_err()
            .to_string()
    };
    let path = directory.join("problem.json");
    let text = fs::read_to_string(&path).unwrap();
    for (right, wrong, field) in [
        (r#""rows":40"#, r#""rows":41"#, "rows is 41"),
        (r#""loss":"logistic""#, r#""loss":"squared""#, "loss"),
        (r#""values":"float64""#, r#""values":"float16""#, "values"),
    ] {
        assert!(text.contains(right), "{right} in {text}");
        fs::write(&path, text.replacen(right, wrong, 1)).unwrap();
        let message = message();
        assert!(
            message.contains("problem.json: ") && message.contains(field),
            "{message}"
        );
    }
    fs::write(&path, text).unwrap();
    fs::write(directory.join("part-1.labels.f64"), [0; 3]).unwrap();
    let message = message();
    assert!(message.contains("part-1.labels.f64: 3 bytes"), "{message}");
}
