//! The sections of device code that tell the linker what a function or static is.
//!
//! ```
//! assert!(gpukernel_abi::section::KERNELS.starts_with(".gpukernel."));
//! ```

/// Descriptions of kernels: the address of the entry, the [version](crate::VERSION), the [contract](crate::Contract), the signature.
pub const KERNELS: &str = ".gpukernel.kernels";

/// Values in constant memory.
pub const CONSTANT: &str = ".gpukernel.constant";

/// Descriptions of constants: the address of the value, the [version](crate::VERSION), the signature.
pub const CONSTANTS: &str = ".gpukernel.constants";

/// Functions that CUDA C++ calls by their names (`#[device(export)]`).
pub const EXPORT: &str = ".gpukernel.export";

/// Shared memory.
pub const SHARED: &str = ".gpukernel.shared";
