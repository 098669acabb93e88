//! Compiles kernel crates.
