//! Loads that are made where the program has them.

/// Loads a value of global memory. Neither LLVM nor ptxas moves the load over a barrier, as they move those of memory that nothing writes to where the value is used, so that
/// of many such loads only a few are under way at once. Values that are aligned to 16 bytes are loaded by one instruction, which may be moved.
///
/// # Safety
/// There is a value at the address, which is one of global memory.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn load_here<T: Copy>(from: *const T) -> T {
    #[cfg(target_arch = "nvptx64")]
    {
        use core::mem::MaybeUninit;

        unsafe extern "C" {
            fn __gpukernel_load_here_u8(from: *const u8) -> MaybeUninit<u8>;
            fn __gpukernel_load_here_u16(from: *const u16) -> MaybeUninit<u16>;
            fn __gpukernel_load_here_u32(from: *const u32) -> MaybeUninit<u32>;
            fn __gpukernel_load_here_u64(from: *const u64) -> MaybeUninit<u64>;
        }
        let mut value = MaybeUninit::<T>::uninit();
        macro_rules! by_words {
            ($word:ty, $load:ident) => {
                for i in 0..size_of::<T>() / size_of::<$word>() {
                    // SAFETY: as the caller promises; the words are those of the value, which is as large as they are together and aligned as they are.
                    unsafe {
                        value.as_mut_ptr().cast::<MaybeUninit<$word>>().add(i).write($load(from.cast::<$word>().add(i)));
                    }
                }
            };
        }
        match align_of::<T>() {
            1 => by_words!(u8, __gpukernel_load_here_u8),
            2 => by_words!(u16, __gpukernel_load_here_u16),
            4 => by_words!(u32, __gpukernel_load_here_u32),
            8 => by_words!(u64, __gpukernel_load_here_u64),
            // SAFETY: as the caller promises.
            _ => return unsafe { from.read() },
        }
        // SAFETY: all of its bytes were written.
        unsafe { value.assume_init() }
    }
    #[cfg(not(target_arch = "nvptx64"))]
    // SAFETY: as the caller promises.
    unsafe {
        from.read()
    }
}
