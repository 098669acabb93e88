//! The page of the book about benchmarks as documentation, so that its examples are compiled as tests of this crate. The other pages are in
//! `runtime/src/book.rs`.

#[doc = include_str!("../../docs/src/benchmarks.md")]
mod benchmarks {}
