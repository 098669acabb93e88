//! What rustc refuses, with its exact words: kernels, launches and device memory. Among it are attacks on their safety.
//!
//! `TRYBUILD=overwrite` writes the words anew.

#[test]
fn compile_fail() {
    gpukernel_compile_fail::check("compile_fail");
}
