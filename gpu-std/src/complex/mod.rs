//! Complex numbers of f32 and f64 (`cuFloatComplex`, `cuDoubleComplex`, `thrust::complex`).
//!
//! The layout is that of CUDA's `cuFloatComplex` and `cuDoubleComplex`, C's `_Complex` and the crate `num-complex`: the real part, then
//! the imaginary part. The alignment is the size of the number, as in CUDA, so that one instruction loads it.
//!
//! Absolute values, quotients and square roots that are in range are computed without intermediate overflow or underflow. Division
//! treats infinities and zeros as C does (C11, annex G); multiplication is the plain formula. Errors are a few units in the last place
//! of the absolute value.
//!
//! ```
//! use gpu_std::{complex::Complex, prelude::*};
//!
//! /// The number of iterations of z² + c until z leaves the circle of radius 2.
//! #[kernel]
//! pub fn escape(points: &[Complex<f32>], steps: PerThread<u32>) {
//!     for (i, steps) in steps {
//!         let mut z = Complex::<f32>::default();
//!         while *steps < 100 && z.abs_squared() <= 4.0 {
//!             z = z * z + points[i];
//!             *steps += 1;
//!         }
//!     }
//! }
//!
//! let z = Complex::new(3.0_f64, 4.0);
//! assert_eq!((z.abs(), z.sqrt()), (5.0, Complex::new(2.0, 1.0)));
//! ```

use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use bytemuck::{Pod, Zeroable};

use crate::{
    DeviceCopy,
    math::{Float, FloatExt, Sealed},
    signature::Text,
};

mod functions;
mod inverse;

/// The type of the real and imaginary part of a [`Complex`]: `f32` or `f64`.
pub trait Part: Float + Sealed {
    /// A type with the alignment of the complex number.
    #[doc(hidden)]
    type Align: Copy + Send + Sync + 'static;
}

impl Part for f32 {
    type Align = u64;
}

impl Part for f64 {
    type Align = u128;
}

/// A complex number, `re + im·i` (`cuFloatComplex`, `cuDoubleComplex`, `thrust::complex`).
#[doc(
    alias = "cuFloatComplex",
    alias = "cuDoubleComplex",
    alias = "cuComplex",
    alias = "thrust::complex",
    alias = "complex64",
    alias = "complex128"
)]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Complex<T: Part> {
    align: [T::Align; 0],
    /// The real part.
    pub re: T,
    /// The imaginary part.
    pub im: T,
}

impl<T: Part> Complex<T> {
    /// Creates `re + im·i`.
    #[doc(alias = "make_cuComplex", alias = "make_cuFloatComplex", alias = "make_cuDoubleComplex")]
    #[inline(always)]
    pub const fn new(re: T, im: T) -> Self {
        Self { align: [], re, im }
    }
}

impl<T: Part + core::fmt::Debug> core::fmt::Debug for Complex<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Complex").field("re", &self.re).field("im", &self.im).finish()
    }
}

impl<T: Part + PartialEq> PartialEq for Complex<T> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.re == other.re && self.im == other.im
    }
}

impl<T: Part + Default> Default for Complex<T> {
    #[inline(always)]
    fn default() -> Self {
        Self::new(T::default(), T::default())
    }
}

impl<T: Part + Default> From<T> for Complex<T> {
    #[inline(always)]
    fn from(re: T) -> Self {
        Self::new(re, T::default())
    }
}

impl<T: Part> From<[T; 2]> for Complex<T> {
    #[inline(always)]
    fn from([re, im]: [T; 2]) -> Self {
        Self::new(re, im)
    }
}

impl<T: Part> From<Complex<T>> for [T; 2] {
    #[inline(always)]
    fn from(z: Complex<T>) -> Self {
        [z.re, z.im]
    }
}

impl<T: Part + Neg<Output = T>> Neg for Complex<T> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(-self.re, -self.im)
    }
}

macro_rules! operators {
    ($t:ident) => {
        const _: () = assert!(size_of::<Complex<$t>>() == 2 * size_of::<$t>());
        const _: () = assert!(align_of::<Complex<$t>>() == size_of::<Complex<$t>>());

        // SAFETY: two numbers without padding, as asserted above; any bytes are a value.
        unsafe impl Zeroable for Complex<$t> {}
        // SAFETY: as above.
        unsafe impl Pod for Complex<$t> {}
        // SAFETY: two numbers with a layout of their own.
        #[diagnostic::do_not_recommend]
        unsafe impl DeviceCopy for Complex<$t> {
            const TYPE: Text = Text::Of("gpu_std::complex::Complex", &[<$t>::TYPE]);
            const ANY_BYTES: bool = true;
        }

        impl Add for Complex<$t> {
            type Output = Self;

            #[inline(always)]
            fn add(self, rhs: Self) -> Self {
                Self::new(self.re + rhs.re, self.im + rhs.im)
            }
        }

        impl Sub for Complex<$t> {
            type Output = Self;

            #[inline(always)]
            fn sub(self, rhs: Self) -> Self {
                Self::new(self.re - rhs.re, self.im - rhs.im)
            }
        }

        impl Mul for Complex<$t> {
            type Output = Self;

            #[inline(always)]
            fn mul(self, rhs: Self) -> Self {
                Self::new(self.re * rhs.re - self.im * rhs.im, self.re * rhs.im + self.im * rhs.re)
            }
        }

        impl Div for Complex<$t> {
            type Output = Self;

            #[inline]
            fn div(self, rhs: Self) -> Self {
                self.divided_by(rhs)
            }
        }

        impl Mul<$t> for Complex<$t> {
            type Output = Self;

            #[inline(always)]
            fn mul(self, rhs: $t) -> Self {
                Self::new(self.re * rhs, self.im * rhs)
            }
        }

        impl Mul<Complex<$t>> for $t {
            type Output = Complex<$t>;

            #[inline(always)]
            fn mul(self, rhs: Complex<$t>) -> Complex<$t> {
                rhs * self
            }
        }

        impl Div<$t> for Complex<$t> {
            type Output = Self;

            #[inline(always)]
            fn div(self, rhs: $t) -> Self {
                Self::new(self.re / rhs, self.im / rhs)
            }
        }

        operators!(@ $t, AddAssign add_assign Add add);
        operators!(@ $t, SubAssign sub_assign Sub sub);
        operators!(@ $t, MulAssign mul_assign Mul mul);
        operators!(@ $t, DivAssign div_assign Div div);
    };
    (@ $t:ident, $assign:ident $assign_method:ident $operator:ident $method:ident) => {
        impl $assign for Complex<$t> {
            #[inline(always)]
            fn $assign_method(&mut self, rhs: Self) {
                *self = self.$method(rhs);
            }
        }
    };
}

operators!(f32);
operators!(f64);
