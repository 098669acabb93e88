//! The words by which keys are compared.

use std::ops::Deref;

use gpukernel::{Buffer, DeviceSlice};
use gpukernel_algorithms_kernels::{Key, KeyWord, Order, flipped};

/// Words of keys: the keys themselves, or what a kernel writes.
pub(crate) enum Words<'k, W: KeyWord> {
    Keys(&'k DeviceSlice<W>),
    Own(Buffer<W>),
}

impl<W: KeyWord> Deref for Words<'_, W> {
    type Target = DeviceSlice<W>;

    fn deref(&self) -> &DeviceSlice<W> {
        match self {
            Self::Keys(words) => words,
            Self::Own(words) => words,
        }
    }
}

/// How keys become words, which are compared in ascending order.
pub(crate) fn order<K: Key>(descending: bool) -> Order<K::Word> {
    let [negative, always, at_last] = K::ORDER;
    [negative, always, if descending { flipped(at_last) } else { at_last }]
}
