//! Types whose values travel between host and device as bytes.

use crate::signature::Text;

/// A type whose values are plain data: copied between host and device byte by byte, and as good there as here.
///
/// Derive it for structs and enums whose fields are all `DeviceCopy` and whose layout is fixed (`#[repr(C)]`,
/// `#[repr(transparent)]` or an integer `repr`).
///
/// # Safety
/// A value holds no reference and no pointer that is followed on the other side, is not tied to a thread, and has the
/// same layout on host and device. A type of which not all bytes are values, or whose values keep a promise, has a
/// [`TYPE`](Self::TYPE) that no other type has, as the derive macro makes it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a kernel: it is not `DeviceCopy`",
    label = "not plain data",
    note = "scalars, arrays and structs with `#[derive(Clone, Copy, DeviceCopy)] #[repr(C)]` can; memory is passed as `&[T]`, `PerThread<T>`, `&[Atomic<T>]` and so on: the table of `#[kernel]` lists all"
)]
pub unsafe trait DeviceCopy: Copy + Send + Sync + 'static {
    /// What a launch compares with the image: the type's path and layout. Types that do not say are told apart by their size and
    /// alignment alone.
    const TYPE: Text = Text::All(&[
        Text::Word("opaque "),
        Text::Number(size_of::<Self>() as i128),
        Text::Word(":"),
        Text::Number(align_of::<Self>() as i128),
    ]);
}

macro_rules! plain {
    ($($t:ty),*) => {$(
        // SAFETY: a primitive of the same size and alignment on every 64-bit target.
        unsafe impl DeviceCopy for $t {
            const TYPE: Text = Text::Word(stringify!($t));
        }
    )*};
}

plain!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, bool, char, ());

// SAFETY: an array is its elements, one after another.
unsafe impl<T: DeviceCopy, const N: usize> DeviceCopy for [T; N] {
    const TYPE: Text =
        Text::All(&[Text::Word("["), T::TYPE, Text::Word("; "), Text::Number(N as i128), Text::Word("]")]);
}
