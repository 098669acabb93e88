//! `cargo gpukernel bench` measures the kernel; `cargo test` runs the benchmark once.

use std::process::ExitCode;

use gpukernel::{Image, for_each};
use gpukernel_bench::{Bench, Result, bench};
use my_project_kernels as kernels;

static KERNELS: Image = gpukernel::image!("kernels");

fn main() -> ExitCode {
    gpukernel_bench::main()
}

#[bench(elements = [1 << 16, 1 << 20, 1 << 24])]
fn saxpy(bench: &mut Bench<'_>, elements: usize) -> Result {
    let module = bench.device().load(&KERNELS)?;
    let x = bench.device().filled(elements, 1.0)?;
    let mut y = bench.device().zeroed(elements)?;
    bench
        .measure()
        .elements(elements)
        .bytes(3 * elements * size_of::<f32>()) // reads x and y, writes y
        .expect(vec![2.0; elements])
        .provider("kernel", &mut y, |y| {
            module.launch(kernels::saxpy, for_each(elements), (2.0, &x, y))
        })
        .run()
}
