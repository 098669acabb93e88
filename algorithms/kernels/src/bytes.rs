//! Elements of any type, moved by their bytes.

use core::mem::MaybeUninit;

use bytemuck::{AnyBitPattern, Zeroable};
use gpu_std::{DeviceCopy, signature::Text};

/// The bytes of an element, or of a part of one, as many as `W` has and aligned like it. Some may have no value, as padding.
///
/// ```
/// use gpukernel_algorithms_kernels::Bytes;
///
/// assert_eq!((size_of::<Bytes<u64>>(), align_of::<Bytes<u64>>()), (8, 8));
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Bytes<W: Copy>(pub(crate) MaybeUninit<W>);

// SAFETY: any bytes are a value, zeros among them.
unsafe impl<W: DeviceCopy> Zeroable for Bytes<W> {}
// SAFETY: as above.
unsafe impl<W: DeviceCopy> AnyBitPattern for Bytes<W> {}
// SAFETY: it is laid out like `W`, on each target.
#[diagnostic::do_not_recommend]
unsafe impl<W: DeviceCopy> DeviceCopy for Bytes<W> {
    const TYPE: Text = Text::Of("gpukernel_algorithms_kernels::Bytes", &[W::TYPE]);
    const ANY_BYTES: bool = true;
}
