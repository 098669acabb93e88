//! `y = a * x + y` on NVIDIA GPUs and on the CPU.
//!
//! ```
//! use my_project::Saxpy;
//!
//! # fn main() -> gpukernel::Result<()> {
//! let device = gpukernel::Device::best()?;
//! let saxpy = Saxpy::new(&device)?;
//! let x = device.upload(&[1.0, 2.0, 3.0])?;
//! let mut y = device.upload(&[10.0, 20.0, 30.0])?;
//! saxpy.run(2.0, &x, &mut y)?;
//! assert_eq!(y.to_vec()?, [12.0, 24.0, 36.0]);
//! # Ok(())
//! # }
//! ```

use gpukernel::{Device, DeviceSlice, Image, Module, Result, for_each};
use my_project_kernels::saxpy;

static KERNELS: Image = gpukernel::image!("my-project-kernels");

/// The kernel, loaded on a device.
#[derive(Clone, Debug)]
pub struct Saxpy {
    module: Module,
}

impl Saxpy {
    /// Loads the kernel on the device.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            module: device.load(&KERNELS)?,
        })
    }

    /// Computes `y = a * x + y`, for vectors in the memory of the device.
    pub fn run(&self, a: f32, x: &DeviceSlice<f32>, y: &mut DeviceSlice<f32>) -> Result<()> {
        self.module.launch(saxpy, for_each(y.len()), (a, x, y))
    }
}
