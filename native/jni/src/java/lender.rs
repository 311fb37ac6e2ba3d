//! The arguments of a call on a partition, and the loan of its arrays to one slice of work after another.

use dwell_solvers::Values;
use jni::{
    Env, jni_sig, jni_str,
    objects::{JByteArray, JDoubleArray, JFloatArray, JIntArray, JLongArray, JObject},
};

use crate::{
    boundary::{
        arrays::{Arrays, Matrix},
        fault::{Fault, argument},
        header,
        partition::Partition,
        pins::{ArrayRef, EnvCritical, Pins},
        slices::Lender,
    },
    java::arguments::{ValueArrays, expect_length, lent, values},
};

/// The arguments of a call on a partition.
pub struct Arguments<'a, 'l, P: Partition> {
    /// Integers by slot.
    pub control: &'a JLongArray<'l>,
    /// Doubles by slot.
    pub settings: &'a JDoubleArray<'l>,
    /// The matrix: where the entries of each coordinate start.
    pub offsets: &'a JIntArray<'l>,
    /// The matrix: the index of each entry, or null if it is dense.
    pub indices: &'a JIntArray<'l>,
    /// The matrix: the value of each entry, or null.
    pub values32: &'a JFloatArray<'l>,
    /// The matrix: the value of each entry, or null.
    pub values64: &'a JDoubleArray<'l>,
    /// The arrays of doubles that belong to the matrix.
    pub fields: P::Fields<&'a JDoubleArray<'l>>,
    /// The shared vector of a call that reads one.
    pub shared: Option<&'a JByteArray<'l>>,
    /// Header and vector, written.
    pub result: &'a JByteArray<'l>,
    /// Asked between slices whether the caller still wants the result.
    pub cancellation: &'a JObject<'l>,
}

/// The arrays of one call, pinned anew for each slice.
pub struct JavaLender<'e, 'l, P: Partition> {
    /// The environment of the calling thread. Nothing is pinned while it is used.
    pub env: &'e mut Env<'l>,
    offsets: ArrayRef<'e, i32>,
    indices: Option<ArrayRef<'e, i32>>,
    values: ValueArrays<'e>,
    fields: P::Fields<ArrayRef<'e, f64>>,
    shared: Option<ArrayRef<'e, u8>>,
    result: ArrayRef<'e, u8>,
    cancellation: &'e JObject<'l>,
}

impl<'e, 'l, P: Partition> JavaLender<'e, 'l, P> {
    /// The arrays of a call. Checks everything that it can before pinning: the shared vector has `shared` numbers of 8 bytes, the result
    /// `vector` after its header.
    ///
    /// # Errors
    /// `Argument` names the argument at fault.
    pub fn new(
        env: &'e mut Env<'l>,
        arguments: &Arguments<'e, 'l, P>,
        shared: usize,
        vector: usize,
    ) -> Result<Self, Fault> {
        let indices = if P::DENSE {
            lent(env, P::INDICES, arguments.indices)?
        } else {
            Some(ArrayRef::new(env, P::INDICES, arguments.indices)?)
        };
        let values = values(env, arguments.values32, arguments.values64)?;
        let shared = match arguments.shared {
            None => None,
            Some(given) => {
                let array = ArrayRef::new(env, "shared", given)?.unsigned();
                expect_length("shared", array.length(), 8 * shared)?;
                if env.is_same_object(given, arguments.result)? {
                    return Err(argument!(
                        "result is the array of shared: it must be another one"
                    ));
                }
                Some(array)
            }
        };
        let result = ArrayRef::new(env, "result", arguments.result)?.unsigned();
        expect_length("result", result.length(), header::BYTES + 8 * vector)?;
        if arguments.cancellation.is_null() {
            return Err(argument!(
                "cancellation is null: pass Cancellation.NEVER for a call that is never cancelled"
            ));
        }
        Ok(Self {
            offsets: ArrayRef::new(env, "offsets", arguments.offsets)?,
            indices,
            values,
            fields: P::try_map(arguments.fields, |name, field| {
                ArrayRef::new(env, name, field)
            })?,
            shared,
            result,
            cancellation: arguments.cancellation,
            env,
        })
    }
}

impl<P: Partition> Lender<P> for JavaLender<'_, '_, P> {
    fn lend<R>(
        &mut self,
        work: impl FnOnce(&Arrays<'_, P>, &mut [u8]) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let critical = EnvCritical::new(self.env);
        let pins = Pins::new(&critical);
        // SAFETY: no Java thread writes these arrays during a call: `NativeBridge` requires this of its callers, partitions are immutable
        // once they are built, and a result belongs to one task. The result is none of the other arrays: only the shared vector is a byte[]
        // too, and `new` has checked that it is another object.
        let (arrays, result) = unsafe {
            let arrays = Arrays {
                matrix: Matrix {
                    offsets: pins.read(self.offsets)?,
                    indices: self.indices.map(|indices| pins.read(indices)).transpose()?,
                    values: match self.values {
                        (Some(values), _) => Values::F32(pins.read(values)?),
                        (None, Some(values)) => Values::F64(pins.read(values)?),
                        (None, None) => Values::Ones,
                    },
                },
                fields: P::try_map(self.fields, |_, field| pins.read(field))?,
                shared: self
                    .shared
                    .map_or(Ok(&[][..]), |shared| pins.read(shared))?,
            };
            (arrays, pins.write(self.result)?)
        };
        work(&arrays, &mut result[header::BYTES..])
    }

    fn poll(&mut self) -> Result<(), Fault> {
        let requested = self.env.call_method(
            self.cancellation,
            jni_str!("requested"),
            jni_sig!(() -> jboolean),
            &[],
        )?;
        if requested.z()? {
            Err(Fault::Cancelled)
        } else {
            Ok(())
        }
    }
}
