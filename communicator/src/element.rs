//! What can be moved between processes, and what can be reduced.

use bytemuck::Pod;
use gpu_std::DeviceCopy;

/// What a communicator moves: plain data without padding, such as numbers, vectors of them, and structs that derive `bytemuck::Pod`.
///
/// ```
/// fn moves<T: gpukernel_communicator::Element>() {}
/// moves::<u16>();
/// moves::<[f32; 4]>();
/// ```
pub trait Element: DeviceCopy + Pod {}

impl<T: DeviceCopy + Pod> Element for T {}

/// What a communicator adds, multiplies or compares: the numbers that MPI and NCCL both know. Numbers of 16 bits are not among them, which MPI
/// does not have.
///
/// ```compile_fail,E0277
/// fn reduces<T: gpukernel_communicator::Reducible>() {}
/// reduces::<u16>();
/// ```
pub trait Reducible: Element + sealed::Number {}

pub(crate) mod sealed {
    pub trait Number {
        #[doc(hidden)]
        const NUMBER: super::Number;
    }
}

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Number {
    I8,
    U8,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Number {
    /// The number of bytes.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

macro_rules! reducible {
    ($($type:ident: $number:ident),*) => { $(
        impl Reducible for $type {}

        impl sealed::Number for $type {
            const NUMBER: Number = Number::$number;
        }
    )* };
}

reducible!(i8: I8, u8: U8, i32: I32, u32: U32, i64: I64, u64: U64, f32: F32, f64: F64);

/// How elements of all processes become one (`MPI_Op`, `ncclRedOp_t`).
///
/// In which order floating-point numbers are added is up to MPI and NCCL, and differs with the number of processes. Every process gets the same
/// bits.
#[doc(alias = "MPI_Op", alias = "ncclRedOp_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    /// The sum (`MPI_SUM`, `ncclSum`).
    #[doc(alias = "MPI_SUM", alias = "ncclSum")]
    Sum,
    /// The product (`MPI_PROD`, `ncclProd`).
    #[doc(alias = "MPI_PROD", alias = "ncclProd")]
    Product,
    /// The smallest (`MPI_MIN`, `ncclMin`).
    #[doc(alias = "MPI_MIN", alias = "ncclMin")]
    Min,
    /// The largest (`MPI_MAX`, `ncclMax`).
    #[doc(alias = "MPI_MAX", alias = "ncclMax")]
    Max,
}
