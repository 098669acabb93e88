//! What the tests share: an image without code, for kernels that the CPU runs, and the loop over all devices.

use std::sync::{Mutex, MutexGuard, PoisonError};

use gpukernel::{Device, Image, Module, Result};
use gpukernel_image::{ImageWriter, Manifest};

/// An image without device code, whose kernels are those of the program.
#[allow(dead_code, reason = "not every test file launches kernels")]
pub(crate) fn image() -> Image {
    let mut manifest = Manifest::new("tests");
    manifest.no_code = Some("the tests of the runtime are built without a device toolchain".to_owned());
    // SAFETY: it holds no code.
    unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) }
}

/// Keeps other tests of this program waiting as long as the result is there: an error of a kernel is that of whoever waits next. In a process of its own
/// (cargo-nextest) a test is alone anyway.
#[allow(dead_code, reason = "not every test file does")]
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a test with kernels on the CPU, which may fail.
#[allow(dead_code, reason = "not every test file launches kernels")]
pub(crate) fn on_the_cpu(test: impl Fn(&Device, &Module) -> Result<()>) {
    let _alone = alone();
    let device = Device::cpu();
    // Errors of what the test leaves are its own.
    let tested = device.load(&image()).and_then(|module| test(&device, &module));
    let result = tested.and_then(|()| device.synchronize());
    result.unwrap_or_else(|error| panic!("{error}"));
}

/// Runs a test on every GPU there is. Such tests are in a module `needs_a_gpu` and have
/// the attribute `#[ignore = "needs a GPU"]`, so that they count as skipped where
/// there is none: `cargo gpukernel test` and bundles run them where there is one.
#[allow(dead_code, reason = "not every test file does")]
pub(crate) fn on_every_gpu(test: impl Fn(&Device) -> Result<()>) {
    let devices =
        gpukernel::devices().unwrap_or_else(|error| panic!("the devices cannot be listed: {error}"));
    assert!(devices.iter().any(Device::is_gpu), "this test needs a GPU, and there is none");
    for device in devices.iter().filter(|device| device.is_gpu()) {
        test(device).unwrap_or_else(|error| panic!("on {device}: {error}"));
    }
}

/// Runs a test without kernels on every device there is.
#[allow(dead_code, reason = "not every test file does")]
pub(crate) fn on_every_device(test: impl Fn(&Device) -> Result<()>) {
    let _alone = alone();
    let devices =
        gpukernel::devices().unwrap_or_else(|error| panic!("the devices cannot be listed: {error}"));
    for device in devices {
        test(&device).unwrap_or_else(|error| panic!("on {device}: {error}"));
    }
}
