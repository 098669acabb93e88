//! What the tests of pipelines share: their kernels, and the loop over every device of the machine.

use gpukernel::{Device, Image, Module};
use gpukernel_array::Result;

/// The functions of `pipeline-test-kernels`, for GPUs.
pub static KERNELS: Image = gpukernel::image!("kernels");

/// Runs a test on every device there is; a failure names the device.
///
/// # Panics
/// If the test does or returns an error on any device.
pub fn on_every_device(test: impl Fn(&Device, &Module) -> Result<()>) {
    let devices =
        gpukernel::devices().unwrap_or_else(|error| panic!("the devices cannot be listed: {error}"));
    for device in devices {
        let module = device.load(&KERNELS).unwrap_or_else(|error| panic!("{device}: {error}"));
        test(&device, &module).unwrap_or_else(|error| panic!("{device}: {error}"));
    }
}
