//! The types of variables and expressions.

use std::fmt;

use crate::random::Random;

/// A type that Rust computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    U8,
    U16,
    U32,
    U64,
    U128,
    Usize,
    I8,
    I16,
    I32,
    I64,
    I128,
    Isize,
    F32,
    F64,
    Bool,
}

use Scalar::*;

/// The common ones more often: 128-bit arithmetic is slow to compile.
const BY_FREQUENCY: [Scalar; 26] = [
    U8, U8, U16, U16, U32, U32, U32, U64, U64, U128, Usize, Usize, I8, I8, I16, I16, I32, I32, I32, I64, I64,
    I128, Isize, F32, F64, Bool,
];
const INTEGERS: [Scalar; 14] = [U8, U16, U32, U32, U64, U64, Usize, I8, I16, I32, I32, I64, I64, Isize];

impl Scalar {
    pub(crate) fn any(random: &mut Random) -> Self {
        random.of(&BY_FREQUENCY)
    }

    /// An integer of up to 64 bits.
    pub(crate) fn integer(random: &mut Random) -> Self {
        random.of(&INTEGERS)
    }

    /// Any but `bool`.
    pub(crate) fn number(random: &mut Random) -> Self {
        random.of(&BY_FREQUENCY[..25])
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            U8 => "u8",
            U16 => "u16",
            U32 => "u32",
            U64 => "u64",
            U128 => "u128",
            Usize => "usize",
            I8 => "i8",
            I16 => "i16",
            I32 => "i32",
            I64 => "i64",
            I128 => "i128",
            Isize => "isize",
            F32 => "f32",
            F64 => "f64",
            Bool => "bool",
        }
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, F32 | F64)
    }

    pub(crate) fn is_integer(self) -> bool {
        !self.is_float() && self != Bool
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self, I8 | I16 | I32 | I64 | I128 | Isize)
    }

    pub(crate) fn bits(self) -> u32 {
        match self {
            Bool => 1,
            U8 | I8 => 8,
            U16 | I16 => 16,
            U32 | I32 | F32 => 32,
            U64 | I64 | F64 | Usize | Isize => 64,
            U128 | I128 => 128,
        }
    }
}

/// The type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Scalar(Scalar),
    Array(Scalar, usize),
    Option(Scalar),
    Pair(Scalar, Scalar),
    /// The program's own struct.
    Struct,
    /// Its own enum.
    Enum,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => f.write_str(scalar.name()),
            Self::Array(element, len) => write!(f, "[{}; {len}]", element.name()),
            Self::Option(some) => write!(f, "Option<{}>", some.name()),
            Self::Pair(first, second) => write!(f, "({}, {})", first.name(), second.name()),
            Self::Struct => f.write_str("Record"),
            Self::Enum => f.write_str("Choice"),
        }
    }
}
