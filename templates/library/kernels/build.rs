//! Tells the build script of the library where the kernels are.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::metadata=gpukernel_root={}", env!("CARGO_MANIFEST_DIR"));
}
