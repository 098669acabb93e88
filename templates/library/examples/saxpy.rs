//! Computes `2 * x + y` on the best device of this machine.

use gpukernel::Device;
use my_project::Saxpy;

fn main() -> gpukernel::Result<()> {
    let device = Device::best()?;
    let saxpy = Saxpy::new(&device)?;
    let x = device.upload(&[1.0, 2.0, 3.0])?;
    let mut y = device.upload(&[10.0, 20.0, 30.0])?;
    saxpy.run(2.0, &x, &mut y)?;
    println!("{device}: {:?}", y.to_vec()?);
    Ok(())
}
