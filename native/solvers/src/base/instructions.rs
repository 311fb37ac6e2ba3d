//! The choice of instructions, at run time. The tokens of `pulp` prove that the processor has them, so that their use is safe.

use once_cell::sync::Lazy;
use pulp::{Arch, Simd, WithSimd};

/// The instructions that vectorised loops are compiled for.
#[derive(Debug, Clone, Copy)]
pub struct Kernel(pub(crate) Instructions);

/// The kinds of instructions, each with the token that proves that the processor has them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Instructions {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
    #[cfg(target_arch = "x86_64")]
    Avx512(pulp::x86::V4),
    /// Every processor of arm64 has it, so plain Rust is compiled to it, too: only kernels of their own tell the two apart.
    #[cfg(target_arch = "aarch64")]
    Neon(pulp::aarch64::Neon),
}

impl Kernel {
    /// Plain Rust, for every processor.
    pub const PORTABLE: Self = Self(Instructions::Portable);

    /// The fastest kernel of this processor.
    pub fn detect() -> Self {
        static FASTEST: Lazy<Kernel> =
            Lazy::new(|| Kernel::available().pop().unwrap_or(Kernel::PORTABLE));
        *FASTEST
    }

    /// All kernels of this processor, the fastest last.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut all = vec![Self::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(pulp::x86::V3::try_new().map(|token| Self(Instructions::Avx2(token))));
            all.extend(pulp::x86::V4::try_new().map(|token| Self(Instructions::Avx512(token))));
        }
        #[cfg(target_arch = "aarch64")]
        all.extend(pulp::aarch64::Neon::try_new().map(|token| Self(Instructions::Neon(token))));
        all
    }

    /// `portable`, `avx2`, `avx512` or `neon`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Instructions::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(_) => "avx512",
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon(_) => "neon",
        }
    }
}

/// Runs `work` with the processor's instructions. A closure that may run once only would stay a function of its own, compiled for none of them.
pub fn vectorised<R>(work: impl FnMut() -> R) -> R {
    struct On<F>(F);
    impl<R, F: FnMut() -> R> WithSimd for On<F> {
        type Output = R;

        #[inline(always)]
        fn with_simd<S: Simd>(mut self, _: S) -> R {
            (self.0)()
        }
    }
    Arch::new().dispatch(On(work))
}

/// Asks the processor to bring the cache line of a number, before it is needed.
#[inline(always)]
pub fn prefetch(numbers: &[f64], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse) = pulp::core_arch::x86::Sse::try_new() {
        // Nothing is read, so that the address may be any.
        let address = numbers.as_ptr().wrapping_add(at).cast();
        sse._mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(address);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (numbers, at);
}
