//! What `#[kernel]` and the types of kernels refuse, with rustc's exact words. Among it are attacks on their safety.
//!
//! `TRYBUILD=overwrite` writes the words anew.

#[test]
fn compile_fail() {
    gpukernel_compile_fail::check(env!("CARGO_MANIFEST_DIR").as_ref());
}
