use proptest::{prelude::ProptestConfig, test_runner::RngSeed};

/// Whether `checkLong` runs the tests: it sets DWELL_LONG.
pub fn is_long() -> bool {
    std::env::var_os("DWELL_LONG").is_some()
}

/// How often a property is tested, from a fixed seed: `cases` times by `check`, twenty times as often by `checkLong`.
pub fn properties(cases: u32) -> ProptestConfig {
    let factor = if is_long() { 20 } else { 1 };
    ProptestConfig {
        cases: factor * cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}
