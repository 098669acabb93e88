//! The memory of a block's shared arrays.

use std::{
    alloc::{self, Layout},
    ptr::NonNull,
};

/// Storage for the shared arrays of a block. Its layout may be larger than what the kernel needs.
pub(super) struct SharedStorage {
    start: NonNull<u8>,
    layout: Layout,
}

impl Default for SharedStorage {
    fn default() -> Self {
        let layout = Layout::new::<()>();
        Self { start: layout.dangling_ptr(), layout }
    }
}

impl SharedStorage {
    /// Makes room for `layout`, and fills it with a byte: what another kernel left may have bytes without a value.
    pub(super) fn prepare(&mut self, layout: Layout, fill: u8) {
        if self.layout.size() < layout.size() || self.layout.align() < layout.align() {
            *self = Self::default();
            // Arrays without bytes are aligned too.
            let mut start = layout.dangling_ptr();
            if layout.size() != 0 {
                // SAFETY: the size is not zero.
                let memory = unsafe { alloc::alloc(layout) };
                let Some(memory) = NonNull::new(memory) else { alloc::handle_alloc_error(layout) };
                start = memory;
            }
            *self = Self { start, layout };
        }
        // SAFETY: the storage has that many bytes, and no block runs that uses it.
        unsafe { self.start().write_bytes(fill, layout.size()) };
    }

    pub(super) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for SharedStorage {
    fn drop(&mut self) {
        if self.layout.size() != 0 {
            // SAFETY: it was allocated with this layout, and nobody uses it any more.
            unsafe { alloc::dealloc(self.start.as_ptr(), self.layout) };
        }
    }
}
