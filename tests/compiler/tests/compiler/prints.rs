//! What becomes of output in device code.

use gpukernel_build::Options;
use gpukernel_tests::{KernelCrate, Shape};

#[test]
fn nothing_is_formatted_on_the_device() {
    let lib = "
        #[kernel]
        pub fn prints(x: &[f32], out: PerThread<f32>) {
            for (i, out) in out {
                *out = 1.0;
                if let Some(x) = x.get(i) {
                    gpu_std::println!(\"x[{i}] = {x:>8.3} {:?} {}\", (i as u8, 'x', true), \"text\");
                }
            }
        }

        #[kernel]
        pub fn silent(out: PerThread<f32>) {
            for (_, out) in out {
                *out = 2.0;
            }
        }";
    let inspected = KernelCrate::written("prints", lib).inspect(Options::default());
    Shape { text: &inspected.ptx("sm_90") }
        .has(".visible .global .align 8 .u64 __gpukernel_output")
        .lacks(".func");
    Shape { text: &inspected.kernel("sm_90", "prints") }
        .lacks("call")
        .lacks(".local")
        .has("__gpukernel_output");
    Shape { text: &inspected.kernel("sm_90", "silent") }.lacks("gpukernel").lacks("atom");
}

#[test]
fn kernels_that_do_not_print_have_no_buffer() {
    let lib = "#[kernel] pub fn silent(out: PerThread<u32>) { for (i, out) in out { *out = i as u32; } }";
    let inspected = KernelCrate::written("prints_nothing", lib).inspect(Options::default());
    Shape { text: &inspected.ptx("sm_90") }.lacks("gpukernel_output");
}
