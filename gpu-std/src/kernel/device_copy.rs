//! Types that are copied between host and device as bytes.

use core::{
    marker::PhantomData,
    mem::MaybeUninit,
    ops::{Deref, DerefMut},
    slice,
};

use bytemuck::{AnyBitPattern, Pod, Zeroable};

use crate::signature::Text;

/// A plain data type, which is copied between host and device byte by byte and is valid on both.
///
/// Derive it for structs and enums whose fields are all `DeviceCopy` and whose layout is fixed (`#[repr(C)]`,
/// `#[repr(transparent)]` or an integer `repr`).
///
/// # Safety
/// A value holds no reference and no pointer that is followed on the other side, is not tied to a thread, and has the same
/// layout on host and device. If not every bit pattern is a valid value of the type, or its values uphold an invariant, its
/// [`TYPE`](Self::TYPE) is different from that of all other types, which the derive macro takes care of.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a kernel: it is not `DeviceCopy`",
    label = "not plain data",
    note = "tuples, and structs without `#[repr(C)]`, have no fixed layout: host and device may order their fields differently",
    note = "plain data of other crates, such as vectors of `glam`, is passed as `gpu_std::Plain<T>` where it is `bytemuck::Pod`",
    note = "scalars, arrays and structs with `#[derive(Clone, Copy, DeviceCopy)] #[repr(C)]` can; memory is passed as `&[T]`, `PerThread<T>`, `&[Atomic<T>]` and so on: the table of `#[kernel]` lists all"
)]
pub unsafe trait DeviceCopy: Copy + Send + Sync + 'static {
    /// The type's path and layout, which a launch compares with the image. Types that do not define it are distinguished by
    /// size and alignment alone.
    const TYPE: Text = Text::All(&[
        Text::Word("opaque "),
        Text::Number(size_of::<Self>() as i128),
        Text::Word(":"),
        Text::Number(align_of::<Self>() as i128),
    ]);

    /// Whether every bit pattern is a valid value, which is so for numbers, and not for `bool`, `char` and enums. Shared
    /// arrays of types for which it is `false` are zeroed before the kernel begins.
    ///
    /// It may be `false` for any type. The derive macro sets it for types that are `bytemuck::AnyBitPattern`: fields may be
    /// private, and their values restricted.
    const ANY_BYTES: bool = false;
}

/// Tells a derived implementation whether the type is `AnyBitPattern`: if it is, the constant of the type takes precedence
/// over that of the trait [`Unknown`].
#[doc(hidden)]
#[derive(Debug)]
pub struct AnyBytes<T>(PhantomData<T>);

#[allow(missing_docs)]
impl<T: AnyBitPattern> AnyBytes<T> {
    pub const PROMISED: bool = true;
}

/// The default, for types that are not known to be `AnyBitPattern`.
#[doc(hidden)]
#[allow(missing_docs)]
pub trait Unknown {
    const PROMISED: bool = false;
}

impl<T> Unknown for AnyBytes<T> {}

macro_rules! plain {
    ($any_bytes:literal: $($t:ty),*) => {$(
        // SAFETY: a primitive of the same size and alignment on every 64-bit target.
        unsafe impl DeviceCopy for $t {
            const TYPE: Text = Text::Word(stringify!($t));
            const ANY_BYTES: bool = $any_bytes;
        }
    )*};
}

plain!(true: u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, ());
plain!(false: bool, char);

// SAFETY: an array is its elements, one after another.
unsafe impl<T: DeviceCopy, const N: usize> DeviceCopy for [T; N] {
    const TYPE: Text =
        Text::All(&[Text::Word("["), T::TYPE, Text::Word("; "), Text::Number(N as i128), Text::Word("]")]);
    const ANY_BYTES: bool = T::ANY_BYTES;
}

// SAFETY: as large and aligned as the value, and any bytes will do.
unsafe impl<T: DeviceCopy> DeviceCopy for MaybeUninit<T> {
    const TYPE: Text = Text::All(&[Text::Word("MaybeUninit<"), T::TYPE, Text::Word(">")]);
    const ANY_BYTES: bool = true;
}

/// A wrapper that implements [`DeviceCopy`] for plain data of another crate, such as `glam::Vec3`, by its `bytemuck`
/// implementation.
///
/// A program cannot implement [`DeviceCopy`] for such a type, because neither the trait nor the type is its own. The wrapper
/// has the layout of the value, and derefs to it. Structs with `#[derive(DeviceCopy)]` can have it as a field.
///
/// Every bit pattern is a valid value of a [`Pod`] type. Hence the other crate may define it differently for the GPU, as
/// `glam` does for vectors that are SIMD registers on a CPU: the sizes are compared at the first launch.
///
/// ```
/// use gpu_std::{Plain, prelude::*};
///
/// // Stands for a type of another crate.
/// #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C)]
/// pub struct Point {
///     x: f32,
///     y: f32,
/// }
///
/// #[kernel]
/// pub fn shift(by: Plain<Point>, points: PerThread<Plain<Point>>) {
///     for (_, point) in points {
///         point.x += by.x;
///         point.y += by.y;
///     }
/// }
///
/// let points = [Point { x: 1.0, y: 2.0 }; 3];
/// // let mut on_device = device.upload(Plain::from_values(&points))?;
/// // module.launch(shift, for_each(3), (Plain(points[0]), &mut on_device))?;
/// # assert_eq!(Plain::to_values(Plain::from_values(&points)), points);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Plain<T>(
    /// The value.
    pub T,
);

// SAFETY: the wrapper is transparent.
unsafe impl<T: Zeroable> Zeroable for Plain<T> {}
// SAFETY: as above.
unsafe impl<T: Pod> Pod for Plain<T> {}

// SAFETY: `Pod` types hold neither references nor pointers, and any bytes of their size are a value. So what one side has
// laid out differently is still a value on the other.
#[diagnostic::do_not_recommend]
unsafe impl<T: Pod + Send + Sync> DeviceCopy for Plain<T> {
    const ANY_BYTES: bool = true;
}

impl<T> Plain<T> {
    /// Wraps values, to be uploaded.
    pub const fn from_values(values: &[T]) -> &[Self] {
        // SAFETY: the wrapper is transparent.
        unsafe { slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
    }

    /// Unwraps values.
    pub const fn to_values(wrapped: &[Self]) -> &[T] {
        // SAFETY: the wrapper is transparent.
        unsafe { slice::from_raw_parts(wrapped.as_ptr().cast(), wrapped.len()) }
    }
}

impl<T> Deref for Plain<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Plain<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> From<T> for Plain<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}
