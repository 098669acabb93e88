//! The page of the book about arrays as documentation, so that its examples are tests of this crate. The other pages are in
//! `runtime/src/book.rs`.

#[doc = include_str!("../../docs/src/arrays.md")]
mod arrays {}
