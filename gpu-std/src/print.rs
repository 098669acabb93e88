//! Output of kernels: [`println!`](crate::println) and [`print!`](crate::print!), and what they can print.
//!
//! A thread writes a record: where the template is, and the values with a word in front of each that says what it is. The
//! runtime formats it, for the GPU and for the CPU device alike (its print.rs reads what is written here).

use core::fmt;

use crate::Dim3;

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
    /// Three words.
    pub const DIM3: u32 = 9;
}

/// Words in front of the values of a record: how many words it has in all, address of the template in two, its length.
#[doc(hidden)]
pub const HEAD_WORDS: u32 = 4;

/// A value that kernels can print.
///
/// Numbers, `bool`, `char`, `&'static str`, [`Dim3`], and arrays, tuples and references of these. Other text than `&'static str`
/// is gone when it is read, and types of your own are printed field by field.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot print `{Self}`",
    label = "not a value that `gpu_std::println!` takes",
    note = "numbers, `bool`, `char`, `&'static str`, `Dim3`, and arrays, tuples and references of these can be printed"
)]
pub trait Print {
    /// How many words it takes.
    #[doc(hidden)]
    const WORDS: u32;

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
        // SAFETY: `emit` made room for as many words as `Print::WORDS` says.
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

macro_rules! integers {
    ($($t:ty: $signed:literal, $words:literal;)*) => {$(
        impl Print for $t {
            const WORDS: u32 = 1 + $words;

            #[inline]
            fn put(&self, words: &mut Words) {
                words.put(tag::INTEGER | (<$t>::BITS << 8) | ($signed << 16));
                match $words {
                    // Without the bits above its own, whatever its sign.
                    1 => words.put((*self as u32) & (u32::MAX >> (32 - <$t>::BITS.min(32)))),
                    2 => words.put_u64(*self as u64),
                    _ => {
                        words.put_u64(*self as u64);
                        words.put_u64((*self as u128 >> 64) as u64);
                    }
                }
            }
        }
    )*};
}

integers! {
    u8: 0, 1; u16: 0, 1; u32: 0, 1; u64: 0, 2; usize: 0, 2; u128: 0, 4;
    i8: 1, 1; i16: 1, 1; i32: 1, 1; i64: 1, 2; isize: 1, 2; i128: 1, 4;
}

macro_rules! scalars {
    ($($t:ty: $tag:ident, $words:literal, |$value:ident| $bits:expr;)*) => {$(
        impl Print for $t {
            const WORDS: u32 = 1 + $words;

            #[inline]
            fn put(&self, words: &mut Words) {
                let $value = *self;
                words.put(tag::$tag);
                match $words {
                    1 => words.put($bits as u32),
                    _ => words.put_u64($bits as u64),
                }
            }
        }
    )*};
}

scalars! {
    f32: F32, 1, |value| value.to_bits();
    f64: F64, 2, |value| value.to_bits();
    bool: BOOL, 1, |value| value;
    char: CHAR, 1, |value| value;
}

impl Print for &'static str {
    const WORDS: u32 = 4;

    #[inline]
    fn put(&self, words: &mut Words) {
        words.put(tag::TEXT);
        words.put_text(self);
    }
}

impl Print for Dim3 {
    const WORDS: u32 = 4;

    #[inline]
    fn put(&self, words: &mut Words) {
        words.put(tag::DIM3);
        words.put(self.x);
        words.put(self.y);
        words.put(self.z);
    }
}

impl<T: Print> Print for &T {
    const WORDS: u32 = T::WORDS;

    #[inline]
    fn put(&self, words: &mut Words) {
        T::put(self, words);
    }
}

impl<T: Print, const N: usize> Print for [T; N] {
    const WORDS: u32 = 1 + T::WORDS * N as u32;

    #[inline]
    fn put(&self, words: &mut Words) {
        words.put(tag::LIST | ((N as u32) << 8));
        for value in self {
            value.put(words);
        }
    }
}

macro_rules! tuples {
    ($($($t:ident)*;)*) => {$(
        impl<$($t: Print),*> Print for ($($t,)*) {
            const WORDS: u32 = 1 $(+ $t::WORDS)*;

            #[inline]
            #[allow(non_snake_case)]
            fn put(&self, words: &mut Words) {
                let ($($t,)*) = self;
                let values: u32 = 0 $(+ { let _ = $t; 1 })*;
                words.put(tag::TUPLE | (values << 8));
                $($t.put(words);)*
            }
        }
    )*};
}

tuples! {
    ; A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H; A B C D E F G H I;
    A B C D E F G H I J; A B C D E F G H I J K; A B C D E F G H I J K L;
}

/// Writes a record to `at`, which has room for it.
#[inline]
fn write<T: Print>(at: *mut u32, template: &'static str, values: &T) {
    let mut words = Words { at };
    words.put(HEAD_WORDS + T::WORDS);
    words.put_text(template);
    values.put(&mut words);
}

/// What the macros call: `values` is a tuple. The text is what a program prints outside of a kernel.
#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
#[inline]
pub fn emit<T: Print>(template: &'static str, values: &T, _text: fmt::Arguments<'_>) {
    unsafe extern "C" {
        /// Room for so many words, or null if there is none left.
        safe fn __gpukernel_print_reserve(words: u32) -> *mut u32;
    }
    let at = __gpukernel_print_reserve(HEAD_WORDS + T::WORDS);
    if !at.is_null() {
        write(at, template, values);
    }
}

/// What the macros call: `values` is a tuple. The text is what a program prints outside of a kernel.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
pub fn emit<T: Print>(template: &'static str, values: &T, text: fmt::Arguments<'_>) {
    if !crate::host::in_printing_kernel() {
        std::print!("{text}");
        return;
    }
    let mut record = std::vec![0_u32; (HEAD_WORDS + T::WORDS) as usize];
    write(record.as_mut_ptr(), template, values);
    crate::host::print(&record);
}
