//! What the device tests share: their kernels, and the loop over every device of the machine.
//!
//! One test body runs on all devices, so that they cannot drift apart. The CPU is always one of them.

use std::{
    io::{self, Write},
    pin::pin,
    process::Command,
    sync::{Arc, Mutex, PoisonError, RwLock, RwLockWriteGuard},
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use gpukernel::{Arch, Device, Error, Image, Module, Result};

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

/// What tests share: errors of kernels, which are those of whoever waits next, and allocators of devices.
static SHARED: RwLock<()> = RwLock::new(());

/// Keeps other tests of this program waiting as long as the result is there.
fn alone() -> RwLockWriteGuard<'static, ()> {
    SHARED.write().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a test on every device there is, while no other test of this program runs.
///
/// # Panics
/// As [`on_every_device`].
pub fn on_every_device_alone(test: impl Fn(&Device, &Module) -> Result<()>) {
    let _alone = alone();
    for device in devices() {
        run_on(&device, |device| test(device, &device.load(&KERNELS)?));
    }
}

/// A driver of CUDA 12.0 to 12.3 has no conditions in graphs, and says so.
///
/// # Errors
/// Others.
pub fn unless_too_old(result: Result<()>) -> Result<()> {
    match result {
        Err(Error::DriverTooOld { found, needed: (12, 4) }) if found < (12, 4) => Ok(()),
        result => result,
    }
}

/// Waits for a future: the smallest of executors, whose thread sleeps until it is woken.
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(ready) => return ready,
            Poll::Pending => thread::park(),
        }
    }
}

/// Runs a test on every GPU there is. Such tests are in a module `needs_a_gpu` and have
/// the attribute `#[ignore = "needs a GPU"]`, so that they count as skipped
/// where there is none: `cargo gpukernel test` and bundles run them where there is one.
///
/// # Panics
/// As [`on_every_device`], or if there is no GPU.
pub fn on_every_gpu(test: impl Fn(&Device) -> Result<()>) {
    for device in gpus() {
        on(&device, &test);
    }
}

/// The same, while no other test of this program runs.
///
/// # Panics
/// As [`on_every_gpu`].
pub fn on_every_gpu_alone(test: impl Fn(&Device) -> Result<()>) {
    let _alone = alone();
    for device in gpus() {
        run_on(&device, &test);
    }
}

/// Runs a test on every device, where a GPU without clusters must say so.
///
/// # Panics
/// As [`on_every_device`], or if a GPU that has clusters says that it has none.
pub fn on_every_device_with_clusters(test: impl Fn(&Device, &Module) -> Result<()>) {
    on_every_device(|device, module| match test(device, module) {
        Err(Error::NoClusters { .. }) if device.is_gpu() => {
            assert!(device.arch().is_some_and(|arch| arch < Arch::new(9, 0)), "{device}");
            Ok(())
        }
        result => result,
    });
}

/// Runs a test on the CPU alone, for what would end a GPU's context.
///
/// # Panics
/// As [`on_every_device`].
pub fn on_the_cpu(test: impl Fn(&Device, &Module) -> Result<()>) {
    on_alone(&Device::cpu(), |device| test(device, &device.load(&KERNELS)?));
}

/// Runs a test on every device in which threads end before others come to a barrier of the block. That works, but those who
/// ask for checks are told: the CPU then must refuse it.
///
/// # Panics
/// As [`on_every_device`], or if nothing is refused that should be.
pub fn on_every_device_that_lets_threads_end(test: impl Fn(&Device, &Module) -> Result<()>) {
    for device in devices() {
        let is_refused = is_checking() && !device.is_gpu();
        on_alone(&device, |device| match test(device, &device.load(&KERNELS)?) {
            Err(Error::EndedBeforeBarrier { .. }) if is_refused => Ok(()),
            Ok(()) if is_refused => panic!("threads may not end before others come to a barrier"),
            result => result,
        });
    }
}

/// Whether `GPUKERNEL_CHECK=1` is set.
pub fn is_checking() -> bool {
    std::env::var_os("GPUKERNEL_CHECK").is_some_and(|value| value == "1")
}

/// Runs a test with `GPUKERNEL_CHECK=1`: in a process of its own, because it is read once.
///
/// # Panics
/// If it does.
pub fn with_checks(test: impl FnOnce()) {
    if is_checking() {
        return test();
    }
    let name = thread::current().name().map(str::to_owned).expect("tests run in threads of their names");
    let program = std::env::current_exe().expect("a test knows where it is");
    let output = Command::new(program)
        .args(["--exact", &name, "--nocapture"])
        .env("GPUKERNEL_CHECK", "1")
        .output()
        .expect("the test starts again");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}\n{stderr}");
}

fn devices() -> Vec<Device> {
    gpukernel::devices().unwrap_or_else(|error| panic!("the devices cannot be listed: {error}"))
}

fn gpus() -> Vec<Device> {
    let gpus: Vec<_> = devices().into_iter().filter(Device::is_gpu).collect();
    assert!(!gpus.is_empty(), "this test needs a GPU, and there is none");
    gpus
}

fn on(device: &Device, test: impl FnOnce(&Device) -> Result<()>) {
    let _others = SHARED.read().unwrap_or_else(PoisonError::into_inner);
    run_on(device, test);
}

/// Runs a test that may leave errors of kernels to others.
fn on_alone(device: &Device, test: impl FnOnce(&Device) -> Result<()>) {
    let _alone = alone();
    run_on(device, |device| test(device).and_then(|()| device.synchronize()));
}

fn run_on(device: &Device, test: impl FnOnce(&Device) -> Result<()>) {
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

#[cfg(test)]
mod tests {
    /// What rustc said of the kernels on the device and not on the host: the build script passes it on, and cargo keeps it.
    const SAID: &str = include_str!(concat!(env!("OUT_DIR"), "/../stderr"));

    /// Nothing that `#[kernel]` writes is unused or dead on the device.
    #[test]
    fn kernels_compile_for_the_device_without_warnings() {
        assert!(SAID.contains("Finished"), "the kernels were not compiled: {SAID}");
        assert!(!SAID.contains("warning"), "{SAID}");
    }
}
