//! The types and their operators, all from one macro.

use core::ops::{
    Add, AddAssign, BitAnd, BitOr, BitXor, Div, DivAssign, Index, IndexMut, Mul, MulAssign, Neg, Not, Rem,
    Shl, Shr, Sub, SubAssign,
};

use bytemuck::{Pod, Zeroable};

use super::{Sealed, Vector};
use crate::{DeviceCopy, Float, signature::Text};

/// An operator of two vectors, and of a vector and a number for every lane.
macro_rules! operator {
    ($name:ident $t:ident { $($lane:ident)* }: $operator:ident $method:ident $(, $assign:ident $assign_method:ident)?) => {
        impl $operator for $name {
            type Output = Self;

            #[inline(always)]
            fn $method(self, rhs: Self) -> Self {
                Self { $($lane: self.$lane.$method(rhs.$lane)),* }
            }
        }

        impl $operator<$t> for $name {
            type Output = Self;

            #[inline(always)]
            fn $method(self, rhs: $t) -> Self {
                Self { $($lane: self.$lane.$method(rhs)),* }
            }
        }

        $(
            impl $assign for $name {
                #[inline(always)]
                fn $assign_method(&mut self, rhs: Self) {
                    *self = self.$method(rhs);
                }
            }

            impl $assign<$t> for $name {
                #[inline(always)]
                fn $assign_method(&mut self, rhs: $t) {
                    *self = self.$method(rhs);
                }
            }
        )?
    };
}

/// What every type has.
macro_rules! vector {
    ($name:ident: [$t:ident; $lanes:literal], align $align:literal, $cuda:literal, $($lane:ident = $i:literal)*) => {
        #[doc = concat!("`", stringify!($lanes), "` × `", stringify!($t), "`, `", $cuda, "` of CUDA C++.")]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[repr(C, align($align))]
        pub struct $name {
            $(
                #[doc = concat!("Lane ", stringify!($i), ".")]
                pub $lane: $t,
            )*
        }

        const _: () = assert!(size_of::<$name>() == $lanes * size_of::<$t>() && align_of::<$name>() == $align);

        // SAFETY: numbers without padding, as asserted above; any bytes are a value.
        unsafe impl Zeroable for $name {}
        // SAFETY: as above.
        unsafe impl Pod for $name {}
        // SAFETY: plain numbers with a layout of their own.
        #[diagnostic::do_not_recommend]
        unsafe impl DeviceCopy for $name {
            const TYPE: Text = Text::Word(concat!("gpu_std::vector::", stringify!($name)));
            const ANY_BYTES: bool = true;
        }

        impl Sealed for $name {}

        impl Vector for $name {
            type Element = $t;
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(value: $t) -> Self {
                Self { $($lane: value),* }
            }
        }

        impl $name {
            /// A vector of these lanes.
            #[inline(always)]
            pub const fn new($($lane: $t),*) -> Self {
                Self { $($lane),* }
            }

            /// The lanes in order.
            #[inline(always)]
            pub const fn to_array(self) -> [$t; $lanes] {
                [$(self.$lane),*]
            }

            /// The function of every lane.
            #[inline(always)]
            pub fn map(self, f: impl Fn($t) -> $t) -> Self {
                Self { $($lane: f(self.$lane)),* }
            }

            /// The smaller of each two lanes.
            #[inline(always)]
            pub fn min(self, other: Self) -> Self {
                Self { $($lane: self.$lane.min(other.$lane)),* }
            }

            /// The larger of each two lanes.
            #[inline(always)]
            pub fn max(self, other: Self) -> Self {
                Self { $($lane: self.$lane.max(other.$lane)),* }
            }

            /// The sum of the lanes, from the first on.
            #[inline(always)]
            pub fn sum(self) -> $t {
                vector!(@sum $(self.$lane,)*)
            }

            /// The sum of the products of each two lanes.
            #[inline(always)]
            pub fn dot(self, other: Self) -> $t {
                (self * other).sum()
            }
        }

        impl From<[$t; $lanes]> for $name {
            #[inline(always)]
            fn from([$($lane),*]: [$t; $lanes]) -> Self {
                Self { $($lane),* }
            }
        }

        impl From<$name> for [$t; $lanes] {
            #[inline(always)]
            fn from(vector: $name) -> Self {
                vector.to_array()
            }
        }

        // By comparison and not through memory, so that vectors stay in registers where the index is not constant.
        impl Index<usize> for $name {
            type Output = $t;

            #[inline(always)]
            #[track_caller]
            fn index(&self, lane: usize) -> &$t {
                match lane {
                    $($i => &self.$lane,)*
                    _ => panic!(concat!("a lane of a ", stringify!($name), " is below ", stringify!($lanes))),
                }
            }
        }

        impl IndexMut<usize> for $name {
            #[inline(always)]
            #[track_caller]
            fn index_mut(&mut self, lane: usize) -> &mut $t {
                match lane {
                    $($i => &mut self.$lane,)*
                    _ => panic!(concat!("a lane of a ", stringify!($name), " is below ", stringify!($lanes))),
                }
            }
        }

        operator!($name $t { $($lane)* }: Add add, AddAssign add_assign);
        operator!($name $t { $($lane)* }: Sub sub, SubAssign sub_assign);
        operator!($name $t { $($lane)* }: Mul mul, MulAssign mul_assign);
        operator!($name $t { $($lane)* }: Div div, DivAssign div_assign);
        operator!($name $t { $($lane)* }: Rem rem);
    };
    (@sum $first:expr, $($lane:expr,)*) => { $first $(+ $lane)* };
}

macro_rules! negation {
    ($name:ident { $($lane:ident)* }) => {
        impl Neg for $name {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                Self { $($lane: -self.$lane),* }
            }
        }
    };
}

macro_rules! integers {
    ($name:ident $t:ident { $($lane:ident)* }) => {
        impl Eq for $name {}

        impl Not for $name {
            type Output = Self;

            #[inline(always)]
            fn not(self) -> Self {
                Self { $($lane: !self.$lane),* }
            }
        }

        operator!($name $t { $($lane)* }: BitAnd bitand);
        operator!($name $t { $($lane)* }: BitOr bitor);
        operator!($name $t { $($lane)* }: BitXor bitxor);
        operator!($name $t { $($lane)* }: Shl shl);
        operator!($name $t { $($lane)* }: Shr shr);

        impl $name {
            /// The sum of each two lanes, which wraps.
            #[inline(always)]
            pub fn wrapping_add(self, rhs: Self) -> Self {
                Self { $($lane: self.$lane.wrapping_add(rhs.$lane)),* }
            }

            /// The product of each two lanes, which wraps.
            #[inline(always)]
            pub fn wrapping_mul(self, rhs: Self) -> Self {
                Self { $($lane: self.$lane.wrapping_mul(rhs.$lane)),* }
            }
        }
    };
}

macro_rules! floats {
    ($name:ident $t:ident { $($lane:ident)* }) => {
        impl $name {
            /// `self * a + b` in every lane, rounded once.
            #[inline(always)]
            pub fn mul_add(self, a: Self, b: Self) -> Self {
                Self { $($lane: Float::mul_add(self.$lane, a.$lane, b.$lane)),* }
            }

            /// The length, as the square root of the sum of squares.
            #[inline(always)]
            pub fn length(self) -> $t {
                Float::sqrt(self.dot(self))
            }
        }
    };
}

macro_rules! twos_and_fours {
    ($($t:ident: $two:ident $two_align:literal $two_cuda:literal, $four:ident $four_align:literal $four_cuda:literal, $kind:ident $($negation:ident)?;)*) => {$(
        vector!($two: [$t; 2], align $two_align, $two_cuda, x = 0 y = 1);
        vector!($four: [$t; 4], align $four_align, $four_cuda, x = 0 y = 1 z = 2 w = 3);
        $kind!($two $t { x y });
        $kind!($four $t { x y z w });
        $(
            $negation!($two { x y });
            $negation!($four { x y z w });
        )?
    )*};
}

macro_rules! threes {
    ($($t:ident: $three:ident $align:literal $cuda:literal, $kind:ident $($negation:ident)?;)*) => {$(
        vector!($three: [$t; 3], align $align, $cuda, x = 0 y = 1 z = 2);
        $kind!($three $t { x y z });
        $($negation!($three { x y z });)?
    )*};
}

macro_rules! twos {
    ($($t:ident: $two:ident $cuda:literal, $kind:ident $($negation:ident)?;)*) => {$(
        vector!($two: [$t; 2], align 16, $cuda, x = 0 y = 1);
        $kind!($two $t { x y });
        $($negation!($two { x y });)?
    )*};
}

twos_and_fours! {
    f32: f32x2 8 "float2", f32x4 16 "float4", floats negation;
    i32: i32x2 8 "int2", i32x4 16 "int4", integers negation;
    u32: u32x2 8 "uint2", u32x4 16 "uint4", integers;
    i16: i16x2 4 "short2", i16x4 8 "short4", integers negation;
    u16: u16x2 4 "ushort2", u16x4 8 "ushort4", integers;
    i8: i8x2 2 "char2", i8x4 4 "char4", integers negation;
    u8: u8x2 2 "uchar2", u8x4 4 "uchar4", integers;
}

twos! {
    f64: f64x2 "double2", floats negation;
    i64: i64x2 "longlong2", integers negation;
    u64: u64x2 "ulonglong2", integers;
}

// Of 12 and 24 bytes, which no instruction moves: aligned like their lanes, as in CUDA C++.
threes! {
    f32: f32x3 4 "float3", floats negation;
    f64: f64x3 8 "double3", floats negation;
    i32: i32x3 4 "int3", integers negation;
    u32: u32x3 4 "uint3", integers;
}
