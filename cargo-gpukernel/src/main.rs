//! `cargo gpukernel`.
fn main() {}
