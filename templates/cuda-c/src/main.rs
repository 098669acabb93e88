//! Applies a function in CUDA C to some values, on the best device of this machine.

use gpukernel::{Device, Image, for_each};
use my_project_kernels::activate;

static KERNELS: Image = gpukernel::image!("kernels");

fn main() -> gpukernel::Result<()> {
    let device = Device::best()?;
    let module = device.load(&KERNELS)?;
    let mut values = device.upload(&[-3.0, 0.0, 1.0])?;
    module.launch(activate, for_each(values.len()), (&mut values,))?;
    println!("{device}: {:?}", values.to_vec()?);
    Ok(())
}
