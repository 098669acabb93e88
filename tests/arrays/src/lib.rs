//! What the tests of arrays share: their kernels, and the loop over every device of the machine.

use std::sync::{Mutex, MutexGuard, PoisonError};

use gpukernel::{Device, Image, Module};
use gpukernel_array::Result;

/// The functions of `array-test-kernels`, for GPUs.
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

/// Keeps other tests of this program waiting as long as the result is there: for what the whole device notices, such as panics on a GPU and how many buffers there
/// are.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a test on every device there is, while no other test of this kind runs.
///
/// # Panics
/// As [`on_every_device`].
pub fn on_every_device_alone(test: impl Fn(&Device, &Module) -> Result<()>) {
    let _alone = alone();
    on_every_device(test);
}
