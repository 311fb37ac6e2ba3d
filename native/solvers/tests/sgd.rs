//! Local SGD, and losses, gradients and dual points of passes: against numbers of other code, against steps on all coefficients, and
//! properties that must hold for all data.

use crate::common;

use common::{
    ROUNDING, Random, bytes, doubles,
    golden::{count, golden, integers, number, numbers, partitions, table},
    matrix,
    sgd::{
        LOSSES, Rows, descend, descend_by, differentiate, eager, eager_together, epoch, evaluate,
        problem, search, search_of,
    },
};
use dwell_solvers::{
    LabelledRows, Labels, Loss, RowLoss, Schedule, ScheduleKind, SearchParams, SgdOutcome,
    SgdParams, SgdProblem, SgdRound, SgdScalars, Values, Views,
};
use proptest::prelude::*;
use serde_json::Value;

/// Another order of addition and another mathematical library: a few units in the last place for each of a hundred steps, which hardly
/// amplify them.
const OTHER_ORDER: f64 = 1e-12;

const CONSTANT: Schedule = Schedule {
    kind: ScheduleKind::InverseSquareRoot,
    eta0: 0.1,
    rate: 0.0,
};

/// At its corner the hinge has no slope.
#[test]
fn the_corner_of_the_hinge_is_flat() {
    assert_eq!(Loss::Hinge.derivative(1.0, 1.0), 0.0);
}

#[track_caller]
fn assert_close(actual: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    for (a, e) in actual.iter().zip(expected) {
        assert!(
            (a - e).abs() <= tolerance * e.abs().max(1.0),
            "{what}: {a}, expected {e}"
        );
    }
}

#[track_caller]
fn assert_sums(actual: &SgdScalars, expected: &Value, what: &str) {
    let sums = [
        actual.loss_sum,
        actual.weight_sum,
        actual.l1_norm,
        actual.square_norm,
    ];
    let expected =
        ["lossSum", "weightSum", "l1Norm", "squareNorm"].map(|key| number(&expected[key]));
    assert_close(&sums, &expected, OTHER_ORDER, what);
}

fn optional(value: &Value) -> Option<Vec<f64>> {
    (!value.is_null()).then(|| numbers(value))
}

/// Every case twice: its rows sparse, and dense.
fn both_forms(cases: &Value) -> impl Iterator<Item = (&Value, bool)> {
    let cases = cases.as_array().unwrap().iter();
    cases.flat_map(|case| [(case, false), (case, true)])
}

fn case_rows(case: &Value, dense: bool) -> Rows {
    let rows = Rows {
        features: case["features"].as_u64().unwrap() as usize,
        offsets: integers(&case["offsets"]),
        indices: Some(integers(&case["indices"])),
        values: numbers(&case["values"]),
        labels: numbers(&case["labels"]),
        weights: optional(&case["weights"]),
        scale: optional(&case["scale"]),
    };
    if dense { rows.dense() } else { rows }
}

fn case_problem(case: &Value) -> SgdProblem {
    SgdProblem {
        loss: RowLoss::from_code(
            case["code"].as_i64().unwrap(),
            number(&case["gamma"]),
            case["outputs"].as_u64().unwrap() as usize,
        )
        .unwrap(),
        l1: number(&case["l1"]),
        l2: number(&case["l2"]),
        intercept: case["intercept"].as_bool().unwrap(),
        weight_factor: number(&case["weightFactor"]),
    }
}

fn case_schedule(case: &Value, eta0: f64) -> Schedule {
    Schedule {
        kind: ScheduleKind::from_code(case["kind"].as_i64().unwrap()).unwrap(),
        eta0,
        rate: number(&case["rate"]),
    }
}

#[test]
fn golden_averaging() {
    let content = golden("sgd");
    let averaging = &content["averaging"];
    let (dense, labels) = (table(&averaging["rows"]), numbers(&averaging["labels"]));
    let members = partitions(&averaging["partitions"]);
    let rows = |members: &Vec<usize>| {
        let (offsets, indices, values) = matrix::stored(members.iter().map(|&i| &dense[i]), false);
        let labels = members.iter().map(|&i| labels[i]).collect();
        Rows {
            indices,
            ..Rows::of(4, offsets, vec![], values, labels)
        }
    };
    let partitions: Vec<Rows> = members.iter().map(rows).collect();
    for case in averaging["cases"].as_array().unwrap() {
        let mut model = vec![0.0; 5];
        for round in 0..2 {
            let mut mean = vec![0.0; 5];
            for (k, rows) in partitions.iter().enumerate() {
                let params = SgdParams {
                    problem: SgdProblem {
                        loss: RowLoss::Margin(Loss::Logistic),
                        l1: number(&case["l1"]),
                        l2: number(&averaging["l2"]),
                        intercept: false,
                        weight_factor: 1.0,
                    },
                    schedule: Schedule {
                        eta0: number(&averaging["eta"]),
                        ..CONSTANT
                    },
                    seed: count(&averaging["seed"]),
                    partition: k as u32,
                    budget: 3,
                    cursor: 3 * round,
                    steps: 3 * round,
                    share: 0.5,
                    threads: 1,
                };
                let (_, part) = descend(&params, &[rows.data()], &model);
                for (sum, w) in mean.iter_mut().zip(part) {
                    *sum += w;
                }
            }
            model = mean;
            let expected = numbers(&case[["round1", "round2"][round as usize]]);
            assert_close(&model[..4], &expected, OTHER_ORDER, "averaging");
        }
    }
}

#[test]
fn golden_descents() {
    for (case, dense) in both_forms(&golden("sgd")["descents"]) {
        let rows = case_rows(case, dense);
        let params = SgdParams {
            problem: case_problem(case),
            schedule: case_schedule(case, number(&case["eta0"])),
            seed: count(&case["seed"]),
            partition: count(&case["partition"]) as u32,
            budget: count(&case["budget"]),
            cursor: count(&case["cursor"]),
            steps: count(&case["steps"]),
            share: number(&case["share"]),
            threads: 1,
        };
        let shared = numbers(&case["shared"]);
        let (name, expected) = (case["name"].as_str().unwrap(), &case["expected"]);
        let (outcome, vector) = descend(&params, &[rows.data()], &shared);
        assert_close(&vector, &numbers(&expected["vector"]), OTHER_ORDER, name);
        let scalars = outcome.scalars;
        assert_sums(&scalars, expected, name);
        assert!(!scalars.diverged);
        assert_eq!(
            [scalars.rows, outcome.cursor, outcome.steps],
            ["rows", "cursor", "steps"].map(|key| count(&expected[key])),
            "{name}"
        );
        let entries = if dense {
            scalars.rows * rows.features as u64
        } else {
            count(&expected["nonzeros"])
        };
        assert_eq!(scalars.nonzeros, entries, "{name}");
    }
}

#[test]
fn golden_evaluations() {
    for (case, dense) in both_forms(&golden("sgd")["evaluations"]) {
        let rows = case_rows(case, dense);
        let loss = case_problem(case).loss;
        let dual = optional(&case["dual"]).unwrap_or_default();
        let (outcome, vector) = evaluate(&rows, loss, &dual, &numbers(&case["shared"]));
        let (name, expected) = (case["name"].as_str().unwrap(), &case["expected"]);
        assert_close(&vector, &numbers(&expected["vector"]), OTHER_ORDER, name);
        let loss_sum = number(&expected["lossSum"]);
        assert_close(&[outcome.loss], &[loss_sum], OTHER_ORDER, name);
        let slopes = numbers(&expected["slopes"]);
        assert_close(&outcome.slopes, &slopes, OTHER_ORDER, name);
        assert_eq!(outcome.rows as usize, rows.len());
        assert_eq!(outcome.entries as usize, rows.values.len());
    }
}

#[test]
fn golden_searches() {
    for (case, dense) in both_forms(&golden("sgd")["searches"]) {
        let rows = case_rows(case, dense);
        let params = SearchParams {
            problem: case_problem(case),
            schedule: case_schedule(case, f64::NAN),
            candidates: numbers(&case["candidates"]),
            seed: count(&case["seed"]),
            partition: count(&case["partition"]) as u32,
            budget: count(&case["budget"]),
            cursor: count(&case["cursor"]),
            steps: count(&case["steps"]),
        };
        let shared = numbers(&case["shared"]);
        let outcome = search(&params, &[rows.data()], &shared);
        let (name, expected) = (case["name"].as_str().unwrap(), &case["expected"]);
        let objectives = numbers(&expected["objectives"]);
        assert_close(&outcome.objectives, &objectives, OTHER_ORDER, name);
        let weight_sum = number(&expected["weightSum"]);
        assert_close(
            &[outcome.scalars.weight_sum],
            &[weight_sum],
            OTHER_ORDER,
            name,
        );
    }
}

/// More steps than a model with thresholds makes between two renormalisations; `a` alone calls for none.
#[test]
fn a_million_steps() {
    const STEPS: u64 = (1 << 20) + 5000;
    let (offsets, values) = (vec![0, 2, 3, 3], vec![1.0, 0.5, -0.25]);
    let rows = Rows::of(3, offsets, vec![0, 1, 0], values, vec![1.0, -0.5, 0.25]);
    // Thresholds are powers of 2, whose sums are exact: a million roundings would hide errors of laziness.
    let problem = problem(RowLoss::Margin(Loss::Squared), 1.0 / 128.0, 0.0);
    let schedule = Schedule {
        eta0: 0.125,
        ..CONSTANT
    };
    let params = SgdParams {
        budget: STEPS,
        ..epoch(problem, schedule, 3)
    };
    let shared = [0.1, -0.2, 3000.0, 0.0];
    let expected = eager(&rows, &params, &shared);
    let (outcome, vector) = descend(&params, &[rows.data()], &shared);
    assert_close(&vector, &expected.vector, ROUNDING, "model");
    assert_eq!(outcome.scalars.rows, expected.rows);
    // The third feature is never touched: only thresholds move it.
    assert!(vector[2] > 1000.0 && vector[2] < 3000.0);
}

/// The derivative of the loss along each number of the model, by differences.
#[test]
fn gradients_are_those_of_the_losses() {
    let mut random = Random::new(3);
    for loss in LOSSES {
        for (weighted, scaled) in [(false, false), (true, true)] {
            let rows = Rows::random(&mut random, loss, 20, 6, weighted, scaled);
            let outputs = loss.outputs();
            let shared = rows.model(&mut random, outputs, true);
            let (_, gradient) = evaluate(&rows, loss, &[], &shared);
            let value = |p: usize, step: f64| {
                let mut model = shared.clone();
                model[p] += step;
                evaluate(&rows, loss, &[], &model).0.loss
            };
            // A compromise between the error of the difference, of the order of its square, and rounding.
            const STEP: f64 = 1e-5;
            for (p, slope) in gradient.iter().enumerate() {
                let difference = (value(p, STEP) - value(p, -STEP)) / (2.0 * STEP);
                assert!(
                    (slope - difference).abs() < 1e-7,
                    "{loss:?} {p}: {slope}, by differences {difference}"
                );
            }
        }
    }
}

/// Losses, gradient and dual point at a model, and the duality gap that they give for a penalty without L1.
struct Certificate {
    gap: f64,
    gradient: Vec<f64>,
}

fn certificate(rows: &Rows, problem: SgdProblem, model: &[f64]) -> Certificate {
    let SgdProblem {
        loss,
        l2,
        intercept,
        ..
    } = problem;
    let outputs = loss.outputs();
    let total: f64 = (0..rows.len()).map(|i| rows.weight(i)).sum();
    let means = |dual: &[f64]| {
        let (outcome, mut vector) = evaluate(rows, loss, dual, model);
        vector.iter_mut().for_each(|sum| *sum /= total);
        (outcome.loss / total, vector, outcome.slopes)
    };
    let (mean_loss, mut gradient, slopes) = means(&[]);
    let b = gradient.len() - outputs;
    let numbers = match loss {
        RowLoss::Margin(Loss::Squared) if intercept => vec![-gradient[b]],
        RowLoss::Margin(Loss::Squared) => vec![0.0],
        RowLoss::Margin(_) if intercept => {
            let least = slopes[0].min(slopes[1]);
            slopes
                .map(|side| if side > 0.0 { least / side } else { 1.0 })
                .to_vec()
        }
        RowLoss::Margin(_) => vec![1.0, 1.0],
        RowLoss::Softmax(_) => {
            let mut shares = vec![0.0; outputs];
            for i in 0..rows.len() {
                shares[rows.labels[i] as usize] += rows.weight(i) / total;
            }
            let predicted: Vec<f64> = (0..outputs).map(|c| gradient[b + c] + shares[c]).collect();
            let eps = if intercept {
                let short = |c: usize| 1.0 - shares[c] / predicted[c];
                (0..outputs).map(short).fold(0.0, f64::max)
            } else {
                0.0
            };
            let rest = |c: usize| shares[c] - (1.0 - eps) * predicted[c];
            let mut numbers = vec![eps];
            numbers.extend((0..outputs).map(|c| {
                if eps > 0.0 {
                    (rest(c) / eps).max(0.0)
                } else {
                    0.0
                }
            }));
            numbers.push(1.0);
            numbers
        }
    };
    let (mean_conjugate, point, _) = means(&numbers);
    if intercept {
        assert_close(
            &point[b..],
            &vec![0.0; outputs],
            ROUNDING,
            "sums of the dual point",
        );
    }
    let norm: f64 = point[..b]
        .iter()
        .enumerate()
        .map(|(p, v)| rows.scale(p / outputs) * v * v)
        .sum();
    let square_norm: f64 = model[..b]
        .iter()
        .enumerate()
        .filter(|(_, w)| **w != 0.0)
        .map(|(p, w)| w * w / rows.scale(p / outputs))
        .sum();
    let value = mean_loss + l2 / 2.0 * square_norm;
    let bound = -mean_conjugate - norm / (2.0 * l2);
    for (p, (g, w)) in gradient.iter_mut().zip(model).enumerate() {
        let j = p / outputs;
        if j < rows.features {
            // In coordinates in which every penalty is l2.
            *g = rows.scale(j) * *g + l2 * w;
        }
    }
    Certificate {
        gap: value - bound,
        gradient,
    }
}

#[test]
fn the_gap_bounds_and_vanishes() {
    let mut random = Random::new(4);
    for loss in LOSSES {
        for (intercept, scaled) in [(false, false), (true, false), (true, true)] {
            let rows = Rows::random(&mut random, loss, 30, 5, true, scaled);
            let problem = SgdProblem {
                intercept,
                ..problem(loss, 0.0, 0.5)
            };
            let mut model = rows.model(&mut random, loss.outputs(), intercept);
            let b = rows.features * loss.outputs();
            for _ in 0..4000 {
                let Certificate { gap, gradient } = certificate(&rows, problem, &model);
                assert!(gap >= -ROUNDING, "{loss:?}: gap {gap}");
                for (p, (w, g)) in model.iter_mut().zip(gradient).enumerate() {
                    if p < b || intercept {
                        *w -= 0.05 * g;
                    }
                }
            }
            // With a gradient that jumps, constant steps do not reach the optimum.
            if loss != RowLoss::Margin(Loss::Hinge) {
                let gap = certificate(&rows, problem, &model).gap;
                assert!(gap < 1e-9, "{loss:?}, intercept {intercept}: gap {gap}");
            }
        }
    }
}

/// The softmax of two classes is the logistic loss of their difference.
#[test]
fn two_classes_are_a_margin() {
    let mut random = Random::new(5);
    let rows = Rows::random(&mut random, RowLoss::Softmax(2), 25, 6, true, false);
    let margins = Rows {
        labels: rows.labels.iter().map(|y| 2.0 * y - 1.0).collect(),
        ..rows.clone()
    };
    let margin = rows.model(&mut random, 1, true);
    // Both coefficients of a feature move, so half the step size moves their difference as far.
    let classes: Vec<f64> = margin.iter().flat_map(|w| [-0.5 * w, 0.5 * w]).collect();
    let logistic = RowLoss::Margin(Loss::Logistic);
    let eta = |eta0: f64| Schedule { eta0, ..CONSTANT };
    let (first, one) = descend(
        &epoch(problem(logistic, 0.0, 0.0), eta(0.2), 25),
        &[margins.data()],
        &margin,
    );
    let (second, two) = descend(
        &epoch(problem(RowLoss::Softmax(2), 0.0, 0.0), eta(0.1), 25),
        &[rows.data()],
        &classes,
    );
    let differences: Vec<f64> = two.chunks(2).map(|pair| pair[1] - pair[0]).collect();
    assert_close(&differences, &one, ROUNDING, "model");
    let losses = [first, second].map(|outcome: SgdOutcome| outcome.scalars.loss_sum);
    assert_close(&losses[..1], &losses[1..], ROUNDING, "losses");
}

/// Coefficients that no step has touched follow the reported factors.
#[test]
fn untouched_coefficients_decay_as_reported() {
    const KINDS: [ScheduleKind; 2] = [ScheduleKind::InverseSquareRoot, ScheduleKind::Inverse];
    let mut random = Random::new(8);
    let mut most = 0;
    for (loss, kind) in LOSSES
        .iter()
        .flat_map(|&loss| KINDS.map(|kind| (loss, kind)))
    {
        let seen = Rows::random(&mut random, loss, 30, 5, true, false);
        let rows = Rows {
            features: 9,
            ..seen
        };
        let outputs = loss.outputs();
        let shared = rows.model(&mut random, outputs, true);
        for (l2, eta0, budget) in [
            (0.0, 0.1, 30),
            (0.1, 0.1, 30),
            (0.5, 1.9, 60),
            (10.0, 0.05, 250),
        ] {
            let schedule = Schedule {
                kind,
                eta0,
                rate: 1e-3,
            };
            let params = SgdParams {
                budget,
                share: 0.3,
                threads: 1,
                ..epoch(problem(loss, 0.0, l2), schedule, 30)
            };
            let (outcome, vector) = descend(&params, &[rows.data()], &shared);
            let factors = &outcome.factors;
            most = most.max(factors.len());
            assert_eq!(factors.last(), Some(&0.3));
            for p in 5 * outputs..9 * outputs {
                let expected = factors.iter().fold(shared[p], |x, factor| x * factor);
                assert_eq!(vector[p].to_bits(), expected.to_bits(), "{params:?}");
            }
            let penalised = SgdParams {
                problem: problem(loss, 1e-3, l2),
                ..params
            };
            // Each call has about as many steps between two renormalisations.
            let long = SgdParams {
                problem: problem(loss, 0.0, 10.0),
                schedule: Schedule {
                    eta0: 0.0999,
                    ..CONSTANT
                },
                budget: 2000,
                ..params
            };
            for unknown in [penalised, long] {
                let (outcome, _) = descend(&unknown, &[rows.data()], &shared);
                let known = if outcome.scalars.diverged {
                    vec![0.3]
                } else {
                    vec![]
                };
                assert_eq!(outcome.factors, known, "{unknown:?}");
            }
        }
    }
    assert!((10..24).contains(&most), "{most} factors");
}

/// Two calls equal one call of twice the budget, up to the rounding when the model is written in between.
#[test]
fn calls_continue_one_another() {
    let mut random = Random::new(6);
    for loss in LOSSES {
        let rows = Rows::random(&mut random, loss, 40, 7, true, true);
        let shared = rows.model(&mut random, loss.outputs(), true);
        let schedule = Schedule {
            kind: ScheduleKind::Inverse,
            eta0: 0.2,
            rate: 0.3,
        };
        let first = epoch(problem(loss, 0.01, 0.1), schedule, 40);
        let whole = SgdParams {
            budget: 80,
            ..first
        };
        let (halfway, model) = descend(&first, &[rows.data()], &shared);
        let second = SgdParams {
            cursor: halfway.cursor,
            steps: halfway.steps,
            ..first
        };
        let (end, model) = descend(&second, &[rows.data()], &model);
        let (outcome, expected) = descend(&whole, &[rows.data()], &shared);
        assert_close(&model, &expected, OTHER_ORDER, "model");
        assert_eq!((end.cursor, end.steps), (outcome.cursor, outcome.steps));
        let losses = halfway.scalars.loss_sum + end.scalars.loss_sum;
        assert_close(
            &[losses],
            &[outcome.scalars.loss_sum],
            OTHER_ORDER,
            "losses",
        );
    }
}

/// The type of the stored values does not change a bit.
#[test]
fn storage_of_values() {
    let mut random = Random::new(7);
    for (loss, dense) in LOSSES
        .into_iter()
        .flat_map(|loss| [(loss, false), (loss, true)])
    {
        let mut rows = Rows::random(&mut random, loss, 30, 37, false, true);
        if dense {
            rows = rows.dense();
        }
        let shared = rows.model(&mut random, loss.outputs(), true);
        let params = epoch(problem(loss, 0.01, 0.1), CONSTANT, 30);
        let narrow: Vec<f32> = rows.values.iter().map(|&x| x as f32).collect();
        assert_eq!(
            descend(&params, &[rows.data()], &shared),
            descend(&params, &[rows.data_with(Values::F32(&narrow))], &shared)
        );
        if dense {
            continue;
        }
        rows.values.fill(1.0);
        assert_eq!(
            descend(&params, &[rows.data()], &shared),
            descend(&params, &[rows.data_with(Values::Ones)], &shared)
        );
    }
}

/// Steps that are too large end in a report, and the model stays the shared one.
#[test]
fn divergence_is_reported() {
    let mut random = Random::new(8);
    let loss = RowLoss::Margin(Loss::Squared);
    let rows = Rows::random(&mut random, loss, 60, 5, false, false);
    let shared = rows.model(&mut random, 1, true);
    let problem = problem(loss, 0.0, 0.0);
    let eta = |eta0: f64| Schedule { eta0, ..CONSTANT };
    let params = SgdParams {
        share: 0.5,
        threads: 1,
        ..epoch(problem, eta(1e30), 60)
    };
    let (outcome, vector) = descend(&params, &[rows.data()], &shared);
    assert!(outcome.scalars.diverged);
    assert_eq!(outcome.scalars.loss_sum, f64::INFINITY);
    assert!(outcome.scalars.rows < 60 && outcome.scalars.rows > 2);
    assert_eq!(outcome.steps, outcome.scalars.rows);
    assert_eq!(outcome.cursor, outcome.steps + 1);
    let half: Vec<f64> = shared.iter().map(|w| 0.5 * w).collect();
    assert_eq!(vector, half);
    // Only the last step overflows: every row is visited, and the model overflows at the end.
    let one = Rows::of(1, vec![0, 1], vec![0], vec![1e10], vec![1e300]);
    let hinge = epoch(problem, eta(1e5), 1);
    let (outcome, vector) = descend(&hinge, &[one.data()], &[0.0, 0.0]);
    assert!(
        outcome.scalars.diverged && outcome.scalars.rows == 0,
        "the loss is infinite already"
    );
    assert_eq!(vector, [0.0, 0.0]);
    let one = Rows {
        labels: vec![1e150],
        ..one
    };
    let overflowing = epoch(problem, eta(1e200), 1);
    let (outcome, vector) = descend(&overflowing, &[one.data()], &[2.0, 1.0]);
    assert!(outcome.scalars.diverged && outcome.scalars.rows == 1);
    assert_eq!(outcome.scalars.loss_sum, f64::INFINITY);
    assert_eq!(vector, [2.0, 1.0]);

    let params = search_of(&epoch(problem, CONSTANT, 30), vec![0.01, 1e30, 0.02]);
    let outcome = search(&params, &[rows.data()], &shared);
    assert!(outcome.objectives[0].is_finite() && outcome.objectives[2].is_finite());
    assert_eq!(outcome.objectives[1], f64::INFINITY);

    let far = [1e200, 1e200, -1e200, 1e200, 1e200, 0.0];
    for dual in [&[][..], &[0.0]] {
        assert!(!evaluate(&rows, loss, dual, &far).0.loss.is_finite());
    }
}

/// The value of a hinge hides a prediction that is NaN; the solver finds it.
#[test]
fn a_hinge_at_infinity() {
    let loss = RowLoss::Margin(Loss::Hinge);
    let rows = Rows::of(2, vec![0, 2], vec![0, 1], vec![1e200; 2], vec![1.0]);
    for (first, second) in [(1e200, -1e200), (1e200, 1e200)] {
        let shared = [first, second, 0.0];
        let params = epoch(problem(loss, 0.0, 0.0), CONSTANT, 1);
        let (outcome, vector) = descend(&params, &[rows.data()], &shared);
        assert!(outcome.scalars.diverged && outcome.scalars.rows == 0);
        assert_eq!(vector, shared);
    }
}

#[test]
fn without_rows_or_features() {
    for loss in LOSSES {
        let mut random = Random::new(9);
        let nothing = Rows::random(&mut random, loss, 0, 3, false, true);
        let shared = nothing.model(&mut random, loss.outputs(), true);
        let params = SgdParams {
            share: 0.25,
            threads: 1,
            cursor: 4,
            steps: 9,
            ..epoch(problem(loss, 0.1, 0.1), CONSTANT, 10)
        };
        let (outcome, vector) = descend(&params, &[nothing.data()], &shared);
        assert_eq!((outcome.cursor, outcome.steps), (4, 9));
        assert_eq!(outcome.scalars.rows, 0);
        assert!(!outcome.scalars.diverged);
        let quarter: Vec<f64> = shared.iter().map(|w| 0.25 * w).collect();
        assert_eq!(vector, quarter);

        // A model of intercepts only.
        let narrow = Rows::random(&mut random, loss, 12, 0, true, false);
        let shared = narrow.model(&mut random, loss.outputs(), true);
        let expected = eager(&narrow, &params, &shared);
        let (outcome, vector) = descend(&params, &[narrow.data()], &shared);
        assert_close(&vector, &expected.vector, OTHER_ORDER, "intercepts");
        assert_eq!(outcome.scalars.nonzeros, 0);
        let mut random = Random::new(10);
        let first = epoch(problem(loss, 0.1, 0.1), CONSTANT, 10);
        let params = |candidates| search_of(&first, candidates);
        let nothing = Rows::random(&mut random, loss, 0, 3, false, false);
        let shared = nothing.model(&mut random, loss.outputs(), true);
        let outcome = search(&params(vec![0.1, 1.0]), &[nothing.data()], &shared);
        assert_eq!(outcome.scalars.weight_sum, 0.0);
        let penalty = 0.1 * outcome.scalars.l1_norm + 0.05 * outcome.scalars.square_norm;
        assert_close(&outcome.objectives, &[penalty; 2], OTHER_ORDER, "penalty");
        // The same row serves for the steps and for the loss.
        let one = Rows::random(&mut random, loss, 1, 3, true, false);
        let outcome = search(&params(vec![0.01]), &[one.data()], &shared);
        assert_eq!(outcome.scalars.rows, 2);
        assert_eq!(outcome.scalars.weight_sum, one.weight(0));

        let (outcome, vector) = evaluate(&nothing, loss, &[], &shared);
        assert_eq!(outcome.loss, 0.0);
        assert_eq!(vector, vec![0.0; shared.len()]);
    }
}

/// More features than a loan is for, with a scale.
#[test]
fn a_wide_model() {
    let mut random = Random::new(13);
    let loss = RowLoss::Margin(Loss::Logistic);
    let narrow = Rows::random(&mut random, loss, 20, 6, true, false);
    let features = 600_000;
    let spread = |j: i32| j * 100_003;
    let rows = Rows {
        features,
        indices: narrow
            .indices
            .map(|own| own.into_iter().map(spread).collect()),
        scale: Some((0..features).map(|j| 1.0 + (j % 7) as f64).collect()),
        ..narrow
    };
    let shared = rows.model(&mut random, 1, true);
    let params = epoch(problem(loss, 0.01, 0.1), CONSTANT, 20);
    let (_, vector) = descend(&params, &[rows.data()], &shared);
    let expected = eager(&rows, &params, &shared).vector;
    assert_close(&vector, &expected, OTHER_ORDER, "model");
}

/// A random problem, and how to run it.
#[derive(Debug, Clone)]
struct Case {
    rows: Rows,
    params: SgdParams,
    shared: Vec<f64>,
}

fn cases() -> impl Strategy<Value = Case> {
    let features = prop_oneof![3 => 1usize..9, 1 => 15usize..50];
    let data = (0..LOSSES.len(), 1usize..40, features, any::<u64>());
    let flags = any::<[bool; 4]>();
    // With eta l2 = 0.9 a model needs a renormalisation every few steps.
    let penalties = (
        prop_oneof![Just(0.0), 0.0..0.1f64],
        prop_oneof![Just(0.0), 0.0..0.2f64, 2.0..9.0f64],
    );
    let schedule = (0i64..2, 0.01..0.1f64, 0.0..0.5f64);
    (
        data,
        flags,
        penalties,
        schedule,
        1u64..300,
        0u64..50,
        0.0..1.0f64,
    )
        .prop_map(
            |(
                (loss, count, features, seed),
                [weighted, scaled, intercept, dense],
                (l1, l2),
                (kind, eta0, rate),
                budget,
                cursor,
                share,
            )| {
                let loss = LOSSES[loss];
                let mut random = Random::new(seed);
                let mut rows = Rows::random(&mut random, loss, count, features, weighted, scaled);
                if dense {
                    rows = rows.dense();
                }
                let shared = rows.model(&mut random, loss.outputs(), intercept);
                let params = SgdParams {
                    problem: SgdProblem {
                        loss,
                        l1,
                        l2,
                        intercept,
                        weight_factor: 0.75,
                    },
                    schedule: Schedule {
                        kind: ScheduleKind::from_code(kind).unwrap(),
                        eta0,
                        rate,
                    },
                    seed,
                    partition: 2,
                    budget,
                    cursor,
                    steps: 3 * cursor,
                    share,
                    threads: 1,
                };
                Case {
                    rows,
                    params,
                    shared,
                }
            },
        )
}

proptest! {
    #![proptest_config(common::properties::properties(600))]

    /// Lazy steps equal steps on all coefficients.
    #[test]
    fn lazy_is_eager(case in cases()) {
        let Case { rows, params, shared } = case;
        let expected = eager(&rows, &params, &shared);
        let (outcome, vector) = descend(&params, &[rows.data()], &shared);
        prop_assert!(!outcome.scalars.diverged);
        prop_assert_eq!(outcome.scalars.rows, expected.rows);
        let largest = expected.vector.iter().fold(1.0f64, |most, w| most.max(w.abs()));
        for (actual, expected) in vector.iter().zip(&expected.vector) {
            prop_assert!((actual - expected).abs() <= ROUNDING * largest, "{actual}, eager {expected}");
        }
        let losses = (outcome.scalars.loss_sum, expected.loss_sum);
        prop_assert!((losses.0 - losses.1).abs() <= ROUNDING * losses.1.max(1.0), "{losses:?}");
    }

    /// How rows are cut into blocks does not change a bit.
    #[test]
    fn cuts_do_not_matter(case in cases(), cuts in prop::array::uniform3(0.0..1.0f64)) {
        let Case { rows, params, shared } = case;
        let mut ends = cuts.map(|cut| (cut * rows.len() as f64) as usize);
        ends.sort_unstable();
        let each: Vec<usize> = (1..rows.len()).collect();
        let candidates = search_of(&params, vec![0.1, 0.05]);
        for cut in [rows.cut(&ends), rows.cut(&each)] {
            let blocks: Vec<_> = cut.iter().map(Rows::data).collect();
            prop_assert_eq!(
                descend(&params, &[rows.data()], &shared),
                descend(&params, &blocks, &shared)
            );
            prop_assert_eq!(
                search(&candidates, &[rows.data()], &shared),
                search(&candidates, &blocks, &shared)
            );
        }
    }

    /// Steps on copies equal steps on copies of all coefficients. Neither the pool nor the cut into blocks changes a bit.
    #[test]
    fn copies_are_averaged(case in cases(), threads in 2usize..6, cut in 0.0..1.0f64) {
        let Case { rows, params, shared } = case;
        let params = SgdParams { threads, ..params };
        let (outcome, vector) = descend(&params, &[rows.data()], &shared);
        let expected = eager_together(&rows, &params, &shared);
        prop_assert!(!outcome.scalars.diverged);
        prop_assert_eq!(outcome.scalars.rows, expected.rows);
        let largest = expected.vector.iter().fold(1.0f64, |most, w| most.max(w.abs()));
        for (actual, expected) in vector.iter().zip(&expected.vector) {
            prop_assert!((actual - expected).abs() <= ROUNDING * largest, "{actual}, eager {expected}");
        }
        let losses = (outcome.scalars.loss_sum, expected.loss_sum);
        prop_assert!((losses.0 - losses.1).abs() <= ROUNDING * losses.1.max(1.0), "{losses:?}");
        let (alone, _) = descend(&SgdParams { threads: 1, ..params }, &[rows.data()], &shared);
        prop_assert_eq!((outcome.cursor, outcome.steps), (alone.cursor, alone.steps));
        prop_assert_eq!(outcome.scalars.nonzeros, alone.scalars.nonzeros);
        prop_assert!(outcome.factors.is_empty());

        let blocks = rows.cut(&[(cut * rows.len() as f64) as usize]);
        let blocks: Vec<_> = blocks.iter().map(Rows::data).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        prop_assert_eq!((outcome, vector), descend_by(Some(&pool), &params, &blocks, &shared));
    }

    /// Classes 0 and 1 are labels -1 and 1.
    #[test]
    fn classes_are_signs(case in cases()) {
        let Case { rows, params, shared } = case;
        prop_assume!(params.problem.loss.labels() == Labels::Signed);
        let classes = Rows {
            labels: rows.labels.iter().map(|y| (y + 1.0) / 2.0).collect(),
            ..rows.clone()
        };
        prop_assert_eq!(
            descend(&params, &[rows.data()], &shared),
            descend(&params, &[classes.data().of_classes()], &shared)
        );
    }

    /// A search reports of a candidate what a round reports, and the losses at the model that it reaches.
    #[test]
    fn searches_are_rounds(case in cases()) {
        let Case { rows, params, shared } = case;
        let half = (rows.len() / 2) as u64;
        prop_assume!(half > 0);
        let eta0 = params.schedule.eta0;
        let search_params = SearchParams {
            budget: half,
            ..search_of(&params, vec![eta0, 0.5 * eta0])
        };
        let outcome = search(&search_params, &[rows.data()], &shared);
        // With so few rows a bucket has one row, so that a round visits exactly the budget.
        for (k, &eta0) in search_params.candidates.iter().enumerate() {
            let round = SgdParams {
                budget: half,
                share: 1.0,
                schedule: Schedule { eta0, ..params.schedule },
                ..params
            };
            let (reached, model) = descend(&round, &[rows.data()], &shared);
            let rest = SgdParams { cursor: reached.cursor, steps: reached.steps, ..round };
            let (mut losses, mut weights) = (0.0, 0.0);
            let mut order = dwell_solvers::order::BucketOrder::new(rows.len(), 1, rest.seed, rest.partition).unwrap();
            for cursor in rest.cursor..rest.cursor + half {
                let i = order.at(cursor).start;
                let z = rows.predictions(i, rest.problem.loss.outputs(), &model);
                losses += rows.weight(i) * differentiate(rest.problem.loss, &z, rows.labels[i]).0;
                weights += rows.weight(i);
            }
            let (at_model, _) = descend(&SgdParams { budget: 1, ..rest }, &[rows.data()], &model);
            let SgdProblem { l1, l2, .. } = rest.problem;
            let penalty = l1 * at_model.scalars.l1_norm + 0.5 * l2 * at_model.scalars.square_norm;
            let expected = losses / weights + penalty;
            prop_assert!((outcome.objectives[k] - expected).abs() <= ROUNDING * expected.max(1.0));
            prop_assert!((outcome.scalars.weight_sum - weights).abs() <= ROUNDING);
        }
        prop_assert_eq!(outcome.scalars.rows, 4 * half);
    }
}

/// How much of the progress of one copy the mean of four makes in an epoch, at least.
const PROGRESS_OF_FOUR: f64 = 0.9;

/// Several loans: four copies make most of the progress of one, and neither the pool nor the cut into blocks changes a bit.
#[test]
fn copies_on_many_rows() {
    let mut random = Random::new(13);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(4)
        .build()
        .unwrap();
    for loss in [RowLoss::Margin(Loss::Logistic), RowLoss::Softmax(3)] {
        let outputs = loss.outputs();
        let mut rows = Rows::random(&mut random, loss, 1 << 16, 10, true, false);
        let planted = rows.model(&mut random, outputs, true);
        for i in 0..rows.len() {
            let z = rows.predictions(i, outputs, &planted);
            let best = (1..outputs).fold(0, |best, c| if z[c] > z[best] { c } else { best });
            rows.labels[i] = if outputs == 1 {
                1.0f64.copysign(z[0])
            } else {
                best as f64
            };
        }
        let shared = vec![0.0; planted.len()];
        let one = epoch(problem(loss, 0.0, 1e-4), CONSTANT, rows.len());
        let four = SgdParams { threads: 4, ..one };
        let objective = |model: &[f64]| {
            let losses = (0..rows.len()).map(|i| {
                let z = rows.predictions(i, outputs, model);
                rows.weight(i) * differentiate(loss, &z, rows.labels[i]).0
            });
            let coefficients = &model[..model.len() - outputs];
            let squares: f64 = coefficients.iter().map(|w| w * w).sum();
            losses.sum::<f64>() / rows.len() as f64 + 0.5 * 1e-4 * squares
        };
        let reached = [one, four].map(|params| descend(&params, &[rows.data()], &shared));
        let [start, by_one, by_four] =
            [&shared, &reached[0].1, &reached[1].1].map(|model| objective(model));
        assert!(
            start - by_four >= PROGRESS_OF_FOUR * (start - by_one),
            "{start}, {by_one}, {by_four}"
        );
        assert_eq!(reached[1].0.scalars.rows, 1 << 16);
        let cut: Vec<_> = rows.cut(&[100, 30_000]);
        let blocks: Vec<_> = cut.iter().map(Rows::data).collect();
        assert_eq!(reached[1], descend_by(Some(&pool), &four, &blocks, &shared));
    }
}

/// One copy that diverges is a round that diverges.
#[test]
fn divergence_of_a_copy() {
    let mut random = Random::new(14);
    let loss = RowLoss::Margin(Loss::Squared);
    let mut rows = Rows::random(&mut random, loss, 20, 4, false, false);
    let shared = rows.model(&mut random, 1, true);
    rows.labels[7] = 1e300;
    let params = SgdParams {
        share: 0.5,
        threads: 3,
        ..epoch(problem(loss, 0.0, 0.0), CONSTANT, 20)
    };
    let (outcome, vector) = descend(&params, &[rows.data()], &shared);
    assert!(outcome.scalars.diverged && outcome.scalars.loss_sum == f64::INFINITY);
    assert_eq!(outcome.factors, [0.5]);
    let expected: Vec<f64> = shared.iter().map(|w| 0.5 * w).collect();
    assert_eq!(vector, expected);
}

/// Large partitions have buckets of several rows: a search cuts them, and a round does not.
#[test]
fn buckets_of_several_rows() {
    let mut random = Random::new(11);
    let loss = RowLoss::Margin(Loss::Logistic);
    let rows = Rows::random(&mut random, loss, 1500, 4, false, false);
    let shared = rows.model(&mut random, 1, true);
    let params = SgdParams {
        budget: 7,
        cursor: 250,
        ..epoch(problem(loss, 0.0, 0.01), CONSTANT, 1500)
    };
    let (outcome, vector) = descend(&params, &[rows.data()], &shared);
    assert_eq!((outcome.scalars.rows, outcome.cursor), (10, 252));
    assert_close(
        &vector,
        &eager(&rows, &params, &shared).vector,
        OTHER_ORDER,
        "model",
    );
    let outcome = search(&search_of(&params, vec![0.1]), &[rows.data()], &shared);
    assert_eq!(outcome.scalars.rows, 14);
    assert_eq!(outcome.scalars.weight_sum, 7.0);
}

/// A result can be written in any pieces, and nothing is written beyond its end.
#[test]
fn results_are_written_in_pieces() {
    let mut random = Random::new(12);
    let loss = RowLoss::Softmax(3);
    let rows = Rows::random(&mut random, loss, 9, 4, false, true);
    let shared = rows.model(&mut random, 3, true);
    let params = epoch(problem(loss, 0.01, 0.1), CONSTANT, 9);
    let (_, expected) = descend(&params, &[rows.data()], &shared);
    let blocks = [rows.data()];
    let mut blocks = Views::<LabelledRows>::new(&blocks).unwrap();
    let round = SgdRound::run(params.check().unwrap(), &shared, &mut blocks, None).unwrap();
    let shared = bytes(&shared);
    for first in 0..=15 {
        for end in first..=15 {
            let mut part = vec![0; 8 * (end - first)];
            let same = &shared[8 * first..8 * end];
            round.write_update(first, same, &mut part).unwrap();
            assert_eq!(doubles(&part), expected[first..end]);
        }
    }
    for (first, length) in [(0, 8 * 16), (15, 8), (usize::MAX, 8), (0, 7)] {
        let mut part = vec![0; length];
        assert!(round.write_update(first, &shared, &mut part).is_err());
    }
}
