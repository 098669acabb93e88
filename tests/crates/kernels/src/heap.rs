//! The heap of kernels: that of the CUDA driver.

#[cfg(target_arch = "nvptx64")]
mod device {
    use core::alloc::{GlobalAlloc, Layout};

    unsafe extern "C" {
        fn malloc(bytes: usize) -> *mut u8;
        fn free(start: *mut u8);
    }

    struct Heap;

    // SAFETY: what `malloc` gives is aligned to 16 bytes, its own until it is freed, or null.
    unsafe impl GlobalAlloc for Heap {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            if layout.align() > 16 {
                return core::ptr::null_mut();
            }
            // SAFETY: any number of bytes may be asked for.
            unsafe { malloc(layout.size()) }
        }

        unsafe fn dealloc(&self, start: *mut u8, _: Layout) {
            // SAFETY: it came from `malloc`, as the caller promises.
            unsafe { free(start) };
        }
    }

    #[global_allocator]
    static HEAP: Heap = Heap;
}
