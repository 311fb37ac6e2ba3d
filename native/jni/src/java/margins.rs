//! The call on margins. Java owns all arrays, and they are pinned for a slice of rows at a time.

use dwell_solvers::cd::{BLOCK, MarginSlice};
use jni::{
    Env,
    objects::{JClass, JDoubleArray, JLongArray},
};
use rayon::ThreadPool;

use crate::{
    boundary::{
        fault::{Fault, argument},
        pins::{ArrayRef, EnvCritical, Pins},
        pool,
    },
    cd::margins::{
        layout::{CONTROL_SLOTS, SETTING_SLOTS, SUMS},
        request::MarginRequest,
    },
    java::arguments::{expect_length, lent, numbers},
};

/// Rows that are pinned at a time: one or two milliseconds of work.
const ROWS: usize = 1 << 16;

const _: () = assert!(ROWS.is_multiple_of(BLOCK));

/// See `NativeBridge.margins`.
#[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
pub fn margins<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    control: JLongArray<'l>,
    settings: JDoubleArray<'l>,
    margins: JDoubleArray<'l>,
    direction: JDoubleArray<'l>,
    update: JDoubleArray<'l>,
    losses: JDoubleArray<'l>,
    residuals: JDoubleArray<'l>,
    labels: JDoubleArray<'l>,
    weights: JDoubleArray<'l>,
    sums: JDoubleArray<'l>,
) -> Result<(), Fault> {
    let mut room = [0; CONTROL_SLOTS];
    let control = numbers(env, "control", &control, &mut room)?;
    let mut room = [0.0; SETTING_SLOTS];
    let settings = numbers(env, "settings", &settings, &mut room)?;
    let request = MarginRequest::decode(control, settings)?;
    expect_length("sums", ArrayRef::new(env, "sums", &sums)?.length(), SUMS)?;
    let arrays = [
        &margins, &direction, &losses, &residuals, &update, &labels, &weights,
    ];
    for (i, written) in arrays[..WRITTEN].iter().enumerate() {
        for other in &arrays[i + 1..] {
            if env.is_same_object(written, other)? {
                return Err(argument!(
                    "an array that is written is given twice: it must be another one"
                ));
            }
        }
    }
    let arrays = RowArrays {
        margins: ArrayRef::new(env, "margins", &margins)?,
        direction: ArrayRef::new(env, "direction", &direction)?,
        update: ArrayRef::new(env, "update", &update)?,
        losses: ArrayRef::new(env, "losses", &losses)?,
        residuals: ArrayRef::new(env, "residuals", &residuals)?,
        labels: ArrayRef::new(env, "labels", &labels)?,
        weights: lent(env, "weights", &weights)?,
    };
    let totals = arrays.run(env, &request)?;
    sums.set_region(env, 0, &totals)?;
    Ok(())
}

/// How many of the arrays a call writes.
const WRITTEN: usize = 4;

/// The arrays of a call.
#[derive(Clone, Copy)]
struct RowArrays<'a> {
    margins: ArrayRef<'a, f64>,
    direction: ArrayRef<'a, f64>,
    update: ArrayRef<'a, f64>,
    losses: ArrayRef<'a, f64>,
    residuals: ArrayRef<'a, f64>,
    labels: ArrayRef<'a, f64>,
    weights: Option<ArrayRef<'a, f64>>,
}

impl RowArrays<'_> {
    fn run(&self, env: &mut Env<'_>, request: &MarginRequest) -> Result<[f64; SUMS], Fault> {
        let pool = pool::of(request.threads);
        let rows = self.margins.length();
        let mut totals = [0.0; SUMS];
        let mut first = 0;
        // An empty slice is checked as well.
        while first < rows || rows == 0 {
            let end = rows.min(first + ROWS);
            self.on(env, request, pool.as_deref(), first..end, &mut totals)?;
            first = end;
            if rows == 0 {
                break;
            }
        }
        Ok(totals)
    }

    fn on(
        &self,
        env: &mut Env<'_>,
        request: &MarginRequest,
        pool: Option<&ThreadPool>,
        rows: std::ops::Range<usize>,
        totals: &mut [f64; SUMS],
    ) -> Result<(), Fault> {
        let critical = EnvCritical::new(env);
        let pins = Pins::new(&critical);
        // SAFETY: `NativeBridge.margins` requires that no Java thread uses the arrays during a call, and `margins` has checked that no
        // array that is written is another array of the call.
        let mut slice = unsafe {
            MarginSlice {
                margins: pins.write(self.margins)?,
                direction: pins.write(self.direction)?,
                update: pins.read(self.update)?,
                losses: pins.write(self.losses)?,
                residuals: pins.write(self.residuals)?,
                labels: pins.read(self.labels)?,
                weights: self.weights.map(|weights| pins.read(weights)).transpose()?,
            }
        };
        let call = request.call;
        match pool {
            Some(pool) => pool.install(|| call.run(&mut slice, rows, true, totals))?,
            None => call.run(&mut slice, rows, false, totals)?,
        }
        Ok(())
    }
}
