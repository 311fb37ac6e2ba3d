//! The program under mpirun, against ranks that are threads.

mod common;

use std::{ffi::OsStr, fs, path::Path, process::Output};

use common::{Dense, fit_on_threads, mpirun};
use serde_json::Value;

/// MPI adds in another order than threads do.
const ROUNDING: f64 = 1e-13;

/// Exit status for wrong options and files.
const FAILED: i32 = 2;

const ROUNDS: usize = 20;

/// Runs the program; `None` without an mpirun.
fn run(ranks: usize, data: &Path, local_work: &str, output: &Path) -> Option<Output> {
    let rounds = ROUNDS.to_string();
    let arguments: [&OsStr; 8] = [
        "--local-work".as_ref(),
        local_work.as_ref(),
        "--rounds".as_ref(),
        rounds.as_ref(),
        "--data".as_ref(),
        data.as_ref(),
        "--output".as_ref(),
        output.as_ref(),
    ];
    mpirun(ranks, env!("CARGO_BIN_EXE_dwell-mpi"), &arguments)
}

fn number(json: &Value, name: &str) -> f64 {
    json[name]
        .as_f64()
        .unwrap_or_else(|| panic!("{name} in {json}"))
}

#[test]
fn histories_are_those_of_threads() {
    let dense = Dense::random(50, 31, 0.01, 0.02);
    for count in 1..=3 {
        let directory = dense.write("mpirun", count);
        let file = directory.join("output.json");
        let Some(output) = run(count, &directory, "0.5,1", &file) else {
            return;
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let json: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        assert!(number(&json, "emptyRound") > 0.0);
        assert_eq!(json["implementation"], "dwell-mpi");
        let fits = json["fits"].as_array().unwrap();
        assert_eq!(fits.len(), 2);
        for (fit, local_work) in fits.iter().zip([0.5, 1.0]) {
            assert_eq!(number(fit, "localWork"), local_work);
            let rounds = fit["rounds"].as_array().unwrap();
            let threads = fit_on_threads(&directory, local_work, ROUNDS).unwrap();
            let expected = &threads[0].0;
            assert_eq!(rounds.len(), expected.len());
            let mut before = 0.0;
            for (round, expected) in rounds.iter().zip(expected) {
                let objective = number(round, "objective");
                assert!(
                    (objective - expected.objective).abs() <= ROUNDING * expected.objective,
                    "{objective} is not {}, K={count}, H={local_work}",
                    expected.objective
                );
                let elapsed = number(round, "elapsed");
                assert!(number(round, "worker") > 0.0 && number(round, "leader") > 0.0);
                assert!(elapsed > before, "{elapsed} after {before}");
                before = elapsed;
            }
        }
    }
}

#[test]
fn what_is_wrong_is_named_once_and_ends_all_ranks() {
    let right = Dense::random(50, 31, 0.01, 0.02);
    let directory = right.write("wrong", 2);
    let file = directory.join("output.json");
    // Only rank 1 reads it.
    let broken = right.write("broken", 2);
    fs::write(broken.join("part-1.mean.f64"), [0; 3]).unwrap();
    let nowhere = directory.join("nowhere");
    let unwritable = directory.join("nowhere/output.json");
    for (ranks, data, local_work, output, named) in [
        (2, &broken, "1", &file, "part-1.mean.f64: 3 bytes"),
        (2, &directory, "0", &file, "--local-work: "),
        (
            3,
            &directory,
            "1",
            &file,
            "2 partitions, but mpirun started 3 ranks",
        ),
        (2, &nowhere, "1", &file, "nowhere/problem.json: "),
        (2, &directory, "1", &unwritable, "nowhere/output.json: "),
    ] {
        let Some(output) = run(ranks, data, local_work, output) else {
            return;
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(FAILED), "{errors}");
        assert_eq!(errors.matches(named).count(), 1, "{named} in {errors}");
    }
}
