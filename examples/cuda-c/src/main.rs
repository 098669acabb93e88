//! Kernels that call functions in CUDA C and C++, from `cuda/`.

use cuda_c_kernels::{Particle, add_twice, sums, weigh};
use gpu_std::vector::f32x3;
use gpukernel::{Device, Error, Image, LaunchConfig, Module, Result, for_each};

static KERNELS: Image = gpukernel::image!("kernels");

fn main() -> Result<()> {
    let device = Device::best()?;
    let module = device.load(&KERNELS)?;
    println!("{device}");
    println!("x + 2·y: {:?}", added(&module)?);
    println!("weights: {:?}", weighed(&module)?);
    match summed(&module) {
        // It calls CUB, which uses shared memory and shuffles and has no version for the CPU. A file for the host would define the function.
        Err(Error::NoHostVersion { function, reason, .. }) => {
            println!("sums of blocks: skipped, because `{function}` has no host version: {reason}");
            println!(
                "  run on a GPU, or define `{function}` for the CPU in a C++ file: `host = [\"FILE\"]` in gpukernel.toml; CUB itself \
                 runs on GPUs only"
            );
        }
        sums => println!("sums of blocks: {:?}", sums?),
    }
    Ok(())
}

fn added(module: &Module) -> Result<Vec<i32>> {
    let device = module.device();
    let y = device.upload(&[1, 2, 3, 4])?;
    let mut x = device.upload(&[10, 20, 30, 40])?;
    module.launch(add_twice, for_each(x.len()), (&y, &mut x))?;
    x.to_vec()
}

fn weighed(module: &Module) -> Result<Vec<f64>> {
    let device = module.device();
    let particles = [0, 1, 2].map(|kind| Particle { position: [0.0; 3], mass: 1.0, kind });
    let mut particles = device.upload(&particles)?;
    let mut weights = device.zeroed::<f64>(particles.len())?;
    let by = f32x3::new(1.0, 2.0, 3.0);
    module.launch(weigh, for_each(weights.len()), (by, &mut particles, &mut weights))?;
    assert_eq!(particles.to_vec()?[2].position, [1.0, 2.0, 3.0]);
    weights.to_vec()
}

fn summed(module: &Module) -> Result<Vec<f32>> {
    let device = module.device();
    let x = device.upload(&(0..600).map(|i| i as f32).collect::<Vec<_>>())?;
    let mut out = device.zeroed::<f32>(3)?;
    module.launch(sums, LaunchConfig::new(3, 256), (&x, &mut out))?;
    out.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_device_computes_the_same() -> Result<()> {
        for device in gpukernel::devices()? {
            let module = device.load(&KERNELS)?;
            assert_eq!(added(&module)?, [12, 24, 36, 48]);
            assert_eq!(weighed(&module)?, [9.8_f32, 3.7, 24.8].map(|gravity| 2.0 * f64::from(gravity)));
            match summed(&module) {
                Err(Error::NoHostVersion { function, .. }) if !device.is_gpu() => {
                    assert_eq!(function, "block_sum")
                }
                sums => assert_eq!(sums?, [32640.0, 98176.0, 48884.0]),
            }
        }
        Ok(())
    }
}
