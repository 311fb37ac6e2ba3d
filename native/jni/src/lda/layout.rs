//! Layout of the calls of LDA. `dwell.jni.LdaLayout` has the same constants, and says what each number means.

use dwell_solvers::lda::shared;

use crate::boundary::header;

/// Version of this layout.
pub const LAYOUT_VERSION: i64 = 2;

// Flags of control.

/// Round: sums for the concentration follow the vector.
pub const CONCENTRATION: i64 = 1;
/// Round: factors of words are the mean of the topics.
pub const TOPIC_MEAN: i64 = 2;

// control.

/// `LAYOUT_VERSION`.
pub const CONTROL_VERSION: usize = 0;
/// Number of the fit.
pub const CONTROL_FIT: usize = 1;
/// Number of the partition.
pub const CONTROL_PARTITION: usize = 2;
/// Round: seed of the order of the documents.
pub const CONTROL_SEED: usize = 3;
/// Words.
pub const CONTROL_WORDS: usize = 4;
/// Topics.
pub const CONTROL_TOPICS: usize = 5;
/// Round: documents of a step.
pub const CONTROL_BATCH: usize = 6;
/// Sum of flags.
pub const CONTROL_FLAGS: usize = 7;
/// Round: documents to visit.
pub const CONTROL_BUDGET: usize = 8;
/// Round: documents of the partition visited since the start of the fit.
pub const CONTROL_CURSOR: usize = 9;
/// Bound: the first document.
pub const CONTROL_FIRST: usize = 9;
/// Round: documents that all workers have visited since the start of the fit.
pub const CONTROL_SEEN: usize = 10;
/// Bound: one past the last document.
pub const CONTROL_LAST: usize = 10;
/// Round: workers.
pub const CONTROL_WORKERS: usize = 11;
/// Most iterations of a document.
pub const CONTROL_ITERATIONS: usize = 12;
/// Round: documents of all workers.
pub const CONTROL_CORPUS: usize = 13;
/// Round: documents whose bound to compute.
pub const CONTROL_SAMPLE: usize = 14;
/// Threads.
pub const CONTROL_THREADS: usize = 15;
/// Length of control.
pub const CONTROL_SLOTS: usize = 16;

// settings.

/// eta.
pub const SETTING_ETA: usize = 0;
/// Round: tau0.
pub const SETTING_TAU0: usize = 1;
/// Round: kappa.
pub const SETTING_KAPPA: usize = 2;
/// Round: base.
pub const SETTING_BASE: usize = 3;
/// Tolerance of the iterations.
pub const SETTING_TOLERANCE: usize = 4;
/// Over-relaxation.
pub const SETTING_OVER_RELAXATION: usize = 5;
/// Pruning.
pub const SETTING_PRUNING: usize = 6;
/// Round: factor of the model that it reaches.
pub const SETTING_SHARE: usize = 7;
/// Length of settings.
pub const SETTING_SLOTS: usize = 8;

// Slots of a result.

/// Round: sum of counts.
pub const TOKENS: usize = 0;
/// Round: sum of step sizes.
pub const RHO_SUM: usize = 1;
/// Round: steps.
pub const UPDATES: usize = 2;
/// Iterations of all documents.
pub const ITERATIONS: usize = 3;
/// Sum of the documents' parts of the bound.
pub const BOUND: usize = 4;
/// Documents visited.
pub const DOCUMENTS: usize = 5;
/// Round: cursor after the call.
pub const CURSOR: usize = 9;
/// Round: words of the documents visited.
pub const WORDS: usize = 10;
/// Sum of the counts of the documents of the bound.
pub const BOUND_TOKENS: usize = 11;
/// Round: number of factors.
pub const FACTORS: usize = 15;
/// Round: first factor.
pub const FACTOR: usize = 16;
/// Most factors.
pub const MAX_FACTORS: usize = 24;

const _: () = assert!(MAX_FACTORS == shared::MAX_FACTORS);
const _: () = assert!(FACTOR + MAX_FACTORS <= header::FIRST_FREE);
