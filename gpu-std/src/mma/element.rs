//! Element types of matrices, and how lanes hold them in registers.

use super::Tf32;
use crate::{
    half::{bf16, f16},
    shared::SharedElement,
};

/// An element type of A and B: [`f16`](struct@f16), [`bf16`], [`Tf32`], `f64`, `i8` and `u8`.
#[diagnostic::on_unimplemented(
    message = "tensor cores do not multiply matrices of `{Self}`",
    note = "they multiply `f64`, `i8`, `u8`, `f16` and `bf16` of `gpu_std::half`, and `Tf32` of `gpu_std::mma`; `Tf32::from` makes one of an `f32`"
)]
pub trait MmaElement: SharedElement + sealed::Element {
    /// The number of rows of A: 16, or 8 for `f64`.
    const ROWS: usize;
    /// The number of columns of B.
    const COLUMNS: usize = 8;
    /// The number of columns of A and of rows of B.
    const DEPTH: usize;
}

/// An element type of C, the accumulators: `f32`, [`f16`](struct@f16), `f64` and `i32`.
#[diagnostic::on_unimplemented(
    message = "tensor cores do not sum up in `{Self}`",
    note = "accumulators are `f32`, `f64`, `i32`, or `f16` of `gpu_std::half`"
)]
pub trait MmaAccumulator: SharedElement + sealed::Accumulated {}

pub(super) mod sealed {
    /// The registers of one lane.
    pub trait Registers<R>: Copy + AsRef<[R]> + AsMut<[R]> {}

    impl<R: Copy, const N: usize> Registers<R> for [R; N] {}

    /// The layout of elements in a register.
    pub trait Packed: Copy {
        /// The type of a register.
        type Register: Copy;
        /// The number of elements in one.
        const PER_REGISTER: usize;

        /// Returns the element at a position in a register, less than `PER_REGISTER`.
        fn unpack(register: Self::Register, place: usize) -> Self;
        /// Sets the element at a position in a register.
        fn pack(self, register: &mut Self::Register, place: usize);
    }

    pub trait Element: Packed {
        /// A lane's part of A.
        type A: Registers<Self::Register>;
        /// A lane's part of B.
        type B: Registers<Self::Register>;
        const EMPTY_A: Self::A;
        const EMPTY_B: Self::B;

        /// Converts a register to bits, to be passed between the threads of the CPU device.
        #[cfg(not(target_arch = "nvptx64"))]
        fn to_bits(register: Self::Register) -> u64;
        /// Converts bits back to a register.
        #[cfg(not(target_arch = "nvptx64"))]
        fn from_bits(bits: u64) -> Self::Register;
    }

    pub trait Accumulated: Packed {
        /// A lane's part of C.
        type C: Registers<Self::Register>;
        const EMPTY: Self::C;

        /// Writes two neighbours at once.
        ///
        /// # Safety
        /// There is room for two at the address, which is aligned for both together.
        unsafe fn store_pair(to: *mut Self, pair: [Self; 2]);

        /// The type in which the CPU device accumulates.
        #[cfg(not(target_arch = "nvptx64"))]
        type Sum: Copy;

        #[cfg(not(target_arch = "nvptx64"))]
        fn to_sum(self) -> Self::Sum;
        #[cfg(not(target_arch = "nvptx64"))]
        fn from_sum(sum: Self::Sum) -> Self;
    }
}

use sealed::{Accumulated, Element, Packed};

/// Several elements in a register of 4 bytes, the first in the lowest bits.
macro_rules! packed_in_words {
    ($($t:ty: $bits:ty, $to_bits:expr, $from_bits:expr;)*) => {$(
        impl Packed for $t {
            type Register = u32;
            const PER_REGISTER: usize = size_of::<u32>() / size_of::<$bits>();

            #[inline(always)]
            fn unpack(register: u32, place: usize) -> Self {
                let from_bits: fn($bits) -> Self = $from_bits;
                from_bits((register >> (place as u32 * <$bits>::BITS)) as $bits)
            }

            #[inline(always)]
            fn pack(self, register: &mut u32, place: usize) {
                let to_bits: fn(Self) -> $bits = $to_bits;
                let shift = place as u32 * <$bits>::BITS;
                let others = !(u32::from(<$bits>::MAX) << shift);
                *register = *register & others | u32::from(to_bits(self)) << shift;
            }
        }
    )*};
}

packed_in_words! {
    f16: u16, f16::to_bits, f16::from_bits;
    bf16: u16, bf16::to_bits, bf16::from_bits;
    Tf32: u32, Tf32::to_bits, Tf32::from_bits;
    i8: u8, i8::cast_unsigned, u8::cast_signed;
    u8: u8, |value| value, |bits| bits;
}

/// One element in a register.
macro_rules! in_registers {
    ($($t:ty)*) => {$(
        impl Packed for $t {
            type Register = $t;
            const PER_REGISTER: usize = 1;

            #[inline(always)]
            fn unpack(register: $t, _: usize) -> $t {
                register
            }

            #[inline(always)]
            fn pack(self, register: &mut $t, _: usize) {
                *register = self;
            }
        }
    )*};
}

in_registers!(f32 f64 i32);

macro_rules! elements_in_words {
    ($($t:ty)*) => {$(
        impl MmaElement for $t {
            const ROWS: usize = 16;
            const DEPTH: usize = 8 * Self::PER_REGISTER;
        }

        impl Element for $t {
            type A = [u32; 4];
            type B = [u32; 2];
            const EMPTY_A: [u32; 4] = [0; 4];
            const EMPTY_B: [u32; 2] = [0; 2];

            #[cfg(not(target_arch = "nvptx64"))]
            fn to_bits(register: u32) -> u64 {
                register.into()
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn from_bits(bits: u64) -> u32 {
                bits as u32
            }
        }
    )*};
}

elements_in_words!(f16 bf16 Tf32 i8 u8);

impl MmaElement for f64 {
    const ROWS: usize = 8;
    const DEPTH: usize = 4;
}

impl Element for f64 {
    type A = [f64; 1];
    type B = [f64; 1];
    const EMPTY_A: [f64; 1] = [0.0];
    const EMPTY_B: [f64; 1] = [0.0];

    #[cfg(not(target_arch = "nvptx64"))]
    fn to_bits(register: f64) -> u64 {
        register.to_bits()
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn from_bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
}

macro_rules! accumulators {
    ($($t:ty, $pair_bytes:literal: [$register:ty; $count:literal], $zero:literal, $sum:ty, $to_sum:expr, $from_sum:expr;)*) => {$(
        impl MmaAccumulator for $t {}

        impl Accumulated for $t {
            type C = [$register; $count];
            const EMPTY: Self::C = [$zero; $count];

            #[inline(always)]
            unsafe fn store_pair(to: *mut Self, pair: [Self; 2]) {
                #[repr(C, align($pair_bytes))]
                struct Pair([$t; 2]);
                // SAFETY: as the caller promises.
                unsafe { to.cast::<Pair>().write(Pair(pair)) }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            type Sum = $sum;

            #[cfg(not(target_arch = "nvptx64"))]
            fn to_sum(self) -> $sum {
                let to_sum: fn(Self) -> $sum = $to_sum;
                to_sum(self)
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn from_sum(sum: $sum) -> Self {
                let from_sum: fn($sum) -> Self = $from_sum;
                from_sum(sum)
            }
        }
    )*};
}

accumulators! {
    f32, 8: [f32; 4], 0.0, f32, |value| value, |sum| sum;
    f16, 4: [u32; 2], 0, f32, f16::to_f32, f16::from_f32;
    f64, 16: [f64; 2], 0.0, f64, |value| value, |sum| sum;
    i32, 8: [i32; 4], 0, i32, |value| value, |sum| sum;
}
