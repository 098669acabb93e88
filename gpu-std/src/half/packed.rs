//! Pairs of 16-bit floats in 32 bits (`__half2`, `__nv_bfloat162`), computed by one instruction.

use core::ops::{Add, Mul, Neg, Sub};

use bytemuck::{Pod, Zeroable};

use super::{DeviceCopy, Float, Text, Vector, bf16, f16, native};

/// Calls a function of the prelude with vectors as integers; on the host, evaluates the expression given instead.
macro_rules! bits {
    ($function:ident($($argument:ident: $value:expr),*), else $host:expr) => {
        bytemuck::cast::<u32, Self>(native!(
            $function($($argument: u32 = bytemuck::cast($value)),*) -> u32,
            else bytemuck::cast::<Self, u32>($host)
        ))
    };
}

macro_rules! packed {
    ($(#[$doc:meta])* $name:ident $t:ident, since $arch:literal, $add:ident $sub:ident $mul:ident $mul_add:ident) => {
        #[doc = concat!("A pair of [`", stringify!($t), "`](struct@", stringify!($t), ") in 32 bits, computed by one instruction where the GPU has one.")]
        $(#[$doc])*
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[repr(C, align(4))]
        pub struct $name {
            /// Lane 0.
            pub x: $t,
            /// Lane 1.
            pub y: $t,
        }

        // SAFETY: two times 16 bits without padding; any bits are a value.
        unsafe impl Zeroable for $name {}
        // SAFETY: as above.
        unsafe impl Pod for $name {}
        // SAFETY: plain data with a layout of its own.
        #[diagnostic::do_not_recommend]
        unsafe impl DeviceCopy for $name {
            const TYPE: Text = Text::Word(concat!("gpu_std::half::", stringify!($name)));
            const ANY_BYTES: bool = true;
        }

        impl crate::vector::Sealed for $name {}

        impl Vector for $name {
            type Element = $t;
            const LANES: usize = 2;

            #[inline(always)]
            fn splat(value: $t) -> Self {
                Self { x: value, y: value }
            }
        }

        impl $name {
            /// Creates a vector from its lanes.
            #[inline(always)]
            pub const fn new(x: $t, y: $t) -> Self {
                Self { x, y }
            }

            /// Fused multiply-add `self * a + b` of both lanes, each rounded once (`__hfma2`).
            #[doc(alias = "__hfma2")]
            #[inline(always)]
            pub fn mul_add(self, a: Self, b: Self) -> Self {
                let each = || Self { x: self.x.mul_add(a.x, b.x), y: self.y.mul_add(a.y, b.y) };
                if crate::arch() < $arch {
                    return each();
                }
                bits!($mul_add(x: self, a: a, b: b), else each())
            }
        }

        packed!(@ $name, Add add $add);
        packed!(@ $name, Sub sub $sub);
        packed!(@ $name, Mul mul $mul);

        impl Neg for $name {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                Self { x: -self.x, y: -self.y }
            }
        }
    };
    (@ $name:ident, $operator:ident $method:ident $device:ident) => {
        impl $operator for $name {
            type Output = Self;

            #[inline(always)]
            fn $method(self, b: Self) -> Self {
                bits!($device(a: self, b: b), else Self { x: self.x.$method(b.x), y: self.y.$method(b.y) })
            }
        }
    };
}

packed!(#[doc(alias = "__half2", alias = "half2")] f16x2 f16, since 75, __gpukernel_add_f16x2 __gpukernel_sub_f16x2 __gpukernel_mul_f16x2 __gpukernel_mul_add_f16x2);
packed!(#[doc(alias = "__nv_bfloat162", alias = "bfloat162")] bf16x2 bf16, since 80, __gpukernel_add_bf16x2 __gpukernel_sub_bf16x2 __gpukernel_mul_bf16x2 __gpukernel_mul_add_bf16x2);
