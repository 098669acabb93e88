//! The record that the first thread to panic writes, in 32-bit words. The device has its address in a variable, whose lowest bit says that there is a record.
//!
//! ```
//! use gpukernel_abi::panic::{KERNEL, LOCATION, MESSAGE, WORDS};
//!
//! assert_eq!(KERNEL, LOCATION + 2, "an address takes two words");
//! assert!(MESSAGE < WORDS);
//! ```

/// The number of words.
pub const WORDS: usize = 256;

/// Whether a thread has claimed the record: 0 or 1.
pub const CLAIMED: usize = 0;

/// Whether there is a record: 0 or 1. It is complete when the kernel has ended.
pub const WRITTEN: usize = 1;

/// The block of the thread: x, y, z.
pub const BLOCK: usize = 2;

/// The thread in its block: x, y, z.
pub const THREAD: usize = 5;

/// The address of the [`core::panic::Location`], the lower half first.
pub const LOCATION: usize = 8;

/// The index of the kernel in the image.
pub const KERNEL: usize = 10;

/// The number of words of the message; 0 without one.
pub const MESSAGE_WORDS: usize = 11;

/// The bytes of static shared memory that the linker adds to a kernel: the index of the kernel, for functions that several kernels call.
pub const KERNEL_SHARED_BYTES: usize = 4;

/// The start of the [message](crate::message).
pub const MESSAGE: usize = 12;
