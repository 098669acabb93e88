//! `cargo gpukernel bench` measures the kernel beside a loop on the host; `cargo test` runs each benchmark once.

use std::process::ExitCode;

use gpukernel::{Device, Image, for_each};
use gpukernel_bench::{Bench, Result, bench};
use my_project_kernels as kernels;

static KERNELS: Image = gpukernel::image!("kernels");

fn main() -> ExitCode {
    gpukernel_bench::main()
}

/// Another length: `cargo gpukernel bench --axis elements=1000,2^22`.
#[bench(elements = [1 << 16, 1 << 20, 1 << 24])]
fn saxpy(bench: &mut Bench<'_>, elements: usize) -> Result {
    let module = bench.device().load(&KERNELS)?;
    let numbers: Vec<f32> = (0..elements).map(|i| (i % 7) as f32).collect();
    let x = bench.device().upload(&numbers)?;
    let mut y = bench.device().zeroed(elements)?;
    let mut y_on_host = vec![0.0; elements];
    bench
        .measure()
        .elements(elements)
        .bytes(3 * elements * size_of::<f32>()) // reads x and y, writes y
        .flops(2 * elements)
        .expect(numbers.iter().map(|x| 2.0 * x).collect())
        .provider("kernel", &mut y, |y| {
            module.launch(kernels::saxpy, for_each(elements), (2.0, &x, y))
        })
        .provider_on(&Device::cpu(), "loop on the host", &mut y_on_host, |y| {
            y.iter_mut().zip(&numbers).for_each(|(y, x)| *y += 2.0 * x);
        })
        .run()
}
