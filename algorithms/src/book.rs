//! The page of the book about algorithms as documentation, so that its examples are tests of this crate. The other pages are in
//! `runtime/src/book.rs`.

#[doc = include_str!("../../docs/src/device-wide-algorithms.md")]
mod device_wide_algorithms {}
