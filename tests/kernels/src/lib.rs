//! What the device tests share: their kernels, and the loop over every device of the machine.
//!
//! One test body runs on all devices, so that they cannot drift apart. The CPU is always one of them.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use gpukernel::{Device, Image, Module, Result};

/// The kernels of `gpukernel-device-test-kernels`, for GPUs.
pub static KERNELS: Image = gpukernel::image!("kernels");

/// Runs a test on every device there is; a failure names the device.
///
/// # Panics
/// If the test does or returns an error on any device.
pub fn on_every_device(test: impl Fn(&Device, &Module) -> Result<()>) {
    for device in devices() {
        on(&device, |device| test(device, &device.load(&KERNELS)?));
    }
}

/// Runs a test on every GPU there is, none included.
///
/// # Panics
/// As [`on_every_device`].
pub fn on_every_gpu(test: impl Fn(&Device) -> Result<()>) {
    for device in devices().iter().filter(|device| device.is_gpu()) {
        on(device, &test);
    }
}

/// Runs a test on the CPU alone, for what would end a GPU's context.
///
/// # Panics
/// As [`on_every_device`].
pub fn on_the_cpu(test: impl Fn(&Device, &Module) -> Result<()>) {
    on(&Device::cpu(), |device| test(device, &device.load(&KERNELS)?));
}

fn devices() -> Vec<Device> {
    gpukernel::devices().unwrap_or_else(|error| panic!("the devices cannot be listed: {error}"))
}

fn on(device: &Device, test: impl FnOnce(&Device) -> Result<()>) {
    let _named = NameOnPanic(device);
    test(device).unwrap_or_else(|error| panic!("{error}"));
}

/// Says on which device a test was when it panics.
struct NameOnPanic<'a>(&'a Device);

impl Drop for NameOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the test failed on {}", self.0);
        }
    }
}

/// Keeps what kernels print: a writer for `Module::set_output`, whose clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    /// What was printed so far.
    ///
    /// # Panics
    /// If it is not UTF-8.
    pub fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        String::from_utf8(bytes).expect("kernels print text")
    }
}

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
