//! Tells the build script of the library where the kernels are.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let root = env!("CARGO_MANIFEST_DIR");
    println!("cargo::metadata=gpukernel_root={root}");
}
