//! C ABI of the solvers of coordinate descent, for programs without a JVM that keep the state of their partitions themselves: the benchmarks in
//! Python (`bench/python`) and the C tests (`tests/c`). It is not a part of the public API: no release promises to keep it, and
//! [`ABI_VERSION`] changes with it. `include/dwell.h` is generated from this file.
//!
//! Every function can be called from any thread. No function keeps a pointer.

mod pointers;

use std::{
    cell::RefCell,
    ffi::{CString, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use dwell_solvers::{
    Blocks, DualParams, DualSubproblemParams, ElasticNetParams, Loan, Loss, PrimalParams, RowNorms,
    Values, cd::SubproblemParams,
};

use crate::{
    boundary::{
        arrays::Matrix,
        blocks::{Block, Caller},
        fault::{Fault, argument, code},
        memory::copied,
        panics::{install_panic_hook, panic_text},
        version::ABI_VERSION,
    },
    cd::{
        dual::{Dual, DualFields},
        orientation::{Orientation, RoundStart, WorkerFacts},
        primal::{Primal, PrimalFields},
        rounds::compute_round,
    },
};

use pointers::{array, array_mut, bytes, bytes_mut, length, optional, reference, reference_mut};

/// Everything went well.
pub const DWELL_OK: i32 = 0;
/// The solver could not continue.
pub const DWELL_ERROR_SOLVER: i32 = -1;
/// Memory could not be allocated.
pub const DWELL_ERROR_OUT_OF_MEMORY: i32 = -2;
/// A bug of the library, or arrays that changed during the call.
pub const DWELL_ERROR_PANIC: i32 = -3;
/// An argument is wrong; the message names it.
pub const DWELL_ERROR_ARGUMENT: i32 = -16;

/// (z - y)^2 / 2
pub const DWELL_LOSS_SQUARED: i32 = 0;
/// log(1 + exp(-y z)), labels y are -1 or 1
pub const DWELL_LOSS_LOGISTIC: i32 = 1;
/// max(0, 1 - y z), labels y are -1 or 1
pub const DWELL_LOSS_HINGE: i32 = 2;
/// max(0, 1 - y z)^2, labels y are -1 or 1
pub const DWELL_LOSS_SQUARED_HINGE: i32 = 4;

const _: () = assert!(
    DWELL_ERROR_SOLVER == -code::SOLVER
        && DWELL_ERROR_OUT_OF_MEMORY == -code::OUT_OF_MEMORY
        && DWELL_ERROR_PANIC == -code::PANIC
);

/// A matrix, coordinate by coordinate: a coordinate is a column of the data in primal rounds, a row in dual rounds. Read only.
#[repr(C)]
pub struct DwellMatrix {
    /// Number of coordinates n.
    pub coordinates: i64,
    /// Length m of a coordinate's vector: rows of the data in primal rounds, features in dual rounds; at most 2^31 - 1.
    pub length: i64,
    /// Number of stored entries N.
    pub entries: i64,
    /// n + 1 numbers: the entries of coordinate i are offsets[i] until offsets[i + 1]; starts at 0, ends at N.
    pub offsets: *const i32,
    /// N numbers: row (dual: feature) of each entry, 0 until m, increasing inside a coordinate. NULL for a dense matrix: N = n m, and
    /// every coordinate has a value for each of its places, in order.
    pub indices: *const i32,
    /// N numbers, or NULL.
    pub values32: *const f32,
    /// N numbers, or NULL. If both are NULL every value is 1; a dense matrix has one of the two.
    pub values64: *const f64,
}

/// Columns of the data, their moments, and weights of the rows. Read only.
#[repr(C)]
pub struct DwellColumns {
    /// The columns.
    pub matrix: DwellMatrix,
    /// n numbers: weighted mean of each column over all rows, implicit zeros included.
    pub mean: *const f64,
    /// n numbers: weighted population variance about the mean.
    pub variance: *const f64,
    /// n numbers: square root of the variance.
    pub deviation: *const f64,
    /// m positive numbers, or NULL if every weight is 1.
    pub weights: *const f64,
}

/// Rows of the data with their labels, weights and norms, and the scale of the features. Read only.
#[repr(C)]
pub struct DwellRows {
    /// The rows.
    pub matrix: DwellMatrix,
    /// n numbers: label y of each row; -1 or 1, or any number with the squared loss.
    pub labels: *const f64,
    /// n positive numbers: weight s of each row, or NULL if every weight is 1.
    pub weights: *const f64,
    /// n numbers: sum over the features of scale times the square of the row's value.
    pub norms: *const f64,
    /// m numbers, at least 0: a feature's L2 penalty is l2 / scale, and with 0 its coefficient stays 0; NULL if every scale is 1.
    pub scale: *const f64,
}

/// Parameters of a round.
#[repr(C)]
pub struct DwellRound {
    /// Subproblem parameter sigma', positive; the number of partitions is always safe.
    pub sigma_prime: f64,
    /// L2 penalty; positive in dual rounds.
    pub l2: f64,
    /// Sum S of the weights of all rows.
    pub total_weight: f64,
    /// Seed of the order of the coordinates.
    pub seed: u64,
    /// Least number of coordinates to visit, at least 1.
    pub budget: u64,
    /// Number of the partition; each has an order of its own.
    pub partition: i32,
    /// Threads T, 1 to 256, which make steps on T copies of the shared vector: the result depends on T, but not on the machine.
    pub threads: i32,
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// Version of this interface; compare it with DWELL_ABI_VERSION before any other call.
#[unsafe(no_mangle)]
pub extern "C" fn dwell_abi_version() -> i32 {
    ABI_VERSION
}

/// Copies the message of this thread's last failed call, cut to `capacity` bytes with the closing zero. Returns the length of the whole
/// message without the zero. `buffer` may be NULL if `capacity` is 0.
///
/// # Safety
/// `buffer` has room for `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dwell_last_error(buffer: *mut c_char, capacity: usize) -> usize {
    LAST_ERROR.with_borrow(|message| {
        let message = message.as_bytes();
        if !buffer.is_null() && capacity > 0 {
            let length = message.len().min(capacity - 1);
            // SAFETY: the caller vouches for `capacity` bytes; the message is another allocation.
            unsafe {
                buffer
                    .cast::<u8>()
                    .copy_from_nonoverlapping(message.as_ptr(), length);
                buffer.add(length).write(0);
            }
        }
        message.len()
    })
}

/// Runs one round of primal CoCoA on columns for least squares with an elastic net, from coefficients that the caller keeps. There is no
/// intercept.
///
/// `l1`: the L1 penalty. `alpha`: n coefficients, read. `cursor`: place in the order of the coordinates, 0 at first; moved on.
/// `residual`: m numbers, read. `delta`: n numbers, written: the steps. `update`: m numbers, written: the matrix times the steps.
/// After an error the contents of delta and update are unspecified, and the cursor is unchanged.
///
/// Returns DWELL_OK, or an error whose message `dwell_last_error` gives.
///
/// # Safety
/// All pointers are valid for the lengths above. No other code writes the arrays during the call. Written arrays overlap no other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dwell_primal_round(
    columns: *const DwellColumns,
    round: *const DwellRound,
    l1: f64,
    alpha: *const f64,
    cursor: *mut u64,
    residual: *const f64,
    delta: *mut f64,
    update: *mut f64,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for all pointers and their lengths.
        unsafe {
            let columns = reference("columns", columns)?;
            let round = reference("round", round)?;
            let (n, m) = lengths(&columns.matrix)?;
            let fields = PrimalFields {
                mean: array("mean", columns.mean, n)?,
                variance: array("variance", columns.variance, n)?,
                deviation: array("deviation", columns.deviation, n)?,
                weights: optional("weights", columns.weights, m)?,
            };
            let params = PrimalParams {
                subproblem: SubproblemParams {
                    penalty: ElasticNetParams {
                        l1,
                        l2: round.l2,
                        scale_factor: 0.0,
                    },
                    sigma_prime: round.sigma_prime,
                    total_weight: round.total_weight,
                    centred: false,
                },
                seed: round.seed,
                partition: round.partition as u32,
                budget: round.budget,
                certificate: false,
                points: Vec::new(),
                threads: round.threads as usize,
            };
            let vectors = Vectors {
                alpha,
                cursor,
                shared: ("residual", residual),
                delta,
                update,
            };
            compute::<Primal>(&columns.matrix, fields, None, round, params, vectors)
        }
    })
}

/// Runs one round of dual CoCoA on rows, from dual variables that the caller keeps. With the elastic net, l1 > 0, the caller shrinks
/// the coefficients between rounds. There is no intercept.
///
/// `loss`: one of DWELL_LOSS_... `alpha`: n dual variables, read. `cursor`: place in the order of the coordinates, 0 at first; moved on.
/// `coefficients`: m numbers, read. `delta`: n numbers, written: the steps. `update`: m numbers, written: for each feature its scale
/// times the sum over the rows of s / (S l2) times step times value. After an error the contents of delta and update are unspecified,
/// and the cursor is unchanged.
///
/// Returns DWELL_OK, or an error whose message `dwell_last_error` gives.
///
/// # Safety
/// All pointers are valid for the lengths above. No other code writes the arrays during the call. Written arrays overlap no other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dwell_dual_round(
    rows: *const DwellRows,
    round: *const DwellRound,
    loss: i32,
    alpha: *const f64,
    cursor: *mut u64,
    coefficients: *const f64,
    delta: *mut f64,
    update: *mut f64,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for all pointers and their lengths.
        unsafe {
            let rows = reference("rows", rows)?;
            let round = reference("round", round)?;
            let (n, m) = lengths(&rows.matrix)?;
            let fields = DualFields {
                labels: array("labels", rows.labels, n)?,
                weights: optional("weights", rows.weights, n)?,
                scale: optional("scale", rows.scale, m)?,
                mean: None,
            };
            let norms = RowNorms::given(array("norms", rows.norms, n)?)?;
            let params = DualParams {
                subproblem: DualSubproblemParams {
                    loss: Loss::from_code(loss.into(), 0.0)?,
                    sigma_prime: round.sigma_prime,
                    l2: round.l2,
                    total_weight: round.total_weight,
                    intercept: 0.0,
                    offset: 0.0,
                },
                seed: round.seed,
                partition: round.partition as u32,
                budget: round.budget,
                certificate: Vec::new(),
                points: Vec::new(),
                threads: round.threads as usize,
            };
            let vectors = Vectors {
                alpha,
                cursor,
                shared: ("coefficients", coefficients),
                delta,
                update,
            };
            compute::<Dual>(&rows.matrix, fields, Some(norms), round, params, vectors)
        }
    })
}

/// The vectors that a round reads and writes.
struct Vectors {
    alpha: *const f64,
    cursor: *mut u64,
    /// The shared vector, with its name.
    shared: (&'static str, *const f64),
    delta: *mut f64,
    update: *mut f64,
}

/// Checks the arguments that both orientations have, and runs the round.
///
/// # Safety
/// The pointers of `matrix` and `vectors` are valid for its lengths; no other code writes any of them, or reads those that are written.
unsafe fn compute<O: Orientation>(
    matrix: &DwellMatrix,
    fields: O::Fields<&[f64]>,
    norms: Option<RowNorms>,
    round: &DwellRound,
    params: O::Params,
    vectors: Vectors,
) -> Result<(), Fault> {
    for (name, number, least) in [
        ("partition", round.partition, 0),
        ("threads", round.threads, 1),
    ] {
        if number < least {
            return Err(argument!("{name} is {number}: it must be at least {least}"));
        }
    }
    let (n, m) = lengths(matrix)?;
    let (shared_name, shared) = vectors.shared;
    // SAFETY: the caller vouches for all pointers and lengths.
    let (mut caller, alpha, cursor, delta) = unsafe {
        let caller = PointerCaller::<O> {
            starts: [0, n],
            matrix: matrix_of(matrix)?,
            fields,
            shared: array(shared_name, shared, m)?,
            update: bytes_mut(array_mut("update", vectors.update, m)?),
        };
        (
            caller,
            array("alpha", vectors.alpha, n)?,
            reference_mut("cursor", vectors.cursor)?,
            array_mut("delta", vectors.delta, n)?,
        )
    };
    // They matter only to the points of a line search.
    let previous = vec![0.0; n];
    let start = RoundStart {
        alpha,
        previous: &previous,
        cursor: *cursor,
    };
    let threads = round.threads as usize;
    let known = WorkerFacts {
        length: m,
        classes: false,
        norms: norms.map(Arc::new),
    };
    let outcome = compute_round(&mut caller, &params, threads, start, known)?.result;
    delta.copy_from_slice(&outcome.delta);
    *cursor = outcome.cursor;
    Ok(())
}

/// Calls `work`, and turns a fault or a panic into a number and a message.
fn guarded(work: impl FnOnce() -> Result<(), Fault>) -> i32 {
    install_panic_hook();
    let (number, text) = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return DWELL_OK,
        Ok(Err(Fault::Argument(text))) => (DWELL_ERROR_ARGUMENT, text),
        Ok(Err(Fault::OutOfMemory(text))) => (DWELL_ERROR_OUT_OF_MEMORY, text),
        Ok(Err(Fault::Solver(text))) => (DWELL_ERROR_SOLVER, text),
        Ok(Err(fault @ (Fault::Cancelled | Fault::Jni(_) | Fault::Link(_)))) => {
            (DWELL_ERROR_SOLVER, format!("{fault:?}"))
        }
        Err(payload) => (DWELL_ERROR_PANIC, panic_text(payload)),
    };
    // The library's own messages contain no zero byte.
    LAST_ERROR.set(CString::new(text).unwrap_or_default());
    number
}

/// The arrays of a C caller, which do not move: one block.
struct PointerCaller<'c, O: Orientation> {
    starts: [usize; 2],
    matrix: Matrix<'c>,
    fields: O::Fields<&'c [f64]>,
    shared: &'c [f64],
    update: &'c mut [u8],
}

impl<O: Orientation> Blocks for PointerCaller<'_, O> {
    type Block<'a> = Block<'a, O>;
    type Error = Fault;

    fn starts(&self) -> &[usize] {
        &self.starts
    }

    fn lend<R>(
        &mut self,
        work: impl for<'a> FnOnce(&mut Loan<'_, Block<'a, O>, Fault>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let block = Block {
            count: self.starts[1],
            matrix: self.matrix,
            fields: self.fields,
        };
        work(&mut Loan::new(&self.starts, &mut |_| Ok(block)))
    }
}

impl<O: Orientation> Caller<O> for PointerCaller<'_, O> {
    fn shared(&mut self) -> Result<Vec<f64>, Fault> {
        copied(self.shared, "the shared vector")
    }

    fn write(
        &mut self,
        _: usize,
        mut write: impl FnMut(&mut Self, usize, &[u8], &mut [u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let (shared, update) = (bytes(self.shared), std::mem::take(&mut self.update));
        write(self, 0, shared, update)
    }
}

/// Number of coordinates, and their length.
fn lengths(matrix: &DwellMatrix) -> Result<(usize, usize), Fault> {
    Ok((
        length("coordinates", matrix.coordinates)?,
        length("length", matrix.length)?,
    ))
}

/// # Safety
/// The pointers are valid for the lengths of the matrix, for `'a`.
unsafe fn matrix_of<'a>(matrix: &DwellMatrix) -> Result<Matrix<'a>, Fault> {
    let (n, _) = lengths(matrix)?;
    let entries = length("entries", matrix.entries)?;
    // SAFETY: the caller vouches for the pointers of the matrix and their lengths.
    unsafe {
        let values = match (
            optional("values32", matrix.values32, entries)?,
            optional("values64", matrix.values64, entries)?,
        ) {
            (None, None) => Values::Ones,
            (Some(values), None) => Values::F32(values),
            (None, Some(values)) => Values::F64(values),
            (Some(_), Some(_)) => {
                return Err(argument!(
                    "values32 and values64 are both given: one of them must be NULL"
                ));
            }
        };
        Ok(Matrix {
            offsets: array("offsets", matrix.offsets, n + 1)?,
            indices: if entries > 0 {
                optional("indices", matrix.indices, entries)?
            } else {
                Some(&[])
            },
            values,
        })
    }
}
