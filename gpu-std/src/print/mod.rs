//! Output of kernels: [`println!`](crate::println) and [`print!`](crate::print!), and what they can print.
//!
//! A thread writes a record: where the template is, and the values with a word in front of each that says what it is. The
//! runtime formats it, for the GPU and for the CPU device alike (its print.rs reads what is written here).

use core::fmt;

mod values;

/// What a value is: the lowest byte of the word in front of it; the others depend on it.
#[doc(hidden)]
pub mod tag {
    /// Bits in bits 8–15, whether it is signed in bit 16. One word, or as many as it has.
    pub const INTEGER: u32 = 1;
    /// One word.
    pub const F32: u32 = 2;
    /// Two words.
    pub const F64: u32 = 3;
    /// One word.
    pub const BOOL: u32 = 4;
    /// One word.
    pub const CHAR: u32 = 5;
    /// Address in two words, length in bytes.
    pub const TEXT: u32 = 6;
    /// As many values as bits 8–31 say.
    pub const LIST: u32 = 7;
    /// As many values as bits 8–31 say.
    pub const TUPLE: u32 = 8;
    /// As many fields as bits 8–31 say. In front of their values a text: the name of the struct and those of the fields, with spaces
    /// between.
    pub const STRUCT: u32 = 9;
    /// An `Option`: as many values as bits 8–31 say, none or one.
    pub const OPTION: u32 = 10;
}

/// Words in front of the values of a record: how many words it has in all, address of the template in two, its length.
#[doc(hidden)]
pub const HEAD_WORDS: u32 = 4;

/// So many words a record has at most: 64 KiB. Of a longer one a notice is printed.
const MAX_WORDS: usize = 1 << 14;

/// What is printed in place of a text that is too long.
const TOO_LONG: &str = "[gpukernel: a text of more than 64 KiB of values is not printed]\n";

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// A value that kernels can print.
///
/// Numbers, [`f16`](struct@crate::half::f16), [`bf16`](crate::half::bf16), [`Complex`](crate::complex::Complex) numbers, the
/// [vectors](crate::vector), `bool`, `char`, `&'static str`, [`Dim3`](crate::Dim3), and slices, arrays, tuples, `Option`s and references
/// of these. Other text than `&'static str` is gone when it is read, and types of your own are printed field by field.
///
/// A text has at most 64 KiB of values. Of larger arrays rustc says so:
///
/// ```compile_fail,E0080
/// gpu_std::println!("{:?}", [(); 1 << 32]);
/// ```
///
/// Longer slices are printed as a notice. Outside of a kernel there is no such limit.
///
/// Sealed: the room of a record is made by what the types say here.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot print `{Self}`",
    label = "not a value that `gpu_std::println!` takes",
    note = "numbers, `bool`, `char`, `&'static str`, `Dim3`, complex numbers, vectors, and slices, arrays, tuples, `Option`s and \
            references of these can be printed"
)]
pub trait Print: Sealed {
    /// How many words a value takes at least.
    #[doc(hidden)]
    const WORDS: usize;

    /// Whether every value takes exactly so many.
    #[doc(hidden)]
    const FIXED: bool = true;

    /// How many words this value takes.
    #[doc(hidden)]
    #[inline]
    fn words(&self) -> usize {
        Self::WORDS
    }

    /// Writes it.
    #[doc(hidden)]
    fn put(&self, words: &mut Words);
}

/// The rest of a record.
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

/// Writes a record of so many words to `at`.
///
/// # Safety
/// There is room for them, and they are `HEAD_WORDS` and those of the values.
#[inline]
unsafe fn write<T: Print>(at: *mut u32, room: usize, template: &'static str, values: &T) {
    let mut words = Words { at };
    words.put(room as u32);
    words.put_text(template);
    values.put(&mut words);
}

/// How many words a record of these values has; none if that is more than a record may have.
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

/// What the macros call: `values` is a tuple. The text is what a program prints outside of a kernel.
#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
#[inline]
pub fn emit<T: Print>(template: &'static str, values: &T, _text: fmt::Arguments<'_>) {
    #[inline]
    fn record<T: Print>(room: usize, template: &'static str, values: &T) {
        unsafe extern "C" {
            /// Room for so many words, or null if there is none left.
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

/// What the macros call: `values` is a tuple. The text is what a program prints outside of a kernel.
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
