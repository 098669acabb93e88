//! What is read of rustc's own: layouts that Rust does not promise. gpukernel-build checks them when a device rustc is used for the first time.
//!
//! Offsets are in bytes, in 64-bit code.
//!
//! ```
//! use gpukernel_abi::rustc::{argument, arguments, location};
//!
//! assert_eq!(location::BYTES, 24);
//! assert_eq!(arguments::BYTES, argument::BYTES);
//! ```

/// `core::panic::Location`.
pub mod location {
    /// The size.
    pub const BYTES: usize = 24;
    /// The address of the file's name.
    pub const FILE: usize = 0;
    /// The length of the file's name.
    pub const FILE_BYTES: usize = 8;
    /// The line, a `u32`.
    pub const LINE: usize = 16;
    /// The column, a `u32`.
    pub const COLUMN: usize = 20;
}

/// `core::fmt::Arguments`.
pub mod arguments {
    /// The size.
    pub const BYTES: usize = 16;
    /// The address of the template, or of a text.
    pub const TEMPLATE: usize = 0;
    /// The address of the first argument; for a text twice its length plus one.
    pub const ARGUMENTS: usize = 8;
}

/// `core::fmt::rt::Argument`.
pub mod argument {
    /// The size, and the distance from one to the next.
    pub const BYTES: usize = 16;
    /// The address of the value; null for a width or precision.
    pub const VALUE: usize = 0;
    /// The function that formats the value; the number itself for a width or precision.
    pub const FORMATTER: usize = 8;
}

/// The table of a `&dyn core::fmt::Debug`.
pub mod table {
    /// The function that formats the value, after destructor, size and alignment.
    pub const FORMATTER: usize = 24;
}
