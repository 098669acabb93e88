//! A kernel whose inner function is in CUDA C, linked in each way, beside the same in CUDA C alone and in Rust alone.

use benchmark_linked::{iterate, iterate_in_rust};
use gpukernel::{Buffer, Device, Error, Image, LaunchConfig, RawArg, for_each};
use gpukernel_benchmarks::{TimedRun, compare, print_row};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/iterate.fatbin"));
static NVCC: Image = gpukernel::image!("linked-nvcc");
static CLANG: Image = gpukernel::image!("linked-clang");
static LTO: Image = gpukernel::image!("linked-lto");

const ELEMENTS: usize = 1 << 23;

/// Prints a row for each way of linking, beside each of the others.
pub(crate) fn compare_ways(device: &Device) -> Result<(), Error> {
    // SAFETY: the build script made it with nvcc.
    let theirs = unsafe { device.load_foreign(CUDA) }?;
    let rates: Vec<f32> = (0..ELEMENTS).map(|i| 3.0 + i as f32 / ELEMENTS as f32).collect();
    let rates = device.upload(&rates)?;
    let mut expected = device.zeroed::<f32>(ELEMENTS)?;
    for (name, image) in [("clang", &CLANG), ("lto", &LTO), ("nvcc", &NVCC)] {
        let module = device.load(image)?;
        let mut ours = device.zeroed::<f32>(ELEMENTS)?;
        let mut in_rust = device.zeroed::<f32>(ELEMENTS)?;
        let our_way = |out: &mut Buffer<f32>| {
            super::time(device, || module.launch(iterate, for_each(ELEMENTS), (&rates, out)))
        };
        let their_way: TimedRun<'_> = Box::new(|| {
            super::time(device, || {
                let args = [RawArg::slice(&rates), RawArg::value(ELEMENTS), RawArg::slice_mut(&mut expected)];
                // SAFETY: the parameters of `iterate` in cuda/iterate.cu, which stays below the length.
                unsafe { theirs.launch("iterate", LaunchConfig::new(ELEMENTS / 256, 256), 0, &args) }
            })
        });
        let beside_c = compare(Box::new(|| our_way(&mut ours)), their_way)?;
        print_row(
            &format!("function in CUDA C, linked by {name}; beside all in CUDA C"),
            "",
            Some(&beside_c),
        );
        let rust_way: TimedRun<'_> = Box::new(|| {
            super::time(device, || module.launch(iterate_in_rust, for_each(ELEMENTS), (&rates, &mut in_rust)))
        });
        let beside_rust = compare(Box::new(|| our_way(&mut ours)), rust_way)?;
        print_row(
            &format!("function in CUDA C, linked by {name}; beside all in Rust"),
            "",
            Some(&beside_rust),
        );
        assert!(ours.to_vec()? == expected.to_vec()?, "{name} computes something else than CUDA C");
    }
    Ok(())
}
