//! Variables that the runtime sets when it loads a module. A module has those that its kernels need.
//!
//! ```
//! assert_ne!(gpukernel_abi::symbol::PANIC_RECORD, gpukernel_abi::symbol::OUTPUT);
//! ```

/// The address of the [record of a panic](crate::panic); null in programs without the runtime, where a panic is a trap.
pub const PANIC_RECORD: &str = "__gpukernel_panic_record";

/// The address of the [buffer of printed records](crate::output); null in programs without the runtime, which print nothing.
pub const OUTPUT: &str = "__gpukernel_output";
