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
fn softsign(bench: &mut Bench<'_>, elements: usize) -> Result {
    let module = bench.device().load(&KERNELS)?;
    let mut values = bench.device().filled(elements, 1.0)?;
    bench
        .measure()
        .elements(elements)
        .bytes(2 * elements * size_of::<f32>()) // reads and writes each value
        .expect(vec![0.5; elements])
        .provider("kernel", &mut values, |values| {
            module.launch(kernels::activate, for_each(elements), (values,))
        })
        .run()
}
