//! The pages of the book about arrays as documentation, so that their examples are tests of this crate. The other pages are in
//! `runtime/src/book.rs`.

#[doc = include_str!("../../docs/src/arrays.md")]
mod arrays {}

#[doc = include_str!("../../docs/src/coming-from-numba.md")]
mod coming_from_numba {}

#[doc = include_str!("../../docs/src/python.md")]
mod python {}
