//! What the runtime refuses at compile time, with rustc's exact words: attacks on device memory and launches.
//!
//! `TRYBUILD=overwrite` writes the words anew.

#[test]
fn compile_fail() {
    gpukernel_compile_fail::check(env!("CARGO_MANIFEST_DIR").as_ref());
}
