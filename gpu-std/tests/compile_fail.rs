//! What `#[kernel]` and the types of kernels refuse, with rustc's exact words. Also attacks on their safety.
//!
//! The words are those of the Rust version of this workspace; `TRYBUILD=overwrite` writes new ones.

#[test]
fn compile_fail() {
    trybuild::TestCases::new().compile_fail("tests/compile-fail/*.rs");
}
