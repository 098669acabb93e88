//! What the tests of arrays share: their kernels, and the loop over every device of the machine.

use std::{
    fmt::Display,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::NonNull,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use gpukernel::{Device, Image, Module};
use gpukernel_array::{Array, ForeignArray, Result};
use ndarray::{Axis, s};

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

/// Runs a test on every GPU there is, while no other test of this kind runs. Such tests are in a module `needs_a_gpu` and have the attribute
/// `#[ignore = "needs a GPU"]`.
///
/// # Panics
/// As [`on_every_device`], or if there is no GPU.
pub fn on_every_gpu_alone(test: impl Fn(&Device, &Module) -> Result<()>) {
    let found = AtomicBool::new(false);
    on_every_device_alone(|device, module| {
        if !device.is_gpu() {
            return Ok(());
        }
        found.store(true, Ordering::Relaxed);
        test(device, module)
    });
    assert!(found.into_inner(), "this test needs a GPU, and there is none");
}

/// Computes with arrays without bytes, whose results have to be on the device of the arrays.
///
/// # Errors
/// As the operations.
///
/// # Panics
/// If a result is on another device.
pub fn without_bytes(device: &Device) -> Result<()> {
    let mut x = Array::<f32, _>::zeros(device, (0, 3))?;
    assert_eq!(x.to_owned()?.device(), device);
    assert_eq!(x.t().to_owned()?.device(), device);
    assert_eq!(x.reshape(0)?.to_shape(0)?.device(), device);
    assert_eq!(x.view_mut().into_dyn().view_mut().to_owned()?.device(), device);
    assert_eq!(x.slice_mut(s![.., 1])?.to_owned()?.device(), device);
    // Elements of no size.
    let mut units = Array::full(device, (2, 3), ())?;
    assert_eq!(units.broadcast((2, 2, 3))?.to_owned()?.device(), device);
    assert_eq!(units.view_mut().reversed_axes().to_owned()?.device(), device);
    assert_eq!(units.index_axis_mut(Axis(0), 1)?.view().insert_axis(Axis(0))?.to_owned()?.device(), device);
    // SAFETY: there are no bytes.
    let theirs = unsafe {
        ForeignArray::from_raw(
            &device.default_stream(),
            NonNull::<f32>::dangling().as_ptr(),
            (0, 3),
            (3, 1),
            (),
        )?
    };
    assert_eq!(theirs.to_owned()?.device(), device);
    assert_eq!(theirs.t().as_dyn().to_owned()?.device(), device);
    let (row, backwards) = (x.slice(s![.., 1])?, x.slice(s![.., ..;-1])?);
    for result in [x.view() + 1.0, -backwards] {
        assert_eq!(result.device(), device);
    }
    for result in [row.to_owned()?, row + row, 1.0 - row] {
        assert_eq!(result.device(), device);
    }
    Ok(())
}

/// Attacks and what they are answered: a table, which is compared with a file.
#[derive(Debug, Default)]
pub struct Refusals {
    table: String,
    attacks: usize,
}

const NOT_REFUSED: &str = "NOT REFUSED";

impl Refusals {
    /// Begins a group of attacks.
    pub fn group(&mut self, name: &str) {
        self.table += &format!("\n## {name}\n");
    }

    /// Adds an attack, which has to be refused.
    pub fn refused<T, E: Display>(&mut self, attack: &str, result: Result<T, E>) {
        self.add(attack, &result.err().map_or_else(|| NOT_REFUSED.to_owned(), |error| error.to_string()));
    }

    /// Adds an attack that has to be a panic with a message.
    pub fn panics<T>(&mut self, attack: &str, code: impl FnOnce() -> T) {
        let panic = catch_unwind(AssertUnwindSafe(|| drop(code()))).err();
        let text = panic
            .as_ref()
            .map_or(Some(NOT_REFUSED), |panic| panic.downcast_ref::<String>().map(String::as_str));
        self.add(attack, text.unwrap_or("no message"));
    }

    /// Adds an attack with its answer.
    pub fn add(&mut self, attack: &str, answer: &str) {
        self.attacks += 1;
        self.table += &format!("- {attack}\n      {answer}\n");
    }

    /// How many attacks there are.
    pub fn attacks(&self) -> usize {
        self.attacks
    }

    /// Compares the table with the file of this name, in which the name of the device is `DEVICE`. The variable `GPUKERNEL_UPDATE_ATTACKS` lets it be written.
    ///
    /// # Panics
    /// If an attack was not refused, or the file says something else, with the first lines that differ.
    pub fn compare(&self, device: &Device, file: &str, expected: &str) {
        let table = self.table.replace(&device.to_string(), "DEVICE");
        let table = format!("{} attacks\n{table}", self.attacks);
        if std::env::var_os("GPUKERNEL_UPDATE_ATTACKS").is_some() && !device.is_gpu() {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
            return std::fs::write(&path, table)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        assert!(!table.contains(NOT_REFUSED), "{table}");
        for (found, expected) in table.lines().zip(expected.lines()) {
            assert_eq!(found, expected, "{file}");
        }
        assert_eq!(table.lines().count(), expected.lines().count(), "{file}");
    }
}
