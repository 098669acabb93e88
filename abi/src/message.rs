//! Messages of panics: [`TEXT`] or [`TEMPLATE`], an address (two words) and a length in bytes; for a template then the number of arguments, and the
//! arguments. Each argument is the number of its formatter, and the value in as many words as that says.
//!
//! The number of a formatter has a layout in bits 0–7, the number of references around the value in bits 8–15, and in bits 16–31 the index of the
//! formatter's name in the image. It is 0 for a width or precision, which is the word after it.
//!
//! ```
//! use gpukernel_abi::message::{MAX_BYTES, OPAQUE, STR};
//!
//! assert!(MAX_BYTES < STR && STR < OPAQUE);
//! ```

/// The message is a text.
pub const TEXT: u32 = 0;

/// The message is a template of `format_args!`.
pub const TEMPLATE: u32 = 1;

/// Layouts up to this are a number of bytes: 1, 2, 4, 8 or 16.
pub const MAX_BYTES: u32 = 16;

/// A `&str`: its length, then its bytes.
pub const STR: u32 = 32;

/// A `&dyn Trait` with one method: written as the value behind it, by the formatter in its table.
pub const DYN: u32 = 33;

/// `core::fmt::Arguments`: another message.
pub const ARGUMENTS: u32 = 34;

/// A value that is not recorded: only the name of its type is printed.
pub const OPAQUE: u32 = 255;
