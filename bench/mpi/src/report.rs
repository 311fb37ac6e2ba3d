//! The results as JSON.

use serde_json::{Value, json};

use crate::rounds::{Fit, Round};

/// `empty_round`: seconds of a round without work. Times are in seconds, objectives in units of the problem.
pub fn to_json(empty_round: f64, fits: &[Fit]) -> Value {
    let fits: Vec<Value> = fits
        .iter()
        .map(|fit| {
            let rounds: Vec<Value> = fit.rounds.iter().map(of_round).collect();
            json!({"localWork": fit.local_work, "rounds": rounds})
        })
        .collect();
    json!({"implementation": "dwell-mpi", "emptyRound": empty_round, "fits": fits})
}

fn of_round(round: &Round) -> Value {
    json!({
        "objective": round.objective,
        "elapsed": round.elapsed,
        "worker": round.worker,
        "leader": round.leader,
    })
}
