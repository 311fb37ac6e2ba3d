//! Allocations that can fail, large ones on huge pages, and memory given back to the system.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::boundary::fault::Fault;

/// An empty vector with room for exactly `length` elements.
///
/// # Errors
/// `OutOfMemory`, which names `what` the room is for.
pub fn reserve<T>(length: usize, what: &str) -> Result<Vec<T>, Fault> {
    let mut vector = Vec::new();
    match vector.try_reserve_exact(length) {
        Ok(()) => Ok(vector),
        Err(_) => Err(Fault::OutOfMemory(format!(
            "cannot allocate {} bytes for {what}",
            length.saturating_mul(size_of::<T>())
        ))),
    }
}

/// `length` zeros.
///
/// # Errors
/// As [`reserve`].
pub fn zeros(length: usize, what: &str) -> Result<Vec<f64>, Fault> {
    let mut vector = reserve(length, what)?;
    vector.resize(length, 0.0);
    Ok(vector)
}

/// A copy of `elements`.
///
/// # Errors
/// As [`reserve`].
pub fn copied<T: Copy>(elements: &[T], what: &str) -> Result<Vec<T>, Fault> {
    let mut copy = reserve(elements.len(), what)?;
    copy.extend_from_slice(elements);
    Ok(copy)
}

/// Returns freed memory to the system. The allocator of glibc would keep it for this process.
#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
pub fn trim() {
    unsafe extern "C" {
        fn malloc_trim(pad: usize) -> i32;
    }
    // SAFETY: a function of glibc with this signature, callable from any thread at any time.
    unsafe {
        malloc_trim(0);
    }
}

/// Does nothing: only the allocator of glibc must be asked.
#[cfg(not(all(target_os = "linux", target_env = "gnu", not(miri))))]
pub fn trim() {}

/// The allocator of the library: vectors of [`HUGE`] bytes and more lie on huge pages where Linux has some left. Sparse rows visit their
/// vectors in any order, and with pages of 4 KiB half of the time goes into finding the page.
pub struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// The size of a huge page of x86-64, and of arm64 with pages of 4 KiB. Larger pages are aligned to it, too.
const HUGE: usize = 2 << 20;

impl Allocator {
    /// The layout that the system is asked for; None for a small one.
    fn large(layout: Layout) -> Option<Layout> {
        if layout.size() < HUGE {
            return None;
        }
        layout.align_to(HUGE).ok()
    }
}

// SAFETY: `System` does all of it. A block is given back with the layout that `large` has asked for, which depends on the block's own
// layout alone.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match Self::large(layout) {
            // SAFETY: the caller's obligations, which the size and a larger alignment keep.
            None => unsafe { System.alloc(layout) },
            Some(large) => {
                // SAFETY: as above.
                let block = unsafe { System.alloc(large) };
                advise(block, large.size());
                block
            }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match Self::large(layout) {
            // SAFETY: as in `alloc`.
            None => unsafe { System.alloc_zeroed(layout) },
            Some(_) => {
                // SAFETY: as in `alloc`; a block that is not null has as many bytes.
                unsafe {
                    let block = self.alloc(layout);
                    if !block.is_null() {
                        block.write_bytes(0, layout.size());
                    }
                    block
                }
            }
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's obligations; the layout is the one of `alloc`.
        unsafe { System.dealloc(block, Self::large(layout).unwrap_or(layout)) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, length: usize) -> *mut u8 {
        if layout.size() < HUGE && length < HUGE {
            // SAFETY: the caller's obligations; `alloc` has asked for this layout.
            return unsafe { System.realloc(block, layout, length) };
        }
        // SAFETY: the caller's obligations: the length is not 0 and valid with this alignment. Both blocks have as many bytes as are copied.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(length, layout.align()));
            if !new.is_null() {
                new.copy_from_nonoverlapping(block, layout.size().min(length));
                self.dealloc(block, layout);
            }
            new
        }
    }
}

/// Asks for huge pages. A system that has none goes on with small ones.
#[cfg(all(target_os = "linux", not(miri)))]
fn advise(block: *mut u8, length: usize) {
    use std::ffi::{c_int, c_void};
    unsafe extern "C" {
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    const MADV_HUGEPAGE: c_int = 14;
    if !block.is_null() {
        // SAFETY: a function of the C library with this signature. The advice changes no content, and the range is the block's own.
        unsafe {
            madvise(block.cast(), length, MADV_HUGEPAGE);
        }
    }
}

/// Does nothing: only Linux takes the advice.
#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_lengths_are_a_fault() {
        let fault = reserve::<f64>(usize::MAX, "a test").unwrap_err();
        assert!(matches!(fault, Fault::OutOfMemory(text) if text.contains("a test")));
    }

    #[test]
    fn large_vectors_keep_their_content_as_they_grow_and_shrink() {
        let place = |x: &u8| x as *const u8 as usize;
        for (length, longer) in [(10, 1000), (HUGE - 1, HUGE), (HUGE, 3 * HUGE + 1)] {
            let mut vector = vec![0_u8; length];
            assert!(vector.iter().all(|&x| x == 0));
            vector[length - 1] = 7;
            vector.resize(longer, 8);
            assert_eq!(
                (vector[0], vector[length - 1], vector[longer - 1]),
                (0, 7, 8)
            );
            assert!(longer < HUGE || place(&vector[0]).is_multiple_of(HUGE));
            vector.truncate(length);
            vector.shrink_to_fit();
            assert_eq!((vector.len(), vector[length - 1]), (length, 7));
        }
    }

    #[test]
    fn copies_and_zeros() {
        assert_eq!(copied(&[1.0, 2.0], "a test").unwrap(), [1.0, 2.0]);
        assert_eq!(zeros(2, "a test").unwrap(), [0.0; 2]);
    }
}
