//! The types that can be printed, and their sizes in words.

use super::{Print, Sealed, Words, tag};
use crate::{
    Dim3,
    complex::Complex,
    half::{bf16, bf16x2, f16, f16x2},
    vector::*,
};

macro_rules! integers {
    ($($t:ty: $signed:literal, $words:literal;)*) => {$(
        impl Sealed for $t {}

        impl Print for $t {
            const WORDS: usize = 1 + $words;

            #[inline]
            fn put(&self, words: &mut Words) {
                words.put(tag::INTEGER | (<$t>::BITS << 8) | ($signed << 16));
                match $words {
                    // Mask the bits above its width, also of negative numbers.
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
        impl Sealed for $t {}

        impl Print for $t {
            const WORDS: usize = 1 + $words;

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
    f16: F32, 1, |value| value.to_f32().to_bits();
    bf16: F32, 1, |value| value.to_f32().to_bits();
}

impl Sealed for &'static str {}

impl Print for &'static str {
    const WORDS: usize = 4;

    #[inline]
    fn put(&self, words: &mut Words) {
        words.put(tag::TEXT);
        words.put_text(self);
    }
}

/// Structs, printed as by `derive(Debug)`.
macro_rules! structs {
    ($($name:ident$(<$t:ident>)?: $text:literal, $count:literal, $of:ident { $($field:ident)* })*) => {$(
        impl Sealed for $name$(<$t>)? {}

        impl Print for $name$(<$t>)? {
            const WORDS: usize = 4 + $count * <$of as Print>::WORDS;

            #[inline]
            fn put(&self, words: &mut Words) {
                words.put(tag::STRUCT | ($count << 8));
                words.put_text($text);
                // As an array, so that their number is that counted.
                let fields: [$of; $count] = [$(self.$field),*];
                for field in fields {
                    field.put(words);
                }
            }
        }
    )*};
}

structs! {
    Dim3: "Dim3 x y z", 3, u32 { x y z }
    Complex<f32>: "Complex re im", 2, f32 { re im }
    Complex<f64>: "Complex re im", 2, f64 { re im }
    f16x2: "f16x2 x y", 2, f16 { x y }
    bf16x2: "bf16x2 x y", 2, bf16 { x y }
    f32x2: "f32x2 x y", 2, f32 { x y }
    f32x3: "f32x3 x y z", 3, f32 { x y z }
    f32x4: "f32x4 x y z w", 4, f32 { x y z w }
    f64x2: "f64x2 x y", 2, f64 { x y }
    f64x3: "f64x3 x y z", 3, f64 { x y z }
    i32x2: "i32x2 x y", 2, i32 { x y }
    i32x3: "i32x3 x y z", 3, i32 { x y z }
    i32x4: "i32x4 x y z w", 4, i32 { x y z w }
    u32x2: "u32x2 x y", 2, u32 { x y }
    u32x3: "u32x3 x y z", 3, u32 { x y z }
    u32x4: "u32x4 x y z w", 4, u32 { x y z w }
    i64x2: "i64x2 x y", 2, i64 { x y }
    u64x2: "u64x2 x y", 2, u64 { x y }
    i16x2: "i16x2 x y", 2, i16 { x y }
    i16x4: "i16x4 x y z w", 4, i16 { x y z w }
    u16x2: "u16x2 x y", 2, u16 { x y }
    u16x4: "u16x4 x y z w", 4, u16 { x y z w }
    i8x2: "i8x2 x y", 2, i8 { x y }
    i8x4: "i8x4 x y z w", 4, i8 { x y z w }
    u8x2: "u8x2 x y", 2, u8 { x y }
    u8x4: "u8x4 x y z w", 4, u8 { x y z w }
}

impl<T: Print + ?Sized> Sealed for &T {}

impl<T: Print + ?Sized> Print for &T {
    const WORDS: usize = T::WORDS;
    const FIXED: bool = T::FIXED;

    #[inline]
    fn words(&self) -> usize {
        T::words(self)
    }

    #[inline]
    fn put(&self, words: &mut Words) {
        T::put(self, words);
    }
}

impl<T: Print> Sealed for [T] {}

impl<T: Print> Print for [T] {
    const WORDS: usize = 1;
    const FIXED: bool = false;

    #[inline]
    fn words(&self) -> usize {
        match T::FIXED {
            true => T::WORDS.saturating_mul(self.len()).saturating_add(1),
            false => self.iter().fold(1, |words, value| words.saturating_add(value.words())),
        }
    }

    #[inline]
    fn put(&self, words: &mut Words) {
        // Every value takes a word at least, and a record has less than 2²⁴.
        words.put(tag::LIST | ((self.len() as u32) << 8));
        for value in self {
            value.put(words);
        }
    }
}

impl<T: Print, const N: usize> Sealed for [T; N] {}

impl<T: Print, const N: usize> Print for [T; N] {
    const WORDS: usize = T::WORDS.saturating_mul(N).saturating_add(1);
    const FIXED: bool = T::FIXED;

    #[inline]
    fn words(&self) -> usize {
        if Self::FIXED { Self::WORDS } else { self.as_slice().words() }
    }

    #[inline]
    fn put(&self, words: &mut Words) {
        self.as_slice().put(words);
    }
}

impl<T: Print> Sealed for Option<T> {}

impl<T: Print> Print for Option<T> {
    const WORDS: usize = 1;
    const FIXED: bool = false;

    #[inline]
    fn words(&self) -> usize {
        self.as_ref().map_or(0, T::words).saturating_add(1)
    }

    #[inline]
    fn put(&self, words: &mut Words) {
        words.put(tag::OPTION | (u32::from(self.is_some()) << 8));
        if let Some(value) = self {
            value.put(words);
        }
    }
}

macro_rules! tuples {
    ($($($t:ident)*;)*) => {$(
        impl<$($t: Print),*> Sealed for ($($t,)*) {}

        impl<$($t: Print),*> Print for ($($t,)*) {
            const WORDS: usize = 1_usize$(.saturating_add($t::WORDS))*;
            const FIXED: bool = true $(&& $t::FIXED)*;

            #[inline]
            #[allow(non_snake_case)]
            fn words(&self) -> usize {
                let ($($t,)*) = self;
                1_usize$(.saturating_add($t.words()))*
            }

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

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// Checks that as many words are written as counted.
    fn exact<T: Print + ?Sized>(value: &T) -> bool {
        const MARK: u32 = 0xdead_beef;
        let mut record: Vec<u32> = std::vec![MARK; value.words() + 1];
        let mut words = Words { at: record.as_mut_ptr() };
        value.put(&mut words);
        let written = words.at.addr() - record.as_ptr().addr();
        written == 4 * value.words()
            && record[value.words()] == MARK
            && (!T::FIXED || T::WORDS == value.words())
    }

    #[test]
    fn as_many_words_are_written_as_are_counted() {
        assert!(exact(&(1_u8, -1_i128, 2.0_f64, 'x', true, "text", Dim3::new(1, 2, 3))));
        assert!(exact(&[Some([1_u16, 2]), None]));
        assert!(exact(&(&[Some(1_u64), None, Some(3)][..], [(); 5], ((), ((1_i32,),)))));
        assert!(exact(&[&[1_u8, 2][..], &[], &[3]][..]));
        assert!(exact(&(
            f32x4::default(),
            u8x2::default(),
            Complex::new(1.0_f64, 2.0),
            [f16x2::default(); 3]
        )));
        assert!(exact(&[[(); 100]; 100]));
    }

    #[test]
    fn counts_do_not_wrap() {
        assert_eq!(<[(); 1 << 32] as Print>::WORDS, (1 << 32) + 1);
        assert_eq!(<[[(); usize::MAX]; 2] as Print>::WORDS, usize::MAX);
        assert_eq!(<([(); usize::MAX], [(); usize::MAX])>::WORDS, usize::MAX);
        assert_eq!([(); usize::MAX].as_slice().words(), usize::MAX);
        assert_eq!([[(); usize::MAX]; 3].as_slice().words(), usize::MAX);
        assert_eq!(super::super::room(&[(); usize::MAX].as_slice()), None);
    }
}
