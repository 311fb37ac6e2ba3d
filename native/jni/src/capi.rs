//! C ABI of the solvers, for callers that keep the state of their partitions themselves. The header `dwell.h` is generated from here.
//!
//! Every function is safe to call from any thread. None of them keeps a pointer.

use std::{
    cell::RefCell,
    ffi::{CString, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
    slice,
};

use dwell_solvers::{ElasticNetParams, PrimalParams, Values, Verdict, cd::SubproblemParams};

use crate::{
    argument,
    boundary::{self, Fault, code},
    primal::{self, Arrays, Lender, Request},
};

#[cfg(target_endian = "big")]
compile_error!("residuals are passed on as little endian bytes");

/// Everything went well.
pub const DWELL_OK: i32 = 0;
/// The solver could not go on.
pub const DWELL_ERROR_SOLVER: i32 = -1;
/// Memory could not be allocated.
pub const DWELL_ERROR_OUT_OF_MEMORY: i32 = -2;
/// A bug of the library, or arrays that were changed during the call.
pub const DWELL_ERROR_PANIC: i32 = -3;
/// An argument is wrong; the message names it.
pub const DWELL_ERROR_ARGUMENT: i32 = -16;

const _: () = assert!(
    DWELL_ERROR_SOLVER == -code::SOLVER
        && DWELL_ERROR_OUT_OF_MEMORY == -code::OUT_OF_MEMORY
        && DWELL_ERROR_PANIC == -code::PANIC
);

/// A sparse matrix by columns, moments of its columns, and weights of its rows. Read only.
#[repr(C)]
pub struct DwellPartition {
    /// Number of rows m, at most 2^31 - 1.
    pub rows: i64,
    /// Number of columns n.
    pub columns: i64,
    /// Number of stored entries N.
    pub entries: i64,
    /// n + 1 numbers: the entries of column i are offsets[i] until offsets[i + 1]; starts at 0, ends at N.
    pub offsets: *const i32,
    /// N numbers: row of each entry, increasing inside a column.
    pub indices: *const i32,
    /// N numbers, or NULL.
    pub values32: *const f32,
    /// N numbers, or NULL. If both are NULL every value is 1.
    pub values64: *const f64,
    /// n numbers: weighted mean of each column over all rows, implicit zeros included.
    pub mean: *const f64,
    /// n numbers: weighted population variance about the mean.
    pub variance: *const f64,
    /// n numbers: square root of the variance.
    pub deviation: *const f64,
    /// m positive numbers, or NULL if every weight is 1.
    pub weights: *const f64,
}

/// Parameters of a round.
#[repr(C)]
pub struct DwellRound {
    /// Subproblem parameter sigma', positive; the number of partitions is always safe.
    pub sigma_prime: f64,
    /// L1 penalty.
    pub l1: f64,
    /// L2 penalty.
    pub l2: f64,
    /// Sum of the weights of all rows.
    pub total_weight: f64,
    /// Factor of the variances that the penalty is standardised with; 0: it is not standardised.
    pub scale_factor: f64,
    /// Seed of the order of the coordinates.
    pub seed: u64,
    /// Least number of coordinates to visit, at least 1.
    pub budget: u64,
    /// Number of the partition: another order for each.
    pub partition: i32,
    /// Threads for the certificate, at least 1.
    pub threads: i32,
    /// Whether columns and residual are centred implicitly.
    pub centred: bool,
    /// Whether the parts of the duality certificate are wanted.
    pub certificate: bool,
}

/// Numbers that a round reports.
#[repr(C)]
#[derive(Default)]
pub struct DwellReport {
    /// Penalty at the coefficients that the call started from.
    pub penalty_before: f64,
    /// Penalty after the steps.
    pub penalty_after: f64,
    /// Sum of the penalty's conjugates; NaN without certificate, as the next two.
    pub conjugate: f64,
    /// Greatest ratio of correlation to L1 penalty.
    pub ratio: f64,
    /// Greatest correlation relative to a column's norm.
    pub correlation: f64,
    /// Sum of mean times step; 0 if not centred.
    pub kappa: f64,
    /// Coordinates visited.
    pub coordinates: u64,
    /// Stored entries visited.
    pub nonzeros: u64,
    /// Nanoseconds inside the solver.
    pub nanoseconds: u64,
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// Version of this interface; compare it with DWELL_ABI_VERSION before any other call.
#[unsafe(no_mangle)]
pub extern "C" fn dwell_abi_version() -> i32 {
    crate::ABI_VERSION
}

/// Copies the message of the last call of this thread that failed, cut to `capacity` bytes with the closing zero.
/// Returns the length of the whole message without it. `buffer` may be NULL if `capacity` is 0.
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

/// Runs one round of primal CoCoA on a partition, from coefficients that the caller keeps.
///
/// `alpha`: n coefficients, read. `cursor`: place in the order of the coordinates, 0 at first; moved on. `residual`: m numbers, read.
/// `delta`: n numbers, written: the steps. `update`: m numbers, written: the matrix times the steps (centred columns if centred).
/// `report`: written, may be NULL. After an error what is written is unspecified, and the cursor is as it was.
///
/// Returns DWELL_OK, or an error whose message `dwell_last_error` gives.
///
/// # Safety
/// All pointers are valid for the lengths above, nobody writes the arrays during the call, and what is written overlaps nothing else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dwell_primal_round(
    partition: *const DwellPartition,
    round: *const DwellRound,
    alpha: *const f64,
    cursor: *mut u64,
    residual: *const f64,
    delta: *mut f64,
    update: *mut f64,
    report: *mut DwellReport,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for all pointers.
        let (partition, round, cursor) = unsafe {
            (
                partition.as_ref().ok_or_else(|| null("partition"))?,
                round.as_ref().ok_or_else(|| null("round"))?,
                cursor.as_mut().ok_or_else(|| null("cursor"))?,
            )
        };
        // SAFETY: the caller vouches for all pointers and lengths.
        let mut lender = unsafe { PointerLender::new(partition, Some(residual), update)? };
        let (rows, columns) = (lender.rows, lender.arrays.mean.len());
        let request = request(round, rows)?;
        // SAFETY: the caller vouches for both.
        let (alpha, delta) = unsafe {
            (
                array("alpha", alpha, columns)?,
                array_mut("delta", delta, columns)?,
            )
        };
        let computed = primal::compute_round(&mut lender, &request, alpha, *cursor, None)?;
        let outcome = computed.result;
        delta.copy_from_slice(&outcome.delta);
        *cursor = outcome.cursor;
        let scalars = outcome.scalars;
        // SAFETY: the caller vouches for the pointer.
        if let Some(report) = unsafe { report.as_mut() } {
            *report = DwellReport {
                penalty_before: scalars.penalty_before,
                penalty_after: scalars.penalty_after,
                conjugate: scalars.conjugate,
                ratio: scalars.ratio,
                correlation: scalars.correlation,
                kappa: scalars.kappa,
                coordinates: scalars.coordinates,
                nonzeros: scalars.nonzeros,
                nanoseconds: computed.elapsed.as_nanos() as u64,
            };
        }
        Ok(())
    })
}

/// Calls `work`, and turns what goes wrong into a number and a message.
fn guarded(work: impl FnOnce() -> Result<(), Fault>) -> i32 {
    boundary::install_panic_hook();
    let (number, text) = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return DWELL_OK,
        Ok(Err(Fault::Argument(text))) => (DWELL_ERROR_ARGUMENT, text),
        Ok(Err(Fault::OutOfMemory(text))) => (DWELL_ERROR_OUT_OF_MEMORY, text),
        Ok(Err(Fault::Solver(text))) => (DWELL_ERROR_SOLVER, text),
        Ok(Err(fault @ (Fault::Cancelled | Fault::Jni(_) | Fault::Link(_)))) => {
            (DWELL_ERROR_SOLVER, format!("{fault:?}"))
        }
        Err(payload) => (DWELL_ERROR_PANIC, boundary::panic_text(payload)),
    };
    // A message of ours has no zero byte in it.
    LAST_ERROR.set(CString::new(text).unwrap_or_default());
    number
}

fn null(name: &str) -> Fault {
    argument!("{name} is NULL: a valid pointer is needed")
}

fn request(round: &DwellRound, rows: usize) -> Result<Request, Fault> {
    for (name, number, least) in [
        ("partition", round.partition, 0),
        ("threads", round.threads, 1),
    ] {
        if number < least {
            return Err(argument!("{name} is {number}: it must be at least {least}"));
        }
    }
    Ok(Request {
        key: (0, round.partition),
        round: 0,
        stamp: 0,
        rows,
        threads: round.threads as usize,
        params: PrimalParams {
            subproblem: SubproblemParams {
                penalty: ElasticNetParams {
                    l1: round.l1,
                    l2: round.l2,
                    scale_factor: round.scale_factor,
                },
                sigma_prime: round.sigma_prime,
                total_weight: round.total_weight,
                centred: round.centred,
            },
            seed: round.seed,
            partition: round.partition as u32,
            budget: round.budget,
            certificate: round.certificate,
        },
        verdict: Verdict {
            pending: 0.0,
            previous: 0.0,
        },
    })
}

/// The arrays of a C caller, which stay where they are.
struct PointerLender<'a> {
    rows: usize,
    arrays: Arrays<'a>,
    update: &'a mut [u8],
}

impl<'a> PointerLender<'a> {
    /// # Safety
    /// The pointers of the partition are valid for its lengths, `residual` for reading and `update` for writing one number for each
    /// row, for `'a`; nobody else writes any of them, or reads `update`.
    unsafe fn new(
        partition: &'a DwellPartition,
        residual: Option<*const f64>,
        update: *mut f64,
    ) -> Result<Self, Fault> {
        let rows = length("rows", partition.rows)?;
        let columns = length("columns", partition.columns)?;
        let entries = length("entries", partition.entries)?;
        // SAFETY: the caller of this function vouches for all of them.
        unsafe {
            let arrays = Arrays {
                offsets: array("offsets", partition.offsets, columns + 1)?,
                indices: array("indices", partition.indices, entries)?,
                values: match (partition.values32.is_null(), partition.values64.is_null()) {
                    (true, true) => Values::Ones,
                    (false, true) => Values::F32(array("values32", partition.values32, entries)?),
                    (true, false) => Values::F64(array("values64", partition.values64, entries)?),
                    (false, false) => {
                        return Err(argument!(
                            "values32 and values64 are both given: one of them must be NULL"
                        ));
                    }
                },
                mean: array("mean", partition.mean, columns)?,
                variance: array("variance", partition.variance, columns)?,
                deviation: array("deviation", partition.deviation, columns)?,
                weights: if partition.weights.is_null() {
                    None
                } else {
                    Some(array("weights", partition.weights, rows)?)
                },
                residual: match residual {
                    None => &[],
                    Some(residual) => {
                        let residual = array("residual", residual, rows)?;
                        slice::from_raw_parts(residual.as_ptr().cast(), 8 * rows)
                    }
                },
            };
            let update = array_mut("update", update, rows)?;
            let update = slice::from_raw_parts_mut(update.as_mut_ptr().cast(), 8 * rows);
            Ok(Self {
                rows,
                arrays,
                update,
            })
        }
    }
}

impl Lender for PointerLender<'_> {
    fn lend<R>(
        &mut self,
        work: impl FnOnce(&Arrays<'_>, &mut [u8]) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        work(&self.arrays, self.update)
    }

    fn poll(&mut self) -> Result<(), Fault> {
        Ok(())
    }
}

/// Lengths fit the offsets and indices, which are 32 bits.
fn length(name: &str, length: i64) -> Result<usize, Fault> {
    match i32::try_from(length) {
        Ok(small) if small >= 0 => Ok(small as usize),
        _ => Err(argument!(
            "{name} is {length}: it must be 0 to {}",
            i32::MAX
        )),
    }
}

fn usable<T>(name: &str, pointer: *const T) -> Result<(), Fault> {
    if pointer.is_null() {
        Err(null(name))
    } else if pointer.is_aligned() {
        Ok(())
    } else {
        Err(argument!(
            "{name} is not aligned to its elements of {} bytes",
            align_of::<T>()
        ))
    }
}

/// # Safety
/// `pointer` is NULL or valid for reading `length` elements for `'a`.
unsafe fn array<'a, T>(name: &str, pointer: *const T, length: usize) -> Result<&'a [T], Fault> {
    if length == 0 {
        return Ok(&[]);
    }
    usable(name, pointer)?;
    // SAFETY: checked for NULL and alignment; the caller vouches for the rest.
    Ok(unsafe { slice::from_raw_parts(pointer, length) })
}

/// # Safety
/// `pointer` is NULL or valid for `length` elements for `'a`, and nobody else uses them.
unsafe fn array_mut<'a, T>(
    name: &str,
    pointer: *mut T,
    length: usize,
) -> Result<&'a mut [T], Fault> {
    if length == 0 {
        return Ok(&mut []);
    }
    usable(name, pointer)?;
    // SAFETY: checked for NULL and alignment; the caller vouches for the rest.
    Ok(unsafe { slice::from_raw_parts_mut(pointer, length) })
}
