//! The function that sums what is known of data before the first round.

use dwell_solvers::{FeatureSums, SUMS, facts::sums};
use jni::{
    Env,
    objects::{JClass, JDoubleArray, JFloatArray, JIntArray, JLongArray},
    sys::jint,
};

use crate::{
    boundary::{
        constants::sums as layout,
        fault::{Fault, argument},
        pins::ArrayRef,
    },
    java::block::RowBlock,
};

const _: () = assert!(
    layout::COUNT == sums::COUNT
        && layout::WEIGHT == sums::WEIGHT
        && layout::FIRST == sums::FIRST
        && layout::DIFFERENCES == sums::DIFFERENCES
        && layout::SQUARES == sums::SQUARES
        && layout::POSITIVE == sums::POSITIVE
        && layout::WIDTH == sums::WIDTH
        && layout::SUMS == SUMS
);

/// Values that are summed in one loan: about a millisecond of work.
const SUMMED: usize = 1 << 18;

/// See `NativeBridge.featureSums`.
#[expect(clippy::too_many_arguments, reason = "signature of the Java method")]
pub fn feature_sums<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    offsets: JIntArray<'l>,
    features: JIntArray<'l>,
    values32: JFloatArray<'l>,
    values64: JDoubleArray<'l>,
    labels: JDoubleArray<'l>,
    weights: JDoubleArray<'l>,
    used: jint,
    ones: JLongArray<'l>,
    positions: JIntArray<'l>,
    sums: JDoubleArray<'l>,
) -> Result<jint, Fault> {
    let mut is_twice = false;
    for read in [&offsets, &features] {
        is_twice |= env.is_same_object(&positions, read)?;
    }
    for read in [&values64, &labels, &weights] {
        is_twice |= env.is_same_object(&sums, read)?;
    }
    if is_twice {
        return Err(argument!(
            "an array that is written is given twice: it must be another one"
        ));
    }
    let (structure, values) = ((&offsets, &features), (&values32, &values64));
    let block = RowBlock::new(env, structure, values, &labels, &weights)?;
    let ones = ArrayRef::new(env, "ones", &ones)?;
    let positions = ArrayRef::new(env, "positions", &positions)?;
    let sums = ArrayRef::new(env, "sums", &sums)?;
    if sums.length() % SUMS != 0 {
        return Err(argument!(
            "sums has length {}, expected {SUMS} numbers a feature",
            sums.length()
        ));
    }
    let (rows, length) = (block.labels.length(), positions.length());
    block.check_lengths(length)?;
    let mut used = usize::try_from(used)
        .map_err(|_| argument!("used is {used}, but a number of features is at least 0"))?;
    let stored = match block.values {
        (Some(values), _) => values.length(),
        (None, Some(values)) => values.length(),
        (None, None) => block.features.map_or(0, |features| features.length()),
    };
    let together = (rows * SUMMED / stored.max(1)).max(1);
    for first in (0..rows).step_by(together) {
        used = block.lend(env, |pins, matrix, labels, weights| {
            // SAFETY: `NativeBridge.featureSums` requires that no Java thread uses these arrays during a call, and they are no other arrays
            // of it, as was checked.
            let (ones, positions, sums) =
                unsafe { (pins.write(ones)?, pins.write(positions)?, pins.write(sums)?) };
            let mut all = FeatureSums::new(ones, positions, sums, used)?;
            let view = matrix.known_view(rows, length)?;
            all.add(view, labels, weights, first..rows.min(first + together))?;
            Ok(all.used())
        })?;
    }
    Ok(used as jint)
}
