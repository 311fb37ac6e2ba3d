//! Numbers made by the scripts of tests/golden.

use serde_json::Value;

/// The file `tests/golden/NAME.json`.
pub fn golden(name: &str) -> Value {
    let path = format!(
        "{}/../../tests/golden/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A decimal number.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// A list of decimal numbers.
pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// A list of lists of decimal numbers.
pub fn table(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

/// A number that is an integer and at least 0.
pub fn count(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

/// A list of integers.
pub fn integers(value: &Value) -> Vec<i32> {
    let integer = |v: &Value| v.as_i64().unwrap() as i32;
    value.as_array().unwrap().iter().map(integer).collect()
}

/// Lists of the numbers of coordinates.
pub fn partitions(value: &Value) -> Vec<Vec<usize>> {
    let members = |p| integers(p).iter().map(|&i| i as usize).collect();
    value.as_array().unwrap().iter().map(members).collect()
}

/// A double by its bits.
pub fn exact(value: &Value) -> f64 {
    f64::from_bits(u64::from_str_radix(value.as_str().unwrap(), 16).unwrap())
}

/// A list of doubles by their bits.
pub fn exacts(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(exact).collect()
}
