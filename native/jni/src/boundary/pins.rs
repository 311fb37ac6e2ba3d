//! Java arrays, pinned for one loan.
//!
//! Until JDK 22 a pin holds back the garbage collector of the whole executor, so nothing stays pinned for longer than a loan
//! of about two milliseconds. Between the first pin and the last release there is no JNI call, no lock, and no wait except for the threads
//! of the solver itself.

use std::{cell::RefCell, ffi::c_void, marker::PhantomData, slice};

use jni::{
    Env,
    objects::{JPrimitiveArray, TypeArray},
    sys,
};

use crate::boundary::fault::{Fault, argument};

/// The two functions of the JVM that pin and release. A trait, so that the guard can be tested without a JVM.
pub trait Critical {
    /// Pins an array; null if it cannot.
    ///
    /// # Safety
    /// `array` is a live reference to a primitive array, of the current thread.
    unsafe fn acquire(&self, array: sys::jarray) -> *mut c_void;

    /// Releases an array.
    ///
    /// # Safety
    /// `elements` came from `acquire(array)`, and this is the only release of it.
    unsafe fn release(&self, array: sys::jarray, elements: *mut c_void, mode: sys::jint);
}

/// The functions of a JVM. This borrows the environment, so there can be no other JNI call while it lives.
pub struct EnvCritical<'e> {
    raw: *mut sys::JNIEnv,
    borrowed: PhantomData<&'e mut ()>,
}

impl<'e> EnvCritical<'e> {
    /// The functions of the JVM of `env`.
    pub fn new(env: &'e mut Env<'_>) -> Self {
        Self {
            raw: env.get_raw(),
            borrowed: PhantomData,
        }
    }
}

impl Critical for EnvCritical<'_> {
    unsafe fn acquire(&self, array: sys::jarray) -> *mut c_void {
        // SAFETY: `raw` is the environment of the current thread, alive as long as the borrow; the caller vouches for `array`.
        unsafe {
            ((**self.raw).v1_2.GetPrimitiveArrayCritical)(self.raw, array, std::ptr::null_mut())
        }
    }

    unsafe fn release(&self, array: sys::jarray, elements: *mut c_void, mode: sys::jint) {
        // SAFETY: as above; the caller vouches for `elements`.
        unsafe {
            ((**self.raw).v1_2.ReleasePrimitiveArrayCritical)(self.raw, array, elements, mode);
        }
    }
}

/// A Java array and its length, which must be known before anything is pinned.
#[derive(Debug)]
pub struct ArrayRef<'a, T> {
    raw: sys::jarray,
    length: usize,
    /// The local reference is borrowed for as long.
    element: PhantomData<&'a [T]>,
}

impl<T> Clone for ArrayRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ArrayRef<'_, T> {}

impl<'a, T> ArrayRef<'a, T> {
    /// An array whose length is known.
    ///
    /// # Safety
    /// `raw` is a reference to an array of `length` elements of the Java type of `T`, alive for `'a` on the current thread.
    pub unsafe fn from_raw(raw: sys::jarray, length: usize) -> Self {
        Self {
            raw,
            length,
            element: PhantomData,
        }
    }

    /// Number of elements.
    pub fn length(&self) -> usize {
        self.length
    }
}

impl<'a, T: TypeArray> ArrayRef<'a, T> {
    /// An array that is not null.
    ///
    /// # Errors
    /// `Argument`, with `name`, if it is null.
    pub fn new(
        env: &Env<'_>,
        name: &str,
        array: &'a JPrimitiveArray<'_, T>,
    ) -> Result<Self, Fault> {
        if array.is_null() {
            return Err(argument!("{name} is null: an array is needed"));
        }
        let length = array.len(env)?;
        // SAFETY: the reference is borrowed for 'a, its type is the type of the parameter, and the length was just read.
        Ok(unsafe { Self::from_raw(array.as_raw(), length) })
    }
}

impl<'l, T: TypeArray> ArrayRef<'l, T> {
    /// An array of the call, whose local reference lives until the native method returns.
    ///
    /// # Errors
    /// `Argument`, with `name`, if it is null.
    pub fn of_call(
        env: &Env<'l>,
        name: &str,
        array: &JPrimitiveArray<'l, T>,
    ) -> Result<Self, Fault> {
        let length = ArrayRef::new(env, name, array)?.length();
        // SAFETY: `'l` stands for the native method, at whose end the JVM frees its local references; nothing frees one before. The type is
        // the type of the parameter, and the length was just read.
        Ok(unsafe { Self::from_raw(array.as_raw(), length) })
    }
}

impl<'a> ArrayRef<'a, i8> {
    /// The same array, with unsigned bytes.
    pub fn unsigned(self) -> ArrayRef<'a, u8> {
        ArrayRef {
            raw: self.raw,
            length: self.length,
            element: PhantomData,
        }
    }
}

/// Several arrays pinned at once. Dropping it releases them in reverse order, also while a panic unwinds.
pub struct Pins<'s, S: Critical> {
    source: &'s S,
    held: RefCell<Vec<Held>>,
}

/// A pinned array, and the mode of its release.
struct Held {
    array: sys::jarray,
    elements: *mut c_void,
    mode: sys::jint,
}

impl<'s, S: Critical> Pins<'s, S> {
    /// Nothing is pinned yet.
    pub fn new(source: &'s S) -> Self {
        Self {
            source,
            held: RefCell::default(),
        }
    }

    /// Pins an array for reading.
    ///
    /// # Safety
    /// No Java thread writes the array while the slice is alive, and [`Pins::write`] has not lent it.
    ///
    /// # Errors
    /// `OutOfMemory` if the JVM cannot pin it.
    pub unsafe fn read<'p, T: Element>(&'p self, array: ArrayRef<'_, T>) -> Result<&'p [T], Fault> {
        if array.length == 0 {
            return Ok(&[]);
        }
        let elements = self.pin(array, sys::JNI_ABORT)?;
        // SAFETY: the elements come from a pin of this array, whose length was read before; they stay where they are until
        // `self` is dropped, which the lifetime forbids as long as the slice is alive. Every bit pattern is a value of T.
        Ok(unsafe { slice::from_raw_parts(elements, array.length) })
    }

    /// Pins an array for reading and writing.
    ///
    /// # Safety
    /// No Java thread uses the array while the slice is alive, and it has been lent by no other call of this object.
    ///
    /// # Errors
    /// `OutOfMemory` if the JVM cannot pin it.
    #[expect(
        clippy::mut_from_ref,
        reason = "the elements belong to the array, not to this object"
    )]
    pub unsafe fn write<'p, T: Element>(
        &'p self,
        array: ArrayRef<'_, T>,
    ) -> Result<&'p mut [T], Fault> {
        if array.length == 0 {
            return Ok(&mut []);
        }
        let elements = self.pin(array, 0)?;
        // SAFETY: as in `read`; the caller vouches that no other slice of the array is alive.
        Ok(unsafe { slice::from_raw_parts_mut(elements, array.length) })
    }

    fn pin<T: Element>(&self, array: ArrayRef<'_, T>, mode: sys::jint) -> Result<*mut T, Fault> {
        let mut held = self.held.borrow_mut();
        held.try_reserve(1)
            .map_err(|_| Fault::OutOfMemory("no memory to remember a pinned array".into()))?;
        // SAFETY: an `ArrayRef` is a live reference to a primitive array.
        let elements = unsafe { self.source.acquire(array.raw) };
        if elements.is_null() {
            return Err(Fault::OutOfMemory("the JVM cannot pin an array".into()));
        }
        held.push(Held {
            array: array.raw,
            elements,
            mode,
        });
        let elements = elements.cast::<T>();
        if elements.is_aligned() {
            Ok(elements)
        } else {
            Err(Fault::Solver(
                "the JVM pinned an array at an address that does not fit its elements".into(),
            ))
        }
    }
}

impl<S: Critical> Drop for Pins<'_, S> {
    fn drop(&mut self) {
        for held in self.held.get_mut().iter().rev() {
            // SAFETY: acquired by `pin`, and released here only. No slice is alive: their lifetimes end before this drop.
            unsafe {
                self.source.release(held.array, held.elements, held.mode);
            }
        }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for i32 {}
    impl Sealed for i64 {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// Types of elements for which every bit pattern is a value.
pub trait Element: sealed::Sealed + Copy {}
impl Element for u8 {}
impl Element for i32 {}
impl Element for i64 {}
impl Element for f32 {}
impl Element for f64 {}

#[cfg(test)]
pub(crate) mod tests {
    use std::{
        cell::Cell,
        panic::{AssertUnwindSafe, catch_unwind},
    };

    use super::*;

    /// Arrays on the heap, lent as copies, as -Xcheck:jni does. A reference is the address of one.
    pub(crate) struct Heap {
        log: RefCell<Vec<(char, usize)>>,
        pub(crate) refuse: Cell<Option<usize>>,
    }

    pub(crate) struct HeapArray {
        name: usize,
        elements: Vec<f64>,
        lent: Vec<f64>,
    }

    impl HeapArray {
        pub(crate) fn new(name: usize, elements: Vec<f64>) -> Box<Self> {
            Box::new(Self {
                name,
                elements,
                lent: Vec::new(),
            })
        }

        pub(crate) fn array_ref(this: *mut Self) -> ArrayRef<'static, f64> {
            // SAFETY: the tests keep the box alive and use it through this pointer only, and `length` is its length.
            unsafe { ArrayRef::from_raw(this.cast(), (*this).elements.len()) }
        }
    }

    impl Heap {
        pub(crate) fn new() -> Self {
            Self {
                log: Vec::new().into(),
                refuse: Cell::new(None),
            }
        }

        pub(crate) fn log(&self) -> String {
            let log = self.log.borrow();
            log.iter()
                .map(|(what, name)| format!("{what}{name} "))
                .collect()
        }
    }

    impl Critical for Heap {
        unsafe fn acquire(&self, array: sys::jarray) -> *mut c_void {
            // SAFETY: references of these tests are pointers to a live HeapArray.
            let array = unsafe { &mut *array.cast::<HeapArray>() };
            if self.refuse.get() == Some(array.name) {
                return std::ptr::null_mut();
            }
            self.log.borrow_mut().push(('+', array.name));
            array.lent = array.elements.clone();
            array.lent.as_mut_ptr().cast()
        }

        unsafe fn release(&self, array: sys::jarray, elements: *mut c_void, mode: sys::jint) {
            // SAFETY: as above.
            let array = unsafe { &mut *array.cast::<HeapArray>() };
            assert_eq!(array.lent.as_mut_ptr().cast(), elements);
            let lent = std::mem::take(&mut array.lent);
            if mode == 0 {
                array.elements = lent;
            }
            self.log.borrow_mut().push(('-', array.name));
        }
    }

    /// Runs `test` on a heap and two arrays, and returns their elements afterwards.
    fn with_two(
        test: impl FnOnce(&Heap, ArrayRef<'_, f64>, ArrayRef<'_, f64>),
    ) -> (Vec<f64>, Vec<f64>) {
        let heap = Heap::new();
        let first = Box::into_raw(HeapArray::new(1, vec![1.0, 2.0]));
        let second = Box::into_raw(HeapArray::new(2, vec![3.0, 4.0, 5.0]));
        test(
            &heap,
            HeapArray::array_ref(first),
            HeapArray::array_ref(second),
        );
        // SAFETY: both came from into_raw, and the references to them are gone.
        unsafe {
            (
                Box::from_raw(first).elements,
                Box::from_raw(second).elements,
            )
        }
    }

    #[test]
    fn written_elements_arrive_and_releases_are_in_reverse_order() {
        let (first, second) = with_two(|heap, a, b| {
            let pins = Pins::new(heap);
            // SAFETY: no other code uses the arrays.
            let (a, b) = unsafe { (pins.read(a).unwrap(), pins.write(b).unwrap()) };
            assert_eq!(a, [1.0, 2.0]);
            b[2] += a[0];
            drop(pins);
            assert_eq!(heap.log(), "+1 +2 -2 -1 ");
        });
        assert_eq!((first, second), (vec![1.0, 2.0], vec![3.0, 4.0, 6.0]));
    }

    #[test]
    fn a_panic_releases() {
        with_two(|heap, a, b| {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let pins = Pins::new(heap);
                // SAFETY: no other code uses the arrays.
                let (a, b) = unsafe { (pins.read(a).unwrap(), pins.read(b).unwrap()) };
                b[a.len() + 1]
            }));
            assert!(caught.is_err());
            assert_eq!(heap.log(), "+1 +2 -2 -1 ");
        });
    }

    #[test]
    fn a_refused_pin_releases_the_others() {
        with_two(|heap, a, b| {
            heap.refuse.set(Some(2));
            let pins = Pins::new(heap);
            // SAFETY: no other code uses the arrays.
            let (_, refused) = unsafe { (pins.read(a).unwrap(), pins.read(b)) };
            assert!(matches!(refused, Err(Fault::OutOfMemory(_))));
            drop(pins);
            assert_eq!(heap.log(), "+1 -1 ");
        });
    }

    #[test]
    fn empty_arrays_are_not_pinned() {
        let heap = Heap::new();
        let pins = Pins::new(&heap);
        // SAFETY: a reference to an empty array is never followed.
        let empty = unsafe { ArrayRef::<i32>::from_raw(std::ptr::null_mut(), 0) };
        // SAFETY: no other code uses the array.
        assert!(unsafe { pins.read(empty) }.unwrap().is_empty());
        // SAFETY: no other code uses the array.
        assert!(unsafe { pins.write(empty) }.unwrap().is_empty());
        drop(pins);
        assert_eq!(heap.log(), "");
    }
}
