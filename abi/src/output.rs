//! What kernels print: a buffer of records, and the values in them.
//!
//! The buffer starts with 64-bit numbers, [`HEAD`] of them; records follow. A record is its length in words, the address (two words) and length
//! of the template, and the values, each preceded by a word whose lowest byte is a [tag].
//!
//! ```
//! use gpukernel_abi::output::{DROPPED, HEAD, RECORD_HEAD_WORDS};
//!
//! assert!(DROPPED < HEAD);
//! assert_eq!(RECORD_HEAD_WORDS, 1 + 2 + 1);
//! ```

/// The number of 64-bit numbers before the records of a buffer.
pub const HEAD: usize = 4;

/// Among them: the number of 32-bit words that threads have asked for.
pub const REQUESTED: usize = 0;

/// Among them: the number of 32-bit words that there are.
pub const CAPACITY: usize = 1;

/// Among them: the number of records for which there was no room.
pub const DROPPED: usize = 2;

/// The number of words of a record before its values.
pub const RECORD_HEAD_WORDS: u32 = 4;

/// Type tags: the lowest byte of the word in front of a value. The meaning of the other bytes depends on the tag.
pub mod tag {
    /// An integer: its width in bits 8–15, its signedness in bit 16. One word, or as many as the width needs.
    pub const INTEGER: u32 = 1;
    /// An `f32`: one word.
    pub const F32: u32 = 2;
    /// An `f64`: two words.
    pub const F64: u32 = 3;
    /// A `bool`: one word.
    pub const BOOL: u32 = 4;
    /// A `char`: one word.
    pub const CHAR: u32 = 5;
    /// A `&'static str`: its address in two words, its length in bytes in one.
    pub const TEXT: u32 = 6;
    /// A slice or an array: followed by its values, their number in bits 8–31.
    pub const LIST: u32 = 7;
    /// A tuple: followed by its values, their number in bits 8–31.
    pub const TUPLE: u32 = 8;
    /// A struct: the number of fields in bits 8–31. A text precedes the values: the names of the struct and of the fields, separated by
    /// spaces.
    pub const STRUCT: u32 = 9;
    /// An `Option`: the number of values, 0 or 1, in bits 8–31.
    pub const OPTION: u32 = 10;
}
