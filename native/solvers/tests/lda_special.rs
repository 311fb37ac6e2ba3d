//! Special functions of LDA, against 50 digits from tests/golden/special.py.

use crate::common;

use common::golden::{golden, number};
use dwell_solvers::lda::special::{digamma, exp_digamma, ln_gamma, trigamma};

/// A few units in the last place of the largest of the terms that are added.
const ROUNDING: f64 = 4e-15;

fn assert_close(actual: f64, expected: f64, what: &str) {
    assert!(
        (actual - expected).abs() <= ROUNDING * expected.abs().max(1.0),
        "{what}: {actual}, expected {expected}"
    );
}

#[test]
fn against_50_digits() {
    let golden = golden("special");
    let points = golden["points"].as_array().unwrap();
    assert!(points.len() > 400);
    for row in points {
        let x = number(&row[0]);
        assert_close(digamma(x), number(&row[1]), &format!("digamma({x})"));
        if !row[2].is_null() {
            let expected = number(&row[2]);
            let actual = trigamma(x);
            assert!(
                (actual / expected - 1.0).abs() <= ROUNDING,
                "trigamma({x}): {actual}, expected {expected}"
            );
        }
        assert_close(ln_gamma(x), number(&row[3]), &format!("ln_gamma({x})"));
    }
}

#[test]
fn pair_against_50_digits() {
    let golden = golden("special");
    for row in golden["pairs"].as_array().unwrap() {
        let x = number(&row[0]);
        let (e, s) = exp_digamma(x);
        if x <= 1000.0 {
            assert!(
                (e / number(&row[1]) - 1.0).abs() <= 2.0 * ROUNDING,
                "E({x})"
            );
            assert!((s / number(&row[2]) - 1.0).abs() <= ROUNDING, "S({x})");
        }
        if !row[3].is_null() {
            // The exponential turns the rounding of its argument into that many units of the result.
            let tolerance = ROUNDING * (s + 10.0);
            assert!(
                (e * (-s).exp() / number(&row[3]) - 1.0).abs() <= tolerance,
                "exp(psi({x}))"
            );
        }
    }
}

#[test]
fn known_values() {
    for (x, psi) in [
        (1.0, -0.5772156649015329),
        (0.5, -1.963510026021423),
        (10.0, 2.251752589066721),
        (1e-5, -100_000.577_199_215_67),
    ] {
        assert_close(digamma(x), psi, "digamma");
    }
}

#[test]
fn outside_of_their_domain() {
    for x in [0.0, -0.0, -1.0, -0.5, f64::NEG_INFINITY, f64::NAN] {
        assert!(
            digamma(x).is_nan() && trigamma(x).is_nan() && ln_gamma(x).is_nan(),
            "{x}"
        );
    }
    assert_eq!(digamma(f64::INFINITY), f64::INFINITY);
    assert_eq!(trigamma(f64::INFINITY), 0.0);
    assert_eq!(ln_gamma(f64::INFINITY), f64::INFINITY);
    assert_eq!(trigamma(1e-200), f64::INFINITY);
}
