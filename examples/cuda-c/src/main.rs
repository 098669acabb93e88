//! Kernels that call functions in CUDA C and C++, from `cuda/`.

use cuda_c_kernels::{Particle, add_twice, weigh};
use gpukernel::{Device, Image, for_each};

static KERNELS: Image = gpukernel::image!("kernels");

fn main() -> gpukernel::Result<()> {
    let device = Device::best()?;
    let module = device.load(&KERNELS)?;

    let y = device.upload(&[1, 2, 3, 4])?;
    let mut x = device.upload(&[10, 20, 30, 40])?;
    module.launch(add_twice, for_each(4), (&y, &mut x))?;
    println!("{device}: x + 2·y = {:?}", x.to_vec()?);

    let particles = [0, 1, 2].map(|kind| Particle { position: [kind as f32; 3], mass: 1.0, kind });
    let particles = device.upload(&particles)?;
    let mut weights = device.zeroed::<f64>(3)?;
    let mut places = device.zeroed::<[f32; 3]>(3)?;
    module.launch(weigh, for_each(3), (&particles, &mut weights, &mut places))?;
    println!("weights {:?}, places {:?}", weights.to_vec()?, places.to_vec()?);
    Ok(())
}
