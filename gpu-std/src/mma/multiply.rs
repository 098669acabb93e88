//! The matrix instructions of a warp.

use super::{
    Accumulator, FragmentA, FragmentB, Tf32,
    element::{MmaAccumulator, MmaElement, sealed::Accumulated},
};
#[cfg(target_arch = "nvptx64")]
use crate::mma::element::sealed::{Element, Packed};
use crate::{
    half::{bf16, f16},
    warp::{LaneGroup, WARP_SIZE, Warp},
};

/// A warp that has all of its 32 lanes, which matrix instructions require.
///
/// All lanes must reach its operations together. See [Not enforced](crate#not-enforced).
#[derive(Clone, Copy, Debug)]
pub struct ConvergedWarp {
    warp: Warp,
}

impl Warp {
    /// Returns the warp as one that can execute matrix instructions, after a check that it has all of its 32 lanes. If the
    /// launch contract fixes a multiple of 32 threads per block, this costs nothing.
    ///
    /// # Panics
    /// If the warp has fewer than 32 lanes: the last one of a block whose number of threads is not a multiple of 32.
    #[inline(always)]
    #[track_caller]
    pub fn converged(self) -> ConvergedWarp {
        if self.size() != WARP_SIZE {
            not_full(self.size());
        }
        ConvergedWarp { warp: self }
    }
}

impl ConvergedWarp {
    /// Returns the warp.
    #[inline(always)]
    pub fn warp(self) -> Warp {
        self.warp
    }

    /// Computes A·B + C (PTX's `mma.sync`, `wmma::mma_sync`).
    #[doc(alias = "mma.sync", alias = "wmma::mma_sync")]
    #[doc(alias = "mma_sync")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn mma<A, B, C>(self, a: &FragmentA<A>, b: &FragmentB<B>, c: Accumulator<C>) -> Accumulator<C>
    where
        A: MmaInto<C, B>,
        B: MmaElement,
        C: MmaAccumulator,
    {
        #[cfg(target_arch = "nvptx64")]
        return Accumulator::from_registers(A::multiply(a.registers(), b.registers(), c.registers()));
        #[cfg(not(target_arch = "nvptx64"))]
        super::host::mma(a, b, c)
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn not_full(lanes: u32) -> ! {
    panic!(
        "matrix instructions need a warp of 32 lanes, and this one has {lanes}: launch blocks of a multiple of 32 threads"
    )
}

/// Element types of A whose products with elements `B` are accumulated in `C`.
#[diagnostic::on_unimplemented(
    message = "tensor cores do not multiply `{Self}` by `{B}` into sums of `{C}`",
    note = "see the table in `gpu_std::mma` for what there is"
)]
pub trait MmaInto<C: MmaAccumulator, B: MmaElement = Self>: MmaElement + sealed::Into<C, B> {}

pub(super) mod sealed {
    use crate::mma::element::sealed::{Accumulated, Element};

    pub trait Into<C: Accumulated, B: Element>: Element {
        #[cfg(target_arch = "nvptx64")]
        fn multiply(a: Self::A, b: B::B, c: C::C) -> C::C;

        /// Adds one more product to a sum.
        #[cfg(not(target_arch = "nvptx64"))]
        fn add_product(sum: C::Sum, a: Self, b: B) -> C::Sum;
    }
}

/// A lane's part of a result, as the functions of the linker's prelude return it.
#[cfg(target_arch = "nvptx64")]
#[repr(C)]
struct Returned<C>(C);

macro_rules! products {
    ($($a:ty, $b:ty => $c:ty: $function:ident($($ra:ident)* | $rb:ident $($rb2:ident)? | $($rc:ident)*), $add:expr;)*) => {$(
        impl MmaInto<$c, $b> for $a {}

        impl sealed::Into<$c, $b> for $a {
            #[cfg(target_arch = "nvptx64")]
            #[inline(always)]
            fn multiply(
                [$($ra),*]: <$a as Element>::A,
                [$rb $(, $rb2)?]: <$b as Element>::B,
                [$($rc),*]: <$c as Accumulated>::C,
            ) -> <$c as Accumulated>::C {
                unsafe extern "C" {
                    safe fn $function(
                        $($ra: <$a as Packed>::Register,)*
                        $rb: <$b as Packed>::Register,
                        $($rb2: <$b as Packed>::Register,)?
                        $($rc: <$c as Packed>::Register,)*
                    ) -> Returned<<$c as Accumulated>::C>;
                }
                $function($($ra,)* $rb, $($rb2,)? $($rc,)*).0
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn add_product(
                sum: <$c as Accumulated>::Sum,
                a: Self,
                b: $b,
            ) -> <$c as Accumulated>::Sum {
                let add: fn(<$c as Accumulated>::Sum, $a, $b) -> <$c as Accumulated>::Sum = $add;
                add(sum, a, b)
            }
        }
    )*};
}

products! {
    f16, f16 => f32: __gpukernel_mma_f16_f32(a0 a1 a2 a3 | b0 b1 | c0 c1 c2 c3),
        |sum, a, b| add_exact_product(sum, a.to_f32(), b.to_f32());
    f16, f16 => f16: __gpukernel_mma_f16_f16(a0 a1 a2 a3 | b0 b1 | c0 c1),
        |sum, a, b| add_exact_product(sum, a.to_f32(), b.to_f32());
    bf16, bf16 => f32: __gpukernel_mma_bf16_f32(a0 a1 a2 a3 | b0 b1 | c0 c1 c2 c3),
        |sum, a, b| add_exact_product(sum, a.to_f32(), b.to_f32());
    Tf32, Tf32 => f32: __gpukernel_mma_tf32_f32(a0 a1 a2 a3 | b0 b1 | c0 c1 c2 c3),
        |sum, a, b| add_exact_product(sum, a.to_f32(), b.to_f32());
    f64, f64 => f64: __gpukernel_mma_f64_f64(a | b | c0 c1), |sum, a, b| a.mul_add(b, sum);
    i8, i8 => i32: __gpukernel_mma_i8_i8_i32(a0 a1 a2 a3 | b0 b1 | c0 c1 c2 c3),
        |sum, a, b| sum.wrapping_add(i32::from(a) * i32::from(b));
    u8, u8 => i32: __gpukernel_mma_u8_u8_i32(a0 a1 a2 a3 | b0 b1 | c0 c1 c2 c3),
        |sum, a, b| sum.wrapping_add(i32::from(a) * i32::from(b));
    i8, u8 => i32: __gpukernel_mma_i8_u8_i32(a0 a1 a2 a3 | b0 b1 | c0 c1 c2 c3),
        |sum, a, b| sum.wrapping_add(i32::from(a) * i32::from(b));
    u8, i8 => i32: __gpukernel_mma_u8_i8_i32(a0 a1 a2 a3 | b0 b1 | c0 c1 c2 c3),
        |sum, a, b| sum.wrapping_add(i32::from(a) * i32::from(b));
}

/// The product is exact in `f64`, whatever its exponent; the sum is rounded to `f32`.
#[cfg(not(target_arch = "nvptx64"))]
fn add_exact_product(sum: f32, a: f32, b: f32) -> f32 {
    (f64::from(sum) + f64::from(a) * f64::from(b)) as f32
}
