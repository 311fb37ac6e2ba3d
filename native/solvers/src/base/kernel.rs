//! The choice of inner loops: by the way in which entries are stored, the type of their values, and for dense entries the instructions.

use std::marker::PhantomData;

use crate::base::{
    dense::Dense,
    entries::Entries,
    instructions::{Instructions, Kernel},
    matrix::{Columns, Stored, Values},
    sparse::{Numbers, Ones, Sparse},
};

/// Work that is compiled once for each kind of entries. `run` and all that it calls for dense entries must be inlined: see `dense`.
pub(crate) trait WithEntries {
    type Output;
    fn run<E: Entries>(self, entries: E) -> Self::Output;
}

/// Runs `work` on the entries of `columns`.
#[inline]
pub(crate) fn with_entries<W: WithEntries>(columns: &Columns<'_>, work: W) -> W::Output {
    with_kernel(Kernel::detect(), columns, work)
}

/// The same, with the instructions of `kernel` for dense entries.
pub(crate) fn with_kernel<W: WithEntries>(
    kernel: Kernel,
    columns: &Columns<'_>,
    work: W,
) -> W::Output {
    match columns.stored() {
        Stored::Sparse(offsets, indices, values) => match values {
            Values::Ones => {
                let length = indices.len();
                on_sparse(offsets, indices, Ones { length }, work)
            }
            Values::F32(values) => on_sparse(offsets, indices, values, work),
            Values::F64(values) => on_sparse(offsets, indices, values, work),
        },
        Stored::Dense32(values) => on_dense(kernel, columns.rows(), values, work),
        Stored::Dense64(values) => on_dense(kernel, columns.rows(), values, work),
    }
}

fn on_sparse<N: Numbers, W: WithEntries>(
    offsets: &[i32],
    indices: &[i32],
    values: N,
    work: W,
) -> W::Output {
    work.run(Sparse {
        offsets,
        indices,
        values,
    })
}

fn on_dense<T: Copy + Into<f64> + Send + Sync, W: WithEntries>(
    kernel: Kernel,
    rows: usize,
    values: &[T],
    work: W,
) -> W::Output {
    let plain = Dense {
        rows,
        values,
        kernel: PhantomData::<()>,
    };
    match kernel.0 {
        Instructions::Portable => work.run(plain),
        #[cfg(target_arch = "aarch64")]
        Instructions::Neon(_) => work.run(plain),
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2(token) => token.vectorize(On {
            entries: Dense {
                rows,
                values,
                kernel: PhantomData::<pulp::x86::V3>,
            },
            work,
        }),
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512(token) => token.vectorize(On {
            entries: Dense {
                rows,
                values,
                kernel: PhantomData::<pulp::x86::V4>,
            },
            work,
        }),
    }
}

/// Work on these entries, for `vectorize`.
#[cfg(target_arch = "x86_64")]
struct On<E, W> {
    entries: E,
    work: W,
}

#[cfg(target_arch = "x86_64")]
impl<E: Entries, W: WithEntries> pulp::NullaryFnOnce for On<E, W> {
    type Output = W::Output;

    #[inline(always)]
    fn call(self) -> W::Output {
        self.work.run(self.entries)
    }
}
