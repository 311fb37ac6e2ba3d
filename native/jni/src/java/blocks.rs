//! The arguments of a call on blocks, and their loan.

use std::time::{Duration, Instant};

use dwell_solvers::{Blocks, Loan, Values};
use jni::{
    Env, jni_sig, jni_str,
    objects::{
        JByteArray, JDoubleArray, JFloatArray, JIntArray, JObject, JObjectArray, JPrimitiveArray,
        TypeArray,
    },
    refs::Reference,
};

use crate::{
    boundary::{
        arrays::Matrix,
        blocks::{Block, Caller},
        fault::{Fault, argument},
        header,
        partition::Partition,
        pins::{ArrayRef, Critical, EnvCritical, Pins},
    },
    java::arguments::{COPIED, ValueArrays, decoded, expect_length, optional},
};

/// How often the caller is asked whether it still wants the result.
const POLLED: Duration = Duration::from_millis(2);

/// Arrays of doubles that belong to the blocks.
#[derive(Clone, Copy)]
pub enum Doubles<'a, 'l> {
    /// An array for each block.
    OfBlocks(&'a JObjectArray<'l, JDoubleArray<'l>>),
    /// One array for all blocks.
    Common(&'a JDoubleArray<'l>),
}

/// The arguments of a call on blocks.
pub struct BlockArguments<'a, 'l, P: Partition> {
    /// For each block: where the entries of each coordinate start, or null if it is dense.
    pub offsets: &'a JObjectArray<'l, JIntArray<'l>>,
    /// For each block: the index of each entry, or null if it is dense.
    pub indices: &'a JObjectArray<'l, JIntArray<'l>>,
    /// For each block: the value of each entry, or null.
    pub values32: &'a JObjectArray<'l, JFloatArray<'l>>,
    /// For each block: the value of each entry, or null.
    pub values64: &'a JObjectArray<'l, JDoubleArray<'l>>,
    /// The arrays of doubles that belong to the matrix. The first one has a number for each coordinate of its block.
    pub fields: P::Fields<Doubles<'a, 'l>>,
    /// The shared vector of a call that reads one.
    pub shared: Option<&'a JByteArray<'l>>,
    /// Header and vector, written.
    pub result: &'a JByteArray<'l>,
    /// Asked between loans whether the caller still wants the result.
    pub cancellation: &'a JObject<'l>,
}

/// The arrays of a call in blocks, pinned while they are lent.
pub struct JavaBlocks<'e, 'l, P: Partition> {
    /// The environment of the calling thread. Nothing is pinned while it is used.
    pub env: &'e mut Env<'l>,
    blocks: Vec<References<'l, P>>,
    starts: Vec<usize>,
    shared: Option<&'e JByteArray<'l>>,
    result: &'e JByteArray<'l>,
    cancellation: &'e JObject<'l>,
    /// When the caller was asked last.
    polled: Option<Instant>,
}

/// The arrays of one block.
struct References<'l, P: Partition> {
    offsets: Option<ArrayRef<'l, i32>>,
    indices: Option<ArrayRef<'l, i32>>,
    values: ValueArrays<'l>,
    fields: P::Fields<ArrayRef<'l, f64>>,
}

impl<'e, 'l, P: Partition> JavaBlocks<'e, 'l, P> {
    /// The arrays of a call. Checks everything that it can before pinning: the shared vector has `shared` numbers of 8 bytes, the result `vector`
    /// after its header.
    ///
    /// # Errors
    /// `Argument` names the argument at fault.
    pub fn new(
        env: &'e mut Env<'l>,
        arguments: &BlockArguments<'e, 'l, P>,
        shared: usize,
        vector: usize,
    ) -> Result<Self, Fault> {
        if let Some(array) = arguments.shared {
            let bytes = ArrayRef::new(env, "shared", array)?.length();
            expect_length("shared", bytes, 8 * shared)?;
            if env.is_same_object(array, arguments.result)? {
                return Err(argument!(
                    "result is the array of shared: it must be another one"
                ));
            }
        }
        let bytes = ArrayRef::new(env, "result", arguments.result)?.length();
        expect_length("result", bytes, header::BYTES + 8 * vector)?;
        if arguments.cancellation.is_null() {
            return Err(argument!(
                "cancellation is null: pass Cancellation.NEVER for a call that is never cancelled"
            ));
        }
        if arguments.offsets.is_null() {
            return Err(argument!("offsets is null: an array is needed"));
        }
        let count = arguments.offsets.len(env)?;
        if count == 0 {
            return Err(argument!("offsets is empty: there is at least one block"));
        }
        env.ensure_local_capacity(ARRAYS_OF_BLOCK * count)?;
        let mut blocks = Vec::with_capacity(count);
        let mut starts = vec![0];
        for block in 0..count {
            let (references, coordinates) = references(env, arguments, block, count)?;
            starts.push(starts[block] + coordinates);
            blocks.push(references);
        }
        Ok(Self {
            blocks,
            starts,
            shared: arguments.shared,
            result: arguments.result,
            cancellation: arguments.cancellation,
            polled: None,
            env,
        })
    }

    fn poll(&mut self) -> Result<(), Fault> {
        if self.polled.is_some_and(|last| last.elapsed() < POLLED) {
            return Ok(());
        }
        self.polled = Some(Instant::now());
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

/// About how many local references a block takes.
const ARRAYS_OF_BLOCK: usize = 8;

/// The arrays of a block, and its number of coordinates.
fn references<'l, P: Partition>(
    env: &mut Env<'l>,
    arguments: &BlockArguments<'_, 'l, P>,
    block: usize,
    count: usize,
) -> Result<(References<'l, P>, usize), Fault> {
    let indices = element(env, P::INDICES, arguments.indices, block, count)?;
    if indices.is_none() && !P::DENSE {
        return Err(argument!("{}[{block}] is null", P::INDICES));
    }
    let offsets = element(env, "offsets", arguments.offsets, block, count)?;
    if indices.is_some() && offsets.is_none() {
        return Err(argument!(
            "offsets[{block}] is null, but {} is not",
            P::INDICES
        ));
    }
    let values = (
        element(env, "values32", arguments.values32, block, count)?,
        element(env, "values64", arguments.values64, block, count)?,
    );
    if let (Some(_), Some(_)) = values {
        return Err(argument!(
            "values32[{block}] and values64[{block}] are both given: one of them must be null"
        ));
    }
    let mut first = None;
    let fields = P::try_map(arguments.fields, |name, field| {
        let array = match field {
            Doubles::OfBlocks(arrays) => element(env, name, arrays, block, count)?,
            Doubles::Common(array) => optional(array)
                .map(|array| ArrayRef::of_call(env, name, array))
                .transpose()?,
        };
        first = first.or(array.map(|array| (name, array.length())));
        Ok::<_, Fault>(array)
    })?;
    let fields = P::present(fields)
        .map_err(|name| argument!("{name}[{block}] is null: an array is needed"))?;
    let ends = offsets.map(|offsets| offsets.length());
    let coordinates = match (first, ends) {
        (Some((name, count)), Some(ends)) if indices.is_some() && ends != count + 1 => {
            return Err(argument!(
                "{name}[{block}] has length {count}, but offsets[{block}] has length {ends}, expected one more"
            ));
        }
        (Some((_, count)), _) => count,
        (None, ends) => ends.unwrap_or_default().saturating_sub(1),
    };
    let references = References {
        offsets,
        indices,
        values,
        fields,
    };
    Ok((references, coordinates))
}

/// The array of a block; none if it is null, or the arrays of all blocks are.
fn element<'l, T: TypeArray>(
    env: &mut Env<'l>,
    name: &str,
    arrays: &JObjectArray<'l, JPrimitiveArray<'l, T>>,
    block: usize,
    count: usize,
) -> Result<Option<ArrayRef<'l, T>>, Fault>
where
    JPrimitiveArray<'l, T>: Reference<Kind<'l> = JPrimitiveArray<'l, T>>,
{
    if arrays.is_null() {
        return Ok(None);
    }
    expect_length(name, arrays.len(env)?, count)?;
    let array = arrays.get_element(env, block)?;
    if array.is_null() {
        Ok(None)
    } else {
        ArrayRef::of_call(env, name, &array).map(Some)
    }
}

/// Lends blocks, whose arrays `critical` pins until the work ends.
fn lend<P: Partition, R>(
    critical: &impl Critical,
    starts: &[usize],
    blocks: &[References<'_, P>],
    work: impl for<'a> FnOnce(&mut Loan<'_, Block<'a, P>, Fault>) -> Result<R, Fault>,
) -> Result<R, Fault> {
    let pins = Pins::new(critical);
    work(&mut Loan::new(starts, &mut |block| {
        let arrays = &blocks[block];
        // SAFETY: no Java thread writes these arrays during a call: `NativeBridge` requires this of its callers, and blocks are immutable once
        // they are built.
        unsafe {
            Ok(Block {
                count: starts[block + 1] - starts[block],
                matrix: Matrix {
                    offsets: arrays
                        .offsets
                        .map_or(Ok(&[][..]), |offsets| pins.read(offsets))?,
                    indices: arrays
                        .indices
                        .map(|indices| pins.read(indices))
                        .transpose()?,
                    values: match arrays.values {
                        (Some(values), _) => Values::F32(pins.read(values)?),
                        (None, Some(values)) => Values::F64(pins.read(values)?),
                        (None, None) => Values::Ones,
                    },
                },
                fields: P::try_map(arrays.fields, |_, field| pins.read(field))?,
            })
        }
    }))
}

impl<P: Partition> Blocks for JavaBlocks<'_, '_, P> {
    type Block<'a> = Block<'a, P>;
    type Error = Fault;

    fn starts(&self) -> &[usize] {
        &self.starts
    }

    fn lend<R>(
        &mut self,
        work: impl for<'a> FnOnce(&mut Loan<'_, Block<'a, P>, Fault>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        self.poll()?;
        lend(
            &EnvCritical::new(self.env),
            &self.starts,
            &self.blocks,
            work,
        )
    }
}

impl<P: Partition> Caller<P> for JavaBlocks<'_, '_, P> {
    fn shared(&mut self) -> Result<Vec<f64>, Fault> {
        match self.shared {
            Some(shared) => decoded(self.env, "shared", shared),
            None => Ok(Vec::new()),
        }
    }

    fn write(
        &mut self,
        length: usize,
        mut write: impl FnMut(&mut Self, usize, &[u8], &mut [u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let most = 8 * COPIED.min(length);
        let (mut signed, mut shared, mut part) = (vec![0; most], vec![0; most], vec![0; most]);
        for first in (0..length).step_by(COPIED) {
            let bytes = 8 * COPIED.min(length - first);
            let mut own = 0;
            if let Some(array) = self.shared {
                array.get_region(self.env, (8 * first) as i32, &mut signed[..bytes])?;
                own = bytes;
                for (to, from) in shared.iter_mut().zip(&signed) {
                    *to = from.cast_unsigned();
                }
            }
            write(self, first, &shared[..own], &mut part[..bytes])?;
            for (to, from) in signed.iter_mut().zip(&part) {
                *to = from.cast_signed();
            }
            self.result.set_region(
                self.env,
                (header::BYTES + 8 * first) as i32,
                &signed[..bytes],
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        boundary::pins::tests::{Heap, HeapArray},
        rows::arrays::{Sgd, SgdFields},
    };

    /// Two dense blocks of one row each. Arrays 1 and 3 have the value, 2 and 4 the label.
    #[test]
    fn arrays_are_pinned_once_and_released_by_a_fault_in_mid_loan() {
        let arrays = [1, 2, 3, 4].map(|name| Box::into_raw(HeapArray::new(name, vec![0.5])));
        let block = |values, labels| References::<Sgd> {
            offsets: None,
            indices: None,
            values: (None, Some(HeapArray::array_ref(values))),
            fields: SgdFields {
                labels: HeapArray::array_ref(labels),
                weights: None,
                scale: None,
            },
        };
        let blocks = [block(arrays[0], arrays[1]), block(arrays[2], arrays[3])];
        let log = |refused, which: &[usize]| {
            let heap = Heap::new();
            heap.refuse.set(refused);
            let faulty = lend(&heap, &[0, 1, 2], &blocks, |loan| {
                for &block in which {
                    assert_eq!(loan.block(block)?.fields.labels, [0.5]);
                }
                Err::<(), _>(Fault::Cancelled)
            });
            assert_eq!(
                matches!(faulty, Err(Fault::OutOfMemory(_))),
                refused.is_some()
            );
            heap.log()
        };
        assert_eq!(log(None, &[]), "");
        assert_eq!(log(None, &[1, 1, 1]), "+3 +4 -4 -3 ");
        assert_eq!(log(None, &[0, 1, 0, 1]), "+1 +2 +3 +4 -4 -3 -2 -1 ");
        assert_eq!(log(Some(4), &[0, 0, 1, 0]), "+1 +2 +3 -3 -2 -1 ");
        for array in arrays {
            // SAFETY: it came from into_raw, and the references to it are gone.
            drop(unsafe { Box::from_raw(array) });
        }
    }
}
