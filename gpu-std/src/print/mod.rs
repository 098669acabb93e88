//! Output of kernels (`printf`): [`println!`](crate::println) and [`print!`](crate::print!), and the values that they print.
//!
//! A thread writes a record: the address of the template, and the values, each preceded by a word that encodes its type. The runtime
//! formats records of the GPU and of the CPU device alike (its print.rs reads them).

use core::fmt;

use gpukernel_abi::output::{RECORD_HEAD_WORDS as HEAD_WORDS, tag};

mod values;

/// The maximum number of words of a record: 64 KiB. A notice is printed instead of a longer one.
const MAX_WORDS: usize = 1 << 14;

/// The notice that is printed instead of a text that is too long.
const TOO_LONG: &str = "[gpukernel: a text of more than 64 KiB of values is not printed]\n";

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// A value that kernels can print with [`println!`](crate::println!) and [`print!`](crate::print!).
///
/// Numbers, [`f16`](struct@crate::half::f16), [`bf16`](crate::half::bf16), [`Complex`](crate::complex::Complex) numbers, the
/// [vectors](crate::vector), `bool`, `char`, `&'static str`, [`Dim3`](crate::Dim3), and slices, arrays, tuples, `Option`s and references
/// of these. Text other than `&'static str` is not supported, because it would be gone when the host reads the record; print types of
/// your own field by field.
///
/// A printed text has at most 64 KiB of values. Larger arrays do not compile:
///
/// ```compile_fail,E0080
/// gpu_std::println!("{:?}", [(); 1 << 32]);
/// ```
///
/// A notice is printed instead of a longer slice. Outside of a kernel there is no such limit.
///
/// Sealed: records are allocated with the sizes that the implementations return.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot print `{Self}`",
    label = "not a value that `gpu_std::println!` takes",
    note = "numbers, `bool`, `char`, `&'static str`, `Dim3`, complex numbers, vectors, and slices, arrays, tuples, `Option`s and \
            references of these can be printed"
)]
pub trait Print: Sealed {
    /// The minimum number of words of a value.
    #[doc(hidden)]
    const WORDS: usize;

    /// Whether every value has exactly [`WORDS`](Self::WORDS) words.
    #[doc(hidden)]
    const FIXED: bool = true;

    /// The number of words of this value.
    #[doc(hidden)]
    #[inline]
    fn words(&self) -> usize {
        Self::WORDS
    }

    /// Writes the value.
    #[doc(hidden)]
    fn put(&self, words: &mut Words);
}

/// The unwritten rest of a record.
#[doc(hidden)]
#[derive(Debug)]
pub struct Words {
    at: *mut u32,
}

impl Words {
    #[inline]
    fn put(&mut self, word: u32) {
        // SAFETY: `emit` made room for as many words as `Print::words` says, and the types of this crate write so many.
        unsafe {
            self.at.write(word);
            self.at = self.at.add(1);
        }
    }

    #[inline]
    fn put_u64(&mut self, words: u64) {
        self.put(words as u32);
        self.put((words >> 32) as u32);
    }

    #[inline]
    fn put_text(&mut self, text: &'static str) {
        self.put_u64(text.as_ptr().expose_provenance() as u64);
        self.put(text.len() as u32);
    }
}

/// Writes a record of `room` words to `at`.
///
/// # Safety
/// There is space for them, and their number is `HEAD_WORDS` plus that of the values.
#[inline]
unsafe fn write<T: Print>(at: *mut u32, room: usize, template: &'static str, values: &T) {
    let mut words = Words { at };
    words.put(room as u32);
    words.put_text(template);
    values.put(&mut words);
}

/// The number of words of a record of these values; `None` if it exceeds the maximum.
#[inline]
fn room<T: Print>(values: &T) -> Option<usize> {
    const {
        assert!(
            T::WORDS < MAX_WORDS,
            "a kernel prints at most 64 KiB of values at once: print parts of them, such as slices"
        );
    }
    let room = values.words().saturating_add(HEAD_WORDS as usize);
    if room > MAX_WORDS { None } else { Some(room) }
}

/// Called by the macros: `values` is a tuple, the text is printed outside of a kernel.
#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
#[inline]
pub fn emit<T: Print>(template: &'static str, values: &T, _text: fmt::Arguments<'_>) {
    #[inline]
    fn record<T: Print>(room: usize, template: &'static str, values: &T) {
        unsafe extern "C" {
            /// Allocates `words` words; null if the buffer is full.
            safe fn __gpukernel_print_reserve(words: u32) -> *mut u32;
        }
        let at = __gpukernel_print_reserve(room as u32);
        if !at.is_null() {
            // SAFETY: there is room for as many words, which `emit` has counted.
            unsafe { write(at, room, template, values) };
        }
    }
    match room(values) {
        Some(room) => record(room, template, values),
        None => record(HEAD_WORDS as usize + <()>::WORDS, TOO_LONG, &()),
    }
}

/// Called by the macros: `values` is a tuple, the text is printed outside of a kernel.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
pub fn emit<T: Print>(template: &'static str, values: &T, text: fmt::Arguments<'_>) {
    fn record<T: Print>(room: usize, template: &'static str, values: &T) {
        let mut record = std::vec![0_u32; room];
        // SAFETY: the vector has as many words, which `emit` has counted.
        unsafe { write(record.as_mut_ptr(), room, template, values) };
        crate::host::print(&record);
    }
    if !crate::host::in_printing_kernel() {
        std::print!("{text}");
        return;
    }
    match room(values) {
        Some(room) => record(room, template, values),
        None => record(HEAD_WORDS as usize + <()>::WORDS, TOO_LONG, &()),
    }
}
