//! What the tests of pipelines share: their kernels, and the loop over every device of the machine.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

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

/// Runs a test on every GPU there is, while no other test of this kind runs: they need much memory. Such tests are in a module `needs_a_gpu` and have the
/// attribute `#[ignore = "needs a GPU"]`.
///
/// # Panics
/// As [`on_every_device`], or if there is no GPU.
pub fn on_every_gpu_alone(test: impl Fn(&Device, &Module) -> Result<()>) {
    static ONE: Mutex<()> = Mutex::new(());
    let _alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let found = AtomicBool::new(false);
    on_every_device(|device, module| {
        if !device.is_gpu() {
            return Ok(());
        }
        found.store(true, Ordering::Relaxed);
        test(device, module)
    });
    assert!(found.into_inner(), "this test needs a GPU, and there is none");
}
