//! Computes `2 * x + y` on the best device of this machine.

use gpukernel::{Device, Image, for_each};
use my_project_kernels::saxpy;

static KERNELS: Image = gpukernel::image!("kernels");

fn main() -> gpukernel::Result<()> {
    let device = Device::best()?;
    let module = device.load(&KERNELS)?;
    let x = device.upload(&[1.0, 2.0, 3.0])?;
    let mut y = device.upload(&[10.0, 20.0, 30.0])?;
    module.launch(saxpy, for_each(y.len()), (2.0, &x, &mut y))?;
    println!("{device}: {:?}", y.to_vec()?);
    Ok(())
}
