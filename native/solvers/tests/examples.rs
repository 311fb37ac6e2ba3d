//! The examples, on the files beside them.

#[path = "../examples/ridge.rs"]
mod ridge;
#[path = "../examples/topics.rs"]
mod topics;

fn file(name: &str) -> String {
    format!("{}/examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The solution of the normal equations, by Gaussian elimination in Python.
#[test]
fn ridge_regression_solves_the_normal_equations() {
    let expected = [
        1.9683529837442384,
        -0.9726459161584045,
        0.47851948142340617,
        2.988213289160954,
    ];
    let found = ridge::train(&file("ridge.csv"), 0.01).unwrap();
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-12, "{found:?}");
    }
}

/// The first five documents are about bread, the others about engines, and salt and flour are words of no engine.
#[test]
fn topics_part_bread_from_engines() {
    let found = topics::train(&file("documents.txt"), 2, 50).unwrap();
    let bread = [
        "bread", "flour", "oven", "yeast", "dough", "bake", "cake", "water", "salt", "sugar",
        "butter",
    ];
    let of_bread: Vec<usize> = found
        .iter()
        .map(|words| {
            words
                .iter()
                .filter(|word| bread.contains(&word.as_str()))
                .count()
        })
        .collect();
    assert!(of_bread == [5, 0] || of_bread == [0, 5], "{found:?}");
}
