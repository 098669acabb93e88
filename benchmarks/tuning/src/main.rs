//! Times kernels of `gpukernel-algorithms` in several shapes beside CUB: `gpukernel-tuning device.so`, the library of `benchmarks/cuda/device.cu`.
//!
//! Each shape's result is compared with that of the host, for a number of elements that no tile divides. On a machine without a GPU that is all.

mod cub;
mod kernels;
mod timing;

use std::error::Error;

use gpukernel::{Device, Image};

use crate::{cub::Cub, timing::Session};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

static KERNELS: Image = gpukernel::image!("kernels");

fn main() -> Result {
    let device = Device::best()?;
    println!("# {device:?}");
    let module = device.load(&KERNELS)?;
    let cub = match std::env::args().nth(1) {
        Some(path) if device.is_gpu() => Some(Cub::load(path.as_ref())?),
        _ => None,
    };
    let only = std::env::args().nth(2).unwrap_or_default();
    let session = Session { stream: device.default_stream(), device, module, cub, only };
    let checked = if session.device.is_gpu() { (1 << 22) + 12_345 } else { 30_011 };
    let mut sizes = vec![checked];
    if session.device.is_gpu() {
        sizes.extend([1 << 26, 1 << 28]);
    }
    for (i, n) in sizes.into_iter().enumerate() {
        let is_checked = i == 0;
        println!("# {n} elements{}", if is_checked { ", checked" } else { "" });
        kernels::copy(&session, n)?;
        kernels::scans(&session, n, is_checked)?;
        kernels::selections(&session, n, is_checked)?;
        kernels::uniques(&session, n, is_checked)?;
        kernels::by_key(&session, n, is_checked)?;
        kernels::sorts(&session, n, is_checked)?;
    }
    println!("# done");
    Ok(())
}
