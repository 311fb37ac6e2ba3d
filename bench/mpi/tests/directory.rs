//! Wrong files.

mod common;

use std::{fs, path::Path};

use common::{Dense, fit_on_threads};

/// Three partitions, one for each type of values.
fn directory(name: &str) -> std::path::PathBuf {
    Dense::random(20, 12, 0.01, 0.02).write(name, 3)
}

/// The message about the directory.
fn message(directory: &Path) -> String {
    fit_on_threads(directory, 1.0, 1).unwrap_err().to_string()
}

#[test]
fn a_file_of_the_wrong_size_is_named() {
    let directory = directory("sizes");
    let mut seen = 0;
    for entry in fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("problem.json") {
            continue;
        }
        seen += 1;
        let bytes = fs::read(&path).unwrap();
        let longer: Vec<u8> = bytes.iter().copied().chain([0; 8]).collect();
        for wrong in [&bytes[..bytes.len() - 1], &[], &longer] {
            fs::write(&path, wrong).unwrap();
            let message = message(&directory);
            assert!(
                message.contains(path.to_str().unwrap())
                    && message.contains(&format!(
                        "{} bytes, expected {}",
                        wrong.len(),
                        bytes.len()
                    )),
                "{message}"
            );
        }
        fs::remove_file(&path).unwrap();
        let message = message(&directory);
        assert!(message.contains(path.to_str().unwrap()), "{message}");
        fs::write(&path, &bytes).unwrap();
    }
    // Labels; for each partition offsets, indices and three moments; values for two partitions.
    assert_eq!(seen, 1 + 3 * 5 + 2);
    fit_on_threads(&directory, 1.0, 1).unwrap();
}

#[test]
fn arrays_that_are_no_matrix_name_their_files() {
    let directory = directory("matrix");
    let path = directory.join("part-1.indices.i32");
    let mut bytes = fs::read(&path).unwrap();
    bytes[..4].copy_from_slice(&20i32.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let message = message(&directory);
    assert!(
        message.contains("part-1.*") && message.contains("column 0 has an entry in row 20"),
        "{message}"
    );
}

#[test]
fn a_label_that_is_not_finite_is_named() {
    let directory = directory("labels");
    let path = directory.join("labels.f64");
    let mut bytes = fs::read(&path).unwrap();
    bytes[8..16].copy_from_slice(&f64::NAN.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let message = message(&directory);
    assert!(
        message.contains("labels.f64") && message.contains("row 1 is NaN"),
        "{message}"
    );
}

#[test]
fn fields_of_the_problem_are_named() {
    let directory = directory("fields");
    let path = directory.join("problem.json");
    let text = fs::read_to_string(&path).unwrap();
    for (right, wrong, field) in [
        (r#""l1":0.01"#, r#""l1":"much""#, "l1"),
        (r#""l2":0.02"#, r#""l2":-1"#, "l2"),
        (r#""sigmaPrime":3.0"#, r#""sigma":3.0"#, "sigmaPrime"),
        (r#""partitions":3"#, r#""partitions":2"#, "partitions"),
        (r#""features":12"#, r#""features":11"#, "features"),
        (r#""float32""#, r#""float16""#, "values"),
    ] {
        assert!(text.contains(right), "{right} in {text}");
        fs::write(&path, text.replace(right, wrong)).unwrap();
        let message = message(&directory);
        let (file, reason) = message.split_once(": ").unwrap();
        assert!(file.ends_with("problem.json"), "{message}");
        assert!(reason.starts_with(field), "{message}");
    }
    fs::write(&path, &text[1..]).unwrap();
    assert!(message(&directory).contains("problem.json"));
}
