//! `cargo bench` measures the kernel on every device of this machine.

use std::time::{Duration, Instant};

use gpukernel::{Device, Image, Result, for_each};
use my_project_kernels::saxpy;

static KERNELS: Image = gpukernel::image!("kernels");

const ELEMENTS: usize = 1 << 22;
const LAUNCHES: u32 = 50;

fn main() -> Result<()> {
    for device in gpukernel::devices()? {
        let time = time_per_launch(&device)?;
        let bytes = 3 * ELEMENTS * size_of::<f32>(); // reads x and y, writes y
        println!(
            "{device}: {time:.2?}, {:.1} GB/s",
            bytes as f64 / time.as_secs_f64() / 1e9
        );
    }
    Ok(())
}

fn time_per_launch(device: &Device) -> Result<Duration> {
    let module = device.load(&KERNELS)?;
    let x = device.upload(&vec![1.0; ELEMENTS])?;
    let mut y = device.zeroed(ELEMENTS)?;
    let mut launch = || module.launch(saxpy, for_each(ELEMENTS), (2.0, &x, &mut y));
    launch()?; // warms up
    device.synchronize()?;
    let start = Instant::now();
    for _ in 0..LAUNCHES {
        launch()?;
    }
    device.synchronize()?;
    Ok(start.elapsed() / LAUNCHES)
}
